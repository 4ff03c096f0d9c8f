"""Section on the methods: metrics and their parameters, word look-up, aggregation, and inference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.numbers import count, plain, share
from ...measure import significance
from ...models.preprocessing import form_of
from ...tables.published.quantities import name_of
from .section import ReportData, Section

LABELS = {
    "preprocessors": "Spellings, in order of look-up",
    "strategy": "Which spellings are used",
    "normalize": "Vectors are scaled to length 1",
    "lost_vocabulary_threshold": "Share of a set's words that may be missing before a score is left out",
    "bootstrap": "Bootstrap intervals",
    "sensitivity": "Influence of single words, and halves of the lists",
    "interval": "Type of the intervals",
    "adjust": "Adjustment of p-values for the number of tests",
    "margin": "Models count as alike within so many standard deviations",
    "reliability": "Reliability of the order of words",
}
STRATEGIES = {"first": "the first that the model has", "all": "all that the model has"}


def make(material: ReportData) -> dict[str, Any]:
    config, spec = material.config, material.spec
    labels = LABELS | {
        name: test.label
        for name, test in significance.REGISTRY.items()
        if significance.REGISTRY.is_shipped(name)
    }

    def lines(entries: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        return [
            # Results can be read without the plugin of a test.
            (key, labels.get(key, key.replace("_", " ").capitalize()), _text(key, value))
            for key, value in entries.items()
        ]

    return {
        "metrics": [
            (key, spec["facts"][key], _options(spec["facts"][key]["params"])) for key in spec["metrics"]
        ],
        "words": lines(config.get("words", {})),
        "inference": lines(spec["inference"]),
        "ranking": spec["ranking"],
        "aggregation": name_of(spec["ranking"]["aggregation"]),
        "seed": config.get("seed"),
    }


def _text(key: str, value: Any) -> str:
    """Return a value of the config in words."""
    match key:
        case "preprocessors":
            return "; ".join(map(form_of, value))
        case "strategy":
            return STRATEGIES.get(value, str(value))
        case "lost_vocabulary_threshold":
            return share(value)
    return _options(value) if isinstance(value, Mapping) else _plain(value)


def _options(options: Mapping[str, Any]) -> str:
    """Return options as a list: "draws 19,999; exact 20,000"."""
    return "; ".join(f"{key.replace('_', ' ')} {_plain(value)}" for key, value in options.items())


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return plain(value)
    if isinstance(value, Mapping):
        return f"({_options(value)})"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_plain, value))
    return "none" if value is None else str(value)


SECTIONS = (
    Section(
        "method",
        "Metrics and parameters",
        (),
        make,
        "method.html",
        place=92,
        lead="parameters of the metrics, word look-up, averages, and tests",
        nav="Methods",
    ),
)

"""The settings of a measurement, checked once for all queries and models: parameters, look-up, seed, inference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from .. import metrics
from ..core.errors import BiasgridError, InputError, join_names, not_allowed, quote
from ..metrics.registry import Metric
from ..models.kinds import REGISTRY as KINDS
from ..models.preprocessing import default_forms, recorded_forms
from ..models.words import WordOptions
from ..queries.query import Query
from .options import INTERVALS, check_interval


@dataclass(frozen=True)
class MeasurementSpec:
    """A metric with its parameters, and the requested inference.

    Parameters
    ----------
    metric
        The metric; it is stored with the parameters applied (`Metric.under`).
    parameters
        The metric's parameters.
    words
        Options of the word look-up.
    seed
        An integer from 0, for metrics that draw at random.
    inference
        Options by part, as given to or returned by `measure.significance.complete`.
    interval
        The kind of interval in `Result.ci_low` and `ci_high`.
    draw_seed
        The seed of permutations, random groups, resamples and halves.

    Raises
    ------
    BiasgridError
        A parameter or option is unknown, or its value is not allowed.
    """

    metric: Metric
    parameters: Mapping[str, Any] = field(default_factory=dict)
    words: WordOptions = field(default_factory=WordOptions)
    seed: int = 0
    inference: Mapping[str, Any] = field(default_factory=dict)
    interval: str = INTERVALS[0]
    draw_seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", self.metric.under(self.parameters))
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise BiasgridError(not_allowed("seed", self.seed, "whole numbers from 0 on"))
        if self.metric.paired and KINDS[self.metric.needs].scores and self.words.strategy != "first":
            raise InputError(
                f"strategy: {self.words.strategy}: a sentence of a pair has one form; {self.metric.name} needs first"
            )
        check_interval(self.interval)

    @classmethod
    def of_cell(cls, spec: Mapping[str, Any], inference: Mapping[str, Any] | None = None) -> MeasurementSpec:
        """Create the request of a cell's spec (`cell.compute_cell`) and its inference: parts and the `draw_seed`."""
        parts = dict(inference or {})
        return cls(
            metrics.metric(spec["function"]),
            spec["params"],
            WordOptions(**spec["words"] | {"preprocessors": recorded_forms(spec["words"])}),
            spec.get("seed", 0),
            draw_seed=parts.pop("draw_seed", 0),
            inference=parts,
        )

    @property
    def variants(self) -> int:
        """Return the number of slots per word of a set: `WordVectors.slots // variants` is the word's position."""
        return len(self.words.preprocessors) if self.words.strategy == "all" else 1

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the metric's function apart from words and model."""
        return {**self.parameters, **({"seed": self.seed} if self.metric.seeded else {})}


def split_options(
    metric: Metric, options: Mapping[str, Any], other_names: Iterable[str] = ()
) -> tuple[dict[str, Any], WordOptions]:
    """Return the metric's parameters among options, and the options of the word look-up with their defaults.

    `other_names` are further options of the caller, which the message for an unknown name also lists.
    """
    option_names = [f.name for f in fields(WordOptions)]
    # Metrics of sentences have a parameter `normalize` of their own.
    word_options = (set(option_names) - metric.parameters.keys()) & set(options)
    parameters = {name: value for name, value in options.items() if name not in word_options}
    metric.check_parameters(parameters, [*option_names, *other_names])
    forms = {"preprocessors": default_forms(KINDS[metric.needs])}
    return parameters, WordOptions(**forms | {name: options[name] for name in word_options})


def check_kind(metric: Metric, model: Any) -> None:
    """Raise BiasgridError if a model's type is not the one that the metric needs."""
    if (kind := getattr(model, "kind", metric.needs)) != metric.needs:
        raise InputError(
            f"{metric.name} needs a model of kind {metric.needs}, and {model.name} is one of {kind} "
            "(biasgrid list metrics, biasgrid list kinds)"
        )


def check_template(metric: Metric, query: Query) -> None:
    """Raise BiasgridError if a query does not have exactly the metric's template."""
    if not query.exactly(metric.template):
        raise BiasgridError(misfit(metric, query))


def misfit(metric: Metric, query: Query) -> str:
    """Return a message's text, with advice, for a query that does not have the metric's template."""
    if query.fits(metric.template):
        advice = f"take its sub-queries: query.subqueries({metric.template})"
    else:
        registry = metrics.REGISTRY.values()
        names = [m.name for m in registry if m.needs == metric.needs and query.exactly(m.template)]
        advice = f"metrics that take it: {join_names(names, 'biasgrid list metrics')}"
    return f"{metric.name} has template {metric.template} and query {quote(query.name)} {query.template}; {advice}"

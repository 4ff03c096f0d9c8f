"""Section on the models: source, licence, checksums, coverage of the study's words, and quality of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.numbers import share, typeset
from ...debias import UNTOUCHED
from .section import ReportData, Section


def make(material: ReportData) -> dict[str, Any]:
    quality = material.tables.get("quality")
    if quality is not None:
        quality = quality[quality["debias"] == UNTOUCHED]
    return {
        "models": [
            {
                "key": key,
                "record": (record := material.models.get(key, {})),
                "source": _source(entry["source"], entry.get("limit")),
                "checksums": [
                    *(
                        [(_file_of(entry["source"]), sha256)]
                        if (sha256 := entry["source"].get("sha256"))
                        else []
                    ),
                    *sorted(record.get("sha256", {}).items()),
                ],
                "coverage": _coverage(material, key),
                "predicts": _predicts(record),
                "licence": entry.get("licence", "not stated"),
                "note": entry.get("note", ""),
                "benchmarks": [] if quality is None else [*quality[quality["model"] == key].itertuples()],
            }
            for key, entry in material.spec["models"].items()
        ]
    }


def _coverage(material: ReportData, model: str) -> str:
    """Say how many words of its queries a model has."""
    scores, lost_words = material.tables["scores"], material.cells.lost_words
    query_words = {
        word
        for query in scores.loc[scores["model"] == model, "query_id"].unique()
        if query
        for word_set in (*material.queries[query].target_sets, *material.queries[query].attribute_sets)
        for word in word_set.words
    }
    lost = {word for (of_model, _), words in lost_words.items() if of_model == model for word in words}
    n_words = len(query_words - lost)
    return f"{n_words:,} of {len(query_words):,} words ({share(n_words / max(len(query_words), 1))})"


def _predicts(record: Mapping[str, Any]) -> str:
    """Say how well a language model that was trained here predicts held-out sentences."""
    if not {"perplexity", "masked_accuracy", "held_out"} <= record.keys():
        return ""
    return (
        f"perplexity {typeset(record['perplexity'])}, {share(record['masked_accuracy'])} of masked tokens right, on "
        f"{record['held_out']:,} held-out sentences"
    )


def _source(source: Mapping[str, Any], limit: int | None) -> str:
    """Return the source of a model in a line: its kind, the short values of its keys, and the limit of its rows."""
    parts = [
        f"{key} {value}"
        for key, value in source.items()
        if key not in ("type", "sha256") and _is_short(value)
    ]
    if limit:
        parts.append(f"the first {limit:,} rows only")
    return ": ".join(filter(None, [str(source["type"]), ", ".join(parts)]))


def _is_short(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and len(str(value)) < 200


def _file_of(source: Mapping[str, Any]) -> str:
    return str(source.get("package") or source.get("url") or source.get("path") or "archive").rpartition("/")[
        2
    ]


SECTIONS = (
    Section(
        "models",
        "What the models are",
        ("scores", "quality"),
        make,
        "models.html",
        place=90,
        lead="source, licence, checksums and word coverage of each model",
        nav="Sources",
    ),
)

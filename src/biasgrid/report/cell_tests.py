"""What the tests and the interval of a score say, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..metrics.registry import Metric

# what the permutation test asks, by what it exchanges; names as of `Metric.asks`
ASKS = {
    "targets": "does it matter which of {T} a word is in?",
    "pairs": "does it matter which word of a pair is of {T1} and which of {T2}?",
    "attributes": "does it matter which of {A} a word is in?",
}
LABELS = (
    "does it matter to the classifier which of {A} a word that it learns from is in? The test says nothing "
    "about {T}."
)
GROUPS = (
    "do {%s} score higher than random groups of words of this model that are as coherent and as frequent?"
)
# which values are as extreme as the observed one
EXTREME = {
    "greater": "as large or larger",
    "less": "as small or smaller",
    "two-sided": "as far out, on either side",
}


def tests_of(
    metric: Metric, targets: Sequence[str], attributes: Sequence[str], inferred: Mapping[str, Any], row: Any
) -> Iterator[dict[str, Any]]:
    """The tests of a score.

    Parameters
    ----------
    metric
        Under the score's parameters.
    targets, attributes
        Names of the sets.
    inferred
        The score's result in a file of inference.
    row
        Its row of scores.csv, with the adjusted p-values.

    Yields
    ------
    dict
        `test`, "permutation" or "random_groups"; `asks`, what it tests; `reason`, why there is no p-value, or else
        `p_value`, `p_adjusted`, `p_low`, `p_high`, `method`, `draws`, `partitions`, `extreme` (which values count),
        `observed` and `histogram` as the file of inference has them.
    """
    question = LABELS if metric.test_of == "labels" else ASKS[metric.exchanged]
    questions = {"permutation": question, "random_groups": GROUPS % metric.regrouped[0].upper()}
    adjusted = {"permutation": row.p_adjusted, "random_groups": row.p_groups_adjusted}
    for test, asks in questions.items():
        if (found := inferred.get(test)) is None:
            continue
        record = {"test": test, "asks": metric.sentence(asks, targets, attributes)}
        if found.get("p_value") is None:
            yield record | {"reason": found.get("reason", "the metric has no value for some permutations")}
            continue
        yield record | {
            "p_value": found["p_value"],
            "p_adjusted": number(adjusted[test]),
            **{
                name: found[name] for name in ("p_low", "p_high", "method", "draws", "partitions", "observed")
            },
            "extreme": EXTREME[found["alternative"]],
            "histogram": found.get("histogram"),
        }


def interval_of(inferred: Mapping[str, Any], kind: str, level: float) -> dict[str, Any] | None:
    """The interval of a score: `kind`, `level`, and `low` and `high`, or the `reason` why there is none; None where
    none was asked for."""
    bootstrap = inferred.get("bootstrap")
    if bootstrap is None:
        return None
    record = {"kind": kind, "level": level}
    low, high = bootstrap.get(kind) or (None, None)
    if low is None or high is None:
        return record | {"reason": bootstrap.get("reasons", {}).get(kind, "it has no number")}
    return record | {"low": low, "high": high}


def number(value: float) -> float | None:
    """A number of a table for JSON."""
    return None if value != value else float(value)

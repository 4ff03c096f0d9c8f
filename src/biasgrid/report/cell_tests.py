"""Tests and interval of a score, in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from ..measure import significance
from ..measure.options import Bootstrap

# Fields of a test in a file of inference that the report shows.
KEPT = (
    "p_low",
    "p_high",
    "p_lowest",
    "alternative",
    "method",
    "draws",
    "partitions",
    "observed",
    "histogram",
    "middle",
)


def tests_of(inference: Mapping[str, Any], row: Any, kept: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the results of the tests of a score.

    Parameters
    ----------
    inference
        The score's result in a file of inference.
    row
        Its row of scores.csv, with the adjusted p-values.
    kept
        Fields of a test that are kept, out of `KEPT`.

    Returns
    -------
    dict
        A test -> `reason`, why the p-value is missing; or `p_value`, `p_adjusted`, the name of the values with which
        the score is `compared`, and fields of the file of inference: p_low, p_high, p_lowest, alternative, method,
        draws, partitions, observed, histogram, and for control words `middle`.
    """
    tests = {}
    for test in significance.among(inference):
        record = inference[test.name]
        if record.get("p_value") is None:
            tests[test.name] = {
                "reason": record.get("reason", "the metric has no value for some permutations")
            }
        else:
            tests[test.name] = {
                "p_value": record["p_value"],
                "p_adjusted": number(getattr(row, test.adjusted)),
                "compared": test.compared,
            }
            tests[test.name] |= {name: record.get(name) for name in kept}
    return tests


def interval_of(inference: Mapping[str, Any], options: Mapping[str, Any], kind: str) -> dict[str, Any] | None:
    """Return the interval of a score: `kind`, `level`, and `low` and `high`, or the `reason` if it is missing.

    The result is None if no interval was requested. `options` are the parts of the inference.
    """
    bootstrap = inference.get("bootstrap")
    if bootstrap is None:
        return None
    record = {
        "kind": kind,
        "level": options["bootstrap"].get("level", Bootstrap.model_fields["level"].default),
    }
    low, high = bootstrap.get(kind) or (None, None)
    if low is None or high is None:
        return record | {"reason": bootstrap.get("reasons", {}).get(kind, "it has no number")}
    return record | {"low": low, "high": high}


def interval_of_units(scalars: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the interval over units of a corpus metric, with counts of units; None if it is missing.

    `low` and `high` are the 95 % interval over sentences (or windows). The "first" and "second" group each have the
    number of units with the group and the words, and the number of units with the group.
    """
    if scalars.get("ci_low") is None or "units_first" not in scalars:
        return None
    sides = {
        side: (int(scalars[f"units_{side}_words"]), int(scalars[f"units_{side}"]))
        for side in ("first", "second")
    }
    return {"low": scalars["ci_low"], "high": scalars["ci_high"], **sides}


def number(value: float | str) -> float | None:
    """Convert a number of a table for JSON; it is text in a column of a plugin's test that is not loaded."""
    value = math.nan if value == "" else float(value)
    return None if math.isnan(value) else value

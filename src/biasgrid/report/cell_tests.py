"""What the tests and the interval of a score say, in words and numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from ..inference import significance
from ..options import Bootstrap

# what the page takes of a test from a file of inference
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
    """What the tests of a score say.

    Parameters
    ----------
    inference
        The score's result in a file of inference.
    row
        Its row of scores.csv, with the adjusted p-values.
    kept
        What is taken of a test: of `KEPT`.

    Returns
    -------
    dict
        A test -> `reason`, why there is no p-value; or `p_value`, `p_adjusted`, what the score is `compared` with,
        and what the file of inference has: p_low, p_high, p_lowest, alternative, method, draws, partitions, observed,
        histogram, and of control words `middle`.
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
    """The interval of a score: `kind`, `level`, and `low` and `high`, or the `reason` why there is none; None where
    none was asked for. `options` are the parts of the inference."""
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
    """Of a metric of corpora: `low` and `high`, the 95 % interval over sentences (or windows), and of the "first"
    group and the "second" how many of them have it and the words, and how many it; None where there is none."""
    if scalars.get("ci_low") is None or "units_first" not in scalars:
        return None
    sides = {
        side: (int(scalars[f"units_{side}_words"]), int(scalars[f"units_{side}"]))
        for side in ("first", "second")
    }
    return {"low": scalars["ci_low"], "high": scalars["ci_high"], **sides}


def number(value: float | str) -> float | None:
    """A number of a table for JSON; text of a column that a plugin's test has, which is not loaded."""
    value = math.nan if value == "" else float(value)
    return None if math.isnan(value) else value

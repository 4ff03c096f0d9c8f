"""Tables of a simulation, from its cells: its results, and shares of small p-values on real vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest, kstest

from biasgrid.core.configs import read_json
from biasgrid.tables.table import ANY, Column, Table

from ..tables import REMEDY
from .populations import ALL_WORDS_DRAWS


def _make_simulation(inputs: Mapping[str, Any], spec: Mapping[str, Any]) -> pd.DataFrame:
    """Make the table of the simulation.

    `spec` has "cells", the metric, words and bias of each cell, and "all_words", the number of draws whose mean is
    the value of all words.
    """
    rows = [
        (*place, *row)
        for place, file in zip(spec["cells"], inputs["cells"], strict=True)
        for record in [read_json(file)]
        for row in [*_null_rows(record), *_coverage_rows(record, spec["all_words"])]
    ]
    # Rows with a number do not have a reason.
    rows = [row + (None,) * (len(SIMULATION.columns) - len(row)) for row in rows]
    return pd.DataFrame(rows, columns=SIMULATION.names)


def _make_calibration(inputs: Mapping[str, Any], spec: Mapping[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(shares(list(map(read_json, inputs["cells"]))), columns=CALIBRATION.names)


SIMULATION = Table(
    "simulation",
    "One row per number of a metric, number of words per set, and bias.",
    (
        Column("metric", "the metric's key in the config"),
        Column("words", "words per set", "count", range=(1, math.inf)),
        Column("bias", "how far apart the populations are", "number", range=ANY),
        Column("what", "which number it is: validation/calibration/README.md has all"),
        Column("value", "the number; a share, a p-value, or in the metric's unit", "number", range=ANY),
        Column(
            "low", "of a share, lower end of its 95 % interval (Clopper and Pearson)", "number", range=(0, 1)
        ),
        Column("high", "its upper end", "number", range=(0, 1)),
        Column("repetitions", "how many draws it is of", "count"),
        Column("reason", "why there is no number"),
    ),
    inputs=lambda simulation: (
        {"cells": list(map(simulation.cell_file, simulation.cells))} if simulation.cells else {}
    ),
    make=_make_simulation,
    spec=lambda simulation: {
        "cells": [list(cell.place.values()) for cell in simulation.cells.values()],
        "all_words": ALL_WORDS_DRAWS,
    },
    remedy=REMEDY,
)
CALIBRATION = Table(
    "calibration",
    "One row per model, kind of query, metric and test: how often the test rejects.",
    (
        Column("model", "the model's key in the config"),
        Column("kind", "how queries are drawn: validation/calibration/README.md says how"),
        Column("metric", "the metric's key in the config"),
        Column("test", "which test it is", values=("permutation", "random_groups")),
        Column("queries", "how many queries were drawn", "count"),
        Column("no_test", "how many of them have no p-value", "count"),
        Column("lowest_p", "the lowest p-value that was possible", "number", range=(0, 1)),
        Column(
            "rejected_0.05", "share of p ≤ .05, of the queries that have a p-value", "number", range=(0, 1)
        ),
        Column("low", "lower end of its 95 % interval (Clopper and Pearson)", "number", range=(0, 1)),
        Column("high", "its upper end", "number", range=(0, 1)),
        Column("low_of_all", "lower end of its interval, simultaneous over all rows", "number", range=(0, 1)),
        Column("high_of_all", "its upper end", "number", range=(0, 1)),
        Column("rejected_0.01", "share of p ≤ .01", "number", range=(0, 1)),
        Column("reason", "the most frequent reason why there is no p-value"),
    ),
    inputs=lambda simulation: (
        {"cells": list(map(simulation.real_file, simulation.real_cells))} if simulation.real_cells else {}
    ),
    make=_make_calibration,
    remedy=REMEDY,
)
TABLES = (SIMULATION, CALIBRATION)
# Kinds of true values for which intervals may be computed.
TRUE = ("expected", "all_words")
LEVELS = (0.05, 0.01)
# P-values that differ by less than this are equal.
ROUNDING = 1e-13

NO_ENDS = (math.nan, math.nan)


def shares(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple]:
    """Yield the rows of the table `CALIBRATION` from the results of `p_values` (`found`) for each `model` and `kind`.

    The share of p <= .05 has two 95 % intervals (Clopper & Pearson 1934): one for the row by itself, and one for all
    rows together (Bonferroni).
    """
    tests = [
        (record, metric, test)
        for record in records
        for metric, outcomes in record["found"].items()
        for test in outcomes
    ]
    rows = sum(any(p is not None for p in r["found"][m][test]["p_values"]) for r, m, test in tests)
    for record, metric, test in tests:
        outcome = record["found"][metric][test]
        values = np.array([p for p in outcome["p_values"] if p is not None])
        number, no_test = len(outcome["p_values"]), len(outcome["p_values"]) - len(values)
        reason = max(outcome["reasons"], key=outcome["reasons"].get, default=None)
        # A p-value of exactly the level rejects; (k + 1) / (n + 1) can be exactly the level.
        count, strict_count = (int((values <= level + ROUNDING).sum()) for level in LEVELS)
        ends = [math.nan] * 4
        if len(values):
            share = binomtest(count, len(values))
            ends = [*share.proportion_ci(0.95, "exact"), *share.proportion_ci(1 - 0.05 / rows, "exact")]
        rejection_shares = [n / len(values) if len(values) else math.nan for n in (count, strict_count)]
        lowest = math.nan if outcome["lowest"] is None else outcome["lowest"]
        yield (
            *(record["model"], record["kind"], metric, test, number, no_test, lowest),
            *(rejection_shares[0], *ends, rejection_shares[1], reason),
        )


def _null_rows(record: Mapping[str, Any]) -> Iterator[tuple]:
    if "reason" in record["null"]:
        yield "uniform_p", math.nan, *NO_ENDS, 0, record["null"]["reason"]
        return
    p_values, uniform = (np.array(record["null"][name]) for name in ("p_values", "uniform"))
    test = kstest(uniform, "uniform")
    yield "uniform_distance", test.statistic, *NO_ENDS, len(uniform)
    yield "uniform_p", test.pvalue, *NO_ENDS, len(uniform)
    for level in (0.05, 0.01):
        # A p-value of exactly the level rejects; (k + 1) / (n + 1) can be exactly the level.
        rejections = int((p_values <= level + ROUNDING).sum())
        yield f"rejected_{level:g}", *_share(rejections, len(p_values))


def _coverage_rows(record: Mapping[str, Any], all_words: int) -> Iterator[tuple]:
    settings, outcomes = record["settings"], record["found"]
    yield "expected", outcomes["expected"], *NO_ENDS, settings["truth"]
    yield "all_words", outcomes["all_words"], *NO_ENDS, all_words
    yield "deviation", outcomes["deviation"], *NO_ENDS, settings["truth"]
    yield "standard_error", outcomes["standard_error"], *NO_ENDS, settings["repetitions"]
    for kind, counts in outcomes["intervals"].items():
        intervals = counts["intervals"]
        for true in TRUE:
            yield f"{kind}_covers_{true}", *_share(counts[true], intervals)
        for side in ("below", "above"):
            yield f"{kind}_{side}", *_share(counts[side], intervals)
        yield f"{kind}_width", counts["width"], *NO_ENDS, intervals


def _share(count: int, repetitions: int) -> tuple[float, float, float, int]:
    """Compute a share, its 95 % interval (Clopper & Pearson 1934), and the number of repetitions."""
    if not repetitions:
        return math.nan, *NO_ENDS, 0
    return count / repetitions, *binomtest(count, repetitions).proportion_ci(0.95, "exact"), repetitions

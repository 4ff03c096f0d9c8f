"""Table of tests on shuffled corpora."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import beta, t

from biasgrid.core.configs import read_json
from biasgrid.tables.table import Column, Table

from ..tables import REMEDY


def _make(inputs: Mapping[str, Any], spec: Mapping[str, Any]) -> pd.DataFrame:
    """Make the table. `spec` has "kinds", the entry of each kind of query."""
    rows = shares(list(map(read_json, inputs["cells"])), spec["kinds"])
    return pd.DataFrame(rows, columns=FREQUENCY_TESTS.names)


def _spec(simulation: Any) -> dict[str, Any]:
    # All trainings have the same kinds.
    cells = simulation.frequency_cells.values()
    return {"kinds": {kind: entry for cell in cells for kind, entry in cell.spec["vectors"]["kinds"]}}


FREQUENCY_TESTS = Table(
    "frequency_tests",
    "One row per training, kind of query in shuffled corpora, metric and test: how often the test rejects.",
    (
        Column("training", "the training's key in the config; `all`: all of them together"),
        Column(
            "corpora", "whether a bias is injected into the shuffled corpora", values=("unbiased", "biased")
        ),
        Column("kind", "the kind of query, by its key in the config"),
        Column(
            "target_ratio",
            "how many times as frequent the first target set is as the second, in the middle",
            "number",
            range=(0, math.inf),
        ),
        Column("attribute_ratio", "the same of the attribute sets", "number", range=(0, math.inf)),
        Column(
            "share", "share of a target word's occurrences at which bias is injected", "number", range=(0, 1)
        ),
        Column("metric", "the metric's key in the config"),
        Column("test", "which test it is", values=("permutation", "frequency_bands", "control_words")),
        Column(
            "width", "how far bands of frequency reach; empty for other tests", "number", range=(1, math.inf)
        ),
        Column("corpora_count", "how many corpora the queries are of", "count"),
        Column("queries", "how many queries were drawn", "count"),
        Column("no_test", "how many of them have no p-value", "count"),
        Column(
            "rejected_0.05", "share of p ≤ .05, of the queries that have a p-value", "number", range=(0, 1)
        ),
        Column("low", "lower end of its 95 % interval (Korn and Graubard)", "number", range=(0, 1)),
        Column("high", "its upper end", "number", range=(0, 1)),
        Column(
            "design_effect",
            "the share's variance over corpora, as a multiple of that of independent queries",
            "number",
            range=(0, math.inf),
        ),
        Column("reason", "the most frequent reason why there is no p-value"),
    ),
    inputs=lambda simulation: (
        {"cells": list(map(simulation.frequency_cell_file, simulation.frequency_cells))}
        if simulation.frequency_cells
        else {}
    ),
    make=_make,
    spec=_spec,
    remedy=REMEDY,
)
TABLES = (FREQUENCY_TESTS,)
ALL = "all"
LEVEL = 0.05
ROUNDING = 1e-13


def shares(records: Sequence[Mapping[str, Any]], kinds: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple]:
    """Yield the rows of the table from the cells' results (`found`). Rows of all trainings together come last."""
    corpora: dict[tuple, dict[int, list[Mapping[str, Any]]]] = {}
    for training in (None, ALL):
        for record in records:
            for kind, of_metrics in record["found"].items():
                for metric, of_tests in of_metrics.items():
                    for test, outcome in of_tests.items():
                        key = training or record["training"], record["corpora"], kind, metric, test
                        corpora.setdefault(key, {}).setdefault(record["number"], []).append(outcome)
    for (training, corpora_kind, kind, metric, test), outcomes_of_corpora in corpora.items():
        name, _, width = test.partition(":")
        difference = (*kinds[kind]["frequency"], kinds[kind]["share"])
        place = training, corpora_kind, kind, *difference, metric, name, float(width or math.nan)
        yield *place, *_row(outcomes_of_corpora)


def _row(outcomes_of_corpora: Mapping[int, Sequence[Mapping[str, Any]]]) -> tuple:
    """Return the numbers of a row from the results of each corpus."""
    reasons: dict[str, int] = {}
    rejections, test_counts, queries = [], [], 0
    for outcomes in outcomes_of_corpora.values():
        values = np.array([p for outcome in outcomes for p in outcome["p_values"]], dtype=float)
        queries += len(values)
        values = values[~np.isnan(values)]
        # A p-value of exactly the level rejects; (k + 1) / (n + 1) can be exactly the level.
        rejections.append(int((values <= LEVEL + ROUNDING).sum()))
        test_counts.append(len(values))
        for outcome in outcomes:
            for reason, count in outcome["reasons"].items():
                reasons[reason] = reasons.get(reason, 0) + count
    share, low, high, effect = interval(rejections, test_counts)
    reason = max(reasons, key=reasons.get, default=None)
    return len(outcomes_of_corpora), queries, queries - sum(test_counts), share, low, high, effect, reason


def interval(rejections: Sequence[int], test_counts: Sequence[int]) -> tuple[float, float, float, float]:
    """Compute the share of tests that reject, its 95 % interval, and its design effect, from counts of each corpus.

    Queries of the same corpus may be more similar than queries of two corpora. Therefore, the interval is Clopper and
    Pearson's for an effective number of independent queries. With this number, the variance of the share equals its
    variance over corpora (Korn & Graubard 1998).

    Returns
    -------
    tuple
        NaN if nothing was tested. The design effect is also NaN if no test or every test rejects, and for a single
        corpus.
    """
    counts, sizes = np.array(rejections, dtype=float), np.array(test_counts, dtype=float)
    counts, sizes = counts[sizes > 0], sizes[sizes > 0]
    total, corpora = sizes.sum(), len(sizes)
    if not total:
        return math.nan, math.nan, math.nan, math.nan
    share, effective, effect = counts.sum() / total, total, math.nan
    if 0 < share < 1 and corpora > 1:
        variance = corpora / (corpora - 1) * ((counts - share * sizes) ** 2).sum() / total**2
        effect = variance / (share * (1 - share) / total)
        # Correct with quantiles of t, because variances of few corpora are estimated less precisely.
        inflation = t.ppf(0.975, corpora - 1) / t.ppf(0.975, total - 1)
        effective = min(total, total / (effect * inflation**2)) if effect else total
    successes = share * effective
    low = beta.ppf(0.025, successes, effective - successes + 1) if share > 0 else 0.0
    high = beta.ppf(0.975, successes + 1, effective - successes) if share < 1 else 1.0
    return float(share), float(low), float(high), float(effect)

"""Figures over phenomena: what they show, on any numbers."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from artists import texts
from biasgrid_plugin_maddalozzo.figures.phenomena import phenomena
from biasgrid_plugin_maddalozzo.figures.phenomenon_correlations import phenomenon_correlations
from biasgrid_plugin_maddalozzo.tables.phenomenon_correlations import PHENOMENON_CORRELATIONS

N = 30
LABELS = {
    "pmi": "PMI",
    "db": "Direct Bias (sums)",
    "brown": "Brown corpus (1961, 1.16 million words)",
    "own": "word2vec skip-gram 30d, trained here on the Brown corpus",
    "hard": "Hard debias",
}
NAMES = [f"Writing and fine arts {i}" for i in range(N)]


def scores(units, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"criterion": "Gender", "query_id": f"gender_{i}", "metric": metric, "model": model, "debias": debias}
        | {"value": value}
        for metric, model, debias in units
        for i, value in enumerate(rng.normal(size=N))
    )


def histograms(table, units, **options):
    ids = [f"gender_{i}" for i in range(N)]
    return phenomena(table, LABELS, "Gender", ids, units, {"pmi": 0.0, "db": 0.0}, **options)


@pytest.mark.slow
def test_what_has_no_value_has_no_panel():
    units = list(itertools.product(["pmi", "db"], ["brown", "own", "a", "b", "c"], ["none"]))
    few = histograms(scores(units[:1]), units)
    assert len(few.axes) == 1
    empty = histograms(scores(units).assign(value=math.nan), units)
    assert any(text.startswith("Nothing to draw") for text in texts(empty))


def points(units):
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {"phenomenon": NAMES[i], "metric": metric, "model": model, "debias": debias, "of": of}
        | {"value": value, "number": number}
        for metric, model, debias, of in units
        for i, (value, number) in enumerate(zip(rng.normal(size=N), np.exp(rng.normal(3, 2, N)), strict=True))
    )


def test_without_points_a_figure_says_so():
    figure = phenomenon_correlations(
        points([("db", "own", "none", "own")]).iloc[:0],
        pd.DataFrame(columns=PHENOMENON_CORRELATIONS.names),
        LABELS,
        "Gender",
        "pmi",
        [],
        {},
    )
    assert any(text.startswith("Nothing to draw") for text in texts(figure))

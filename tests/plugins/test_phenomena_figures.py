"""Figures over phenomena: what they show, on any numbers."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from artists import assert_readable, texts, unwrapped
from biasgrid_plugin_maddalozzo.figures.phenomena import BINS, phenomena
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


def test_each_panel_has_the_values_of_its_unit_the_mean_and_the_neutral_value():
    units = [("pmi", "brown", "none"), ("db", "own", "none"), ("db", "own", "hard")]
    table = scores(units)
    table.loc[table["metric"] == "db", "value"] = table["value"].abs()
    table.loc[(table["metric"] == "pmi") & (table["query_id"] == "gender_3"), "value"] = math.nan
    figure = histograms(table, units)
    assert_readable(figure)
    for axes, unit, n in zip(figure.axes, units, [N - 1, N, N], strict=True):
        assert len(axes.patches) == BINS
        assert sum(bar.get_height() for bar in axes.patches) == n
        mine = table[(table["metric"] == unit[0]) & (table["debias"] == unit[2])]["value"].dropna()
        neutral, mean = (line.get_xdata()[0] for line in axes.lines)
        assert (neutral, mean) == (0, pytest.approx(mine.mean()))
    said = unwrapped(figure)
    assert {f"PMI {LABELS['brown']}", "phenomena", "their mean", "neutral value"} <= set(said)
    assert f"Direct Bias (sums) {LABELS['own']} + Hard debias" in said
    assert sum(f"n = {N})" in text for text in said) == 2


@pytest.mark.slow
def test_what_has_no_value_has_no_panel():
    units = list(itertools.product(["pmi", "db"], ["brown", "own", "a", "b", "c"], ["none"]))
    figure = histograms(scores(units), units)
    assert_readable(figure)
    assert len(figure.axes) == len(units)
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


def correlations(units, quantity):
    rows = [
        ("Gender", *unit[:3], quantity, unit[3], method, N, value, value - 0.3, value + 0.25)
        for unit in units
        for method, value in (("pearson", 0.41), ("spearman", -0.2))
    ]
    return pd.DataFrame(rows, columns=PHENOMENON_CORRELATIONS.names)


@pytest.mark.parametrize("quantity", ["frequency", "pmi"])
def test_each_panel_has_its_points_and_its_correlations(quantity):
    units = [("db", "own", "none", "own"), ("db", "own", "hard", "brown"), ("pmi", "brown", "none", "brown")]
    panels = [units[0][:3], units[1], units[2][:3]]
    neutral = {"pmi": 0.0, "db": 0.0}
    table = points(units)
    figure = phenomenon_correlations(
        table, correlations(units, quantity), LABELS, "Gender", quantity, panels, neutral
    )
    assert_readable(figure)
    for axes, unit in zip(figure.axes, units, strict=True):
        mine = table[(table["metric"] == unit[0]) & (table["debias"] == unit[2])]
        (drawn,) = axes.collections
        # by way of logarithms
        assert np.ma.getdata(drawn.get_offsets()) == pytest.approx(
            mine[["number", "value"]].to_numpy(), rel=1e-12
        )
        assert axes.get_xscale() == ("log" if quantity == "frequency" else "linear")
        assert not any("$" in label.get_text() for label in axes.get_xticklabels())
        assert axes.get_title(loc="left").split("\n")[-1] == f"n = {N}, ρ = −.20 [−.50, .05]"
    # the highest and the lowest values are named, where there is room
    assert any(name in texts(figure) for name in NAMES)


def test_without_points_a_figure_says_so():
    figure = phenomenon_correlations(
        points([("db", "own", "none", "own")]).iloc[:0],
        correlations([], "pmi"),
        LABELS,
        "Gender",
        "pmi",
        [],
        {},
    )
    assert any(text.startswith("Nothing to draw") for text in texts(figure))

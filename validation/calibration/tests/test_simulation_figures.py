"""Figures of a simulation: each metric has panels of its own, right p-values stay in the band, all fit on a page."""

import itertools

import numpy as np
import pandas as pd
import pytest
from artists import assert_readable, texts
from matplotlib.collections import LineCollection

from biasgrid.figures.frame import PAGE
from validation.calibration.plots import LOWEST, coverage, p_values, shares

pytestmark = pytest.mark.slow

KINDS = ["percentile", "bca", "jackknife"]
LABELS = {f"metric_{i}": f"Metric {i}" for i in range(15)}


def covered(metrics, seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        (metric, words, bias, f"{kind}_covers_expected", rng.uniform(0.75, 0.99))
        for metric, kind, bias, words in itertools.product(LABELS, KINDS, (0.0, 0.5, 1.0), (8, 16, 32))
        if metric in list(LABELS)[:metrics]
    ]
    table = pd.DataFrame(rows, columns=["metric", "words", "bias", "what", "value"])
    return table.assign(low=table["value"] - 0.02, high=table["value"] + 0.01)


@pytest.mark.parametrize("metrics", [1, 15])
def test_coverage_has_a_panel_per_metric_and_kind_with_every_share_and_its_interval(metrics):
    table = covered(metrics)
    figure = coverage(table, LABELS, "expected", 0.95)
    assert len(figure.axes) == metrics * len(KINDS)
    assert (figure.get_size_inches() <= PAGE).all()
    assert_readable(figure)
    panels = iter(figure.axes)
    for metric in list(LABELS)[:metrics]:
        for kind in KINDS:
            axes = next(panels)
            mine = table[(table["metric"] == metric) & (table["what"] == f"{kind}_covers_expected")]
            (drawn,) = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata())]
            assert sorted(drawn.get_ydata()) == pytest.approx(sorted(mine["value"]))
            # each at a place of its own
            assert len(set(drawn.get_xdata())) == len(mine)
            (ends,) = [lines for lines in axes.collections if isinstance(lines, LineCollection)]
            found = sorted(y for part in ends.get_segments() for y in part[:, 1])
            assert found == pytest.approx(sorted([*mine["low"], *mine["high"]]))


def test_a_coverage_that_is_too_low_is_an_open_mark_with_its_number():
    table = covered(2)
    table.loc[4, ["value", "low", "high"]] = [0.123, 0.1, 0.15]
    figure = coverage(table, LABELS, "expected", 0.95)
    axes = figure.axes[0]
    assert "12" in [text.get_text() for text in axes.texts]
    opened = [line for line in axes.lines if line.get_markerfacecolor() == "white" and len(line.get_xdata())]
    assert [tuple(line.get_ydata()) for line in opened] == [(LOWEST,)]
    assert axes.get_ylim()[0] > 0.6
    assert any("below 70 %" in text for text in texts(figure))
    assert_readable(figure)


def test_right_p_values_stay_in_the_band_and_wrong_ones_leave_it():
    rng = np.random.default_rng(0)
    right = {(metric, words, 0.0): rng.uniform(size=500) for metric in LABELS for words in (8, 32)}
    figure = p_values(right | {("metric_3", 8, 0.0): rng.uniform(size=500) ** 2}, LABELS)
    assert (figure.get_size_inches() <= PAGE).all()
    assert_readable(figure)
    for axes, metric in zip(figure.axes, LABELS, strict=True):
        band = np.abs(axes.collections[0].get_paths()[0].vertices[:, 1]).max()
        farthest = max(np.abs(line.get_ydata()).max() for line in axes.lines)
        assert (farthest > band) == (metric == "metric_3")
        # whatever the farthest curve is, it is seen
        assert farthest < axes.get_ylim()[1] == -axes.get_ylim()[0]
    # too many small p-values lie above
    squared = figure.axes[3].lines[1]
    assert squared.get_ydata()[1:-1].mean() > 0.1


def test_shares_of_many_metrics_and_models_fit_on_a_page():
    rows = [
        (model, metric, test, kind, 0.05, 0.04, 0.07)
        for model in "abcde"
        for metric in [*LABELS, *(f"other_{i}" for i in range(15))]
        for test, kind in itertools.product(("random_groups", "permutation"), ("random", "coherent"))
    ]
    columns = ["model", "metric", "test", "kind", "rejected_0.05", "low", "high"]
    labels = LABELS | {f"other_{i}": f"Another metric {i}" for i in range(15)}
    labels |= {
        model: f"Model {model} of some words with a long name (subset, 13,013 words)" for model in "abcde"
    }
    figure = shares(pd.DataFrame(rows, columns=columns), labels)
    assert (figure.get_size_inches() <= PAGE).all()
    assert_readable(figure)

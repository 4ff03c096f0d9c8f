"""Figures of four crossed groups: the curve is the metric's, the region that of means of resamples."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from artists import assert_readable

import biasgrid as bg
from biasgrid import Query, figures
from biasgrid.figures import intersections
from biasgrid.figures.frame import caption
from biasgrid.figures.intersections import _curve, _region, quadrants
from biasgrid.metrics.ibd import THRESHOLDS, eibd, ibd

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("metric", [ibd, eibd])
def test_a_curve_has_the_metrics_shares(metric):
    groups = [RNG.normal(size=(size, 6)) for size in (4, 5, 6, 5)]
    score = metric(groups, [RNG.normal(size=(30, 6))])
    curve = _curve(pd.DataFrame(score.detail["thresholds"].values[0], columns=["from", "to"]), 0.95)
    for t in THRESHOLDS:
        at = curve[curve["threshold"] <= t].iloc[-1]
        assert at["share"] == pytest.approx(score.scalars[f"share_{t:g}"])
        assert at["low"] - 1e-12 <= at["share"] <= at["high"] + 1e-12
    width = np.diff(curve["threshold"])
    assert (curve["share"].iloc[:-1] * width).sum() == pytest.approx(score.value)


@pytest.mark.slow
def test_a_region_holds_the_means_of_other_samples_as_often_as_it_says():
    inside = []
    for seed in range(200):
        x, y = _region(np.random.default_rng(seed).normal(size=(60, 2)) * (3, 1), 0.95, seed)
        inside.append(matplotlib.path.Path(np.stack([x, y], axis=1)).contains_point((0, 0)))
    assert 0.9 < np.mean(inside) < 0.98


@pytest.mark.slow
def test_a_query_without_a_value_in_a_model_says_so():
    groups = ["A", "B", "C", "D"]
    place = {"criterion": "G", "metric": "fise", "debias": "none"}
    cells = [("p", "m"), ("p", "n"), ("q", "m")]
    words = [
        {**place, "query": q, "model": m, "detail": "axes", "word": f"w{i}", "column": axis, "value": value}
        for q, m in cells
        for i in range(5)
        for axis, value in zip("xy", RNG.normal(size=2), strict=True)
    ]
    contrasts = [
        {**place, "query": q, "model": m, "first": group, "quantity": name, "value": 0.25}
        for q, m in cells
        for group in groups
        for name in ("share", "expected_share")
    ]
    values = {"value": 0.3, "ci_low": np.nan, "ci_high": np.nan}
    scores = [{**place, "query": q, "model": m, **values} for q, m in cells]
    panels = [[q, f"words {q}"] for q in "pqr"]
    tables = map(pd.DataFrame, (words, contrasts, scores))
    figure = quadrants(*tables, {"m": "Model M"}, "G", "fise", panels, groups, "words", 1)
    texts = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert [part == ["no value"] for part in texts] == [False, False, False, True]
    assert texts[0] == ["25 %\n(25 %)"] * 4
    assert figure.axes[0].get_xlabel().strip() == "0.30"
    assert_readable(figure)


@pytest.mark.parametrize(("axes", "shown"), [("x", False), ("xy", True)])
def test_quadrants_of_one_word_and_of_one_axis(axes, shown):
    """As of a table that has lost its other rows."""
    place = {"criterion": "G", "metric": "fise", "debias": "none", "query": "q", "model": "m"}
    words = [{**place, "detail": "axes", "word": "w", "column": axis, "value": 0.5} for axis in axes]
    contrasts = [{**place, "first": "A", "quantity": "share", "value": 1.0}]
    scores = [{**place, "value": 0.3, "ci_low": np.nan, "ci_high": np.nan}]
    tables = map(pd.DataFrame, (words, contrasts, scores))
    figure = quadrants(*tables, {}, "G", "fise", [["q", "words"]], ["A", "B", "C", "D"], "words", 1)
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert [text.startswith("100 %") for text in texts[:1]] == [True] * shown


def test_groups_in_another_order_have_a_page_of_their_own(monkeypatch):
    """Which corner is whose is told once a page."""
    asked = [("ABCD", "p"), ("BADC", "p"), ("BADC", "q"), ("ABCD", "r")]
    queries = [
        Query({g: [g.lower()] for g in of}, {words: [words]}, name=f"{of} {words}") for of, words in asked
    ]
    monkeypatch.setattr(intersections, "_queries", lambda *_: [("G", "fise", queries)])
    study = SimpleNamespace(metrics=lambda _: {"fise": SimpleNamespace(params=None)})
    drawn = [
        (d.name, "".join(d.spec["groups"]), d.spec["panels"]) for d in intersections._quadrant_drawings(study)
    ]
    assert drawn == [
        ("quadrants-g", "ABCD", [["ABCD p", "p"], ["ABCD r", "r"]]),
        ("quadrants-g-2", "BADC", [["BADC q", "q"]]),
    ]


@pytest.mark.slow
def test_axes_about_another_centre_have_a_figure_of_their_own():
    words = [f"{letter}{i}" for letter in "abcdwv" for i in range(8)] + [f"n{i}" for i in range(60)]
    model = bg.load((words, RNG.normal(size=(len(words), 6)) + 0.5), name="m")
    groups = [[f"{letter}{i}" for i in range(8)] for letter in "abcd"]
    query = Query(groups, [[f"w{i}" for i in range(8)]], list("ABCD"), ["W"], name="q")
    origin = {"metric": "fise", "centre": "origin"}
    metrics = {"fise": {}, "fise_share": {}, "about": origin, "again": {**origin, "metric": "fise_share"}}
    grid = bg.measure_grid(metrics, {"G": {"q": query}}, [model], progress=False)
    drawings = list(figures.REGISTRY["quadrants"].drawings_of(grid.study))
    assert [(d.name, d.spec["metric"], d.spec["centre"]) for d in drawings] == [
        ("quadrants-g", "fise", "words"),
        ("quadrants-g-origin", "about", "origin"),
    ]
    points = []
    for metric, centre in (("fise", "the medians of 1,000 words of the model"), ("about", "the origin")):
        figure = grid.plot("quadrants", metric=metric)
        assert f"The axes are about {centre}." in caption(figure)
        points.append(figure.axes[0].lines[2].get_xydata())
    shift = points[1] - points[0]
    assert np.ptp(shift, axis=0).max() < 1e-9 < np.abs(shift).min()

"""The table of WEAT results prints each number under its metric, whatever else was published."""

import numpy as np
import pandas as pd
import pytest
import yaml
from artists import assert_readable
from conftest import ROOT

from biasgrid import comparison
from biasgrid.figures import draw
from biasgrid.figures.frame import PAGE
from biasgrid.figures.weat_table import weat_table
from biasgrid.plan.study import Study
from biasgrid.tables import REGISTRY

QUERIES = [
    {"key": key, "targets": [[f"{key} A", 1], [f"{key} B", 1]], "attributes": [["X", 1], ["Y", 1]]}
    for key in ("q1", "q2")
]
METRICS = [["weat", "WEAT"], ["weat_es", "effect size d"]]


def row(quantity, published, ours, **more):
    values = {"source": "A paper", "table": "1", "criterion": "C", "metric": "weat", "model": "a"}
    values |= {"quantity": quantity, "published": published, "ours": ours, "difference": ours - published}
    return values | {"verdict": "reproduced", "note": "", "origin": "printed"} | more


def table(rows):
    return pd.DataFrame(rows, columns=comparison.COMPARISON)


def drawn(rows, metrics=METRICS):
    figure = weat_table(table(rows), {"a": "Model A"}, "C", QUERIES, metrics)
    assert_readable(figure)
    assert (figure.get_size_inches() <= PAGE).all()
    return figure


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def entries(figure):
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def under(figure, head):
    """The texts below each column's head, column by column."""
    heads = [text for axes in figure.axes for text in axes.texts if text.get_text() == head]
    return [
        [
            t.get_text()
            for t in h.axes.texts
            if t.get_position()[0] == h.get_position()[0] and t.get_position()[1] > h.get_position()[1]
        ]
        for h in heads
    ]


def shades(figure):
    """The shaded cells' texts."""
    found = []
    for axes in figure.axes:
        for patch in axes.patches:
            (x, y), width, height = patch.get_xy(), patch.get_width(), patch.get_height()
            inside = [t for t in axes.texts if x < t.get_position()[0] < x + width]
            found += [t.get_text() for t in inside if y < t.get_position()[1] < y + height]
    return found


def test_a_metric_has_its_own_columns():
    figure = drawn(
        [
            row("q1: value", 0.33, 0.33),
            row("q1: value", 1.54, 1.54, metric="weat_es"),
            row("q1: value", 0.45, 0.45, metric="mac"),
            row("q1: /scalars/effect_size", 0.88, 0.88),
            row("abs_avg", 0.99, 0.99),
        ]
    )
    assert under(figure, "WEAT\nprinted") == [["0.33"]]
    assert under(figure, "WEAT\nours") == [["0.33 ✓"]]
    assert under(figure, "effect size d\nprinted") == [["1.54"]]
    assert not {"0.45", "0.88", "0.99"} & set(texts(figure))


def test_a_source_s_other_number_of_the_same_query_is_not_lost():
    figure = drawn(
        [
            row("q1: value", 0.1, 0.1, source="s"),
            row("q1: value", 0.2, 0.2, source="s", table="2"),
            row("q2: value", 0.3, 0.3, source="s", table="3"),
            row("q2: value", 0.4, 0.4, source="t"),
        ]
    )
    assert under(figure, "WEAT\nprinted") == [["0.10", "0.30"], ["0.20"], ["0.40"]]
    assert [text for text in texts(figure) if text in ("s", "s (2)", "t")] == ["s", "s (2)", "t"]


def test_a_p_value_of_a_normal_curve_alone_is_printed():
    figure = drawn([row("q1: p_normal", 0.027, 0.0271)])
    assert under(figure, "p\nprinted") == [["0.027"]]


@pytest.mark.parametrize(
    ("quantity", "number", "text"),
    [
        ("p_value", 1.0, "1"),
        ("p_value", 0.9999, "1"),
        ("p_value", 0.57, "0.57"),
        ("p_value", 0.0, "0"),
        ("p_value", 0.01, "0.01"),
        ("p_value", 2.6e-8, "2.6e−8"),
        ("value", -0.001, "0.00"),
        ("value", -0.05, "−0.05"),
    ],
)
def test_how_a_number_is_printed(quantity, number, text):
    assert {text, f"{text} ✓"} <= set(texts(drawn([row(f"q1: {quantity}", number, number)])))


def test_every_verdict_has_a_mark_and_its_meaning():
    rows = [
        row("q1: value", 0.1 * i, 0.1 * i, verdict=verdict, table=str(i))
        for i, verdict in enumerate(comparison.VERDICTS)
    ]
    figure = drawn(rows)
    judged = len(comparison.VERDICTS) - 2  # those of numbers that ours have
    assert len({text[0] for text in entries(figure)}) == judged
    assert "△  printed for other vectors, not judged" in entries(figure)
    assert "0.20 △" in texts(figure)


@pytest.mark.parametrize("verdict", ["no value", "explained", "not asked"])
def test_a_cell_without_a_number_has_no_shade_and_no_mark_of_a_verdict(verdict):
    figure = drawn([row("q1: value", 0.3, np.nan, verdict=verdict), row("q2: value", 0.5, 0.5)])
    assert under(figure, "WEAT\nours") == [["–", "0.50 ✓"]]
    assert shades(figure) == ["0.50 ✓"]
    # the legend has what is in the figure, and says what a dash is
    assert entries(figure) == [
        "✓  reproduced as printed",
        "–  not measured, or no value: comparison.csv has the reason",
    ]


def test_a_query_of_which_a_source_prints_nothing_is_an_empty_cell():
    figure = drawn([row("q1: value", 0.3, 0.3), row("q2: p_value", 0.5, 0.5)])
    assert under(figure, "WEAT\nprinted") == [["0.30"]]
    assert under(figure, "p\nprinted") == [["0.5"]]
    assert entries(figure)[-1] == "empty: nothing was printed of this query"
    assert len(shades(figure)) == 2


def test_many_models_stand_below_each_other_on_a_page():
    models = {key: f"Model {key} with a long name ({key * 12})" for key in "abc"}
    rows = [
        row(f"{query}: {what}", 0.1, 0.1, model=model)
        for model in models
        for query in ("q1", "q2")
        for what in ("value", "p_value", "p_normal")
    ]
    figure = weat_table(table(rows), models, "C", QUERIES, METRICS, list(models))
    assert_readable(figure)
    assert (figure.get_size_inches() <= PAGE).all()
    assert under(figure, "WEAT\nours") == [["0.10 ✓"] * 2] * 3


@pytest.mark.parametrize(
    "rows", [[], [row("abs_avg", 0.5, 0.5)], [row("q1: value", 0.5, 0.5, criterion="D")]]
)
def test_nothing_published_of_a_query_is_said(rows):
    figure = drawn(rows)
    said = [text.get_text() for text in figure.texts]
    assert said[0].startswith("C: ")
    assert said[1].startswith("Nothing to draw: the published files have no WEAT value")
    assert not figure.axes


def test_a_study_s_other_metrics_stay_out(tmp_path):
    config = yaml.safe_load((ROOT / "config" / "wefe_documentation.yaml").read_text())
    config |= {"figures": ["weat-table"], "results": str(tmp_path)}
    study = Study.of(config, root=ROOT)
    place = {"criterion": "WEFE documentation", "model": next(iter(study.models))}
    quantity = "wefe_family_careers: value"
    printed = {"weat": 0.46, "weat_es": 0.45, "mac": 0.84, "rnsb": 0.09, "ect": 0.73}
    rows = [row(quantity, x, x, metric=metric, **place) for metric, x in printed.items()]
    study.results.mkdir(parents=True, exist_ok=True)
    numbers = table(rows).reindex(columns=REGISTRY["comparison"].names, fill_value="")
    numbers.to_csv(study.results / "comparison.csv", index=False)
    found = texts(draw(study.figures["weat-table-wefe-documentation"]))
    assert sorted(text for text in found if text.endswith("✓")) == ["0.45 ✓", "0.46 ✓"]
    assert {"WEAT\nprinted", "WEAT-ES\nprinted"} <= set(found)

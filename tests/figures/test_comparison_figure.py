"""Every printed number and ours are drawn where they are, and can be read, for five rows as for hundreds."""

import numpy as np
import pandas as pd
import pytest
from artists import assert_readable, unwrapped

from biasgrid import BiasgridError, comparison, tables
from biasgrid.figures.comparison import comparison as draw
from biasgrid.figures.frame import PAGE

pytestmark = pytest.mark.slow

LABELS = {
    "weat": "WEAT",
    "weat_es": "WEAT-ES",
    "rnsb": "RNSB",
    "a": "Model A",
    "b": "Model B",
    "hard": "hard debias",
}
LONG = (
    "run_query(query, model, calculate_p_value=True, p_value_method='approximate', p_value_iterations=10000)"
)


def row(quantity, published, ours, verdict="reproduced", **more):
    values = {"source": "A paper", "table": "1", "criterion": "Gender", "metric": "weat", "model": "a"}
    values |= {"quantity": quantity, "published": published, "ours": ours, "difference": ours - published}
    return values | {"verdict": verdict, "note": "", "origin": "printed"} | more


def table(rows):
    return pd.DataFrame(rows, columns=comparison.COMPARISON)


def drawn(figure):
    """Numbers printed and ours, (panel, x) each."""
    printed, ours = [], []
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_linestyle() not in ("None", "", " "):
                continue
            # a mark on the margin has no number
            if line.get_transform() != axes.transData:
                continue
            ring = line.get_markerfacecolor() == "none"
            (printed if ring else ours).extend((axes.get_title(loc="left"), x) for x in line.get_xdata())
    return sorted(printed), sorted(ours)


def whole_study(n_queries, models, verdicts=("reproduced", "explained"), words=0):
    rng = np.random.default_rng(0)
    rows = []
    for metric in ("weat", "weat_es", "rnsb"):
        for model in models:
            for i in range(n_queries):
                names = ["value", *(f"/detail/probabilities/word{j}" for j in range(words))]
                for name in names:
                    x = rng.normal(0.5, 0.3)
                    place = {"metric": metric, "model": model, "verdict": verdicts[i % len(verdicts)]}
                    rows.append(row(f"q{i:02}: {name}", x, x + rng.normal(0, 0.01), **place))
            rows.append(row("abs_avg", 0.5, 0.5, metric=metric, model=model))
    return table(rows)


def names(n):
    return [(f"q{i:02}", f"Male terms and Female terms wrt Occupations {i} and Appearance") for i in range(n)]


def test_five_numbers():
    numbers = table(
        [
            row("q1: value", 0.46, 0.46),
            row("q1: /scalars/effect_size", 0.45, 0.45),
            row("q2: value", 0.11, 0.1, "explained"),
            row("q1: value", 0.2, 0.3, "differs", metric="rnsb"),
            row("abs_avg", 0.33, 0.33),
        ]
    )
    figure = draw(numbers, LABELS, [("q1", "First query"), ("q2", "Second query")])
    printed, ours = drawn(figure)
    assert printed == sorted(zip(numbers["metric"].map(LABELS), numbers["published"], strict=True))
    assert ours == sorted(zip(numbers["metric"].map(LABELS), numbers["ours"], strict=True))
    text = unwrapped(figure)
    assert {"A paper", "First query", "Second query", "mean of absolute scores", "2 of 2"} <= set(text)
    # what a verdict means is told where there is such a verdict
    assert {"printed", "ours, reproduced", "ours, differs"} <= set(text)
    assert "ours, on other vectors (not judged)" not in text
    assert_readable(figure)


def test_a_verdict_is_a_shape_and_a_model_a_colour():
    rows = [
        row(f"q{i}: value", 0.1 * i, 0.1 * i + 0.01, verdict, model=model)
        for i, verdict in enumerate(comparison.VERDICTS)
        for model in ("a", "a under hard", "b")
    ]
    figure = draw(table(rows), LABELS, [])
    marks = [line for line in figure.axes[0].lines if line.get_linestyle() == "None"]
    ours = [line for line in marks if line.get_markerfacecolor() != "none"]
    assert len({line.get_marker() for line in ours}) == len(comparison.VERDICTS) == 8
    assert len({line.get_color() for line in ours}) == 3
    text = unwrapped(figure)
    assert {"Model A", "Model A + hard debias", "Model B"} <= set(text)
    # one ring for a number that stands beside three models
    assert sum(line.get_markerfacecolor() == "none" for line in marks) == 8
    assert_readable(figure)


def test_a_number_that_we_do_not_have_is_on_the_margin():
    figure = draw(table([row("q1: value", 0.8, np.nan, "no value"), row("q2: value", 0.7, 0.7)]), LABELS, {})
    printed, ours = drawn(figure)
    assert ([x for _, x in printed], [x for _, x in ours]) == ([0.7, 0.8], [0.7])
    text = unwrapped(figure)
    assert "no value of ours (on the margin; the table has the reason)" in text
    assert "left out by the study (on the margin)" not in text
    assert_readable(figure)


def test_what_other_code_computed_is_a_square_and_not_called_printed():
    rows = [row("q1: value", 0.4, 0.4), row("q2: value", 0.4, 0.4, origin="computed by other code")]
    for some, entries in (
        (rows, {"printed", "computed by other code"}),
        (rows[1:], {"computed by other code"}),
    ):
        figure = draw(table(some), LABELS, [])
        rings = [line for axes in figure.axes for line in axes.lines if line.get_markerfacecolor() == "none"]
        assert sorted(line.get_marker() for line in rings) == ["o", "s"][-len(some) :]
        assert entries == {"printed", "computed by other code"} & set(unwrapped(figure))


def test_behind_a_row_stands_how_many_of_the_judged_numbers_agree():
    verdicts = ("reproduced", "compatible", "explained", "differs", "no value", "other vectors")
    rows = [row(f"q1: /detail/{v}", 0.1, np.nan if v == "no value" else 0.1, v) for v in verdicts]
    text = unwrapped(draw(table(rows), LABELS, [("q1", "A query")]))
    assert "2 of 4" in text
    # and the legend says what that counts
    assert any("2 of its 4 judged numbers are reproduced or compatible" in entry for entry in text)


@pytest.mark.parametrize(
    ("queries", "models", "words"),
    [
        (1, ["a"], 0),
        (16, ["a"], 0),
        (4, [f"model {i}" for i in range(7)], 0),
        (2, ["a", "b"], 30),
    ],
)
def test_as_many_numbers_as_there_are_can_be_read(queries, models, words):
    numbers = whole_study(queries, models, words=words)
    figure = draw(numbers, LABELS, names(queries))
    printed, ours = drawn(figure)
    assert len(ours) == len(numbers)
    shared = len(models) - 1  # of the aggregates, which are printed alike for all models
    assert len(printed) == len(numbers) - 3 * shared
    assert_readable(figure)


def test_long_names_wrap_and_ranks_have_a_panel_of_their_own():
    rows = [
        row("q1: value", 0.4, 0.4, source="docs/user_guide/" + "mitigation of bias " * 8, table=LONG),
        row("q1: value", 0.4, 0.4, source="docs/user_guide/" + "mitigation of bias " * 8, table="short"),
        *(row("rank", i, i, model=f"m{i}", criterion=c) for i in range(1, 8) for c in ("Gender", "Overall")),
        row("correlation", 0.9, 0.9, metric="weat~rnsb", model=""),
        row("abs_avg", 0.83, 0.83, criterion="Gender"),
    ]
    figure = draw(table(rows), LABELS, [("q1", "A query")])
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert sorted(titles) == ["WEAT", "WEAT", "WEAT", "WEAT and RNSB"]
    assert {"Gender rank", "Overall rank", "rank correlation"} <= set(unwrapped(figure))
    assert_readable(figure)


@pytest.mark.parametrize("smallest", [1e-8, 0.0])
def test_p_values_have_a_logarithmic_panel_of_their_own(smallest):
    rows = [
        row("q1: value", 1.54, 1.54),
        row("q1: p_value", smallest, 1e-6, "explained"),
        row("q1: p_normal", smallest, 2.6e-8),
        row("q2: p_value", 0.57, 0.53),
    ]
    figure = draw(table(rows), LABELS, [])
    scores, p_values = figure.axes
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["WEAT", "WEAT, p-values"]
    printed, ours = drawn(figure)
    assert [x for title, x in printed + ours if title == "WEAT"] == [1.54, 1.54]
    assert [x for title, x in ours if title != "WEAT"] == [2.6e-8, 1e-6, 0.53]
    assert (scores.get_xscale(), p_values.get_xscale()) == ("linear", "log" if smallest else "symlog")
    # every number is inside
    at = p_values.transData.transform([(x, 0) for x in (0.57, smallest)])[:, 0]
    assert p_values.bbox.x0 < at.min() < at.max() < p_values.bbox.x1
    assert_readable(figure)


def test_measures_of_an_evaluation_are_called_by_words():
    rows = [
        row("direct/extreme_she", 1.0, 0.8, "explained", metric=""),
        row("direct/direct_bias", 0.08, 0.08, metric=""),
        row("similarity/wordsim", 0.7, 0.7, metric=""),
    ]
    figure = draw(table(rows), LABELS, [])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["direct bias", "similarity benchmarks"]
    assert {"extreme she", "direct bias", "wordsim"} <= set(unwrapped(figure))
    assert_readable(figure)


def test_a_number_that_was_printed_as_nan_beside_another():
    rows = [row("q1: value", np.nan, np.nan), row("q1: value", 0.7, 0.6, "explained", model="b")]
    printed, ours = drawn(draw(table(rows), LABELS, []))
    assert [x for _, x in printed if not np.isnan(x)] == [0.7]
    assert [x for _, x in ours] == [0.6]


@pytest.mark.parametrize("what", ["value", "p_value"])
def test_a_panel_without_a_number_is_drawn(what):
    rows = [row(f"q1: {what}", np.nan, np.nan, "no value", model=model) for model in "ab"]
    rows += [row("abs_avg", 0.3, 0.3), row("q1: value", np.nan, np.nan, "not asked", metric="rnsb")]
    figure = draw(table(rows), LABELS, [("q1", "A query")])
    assert [x for _, x in drawn(figure)[1]] == [0.3]
    assert {
        "no value of ours (on the margin; the table has the reason)",
        "left out by the study (on the margin)",
    } <= set(unwrapped(figure))
    assert_readable(figure)


def test_a_difference_that_rounding_makes_is_not_blown_up():
    figure = draw(table([row("q1: value", 0.8416415235, 0.8416415242)]), LABELS, [])
    low, high = figure.axes[0].get_xlim()
    assert high - low > 0.05


def test_an_empty_comparison_is_an_error():
    with pytest.raises(BiasgridError, match="the table is empty"):
        draw(table([]), LABELS, [])


def test_a_metric_s_figure_has_its_numbers_alone_and_is_on_a_page():
    numbers = pd.concat(
        [
            whole_study(12, ["a", "b", "a under hard"], words=8),
            table(
                [
                    row("direct/direct_bias", 0.08, 0.09, metric=""),
                    row("correlation", 0.9, 0.8, metric="rnsb~weat"),
                ]
            ),
        ]
    )
    found = {}
    for metric in ("weat", "weat_es", "rnsb", ""):
        figure = draw(numbers, LABELS, names(12), metric)
        assert (figure.get_size_inches() <= PAGE).all()
        assert_readable(figure)
        found[metric] = [x for _, x in drawn(figure)[1]]
    # each number is in one figure, that of two metrics in the first one's
    assert sorted(x for of in found.values() for x in of) == sorted(numbers["ours"])
    assert 0.8 in found["rnsb"]
    assert found[""] == [0.09]


def test_a_metric_of_which_nothing_was_published_is_said():
    figure = draw(whole_study(1, ["a"]), LABELS | {"mac": "MAC"}, names(1), "mac")
    assert "MAC: published numbers and ours" in unwrapped(figure)
    assert any(text.startswith("Nothing to draw: ") for text in unwrapped(figure))


def test_a_table_that_was_written_is_drawn(tmp_path):
    numbers = whole_study(2, ["a"])
    written = numbers.reindex(columns=tables.REGISTRY["comparison"].names, fill_value="")
    written.to_csv(tmp_path / "comparison.csv", index=False)
    figure = draw(tables.read(tmp_path / "comparison.csv"), LABELS, names(2))
    assert len(drawn(figure)[1]) == len(numbers)

"""Every published number stands beside ours, with their difference and the verdict, what differs on top."""

import numpy as np
import pandas as pd
import pytest
from artists import entries, not_laid_out, texts, unwrapped

from biasgrid import tables
from biasgrid.figures.comparison import comparison as draw
from biasgrid.tables import published as comparison

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


def lines(figure):
    """Head of a panel -> its rows from top to bottom, each the texts from left to right."""
    found = {}
    for axes in figure.axes:
        rows = {}
        for text in axes.texts:
            x, y = text.get_position()
            rows.setdefault(round(y, 6), {})[x] = " ".join(text.get_text().split())
        head = " ".join(axes.get_title(loc="left").split())
        found[head] = [[of[x] for x in sorted(of)] for _, of in sorted(rows.items())]
    return found


def test_a_row_is_a_number_with_ours_their_difference_and_the_verdict():
    figure = draw(
        table(
            [
                row("q1: value", 0.46, 0.4625),
                row("q1: p_value", 0.25, 0.5, "differs"),
                row("q2: value", -1.5, -1.25, "explained", model="b under hard"),
                row("abs_avg", 0.33, 0.33),
            ]
        ),
        LABELS,
        [("q1", "First query"), ("q2", "Second query")],
    )
    head = ["number", "published", "this study", "difference", "check"]
    assert lines(figure) == {
        "A paper Model A": [
            head,
            ["First query: p-value, permutations", "0.25", "0.500", "0.25", "✗ differs"],
            ["First query", "0.46", "0.463", "0.0025", "✓ reproduced"],
            ["Gender: mean absolute score", "0.33", "0.330", "0", "✓ reproduced"],
        ],
        "A paper Model B + hard debias": [
            head,
            ["Second query", "\N{MINUS SIGN}1.5", "\N{MINUS SIGN}1.25", "0.25", "○ explained"],
        ],
    }
    said = " ".join(unwrapped(figure))
    assert "2 of 4 published numbers are reproduced" in said
    assert "Counts: differs 1, explained 1, reproduced 2." in said
    assert "WEAT" not in said


@not_laid_out()
def test_what_differs_most_as_a_share_of_the_larger_number_is_on_top():
    pairs = {"q1": (1.0, 2.0), "q2": (10.0, 8.0), "q3": (0.001, 0.004), "q4": (0.0, 0.0)}
    rows = [row(f"{q}: value", *pair, "differs" if q < "q4" else "reproduced") for q, pair in pairs.items()]
    rows += [row("q5: value", 0.4, 0.1), row("q6: value", 0.4, np.nan, "no value")]
    (of_panel,) = lines(draw(table(rows), LABELS, [])).values()
    # shares of .75, .5, .2; then what agrees, and what has no value
    assert [cells[0] for cells in of_panel[1:]] == ["q3", "q1", "q2", "q5", "q4", "q6"]


@pytest.mark.parametrize(
    ("quantity", "published", "ours", "is_near"),
    [
        ("value", 0.33, 0.344, True),  # 1.4 units of the last digit
        ("value", 0.33, 0.346, False),
        ("value", 12.0, 13.0, False),  # a whole number has no digit that rounding made
        ("rank", 1.5, 2.5, False),
        ("p_value", 1e-7, 2.6e-8, True),  # less than tenfold
        ("p_normal", 0.001, 0.00022, True),
        ("p_value", 1e-7, 2e-6, False),
        ("p_value", 1e-7, 0.0, False),
        ("p_value", 0.02, 0.002, False),  # no power of ten
        ("p_value", 0.0104, 0.002, False),
        ("p_value", 1.0, 0.5, False),
        ("value", 0.1, 0.02, True),
        ("value", 0.01, 0.09, False),  # no p-value
        ("p_value", 0.0, 0.4, False),
    ],
)
@not_laid_out()
def test_what_rounding_may_have_made_differs_in_print(quantity, published, ours, is_near):
    figure = draw(table([row(f"q1: {quantity}", published, ours, "differs")]), LABELS, [])
    ((_, cells),) = lines(figure).values()
    assert cells[-1] == ("≠ differs in print" if is_near else "✗ differs")


def test_what_is_more_than_rounding_or_agrees_does_not_differ_in_print():
    # zeros at the end are no digits of a number, and of its column all the same
    more = [row("q1: value", 0.8, 0.9, "differs"), row("q2: value", 0.25, 0.25)]
    assert "✗ differs" in texts(draw(table(more), LABELS, []))
    # what is not called so by the comparison is not called so here
    (entry,) = entries(draw(table([row("q1: value", 0.33, 0.344)]), LABELS, []))
    assert entry.startswith("✓ reproduced")


@not_laid_out()
def test_every_verdict_has_a_mark_and_its_meaning_where_it_is():
    rows = [row(f"q{i}: value", 0.1, 0.9, verdict) for i, verdict in enumerate(comparison.VERDICTS)]
    figure = draw(table(rows), LABELS, [])
    assert len(entries(figure)) == len(comparison.VERDICTS) == 9
    shown = {cells[-1] for of_panel in lines(figure).values() for cells in of_panel[1:]}
    assert {entry.partition(":")[0] for entry in entries(figure)} == shown
    assert entries(draw(table(rows[-1:]), LABELS, [])) == ["✗ differs: not as published"]


def test_a_number_that_we_do_not_have_is_a_dash():
    figure = draw(table([row("q1: value", 0.8, np.nan, "no value"), row("q2: value", 0.7, 0.7)]), LABELS, [])
    (of_panel,) = lines(figure).values()
    assert of_panel[2] == ["q1", "0.8", "–", "–", "– no value"]
    assert "– no value: comparison.csv has the reason" in entries(figure)


def test_what_other_code_computed_is_not_called_printed():
    rows = [row("q1: value", 0.4, 0.4, origin="computed by other code")]
    (of_panel,) = lines(draw(table(rows), LABELS, [])).values()
    assert of_panel[0][1] == "computed"


def test_names_tell_numbers_apart():
    source = "docs/user_guide/" + "mitigation of bias " * 8
    rows = [
        row("q1: value", 0.4, 0.4, source=source, table=LONG),
        row("q1: value", 0.4, 0.4, source=source, table="short"),
        row("rank", 1, 1, criterion="Gender"),
        row("rank", 2, 2, criterion="Overall"),
        row("correlation", 0.9, 0.9, metric="weat~rnsb", model=""),
        row("q2: /scalars/effect_size", 0.2, 0.2),
        row("direct/extreme_she", 1.0, 0.8, "explained", metric=""),
        row("similarity/wordsim", 0.7, 0.7, metric=""),
    ]
    figure = draw(table(rows), LABELS, [("q1", "A query")])
    drawn = {cells[0] for of_panel in lines(figure).values() for cells in of_panel[1:]}
    without_breaks = {name.replace(" ", "") for name in drawn}
    assert without_breaks == {
        name.replace(" ", "")
        for name in (
            f"WEAT: A query, {LONG}",
            "WEAT: A query, short",
            "WEAT: Gender: rank",
            "WEAT: Overall: rank",
            "Gender: rank correlation of WEAT and RNSB",
            "WEAT: q2: effect size",
            "direct bias: extreme she",
            "similarity benchmarks: wordsim",
        )
    }


def many(n, metrics=("weat", "weat_es", "rnsb"), models=("a", "b")):
    rng = np.random.default_rng(0)
    numbers = [
        row(f"q{i:03}: value", x, x + rng.normal(0, 0.01), metric=metric, model=model)
        for metric in metrics
        for model in models
        for i in range(n)
        for x in [rng.normal(0.5, 0.3)]
    ]
    return table(numbers)


def names(n):
    return [(f"q{i:03}", f"Male terms and Female terms wrt Occupations {i} and Appearance") for i in range(n)]


@not_laid_out()
def test_a_metric_s_figure_has_its_numbers_alone():
    numbers = pd.concat(
        [
            many(3),
            table(
                [
                    row("direct/direct_bias", 0.08, 0.09, metric=""),
                    row("correlation", 0.9, 0.8, metric="rnsb~weat", model=""),
                ]
            ),
        ]
    )
    drawn = {
        metric: [
            cells[0]
            for of_panel in lines(draw(numbers, LABELS, [], metric)).values()
            for cells in of_panel[1:]
        ]
        for metric in ("weat", "weat_es", "rnsb", "")
    }
    # each number is in one figure, that of two metrics in the first one's
    assert {metric: len(of) for metric, of in drawn.items()} == {"weat": 6, "weat_es": 6, "rnsb": 7, "": 1}
    assert "Gender: rank correlation of RNSB and WEAT" in drawn["rnsb"]
    assert drawn[""] == ["direct bias: direct bias"]


def test_a_metric_of_which_nothing_was_published_is_said():
    figure = draw(many(1), LABELS | {"mac": "MAC"}, names(1), "mac")
    assert "Published and reproduced values: MAC" in unwrapped(figure)
    assert any(text.startswith("Nothing to draw: ") for text in unwrapped(figure))


def test_a_table_that_was_written_is_drawn(tmp_path):
    numbers = many(2, models=["a"])
    written = numbers.reindex(columns=tables.REGISTRY["comparison"].names, fill_value="")
    written.to_csv(tmp_path / "comparison.csv", index=False)
    figure = draw(tables.read(tmp_path / "comparison.csv"), LABELS, names(2))
    assert sum(len(of_panel) - 1 for of_panel in lines(figure).values()) == len(numbers)

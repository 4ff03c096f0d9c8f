"""`examine` of the plugin `properties`: what metrics can and cannot see, in Python."""

import csv
import math

import pytest
from biasgrid_plugin_properties import examine
from conftest import ROOT

import biasgrid as bg


@pytest.fixture(scope="module")
def rnd():
    return examine("rnd")


def test_verdicts_are_the_documented_ones(rnd):
    with (ROOT / "docs" / "images" / "properties.csv").open(encoding="utf-8") as file:
        documented = {
            (r["label"], r["level"], r["property"], r["condition"]): r["holds"]
            for r in csv.DictReader(file)
            if r["metric"] == "rnd"
        }
    columns = ["label", "level", "property", "condition"]
    assert rnd.frame.set_index(columns)["holds"].to_dict() == documented


def test_the_matrix_is_metrics_by_properties(rnd):
    matrix = rnd.matrix
    assert list(matrix.index) == [
        (f"RND (distance: {distance})", level)
        for distance in ("norm", "cos")
        for level in ("one word", "words")
    ]
    assert matrix.loc[("RND (distance: norm)", "words")].to_dict() == {
        "comparable": "no",
        "trustworthy": "no",
        "sees skew": "no",
        "sees stereotype": "no",
        "always has a value": "yes",
        "ignores length": "no",
    }
    assert matrix.loc[("RND (distance: norm)", "one word"), "sees skew"] == ""


def test_a_counterexample_can_be_measured_again(rnd):
    table = rnd.counterexamples
    chosen = (table["metric"] == "RND (distance: norm)") & (table["of"] == "words")
    example = table[chosen & (table["property"] == "stereotype")].iloc[0]
    names = iter("abcdefgh")
    vectors = {next(names): row for rows in (*example["groups"], *example["words"]) for row in rows}
    first, second, *others = vectors
    query = bg.Query([[first], [second]], [others], ["A", "B"], ["Words"])
    assert bg.metrics.rnd(query, bg.load(vectors)).value == pytest.approx(0, abs=1e-6)
    # which another metric sees
    assert abs(bg.metrics.same(query, bg.load(vectors)).value) > 0.1


def test_a_metric_that_is_of_a_whole_model_is_not_examined():
    examined = examine(["gipe", bg.metrics.pmn])
    assert examined.frame["holds"].tolist() == ["not examined"] * 2
    assert examined.matrix.empty
    assert examined.counterexamples.empty
    assert "GIPE, PMN" in repr(examined)


@pytest.mark.slow
def test_both_figures_are_drawn(rnd, tmp_path):
    for kind in ("properties", "counterexamples"):
        assert rnd.plot(kind, path=tmp_path / f"{kind}.png").get_axes()
        assert (tmp_path / f"{kind}.png").stat().st_size > 1000
    assert "RND" in rnd._repr_html_()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("waet", "^unknown metric 'waet'; did you mean 'weat'"),
        (["rnd", 3], "^unknown metric 3"),
        (math.pi, "^metrics: expected names of metrics, not 3.14"),
        ([], "^metrics: there are none"),
    ],
)
def test_what_is_no_metric_is_answered_with_a_sentence(asked, says):
    with pytest.raises(bg.BiasgridError, match=says):
        examine(asked)


def test_wrong_figures_are_answered_with_a_sentence(rnd, tmp_path):
    with pytest.raises(
        bg.BiasgridError, match=r"^unknown kind of figure 'matrix'; allowed: properties, counter"
    ):
        rnd.plot("matrix")
    with pytest.raises(bg.BiasgridError, match=r"^path: "):
        rnd.plot(path=tmp_path / "figure.gif")

"""What is drawn is what the table says, all of it, where it can be read; and the files are the same every time."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from artists import (
    METRICS,
    assert_readable,
    ranking_table,
    texts,
    unwrapped,
)
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer
from matplotlib.text import Text

from biasgrid.figures.correlations import correlations
from biasgrid.figures.frame import Frame, blank, save, style
from biasgrid.figures.palette import series_mark
from biasgrid.figures.rankings import rankings, rankings_by_criterion
from biasgrid.figures.types.rows import rows

pytestmark = pytest.mark.slow

LABELS = {
    "weat": "WEAT",
    "weat_es": "WEAT-ES",
    "rnd": "RND",
    "rnsb": "RNSB",
    "word2vec-google-news-300": "word2vec Google News 300d (subset, 13,013 words)",
    "glove-twitter-200": "spaCy en_core_web_md 3.7.1 Explosion Vectors (pruned, 20,000 rows)",
}


def correlation_table(metrics, criteria, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for criterion in criteria:
        half = rng.uniform(-1, 1, (len(metrics), len(metrics)))
        matrix = (half + half.T) / 2
        np.fill_diagonal(matrix, 1.0)
        rows += [
            (criterion, "spearman", a, b, matrix[i, j])
            for i, a in enumerate(metrics)
            for j, b in enumerate(metrics)
        ]
    return pd.DataFrame(rows, columns=["criterion", "method", "metric_a", "metric_b", "correlation"])


def bars(axes):
    """model label -> metric label -> length"""
    rows = [" ".join(label.get_text().split()) for label in axes.get_yticklabels()]
    drawn = {row: {} for row in rows}
    for container in axes.containers:
        assert isinstance(container, BarContainer)
        for patch in container:
            row = round(patch.get_y() + patch.get_height() / 2)
            drawn[rows[row]][container.get_label()] = patch.get_width()
    return drawn


def test_rank_without_value_is_shown_and_the_model_comes_last():
    table = ranking_table()
    lost = (table["model"] == "conceptnet-numberbatch 19.08-en dim=300") & table["metric"].isin(
        ["rnd", "weat"]
    )
    table.loc[lost, "rank"] = np.nan
    table.loc[table["model"] == "glove-twitter-200", "rank"] = np.nan
    figure = rankings(table, {})
    (axes,) = figure.axes
    drawn = bars(axes)
    assert list(drawn)[-2:] == ["conceptnet-numberbatch 19.08-en dim=300", "glove-twitter-200"]
    assert drawn["conceptnet-numberbatch 19.08-en dim=300"] == {"rnsb": 1, "weat_es": 2}
    assert drawn["glove-twitter-200"] == {}
    # what has no value is said in words
    said = {
        round(text.get_position()[1]): text.get_text() for text in axes.texts if "no value" in text.get_text()
    }
    assert said == {5: "no value: rnd, weat", 6: "no value"}
    # the sum of what there is
    assert "(3)" in texts(axes)
    assert any("not comparable" in text for text in texts(figure))


def test_a_metric_without_any_rank_is_said_and_makes_no_model_incomplete():
    table = ranking_table()
    table.loc[table["metric"] == "rnd", "rank"] = np.nan
    figure = rankings(table, {})
    assert [text.get_text() for text in figure.legends[0].texts] == ["rnsb", "weat", "weat_es"]
    assert "No model has a value of rnd: All topics." in " ".join(texts(figure))
    assert not any("no value" in text.get_text() or "(" in text.get_text() for text in figure.axes[0].texts)


def test_a_model_that_a_criterion_does_not_have_is_shown_without_value():
    table = ranking_table(criteria=["Gender", "Overall"])
    absent = (table["criterion"] == "Gender") & (table["model"] == "glove-twitter-200")
    figure = rankings_by_criterion(table[~absent], {})
    by_title = {axes.get_title(loc="left"): axes for axes in figure.axes}
    assert texts(by_title["Gender"]).count("no value") == 1
    assert not any("no value" in text for text in texts(by_title["All topics"]))


def test_models_under_a_debias_method_have_bars_of_their_own():
    table = ranking_table()
    both = pd.concat([table, table.assign(debias="hard")])
    drawn = bars(rankings(both, {}).axes[0])
    assert len(drawn) == 14
    assert "glove-twitter-200 + hard" in drawn


def test_negative_and_missing_correlations_show():
    table = correlation_table(["a", "b", "c"], ["Overall"])
    table["correlation"] = [1, -0.25, -0.004, -0.25, 1, np.nan, -0.004, np.nan, 1]
    axes = correlations(table, {}).axes[0]
    written = {tuple(t.get_position()): t.get_text() for t in axes.texts if t.get_ha() == "center"}
    # no minus before a zero
    assert written == {(0.5, 0.5): "−.25", (0.5, 1.5): ".00", (1.5, 1.5): "n/a"}
    # negative is on the orange side, and differs from zero and from positive
    mesh = next(artist for artist in axes.get_children() if isinstance(artist, QuadMesh))
    red, _, blue = to_rgb(mesh.cmap(mesh.norm(-0.25)))
    assert red > blue + 0.1


def test_rows_take_the_ends_that_a_table_names_for_them():
    ends = {"low": 0.5, "high": 1.5, "ci_low": 0.0, "ci_high": 2.0}

    def drawn(*columns):
        axes = blank(2, 2).add_subplot()
        table = pd.DataFrame(
            [{"row": "a", "series": "s", "value": 1.0} | {column: ends[column] for column in columns}]
        )
        rows(axes, table, {"a": "a"}, {"s": series_mark(0)})
        lines = [part for part in axes.collections if isinstance(part, LineCollection)]
        return [segment[:, 0].tolist() for part in lines for segment in part.get_segments()]

    assert drawn(*ends) == drawn("low", "high") == [[0.5, 1.5]]
    assert drawn("ci_low", "ci_high") == [[0.0, 2.0]]
    assert drawn() == []


def test_a_method_of_the_table_is_drawn():
    table = correlation_table(METRICS, ["Overall"])
    kendall = table.assign(method="kendall", correlation=0.125)
    figure = correlations(pd.concat([table, kendall]), LABELS, "kendall")
    assert set(texts(figure.axes[0])) >= {".12"}
    assert "Kendall" in figure.axes[-1].get_xlabel()


def test_a_criterion_of_one_metric_has_no_correlation_and_that_is_said():
    small = pd.concat(
        [correlation_table(["weat"], ["Gender"]), correlation_table(["weat", "rnd"], ["Religion"])]
    )
    figure = correlations(pd.concat([correlation_table(METRICS, ["Overall"]), small]), {})
    assert [len(axes.get_yticklabels()) for axes in figure.axes[:-1]] == [3, 1]
    assert any("Gender has one metric" in text for text in unwrapped(figure))
    assert "Gender has one metric" in " ".join(unwrapped(correlations(small[:1], {})))


def ranks_of(models, lost=()):
    """Two metrics that rank so many models; of `lost` ones, the second has no rank."""
    rows = [
        ("Overall", metric, f"m{i}", "none", np.nan if metric == "b" and i in lost else float(i + 1), 0)
        for metric in "ab"
        for i in range(models)
    ]
    return pd.DataFrame(rows, columns=["criterion", "metric", "model", "debias", "rank", "cells_nan"])


def test_correlations_say_of_how_many_models_they_are_and_fewer_than_four_have_none():
    table = correlation_table(["a", "b"], ["Overall"]).assign(correlation=1.0)
    figure = correlations(table, {}, rankings=ranks_of(5))
    assert figure.axes[0].get_title(loc="left") == "All topics, n = 5 models"
    assert texts(figure.axes[0]).count("1.00") == 1
    # a pair of metrics that has too few models in common
    figure = correlations(table, {}, rankings=ranks_of(5, lost=[0, 1]))
    assert figure.axes[0].get_title(loc="left") == "All topics, n = 3 models"
    written = texts(figure.axes[0])
    assert (written.count("1.00"), written.count("n/a")) == (0, 1)
    assert any("n/a: fewer than 4 models" in text for text in texts(figure))
    said = unwrapped(correlations(table, {}, rankings=ranks_of(2)))
    assert any("fewer than 4 models have ranks" in text for text in said)
    # a criterion of few models beside one of many
    both = pd.concat([table, table.assign(criterion="Gender")])
    ranks = pd.concat([ranks_of(5), ranks_of(3).assign(criterion="Gender")])
    figure = correlations(both, {}, rankings=ranks)
    assert [axes.get_title(loc="left") for axes in figure.axes[:-1]] == ["All topics, n = 5 models"]
    assert "fewer than 4 models have ranks: Gender." in " ".join(unwrapped(figure))


@pytest.mark.parametrize("above", ["offset", "another axis"])
def test_a_head_stands_above_what_is_above_its_panel(above):
    """What numbers of the y axis are offset by; ticks of an axis that shares the panel. In figures of plugins."""
    with style():
        page = Frame("A title", "What is shown", ["How to read it."])
        axes = page.panel(1)
        axes.plot([0, 1], [1e7 + 1, 1e7 + 2] if above == "offset" else [0, 1])
        axes.set_title("A head", loc="left")
        if above == "another axis":
            axes.twiny().plot([5, 6], [0, 1])
        figure = page.done()
    assert_readable(figure)


def test_a_saved_figure_can_be_searched_and_a_save_that_fails_changes_nothing(tmp_path):
    few = {"a": (1, 2, 2, 1), "b": (2, 1, 1, 2)}
    figure = rankings(ranking_table(few), LABELS)
    save(figure, str(tmp_path / "a"))
    assert matplotlib.image.imread(tmp_path / "a.png").shape[1] >= 200 * figure.get_figwidth() - 1
    pdf = (tmp_path / "a.pdf").read_bytes()
    # TrueType, so that text can be searched; no date
    assert b"CIDFontType2" in pdf or b"/TrueType" in pdf
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf
    assert "<dc:date>" not in (tmp_path / "a.svg").read_text(encoding="utf-8")

    class Broken(Text):
        def draw(self, renderer):
            raise RuntimeError("no ink")

    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    figure.add_artist(Broken(0.5, 0.5, "x"))
    with pytest.raises(RuntimeError, match="no ink"):
        save(figure, tmp_path / "a")
    # and whole files under their own names only; what was written aside may lie there until the next run
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert after == before


def test_a_model_ranked_by_fewer_scores_is_marked():
    table = ranking_table()
    table.loc[(table["model"] == "glove-twitter-200") & (table["metric"] == "rnd"), "cells_nan"] = 3
    drawn = rankings(table, LABELS)
    sums = [text.get_text() for text in drawn.axes[0].texts if text.get_text().rstrip("†").isdigit()]
    assert [text for text in sums if text.endswith("†")] == ["18†"]
    assert any("† ranked without some scores" in text for text in texts(drawn))
    plain = rankings(ranking_table(), LABELS)
    assert not any("†" in text for text in texts(plain))

"""What is drawn is what the table says, all of it, where it can be read; and the files are the same every time."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from artists import (
    LONG,
    METRICS,
    PAIRED,
    PUBLISHED,
    assert_readable,
    marks_of,
    names,
    ranking_table,
    texts,
    unwrapped,
)
from conftest import ROOT
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex, to_rgb
from matplotlib.container import BarContainer
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from biasgrid import BiasgridError, metrics
from biasgrid.figures import REGISTRY as FIGURES
from biasgrid.figures.correlations import correlations
from biasgrid.figures.frame import PAGE, save
from biasgrid.figures.rankings import rankings, rankings_by_criterion
from biasgrid.figures.scores import scores
from biasgrid.plan.study import Study

pytestmark = pytest.mark.slow

LABELS = {
    "weat": "WEAT",
    "weat_es": "WEAT-ES",
    "rnd": "RND",
    "rnsb": "RNSB",
    "word2vec-google-news-300": "word2vec Google News 300d (subset, 13,013 words)",
    "glove-twitter-200": "spaCy en_core_web_md 3.7.1 Explosion Vectors (pruned, 20,000 rows)",
}
CRITERIA = ["Gender", "Ethnicity", "Religion", "Overall"]
SINGLE = [f"Male terms and Female terms wrt {name}" for name in ("Career", "Family", "Math", "Arts")]


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


def score_table(queries, models, criterion="Gender", seed=0):
    """`queries`: metric -> its queries"""
    rng = np.random.default_rng(seed)
    rows = [
        (criterion, query, metric, model, "none", rng.normal(0.2, 0.5), "ok")
        for metric, names in queries.items()
        for query in names
        for model in models
    ]
    return pd.DataFrame(rows, columns=["criterion", "query", "metric", "model", "debias", "value", "status"])


def lose(table, rows, status="lost_words:Career"):
    table.loc[rows, "value"] = np.nan
    table.loc[rows, "status"] = status
    return table


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


def test_ranking_bars_are_the_published_ranks():
    figure = rankings(ranking_table(), LABELS)
    (axes,) = figure.axes
    expected = {
        LABELS.get(model, model): dict(zip([LABELS[m] for m in METRICS], ranks, strict=True))
        for model, ranks in PUBLISHED.items()
    }
    drawn = bars(axes)
    assert drawn == expected
    # least total on top, as in the paper's figure 2; a tie goes by key
    assert list(drawn) == sorted(drawn, key=lambda model: (sum(drawn[model].values()), model))
    assert axes.yaxis_inverted()
    # numbers in the segments: the published ranks; and the sums at the ends
    numbers = sorted(text.get_text() for text in axes.texts)
    assert numbers == sorted(
        [str(r) for ranks in PUBLISHED.values() for r in ranks]
        + [str(sum(ranks)) for ranks in PUBLISHED.values()]
    )
    # segments of a bar join
    ends = {}
    for container in axes.containers:
        for patch in container:
            assert patch.get_x() == pytest.approx(ends.get(patch.get_y(), 0.0))
            ends[patch.get_y()] = patch.get_x() + patch.get_width()
    assert any("lower = less biased" in text for text in texts(figure))
    # WEFE's form, and what it hides
    assert any("A sum of ranks has no interval" in text for text in unwrapped(figure))
    assert axes.get_title(loc="left") == "Overall"
    undecided = rankings(ranking_table(), LABELS, undecided=["Overall"])
    assert undecided.axes[0].get_title(loc="left") == "Overall: order undecided"
    assert {"WEAT", "WEAT-ES", "RND", "RNSB"} <= {text.get_text() for text in figure.legends[0].texts}
    assert_readable(figure)


def test_no_two_metrics_look_alike():
    ranks = pd.DataFrame(
        [
            ("Overall", f"metric {i:02}", m, "none", rank, 0)
            for i in range(19)
            for rank, m in ((1.0, "a"), (2.0, "b"))
        ],
        columns=["criterion", "metric", "model", "debias", "rank", "cells_nan"],
    )
    figure = rankings(ranks, {})
    drawn = [bars[0] for bars in figure.axes[0].containers]
    for areas in (drawn, figure.legends[0].get_patches()):
        assert len({(area.get_facecolor(), area.get_hatch()) for area in areas}) == len(areas) == 19
    assert_readable(figure)


def test_ranking_number_stands_in_its_segment():
    ranks = {f"model {i:02}": [float(1 + (5 * i + 3 * j) % 12) for j in range(4)] for i in range(12)}
    ranks["model 00"][0] = ranks["model 05"][0] = 1.5
    figure = rankings(ranking_table(ranks), {})
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    (axes,) = figure.axes
    segments = [patch.get_window_extent(renderer) for container in axes.containers for patch in container]
    inside = [text.get_window_extent(renderer) for text in axes.texts if text.get_ha() == "center"]
    assert len(inside) == len(segments) == 48
    for box in inside:
        assert any(s.x0 < box.x0 and box.x1 < s.x1 and s.y0 < box.y0 and box.y1 < s.y1 for s in segments)


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
    # what has no value is said in words, after the sum of what there is; no bar or mark stands for it
    said = {
        round(text.get_position()[1]): text.get_text() for text in axes.texts if "no value" in text.get_text()
    }
    assert said == {5: "no value: rnd, weat", 6: "no value"}
    assert len(axes.patches) == 4 * 5 + 2
    # the sum of what there is, told apart; no sum of nothing
    assert "(3)" in texts(axes)
    assert sum(text.get_weight() == "bold" for text in axes.texts) == 5
    assert any("do not compare" in text for text in texts(figure))
    assert_readable(figure)


def test_a_metric_without_any_rank_is_said_and_makes_no_model_incomplete():
    table = ranking_table()
    table.loc[table["metric"] == "rnd", "rank"] = np.nan
    figure = rankings(table, {})
    assert [text.get_text() for text in figure.legends[0].texts] == ["rnsb", "weat", "weat_es"]
    assert "No model has a value of rnd: Overall" in "\n".join(texts(figure)).split("\n")
    assert not any("no value" in text.get_text() or "(" in text.get_text() for text in figure.axes[0].texts)
    # nor is a figure of nothing but missing ranks one of bars
    table["rank"] = np.nan
    figure = rankings(table, {})
    assert texts(figure.axes[0]).count("no value") == len(PUBLISHED)
    assert not figure.axes[0].patches
    assert_readable(figure)


def test_a_model_that_a_criterion_does_not_have_is_shown_without_value():
    table = ranking_table(criteria=["Gender", "Overall"])
    absent = (table["criterion"] == "Gender") & (table["model"] == "glove-twitter-200")
    figure = rankings_by_criterion(table[~absent], {})
    by_title = {axes.get_title(loc="left"): axes for axes in figure.axes}
    assert texts(by_title["Gender"]).count("no value") == 1
    assert not any("no value" in text for text in texts(by_title["Overall"]))


def test_small_multiples_share_order_colours_and_scale():
    table = ranking_table(criteria=CRITERIA)
    # backwards in one criterion
    gender = table["criterion"] == "Gender"
    table.loc[gender, "rank"] = 8 - table.loc[gender, "rank"]
    copy = table.copy()
    figure = rankings_by_criterion(table, LABELS)
    pd.testing.assert_frame_equal(table, copy)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        "Ethnicity",
        "Gender",
        "Religion",
        "Overall",
    ]
    assert len({tuple(axes.get_xlim()) for axes in figure.axes}) == 1
    by_title = {axes.get_title(loc="left"): axes for axes in figure.axes}
    order = list(bars(rankings(table, LABELS).axes[0]))
    first = [" ".join(label.get_text().split()) for label in figure.axes[0].get_yticklabels()]
    assert first == order
    overall = {c.get_label(): [p.get_width() for p in c] for c in by_title["Overall"].containers}
    turned = {c.get_label(): [8 - p.get_width() for p in c] for c in by_title["Gender"].containers}
    assert overall == turned
    for axes in figure.axes:
        assert [to_hex(c[0].get_facecolor()) for c in axes.containers] == [
            to_hex(c[0].get_facecolor()) for c in figure.axes[0].containers
        ]
    assert_readable(figure)


def test_models_under_a_debias_method_have_bars_and_marks_of_their_own():
    table = ranking_table()
    both = pd.concat([table, table.assign(debias="hard")])
    drawn = bars(rankings(both, {}).axes[0])
    assert len(drawn) == 14
    assert "glove-twitter-200 + hard" in drawn
    table = score_table({"weat": PAIRED}, ["a", "b"])
    figure = scores(pd.concat([table, table.assign(debias="hard")]), {}, "Gender", {"weat": 0.0})
    marks = marks_of(figure.axes[0])
    assert len(marks) == 12
    # the states of a model share its look; a letter stands beside the debiased one's marks, and in the legend
    assert len({look for look, _ in marks}) == 2
    assert sum(len(letters.get_offsets()) for letters in figure.axes[0].collections) == 6
    handles = figure.legends[0].legend_handles[:4]
    assert len({str(getattr(h.get_marker(), "vertices", h.get_marker())) for h in handles}) == 4


@pytest.mark.parametrize("criteria", [["Overall"], [*CRITERIA, "Age", "Class", "Caste"]])
def test_triangles_hold_the_correlations(criteria):
    table = correlation_table(METRICS, criteria)
    figure = correlations(table, LABELS)
    *panels, bar = figure.axes
    # all criteria together first
    heads = [axes.get_title(loc="left") for axes in panels]
    assert heads == sorted(criteria, key=lambda c: (c != "Overall", c))
    order = ["rnd", "rnsb", "weat", "weat_es"]
    for axes in panels:
        part = table[table["criterion"] == axes.get_title(loc="left")]
        values = part.set_index(["metric_a", "metric_b"])["correlation"]
        mesh = next(artist for artist in axes.get_children() if isinstance(artist, QuadMesh))
        assert (mesh.norm.vmin, mesh.norm.vmax) == (-1, 1)
        shades = np.ma.masked_invalid(mesh.get_array().reshape(3, 3))
        written = {tuple(map(int, text.get_position()[::-1])): text.get_text() for text in axes.texts}
        # rows from the second metric on, columns up to the last but one: nothing above the diagonal
        assert set(written) == {(row, column) for row in range(3) for column in range(row + 1)}
        assert shades.mask.tolist() == [[False, True, True], [False, False, True], [False] * 3]
        for (row, column), text in written.items():
            value = values[order[row + 1], order[column]]
            assert shades[row, column] == value
            assert float(text.replace("−", "-")) == pytest.approx(value, abs=0.005001)
        assert [label.get_text() for label in axes.get_yticklabels()] == [LABELS[key] for key in order[1:]]
        assert [label.get_text() for label in axes.get_xticklabels()] == [LABELS[key] for key in order[:-1]]
    # one scale for all, of the full range
    assert bar.get_ylim() == (-1, 1)
    assert "Spearman" in bar.get_ylabel()
    assert_readable(figure)


def test_negative_and_missing_correlations_show():
    table = correlation_table(["a", "b", "c"], ["Overall"])
    table["correlation"] = [1, -0.25, -0.004, -0.25, 1, np.nan, -0.004, np.nan, 1]
    axes = correlations(table, {}).axes[0]
    written = {tuple(t.get_position()): t.get_text() for t in axes.texts}
    # no minus before a zero
    assert written == {(0.5, 0.5): "−.25", (0.5, 1.5): ".00", (1.5, 1.5): "n/a"}
    hatched = [p for p in axes.patches if isinstance(p, Rectangle) and p.get_hatch()]
    assert {tuple(np.floor(p.get_xy()).astype(int)) for p in hatched} == {(1, 1)}
    # negative is on the blue side, and differs from zero and from positive
    mesh = next(artist for artist in axes.get_children() if isinstance(artist, QuadMesh))
    red, _, blue = to_rgb(mesh.cmap(mesh.norm(-0.25)))
    assert blue > red + 0.1


def test_a_method_of_the_table_is_drawn():
    table = correlation_table(METRICS, ["Overall"])
    kendall = table.assign(method="kendall", correlation=0.125)
    figure = correlations(pd.concat([table, kendall]), LABELS, "kendall")
    assert set(texts(figure.axes[0])) >= {".12"}
    assert "Kendall" in figure.axes[-1].get_ylabel()


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
    assert figure.axes[0].get_title(loc="left") == "Overall, n = 5 models"
    assert texts(figure.axes[0]).count("1.00") == 1
    # a pair of metrics that has too few models in common
    figure = correlations(table, {}, rankings=ranks_of(5, lost=[0, 1]))
    assert figure.axes[0].get_title(loc="left") == "Overall, n = 3 models"
    written = texts(figure.axes[0])
    assert (written.count("1.00"), written.count("n/a")) == (0, 1)
    assert any("n/a: fewer than 4 models" in text for text in texts(figure))
    assert_readable(figure)
    figure = correlations(table, {}, rankings=ranks_of(2))
    assert not figure.axes
    assert any("fewer than 4 models have ranks" in text for text in unwrapped(figure))
    # a criterion of few models beside one of many
    both = pd.concat([table, table.assign(criterion="Gender")])
    ranks = pd.concat([ranks_of(5), ranks_of(3).assign(criterion="Gender")])
    figure = correlations(both, {}, rankings=ranks)
    assert [axes.get_title(loc="left") for axes in figure.axes[:-1]] == ["Overall, n = 5 models"]
    assert "fewer than 4 models have ranks: Gender." in " ".join(unwrapped(figure))
    assert_readable(figure)


def losses_of(axes):
    """((marker, colour), row) of every mark on the margin."""
    return sorted(
        ((line.get_marker(), to_hex(line.get_color())), round(y))
        for line in axes.lines
        if line.get_linestyle() == "None" and line.get_transform() == axes.get_yaxis_transform()
        for _, y in line.get_xydata()
    )


def test_scores_are_where_the_table_says():
    models = ["m3", "m1", "m2", "glove-twitter-200"]
    queries = {"weat": PAIRED, "rnd": SINGLE, "weat_es": PAIRED, "ect": SINGLE}
    table = lose(score_table(queries, models), [1, 2, 30])
    # the last of a criterion that is not drawn: its model keeps its colour
    other = score_table({"weat": PAIRED}, ["a model of another criterion"], "Ethnicity")
    neutral = {"weat": 0.0, "rnd": 0.0, "weat_es": 0.0, "ect": 1.0}
    figure = scores(pd.concat([table, other]), LABELS, "Gender", neutral)

    # the first panel of those of the same queries has their names
    panels = {axes.get_title(): axes for axes in figure.axes}
    assert list(panels) == ["WEAT", "WEAT-ES", "ect", "RND"]

    legend = figure.legends[0]
    entries = [text.get_text() for text in legend.texts]
    assert entries[:4] == [LABELS["glove-twitter-200"], "m1", "m2", "m3"]
    looks = {
        (h.get_marker(), to_hex(h.get_color())): name
        for h, name in zip(legend.legend_handles, entries[:4], strict=False)
    }
    assert len(looks) == 4
    assert any("no bias" in entry for entry in entries)
    assert any("no value (lost words)" in entry for entry in entries)

    for title, key in [("WEAT", "weat"), ("WEAT-ES", "weat_es"), ("ect", "ect"), ("RND", "rnd")]:
        axes = panels[title]
        part = table[table["metric"] == key].replace({"model": LABELS})
        names = [" ".join(label.get_text().split()) for label in axes.get_yticklabels()]
        if title in ("WEAT", "ect"):
            assert names == sorted(queries[key])
        rows = dict(enumerate(sorted(queries[key])))
        drawn = sorted((rows[round(y)], looks[look], x) for look, (x, y) in marks_of(axes))
        known = part.dropna(subset="value")
        assert drawn == sorted(known[["query", "model", "value"]].itertuples(index=False, name=None))
        lost = sorted((rows[row], looks[look]) for look, row in losses_of(axes))
        gone = part[part["value"].isna()]
        assert lost == sorted(gone[["query", "model"]].itertuples(index=False, name=None))
        # the neutral line
        (line,) = [line for line in axes.lines if line.get_linestyle() != "None"]
        assert set(line.get_xdata()) == {neutral[key]}
        low, high = axes.get_xlim()
        assert low < neutral[key] < high
        assert all(low < x < high for _, (x, _) in marks_of(axes))
    assert_readable(figure)


def test_models_keep_their_colours_from_criterion_to_criterion():
    gender = score_table({"weat": PAIRED}, ["a", "b", "c"])
    ethnicity = score_table({"weat": PAIRED}, ["b", "c"], "Ethnicity")
    table = pd.concat([gender, ethnicity])
    looks = []
    for criterion in ("Gender", "Ethnicity"):
        legend = scores(table, {}, criterion, {"weat": 0.0}).legends[0]
        entries = [text.get_text() for text in legend.texts]
        looks.append(
            {n: (h.get_color(), h.get_marker()) for n, h in zip(entries, legend.legend_handles, strict=True)}
        )
    assert set(looks[0]) & set("abc") == set("abc")
    assert set(looks[1]) & set("abc") == set("bc")
    assert looks[0]["b"] == looks[1]["b"]
    assert looks[0]["c"] == looks[1]["c"]


def test_a_legend_tells_lost_words_from_degenerate_values():
    table = lose(score_table({"weat": PAIRED}, ["a", "b"]), [0], "degenerate")
    legend = scores(table, {}, "Gender", {"weat": 0.0}).legends[0]
    assert legend.texts[-1].get_text().endswith("no value (degenerate)")
    legend = scores(lose(table, [1]), {}, "Gender", {"weat": 0.0}).legends[0]
    assert legend.texts[-1].get_text().endswith("no value (degenerate or lost words)")


def test_scores_of_nothing_but_lost_words():
    table = score_table({"weat": PAIRED}, ["a", "b"])
    figure = scores(lose(table, table.index), {}, "Gender", {"weat": 0.0})
    assert len(losses_of(figure.axes[0])) == 6
    assert marks_of(figure.axes[0]) == []
    assert_readable(figure)


def test_scores_of_a_model_of_long_vectors_are_cut_off_with_their_values():
    table = score_table({"rnd": SINGLE}, list("abcd"))
    table["value"] = np.where(table["model"] == "d", 3.0, 0.1) * np.where(np.arange(16) < 8, 1, -1)
    table.loc[table["model"] == "d", "value"] *= np.arange(1, 5)
    figure = scores(table, {}, "Gender", {"rnd": 0.0})
    (axes,) = figure.axes
    # the others fill the axis, whose ticks are of them
    assert max(np.abs(axes.get_xticks())) <= 0.2
    plain = table[table["model"] != "d"]["value"].tolist()
    drawn = [x for _, (x, _) in marks_of(axes)]
    assert sorted(x for x in drawn if abs(x) <= 0.1) == sorted(plain)
    # one arrow per score of d, with its value, and its mark
    arrows = sorted(text for text in texts(axes) if "→" in text or "←" in text)
    written = {3: "3.0", 6: "6.0", 9: "9.0", 12: "12"}
    assert arrows == sorted(
        f"{written[x]} →" if x > 0 else f"← −{written[-x]}" for x in table.loc[table["model"] == "d", "value"]
    )
    assert len(drawn) == 16
    assert any("beyond the axis" in text for text in texts(figure.legends[0]))
    assert_readable(figure)

    def arrows_of(table):
        figure = scores(table, {}, "Gender", {"rnd": 0.0})
        return [text for text in texts(figure) if "→" in text or "←" in text or "arrow" in text]

    assert not arrows_of(table[table["model"] != "d"])
    # nor is a query on which all models score high a reason
    table["value"] = np.where(table["query"] == SINGLE[0], 3.0, 0.1)
    assert not arrows_of(table)


def test_of_several_scores_beyond_the_axis_the_furthest_is_written():
    table = score_table({"rnd": SINGLE[:2]}, list("abcde"))
    sides = np.where(table["query"] == SINGLE[0], -1, 1)
    table["value"] = table["model"].map({"a": 0.1, "b": 0.1, "c": 0.1, "d": 3.0, "e": 6.0}) * sides
    (axes,) = scores(table, {}, "Gender", {"rnd": 0.0}).axes
    assert sorted(text for text in texts(axes) if "→" in text or "←" in text) == sorted(
        ["← to −6.0", "to 6.0 →"]
    )


def test_scores_say_what_a_sign_says_metric_by_metric():
    signs = {key: metrics.REGISTRY[key].sign for key in ("weat", "weat_es", "ect")}
    table = score_table(dict.fromkeys(signs, PAIRED), ["a", "b"])
    figure = scores(table, LABELS, "Gender", {"weat": 0.0, "weat_es": 0.0, "ect": 1.0}, signs=signs)
    said = " ".join(" ".join(texts(figure)).split())
    assert (
        "WEAT, WEAT-ES: positive: the words of the first target set lean more to the first attribute set"
        in said
    )
    assert "ect: no sign; 1 is unbiased, lower is more biased." in said
    assert_readable(figure)


def test_every_metric_says_what_its_sign_says():
    for metric in metrics.REGISTRY.values():
        low, high = metric.range
        two_sided = low < metric.neutral < high
        assert metric.sign.startswith("no sign") != two_sided, metric.name
        assert "{" not in metric.sign, metric.name
    # a similarity has the other sign than a distance
    assert "second" in metrics.REGISTRY["rnd"].sign
    assert "first" in metrics.REGISTRY["rnd"].under({"distance": "cos"}).sign


@pytest.mark.parametrize("config", ["embedded", "config"])
def test_scores_of_a_study_are_pages_that_have_every_score_once(config):
    study = Study.read(ROOT / "config" / f"{config}.yaml", ROOT)
    for criterion in study.ranked_criteria:
        cells = [cell for cell in study.grid.cells.values() if cell.criterion == criterion]
        expected = {
            (part.name, cell.metric)
            for cell in cells
            for part in study.queries[cell.query].subqueries(study.metric(criterion, cell.metric).template)
        }
        pages = [d for d in FIGURES["scores"].drawings_of(study) if d.spec["criterion"] == criterion]
        assert len({page.name for page in pages}) == len(pages)
        of_pages = [
            [
                pair
                for pair in expected
                if pair[1] in page.spec["only"]["metrics"] and pair[0] in page.spec["only"]["queries"]
            ]
            if "only" in page.spec
            else list(expected)
            for page in pages
        ]
        assert sorted(pair for page in of_pages for pair in page) == sorted(expected)
        # and none is taller than a page
        table = pd.DataFrame(
            [
                (criterion, query, metric, model, debias, 0.1, np.nan, np.nan, "ok")
                for query, metric in expected
                for model, debias in {(cell.model, cell.debias) for cell in cells}
            ],
            columns=[
                "criterion",
                "query",
                "metric",
                "model",
                "debias",
                "value",
                "ci_low",
                "ci_high",
                "status",
            ],
        )
        for page in pages:
            figure = scores(table, **page.spec)
            assert figure.get_figheight() <= PAGE[1], page.name


def test_seven_metrics_eighteen_subqueries_stay_readable():
    names = [LONG.format(i) for i in range(12)]
    groups = [
        f"{a} last names and {b} last names"
        for a, b in [("White", "Black"), ("White", "Asian"), ("White", "Hispanic")]
    ]
    attributes = [
        "Pleasant",
        "Unpleasant",
        "Occupations white",
        "Occupations other",
        "Positive words",
        "Negative words",
    ]
    single = [f"{group} wrt {attribute}" for group in groups for attribute in attributes]
    paired = [
        f"{g} wrt {a} and {b}" for g in groups for a, b in zip(attributes[::2], attributes[1::2], strict=True)
    ]
    queries = dict.fromkeys(["weat", "weat_es", "rnsb", "mac"], paired) | dict.fromkeys(
        ["rnd", "ect", "ripa"], single
    )
    table = score_table(queries, names)
    table = lose(table, table.index[::5])
    figure = scores(table, LABELS, "Gender", dict.fromkeys(queries, 0.0))
    assert set(names) <= set(texts(figure.legends[0]))
    assert set(unwrapped(figure)) >= set(single) | set(paired)
    assert_readable(figure)
    # a mark on the margin is not hidden by its neighbour of the same row
    figure.draw_without_rendering()
    for axes in figure.axes:
        places = np.concatenate(
            [
                line.get_transform().transform(line.get_xydata())
                for line in axes.lines
                if line.get_transform() == axes.get_yaxis_transform() and line.get_linestyle() == "None"
            ]
        )
        apart = np.hypot(*(places[:, None] - places).transpose(2, 0, 1)) + 1e9 * np.eye(len(places))
        # 4.5 points wide
        assert apart.min() > 4.5 / 72 * figure.dpi


# no shrinking: a figure takes too long to draw it hundreds of times
@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    st.lists(names, min_size=4, max_size=12, unique=True), st.integers(1, 12), st.integers(0, 99), st.data()
)
def test_every_figure_of_any_names_is_readable(labels, n_metrics, seed, data):
    criteria = [f"Criterion {i}" for i in range(data.draw(st.integers(1, 3)))]
    metrics = [f"metric_{i}" for i in range(n_metrics)]
    models = dict(zip([f"model_{i}" for i in range(len(labels))], labels, strict=True))
    rng = np.random.default_rng(seed)
    rows = [
        (criterion, metric, model, "none", rank)
        for criterion in criteria
        for metric in metrics
        for model, rank in zip(models, rng.permutation(len(models)) + 1.0, strict=True)
    ]
    ranks = pd.DataFrame(rows, columns=["criterion", "metric", "model", "debias", "rank"])
    ranks.loc[rng.random(len(ranks)) < 0.1, "rank"] = np.nan
    ranks["cells_nan"] = rng.integers(3, size=len(ranks))
    shown = {" ".join(label.split()) for label in labels}
    drawn = [rankings(ranks, models, criteria[0]), rankings_by_criterion(ranks, models)]
    queries = {key: ["A and B wrt C and D", f"A, B and C wrt {labels[0]}"] for key in metrics}
    drawn.append(scores(score_table(queries, list(models)), models, "Gender", dict.fromkeys(metrics, 0.0)))
    for figure in drawn:
        assert {text.replace(" ", "") for text in unwrapped(figure)} >= {
            name.replace(" ", "") for name in shown
        }
        assert_readable(figure)
    assert_readable(correlations(correlation_table(metrics, criteria, seed), models))


def test_the_same_figure_saved_twice_and_a_save_that_fails(tmp_path):
    few = {"a": (1, 2, 2, 1), "b": (2, 1, 1, 2)}
    figure = rankings(ranking_table(few), LABELS)
    save(figure, tmp_path / "a")
    save(figure, str(tmp_path / "b"))
    for kind in ("pdf", "svg", "png"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
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


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (
            lambda: rankings(ranking_table(), {}, "Gender"),
            "no rows of criterion 'Gender'; the table has Overall",
        ),
        (lambda: rankings(ranking_table({}), {}), "the table is empty"),
        (lambda: rankings_by_criterion(ranking_table({}), {}), "the table is empty"),
        (
            lambda: correlations(correlation_table(METRICS, ["Overall"]), {}, "pearson"),
            "no rows of method 'pearson'; the table has spearman",
        ),
        (lambda: correlations(correlation_table([], ["Overall"]), {}), "the table is empty"),
        (
            lambda: scores(score_table({"weat": PAIRED}, ["a"]), {}, "Overall", {"weat": 0.0}),
            "no rows of criterion 'Overall'; the table has Gender",
        ),
        (
            lambda: scores(score_table({"weat": PAIRED}, ["a"]), {}, "Gender", {"ect": 1.0}),
            "scores: no neutral value: unknown metric 'weat'; ",
        ),
    ],
)
def test_errors_are_one_line(draw, says):
    with pytest.raises(BiasgridError) as caught:
        draw()
    message = str(caught.value)
    assert says in message
    assert "\n" not in message


def test_a_model_ranked_by_fewer_scores_is_marked():
    table = ranking_table()
    table.loc[(table["model"] == "glove-twitter-200") & (table["metric"] == "rnd"), "cells_nan"] = 3
    drawn = rankings(table, LABELS)
    sums = [text.get_text() for text in drawn.axes[0].texts if text.get_text().rstrip("†").isdigit()]
    assert [text for text in sums if text.endswith("†")] == ["18†"]
    assert any("† ranked without some scores" in text.get_text() for text in drawn.findobj(Text))
    plain = rankings(ranking_table(), LABELS)
    assert not any("†" in text.get_text() for text in plain.findobj(Text))

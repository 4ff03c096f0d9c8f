"""Scores as they are drawn: where the table has them, with their evidence, in the columns of their models."""

import numpy as np
import pandas as pd
import pytest
from artists import PAIRED, entries, marks_of, texts
from conftest import ROOT
from matplotlib.colors import to_hex

from biasgrid import metrics
from biasgrid.figures import REGISTRY as FIGURES
from biasgrid.figures.frame import PAGE
from biasgrid.figures.palette import ABOVE, BELOW, INK, model_looks
from biasgrid.figures.scores import scores
from biasgrid.study.study import Study

pytestmark = pytest.mark.slow

NEUTRAL = {"weat": 0.0, "weat_es": 0.0, "rnd": 0.0, "mac": 1.0, "ect": 1.0}
SINGLE = [f"Male terms and Female terms wrt {name}" for name in ("Career", "Family", "Math", "Arts")]
COLUMNS = ["criterion", "query", "metric", "model", "debias", "value", "status"]


def score_table(queries, models, criterion="Gender", seed=0):
    """`queries`: metric -> its queries"""
    rng = np.random.default_rng(seed)
    rows = [
        (criterion, query, metric, model, "none", rng.normal(0.2, 0.5), "ok")
        for metric, names in queries.items()
        for query in names
        for model in models
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def lose(table, rows, status="lost_words:Career"):
    table.loc[rows, "value"] = np.nan
    table.loc[rows, "status"] = status
    return table


def draw(table, metric, models, **spec):
    """A figure of a metric's scores, and the panel of each model."""
    given = {"labels": {}, "criterion": "Gender", "neutral": NEUTRAL} | spec
    figure = scores(table, metric=metric, **given)
    assert len(figure.axes) == len(models)
    return figure, dict(zip(models, figure.axes, strict=True))


def rows_of(axes):
    return [" ".join(label.get_text().split()) for label in axes.get_yticklabels()]


def words_of(axes):
    """(row, text) of what stands in place of marks."""
    return sorted(
        (text.get_position()[1], text.get_text())
        for text in axes.texts
        if text.get_transform() == axes.get_yaxis_transform()
    )


@pytest.mark.parametrize("metric", ["weat", "rnd", "ect"])
def test_scores_are_where_the_table_says(metric):
    models, queries = ["m1", "m2", "m3"], {"weat": PAIRED, "rnd": SINGLE, "ect": SINGLE}
    table = lose(score_table(queries, models), [1, 2, 14])
    # of a criterion that is not drawn: its model takes a shape all the same
    other = score_table({"weat": PAIRED}, ["a model of another criterion"], "Ethnicity")
    labels = {"m1": "Model 1", "weat": "WEAT"}
    figure, panels = draw(pd.concat([table, other]), metric, models, labels=labels)
    shapes = {key: look["marker"] for key, look in model_looks({*models, *other["model"]}).items()}
    names = rows_of(panels["m1"])
    # targets that queries share stand above them; without them the attributes are the name
    head = "Male terms and Female terms wrt"
    shown = {
        query: query.removeprefix(f"{head} ") if metric != "weat" else query for query in queries[metric]
    }
    row = {query: names.index(name) for query, name in shown.items()}
    assert names == [head] * (metric != "weat") + [shown[query] for query in sorted(shown)]
    of_metric = table[table["metric"] == metric]
    for model, axes in panels.items():
        part = of_metric[of_metric["model"] == model].set_index("query")
        known = part["value"].dropna()
        assert sorted((y, x) for _, (x, y) in marks_of(axes)) == sorted((row[q], x) for q, x in known.items())
        # a model's shape, in no colour of a sign
        assert {look for look, _ in marks_of(axes)} <= {(shapes[model], INK)}
        assert words_of(axes) == sorted((row[q], "missing words") for q in part.index[part["value"].isna()])
        assert {x for line in axes.lines if line.get_linestyle() == "--" for x in line.get_xdata()} == {
            NEUTRAL[metric]
        }
        # one scale for all models, which has them and the no-bias value
        low, high = axes.get_xlim()
        assert (low, high) == panels["m1"].get_xlim()
        assert low < min(NEUTRAL[metric], known.min()) <= max(NEUTRAL[metric], known.max()) < high
    assert [" ".join(panels[model].get_title(loc="left").split()) for model in models] == [
        "Model 1",
        "m2",
        "m3",
    ]
    assert f"Gender, {labels.get(metric, metric)}" in texts(figure)


def test_queries_of_targets_of_their_own_have_whole_names():
    names = ["A and B wrt X", "A and B wrt Y", "C and D wrt X", "E"]
    _, panels = draw(score_table({"rnd": names}, ["m"]), "rnd", ["m"])
    assert rows_of(panels["m"]) == ["A and B wrt", "X", "Y", "C and D wrt X", "E"]


@pytest.mark.parametrize("metric", ["weat", "weat_es", "mac", "ect"])
def test_a_sign_has_a_hue_on_either_side_of_the_no_bias_value(metric):
    """Blue is above it, as on the page."""
    signs = {metric: metrics.REGISTRY[metric].sign}
    table = score_table({metric: PAIRED[:2]}, ["m"])
    table["value"] = [1.5, 0.5] if metric in ("mac", "ect") else [0.5, -0.5]
    figure, panels = draw(table, metric, ["m"], labels={"weat": "WEAT"}, signs=signs)
    hues = {x > NEUTRAL[metric]: colour for (_, colour), (x, _) in marks_of(panels["m"])}
    has_sign = metric != "ect"
    assert hues == {True: to_hex(ABOVE if has_sign else INK), False: to_hex(BELOW if has_sign else INK)}
    assert ("above it" in entries(figure)) == ("below it" in entries(figure)) == has_sign
    said = " ".join(" ".join(texts(figure)).split())
    if metric == "weat":
        assert "WEAT: positive: the words of the first target set are closer to the first attribute" in said
    if metric == "ect":
        assert "ect: no sign; 1 is unbiased, lower is more biased." in said


def test_every_metric_says_what_its_sign_says():
    for metric in metrics.REGISTRY.values():
        low, high = metric.range
        assert metric.sign.startswith("no sign") != (low < metric.neutral < high), metric.name
        assert "{" not in metric.sign, metric.name
    # a similarity has the other sign than a distance
    assert "second" in metrics.REGISTRY["rnd"].sign
    assert "first" in metrics.REGISTRY["rnd"].under({"distance": "cos"}).sign


def test_a_model_that_would_dwarf_the_others_has_a_scale_of_its_own():
    table = score_table({"rnd": SINGLE}, list("abcd"))
    table["value"] = np.where(table["model"] == "d", 3.0, 0.1) * np.where(np.arange(16) < 8, 1, -1)
    figure, panels = draw(table, "rnd", "abcd")
    scales = {model: panels[model].get_xlim() for model in "abcd"}
    assert scales["a"] == scales["b"] == scales["c"]
    assert -0.2 < scales["a"][0] < -0.1 < 0.1 < scales["a"][1] < 0.2
    assert scales["d"][0] < -3 < 3 < scales["d"][1]
    assert any("its own scale" in entry for entry in entries(figure))
    # nor is a query on which all models score high a reason
    table["value"] = np.where(table["query"] == SINGLE[0], 3.0, 0.1)
    even, _ = draw(table, "rnd", "abcd")
    assert len({axes.get_xlim() for axes in even.axes}) == 1
    assert not any("its own scale" in entry for entry in entries(even))
    # long intervals are reason enough
    far = table.assign(value=0.1, ci_low=0.05, ci_high=0.2)
    far.loc[far["model"] == "d", ["ci_low", "ci_high"]] = -9.0, 9.0
    _, panels = draw(far, "rnd", "abcd")
    assert panels["a"].get_xlim()[1] < 0.3


KINDS = {
    "all": "filled",
    "permutation": "left",
    "groups": "right",
    "none": "open",
    "out_of_reach": "dot",
    "untested": "small",
}


def kind_of(line):
    """How a mark is drawn: filled, its left or right half filled, open, a dot, small and open."""
    # the smallest of the markers of the others is 4.5 points wide
    small, is_open = line.get_markersize() < 4, to_hex(line.get_markerfacecolor()) == "#ffffff"
    if line.get_fillstyle() != "full":
        assert not small
        assert not is_open
        return line.get_fillstyle()
    return {(True, True): "small", (True, False): "dot", (False, True): "open", (False, False): "filled"}[
        small, is_open
    ]


@pytest.mark.parametrize("metric", ["weat", "mac"])
def test_marks_are_of_the_evidence_and_of_nothing_else(metric):
    table = score_table({metric: SINGLE[:1]}, list("abcdef"))
    table["evidence"] = table["model"].map(dict(zip("abcdef", KINDS, strict=True)))
    # which alone would say otherwise
    table = table.assign(p_value=0.9, p_adjusted=0.9, p_groups=0.9, p_groups_adjusted=0.9, tests=2)
    figure, panels = draw(table, metric, "abcdef")
    drawn = {}
    for model, axes in panels.items():
        (line,) = [line for line in axes.lines if line.get_linestyle() == "None"]
        drawn[model] = kind_of(line)
    assert drawn == dict(zip("abcdef", KINDS.values(), strict=True))
    assert [entry for entry in entries(figure) if ": " in entry] == [
        "filled: significant in every test",
        "half-filled: permutation test only",
        "half-filled: random-word baseline only",
        "open: not significant",
        "dot: too few words or draws to be significant",
        "small and open: not tested",
    ]


@pytest.mark.parametrize(
    ("evidence", "tests", "title"),
    [
        (["all", "none", "permutation"], 2, "1 of 3 scores is significant in every test"),
        (["all", "all", "none"], 1, "2 of 3 scores are significant in its only test"),
        (["none"] * 3, 2, "None of 3 scores is significant in every test"),
        (["untested"] * 3, 0, "Scores of every query"),
    ],
)
def test_the_title_counts_significant_scores(evidence, tests, title):
    table = score_table({"weat": PAIRED}, ["a"]).assign(evidence=evidence, tests=tests)
    figure, _ = draw(table, "weat", "a")
    assert figure.texts[0].get_text() == title


def test_scores_of_nothing_but_lost_words():
    table = score_table({"weat": PAIRED}, ["a", "b"])
    _, panels = draw(lose(table, table.index, "degenerate"), "weat", "ab")
    for axes in panels.values():
        assert [text for _, text in words_of(axes)] == ["undefined"] * len(PAIRED)
        assert marks_of(axes) == []


@pytest.mark.parametrize("config", ["embedded", "config"])
def test_a_study_has_a_figure_per_topic_and_metric(config):
    study = Study.read(ROOT / "config" / f"{config}.yaml", ROOT)
    drawn = {d.name: (d.spec["criterion"], d.spec["metric"]) for d in FIGURES["scores"].drawings_of(study)}
    assert drawn == {
        f"scores-{name.lower()}-{metric}": (name, metric)
        for name in study.ranked_criteria
        for metric in study.metrics(name)
    }


def test_a_hundred_queries_have_pages_that_show_each_once():
    queries = {
        f"q{i:03}": {
            "targets": {"Group A": ["he"], "Group B": ["she"]},
            "attributes": {f"Topic {i:03}": ["x", "y"]},
        }
        for i in range(100)
    }
    config = {
        "study": "s",
        "models": {"m": {"source": {"type": "file", "path": "m.txt"}}},
        "criteria": {"C": {"queries": queries}},
        "metrics": {"rnd": {}},
    }
    study = Study.of(config)
    drawings = list(FIGURES["scores"].drawings_of(study))
    assert [d.name for d in drawings] == [
        "scores-c-rnd",
        *(f"scores-c-rnd-{i}" for i in range(2, len(drawings) + 1)),
    ]
    assert len(drawings) > 1
    table = score_table({"rnd": [query.name for query in study.queries.values()]}, ["m"], "C")
    shown = []
    for drawing in drawings:
        figure = scores(table, **drawing.spec | {"neutral": NEUTRAL, "signs": None})
        assert figure.get_figheight() <= PAGE[1]
        shown += [text for text in rows_of(figure.axes[0]) if text.startswith("Topic")]
    assert sorted(shown) == sorted(f"Topic {i:03}" for i in range(100))

"""Scores as they are drawn: where the table has them, with their evidence, in the columns of their models."""

import numpy as np
import pandas as pd
import pytest
from artists import LONG, PAIRED, assert_readable, entries, marks_of, texts, unwrapped
from conftest import ROOT
from matplotlib.colors import to_hex

from biasgrid import metrics
from biasgrid.figures import REGISTRY as FIGURES
from biasgrid.figures.frame import save
from biasgrid.figures.palette import LESS, MORE, model_looks
from biasgrid.figures.scores import scores
from biasgrid.plan.study import Study

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


def with_intervals(table, seed=0):
    """Intervals of random length, and evidence of every third score."""
    rng = np.random.default_rng(seed)
    table = table.assign(
        ci_low=table["value"] - rng.uniform(0.1, 1, len(table)),
        ci_high=table["value"] + rng.uniform(0.1, 1, len(table)),
        p_value=np.where(table["value"].isna(), np.nan, 0.01),
        p_groups=np.where(table["value"].isna(), np.nan, 0.01),
        evidence=np.where(np.arange(len(table)) % 3, "none", "all"),
        tests=np.where(table["metric"] == "mac", 1, 2),
    )
    table.loc[table["value"].isna(), "evidence"] = "untested"
    return table


def panels_of(figure, metrics, models):
    """(metric, model) -> its panel: a line per metric, a column per model."""
    assert len(figure.axes) == len(metrics) * len(models)
    keys = [(metric, model) for metric in sorted(metrics) for model in models]
    return dict(zip(keys, figure.axes, strict=True))


def rows_of(axes):
    return [" ".join(label.get_text().split()) for label in axes.get_yticklabels()]


def words_of(axes):
    """(row, text) of what stands in place of marks."""
    return sorted(
        (text.get_position()[1], text.get_text())
        for text in axes.texts
        if text.get_transform() == axes.get_yaxis_transform()
    )


def test_scores_are_where_the_table_says():
    models, queries = ["m1", "m2", "m3"], {"weat": PAIRED, "rnd": SINGLE, "ect": SINGLE}
    table = lose(score_table(queries, models), [1, 2, 14])
    # of a criterion that is not drawn: its model takes a colour all the same
    other = score_table({"weat": PAIRED}, ["a model of another criterion"], "Ethnicity")
    figure = scores(pd.concat([table, other]), {"m1": "Model 1", "weat": "WEAT"}, "Gender", NEUTRAL)
    panels = panels_of(figure, queries, models)
    colours = {key: to_hex(look["color"]) for key, look in model_looks({*models, *other["model"]}).items()}
    for (metric, model), axes in panels.items():
        part = table[(table["metric"] == metric) & (table["model"] == model)].set_index("query")
        names = rows_of(panels[metric, "m1"])
        # targets that queries share stand above them; without them the attributes are the name
        head = "Male terms and Female terms wrt"
        shown = {
            query: query.removeprefix(f"{head} ") if metric != "weat" else query for query in queries[metric]
        }
        row = {query: names.index(name) for query, name in shown.items()}
        assert names == [head] * (metric != "weat") + [shown[query] for query in sorted(shown)]
        known = part["value"].dropna()
        assert sorted((y, x) for _, (x, y) in marks_of(axes)) == sorted((row[q], x) for q, x in known.items())
        assert {colour for (_, colour), _ in marks_of(axes)} <= {colours[model]}
        assert words_of(axes) == sorted((row[q], "lost words") for q in part.index[part["value"].isna()])
        assert {x for line in axes.lines if line.get_linestyle() == "--" for x in line.get_xdata()} == {
            NEUTRAL[metric]
        }
        # one scale for the models of a metric, which has them all and the neutral value
        low, high = axes.get_xlim()
        assert (low, high) == panels[metric, "m1"].get_xlim()
        assert low < min(NEUTRAL[metric], known.min()) <= max(NEUTRAL[metric], known.max()) < high
    assert [" ".join(panels["ect", model].get_title(loc="left").split()) for model in models] == [
        "Model 1",
        "m2",
        "m3",
    ]
    assert "WEAT" in texts(panels["weat", "m1"])
    assert "words in place of a mark: why there is no value" in entries(figure)
    assert_readable(figure)


def test_queries_of_targets_of_their_own_have_whole_names():
    names = ["A and B wrt X", "A and B wrt Y", "C and D wrt X", "E"]
    (axes,) = scores(score_table({"rnd": names}, ["m"]), {}, "Gender", NEUTRAL).axes
    assert rows_of(axes) == ["A and B wrt", "X", "Y", "C and D wrt X", "E"]


def test_a_sign_has_a_hue_on_either_side_of_the_neutral_value():
    signs = {key: metrics.REGISTRY[key].sign for key in ("weat", "weat_es", "mac", "ect")}
    table = score_table(dict.fromkeys(signs, PAIRED[:2]), ["m"])
    table["value"] = [0.5, -0.5] * 2 + [1.5, 0.5] * 2
    labels = {"weat": "WEAT", "weat_es": "WEAT-ES"}
    figure = scores(table, labels, "Gender", NEUTRAL, signs=signs)
    panels = panels_of(figure, signs, ["m"])
    for metric in signs:
        hues = {x > NEUTRAL[metric]: colour for (_, colour), (x, _) in marks_of(panels[metric, "m"])}
        one = to_hex(model_looks(["m"])["m"]["color"])
        assert hues == (
            {True: one, False: one} if metric == "ect" else {True: to_hex(MORE), False: to_hex(LESS)}
        )
    said = " ".join(" ".join(texts(figure)).split())
    assert (
        "WEAT, WEAT-ES: positive: the words of the first target set are closer to the first attribute" in said
    )
    assert "ect: no sign; 1 is unbiased, lower is more biased." in said
    assert_readable(figure)


def test_every_metric_says_what_its_sign_says():
    for metric in metrics.REGISTRY.values():
        low, high = metric.range
        assert metric.sign.startswith("no sign") != (low < metric.neutral < high), metric.name
        assert "{" not in metric.sign, metric.name
    # a similarity has the other sign than a distance
    assert "second" in metrics.REGISTRY["rnd"].sign
    assert "first" in metrics.REGISTRY["rnd"].under({"distance": "cos"}).sign


def test_a_debiased_model_stands_below_the_untouched_one_with_a_letter():
    table = score_table({"weat": PAIRED}, ["a", "b"])
    both = pd.concat([table, table[table["model"] == "a"].assign(debias="hard", value=0.125)])
    figure = scores(both, {"hard": "hard debias"}, "Gender", NEUTRAL)
    panels = panels_of(figure, ["weat"], "ab")
    marks = sorted((round(y), y - round(y), x) for _, (x, y) in marks_of(panels["weat", "a"]))
    above, below = marks[::2], marks[1::2]
    assert {x for *_, x in below} == {0.125}
    assert all(upper < 0 < lower for (_, upper, _), (_, lower, _) in zip(above, below, strict=True))
    letters = [
        of for of in panels["weat", "a"].collections if len(of.get_offsets()) and of.get_clip_on() is False
    ]
    assert sorted(y for of in letters for _, y in of.get_offsets()) == sorted(
        row + at for row, at, _ in below
    )
    # without debiased states there is no lane for them
    assert {y % 1 for _, (_, y) in marks_of(panels["weat", "b"])} == {0}
    assert "a: under hard debias" in entries(figure)
    assert_readable(figure)


def test_a_model_that_would_dwarf_the_others_has_a_scale_of_its_own():
    table = score_table({"rnd": SINGLE}, list("abcd"))
    table["value"] = np.where(table["model"] == "d", 3.0, 0.1) * np.where(np.arange(16) < 8, 1, -1)
    figure = scores(table, {}, "Gender", NEUTRAL)
    panels = panels_of(figure, ["rnd"], "abcd")
    scales = {model: panels["rnd", model].get_xlim() for model in "abcd"}
    assert scales["a"] == scales["b"] == scales["c"]
    assert -0.2 < scales["a"][0] < -0.1 < 0.1 < scales["a"][1] < 0.2
    assert scales["d"][0] < -3 < 3 < scales["d"][1]
    dotted = {
        model
        for model in "abcd"
        if panels["rnd", model].spines["bottom"].get_linestyle() not in ("-", "solid")
    }
    assert dotted == {"d"}
    assert any("a scale of its own" in entry for entry in entries(figure))
    assert_readable(figure)
    # nor is a query on which all models score high a reason
    table["value"] = np.where(table["query"] == SINGLE[0], 3.0, 0.1)
    even = scores(table, {}, "Gender", NEUTRAL)
    assert len({axes.get_xlim() for axes in even.axes}) == 1
    assert not any("a scale of its own" in entry for entry in entries(even))
    # long intervals are reason enough
    far = table.assign(value=0.1, ci_low=0.05, ci_high=0.2)
    far.loc[far["model"] == "d", ["ci_low", "ci_high"]] = -9.0, 9.0
    panels = panels_of(scores(far, {}, "Gender", NEUTRAL), ["rnd"], "abcd")
    assert panels["rnd", "a"].get_xlim()[1] < 0.3


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


def test_marks_are_of_the_evidence_and_of_nothing_else():
    table = score_table({"weat": SINGLE[:1], "mac": SINGLE[:1]}, list("abcdef"))
    table["evidence"] = table["model"].map(dict(zip("abcdef", KINDS, strict=True)))
    # which alone would say otherwise
    table = table.assign(p_value=0.9, p_adjusted=0.9, p_groups=0.9, p_groups_adjusted=0.9, tests=2)
    figure = scores(table, {}, "Gender", NEUTRAL)
    drawn = {}
    for (metric, model), axes in panels_of(figure, ["weat", "mac"], "abcdef").items():
        (line,) = [line for line in axes.lines if line.get_linestyle() == "None"]
        drawn[metric, model] = kind_of(line)
    assert drawn == {
        (metric, model): kind
        for metric in ("weat", "mac")
        for model, kind in zip("abcdef", KINDS.values(), strict=True)
    }
    assert [entry.partition(":")[0] for entry in entries(figure) if "mark" in entry or "dot" in entry] == [
        "filled mark",
        "half-filled mark (left)",
        "half-filled mark (right)",
        "open mark",
        "dot",
        "small open mark",
    ]
    assert_readable(figure)


def test_without_inference_nothing_changes(tmp_path):
    """Columns that are not there, and columns that are empty: the same bytes."""
    table = score_table({"weat": PAIRED, "rnd": SINGLE}, ["a", "b"])
    empty = dict.fromkeys(("p_value", "p_adjusted", "p_groups_adjusted", "ci_low", "ci_high"), np.nan)
    for name, of in {"old": table, "new": table.assign(**empty)}.items():
        drawn = scores(of, {}, "Gender", NEUTRAL)
        save(drawn, tmp_path / name, ["svg"])
        assert "small open mark: no test of words was made" in entries(drawn)
        assert not any("interval" in text or "reject" in text for text in texts(drawn))
    assert (tmp_path / "old.svg").read_bytes() == (tmp_path / "new.svg").read_bytes()


def test_scores_of_nothing_but_lost_words():
    table = score_table({"weat": PAIRED}, ["a", "b"])
    figure = scores(lose(table, table.index, "degenerate"), {}, "Gender", NEUTRAL)
    for axes in figure.axes:
        assert [text for _, text in words_of(axes)] == ["degenerate"] * len(PAIRED)
        assert marks_of(axes) == []
    assert_readable(figure)


@pytest.mark.parametrize(("metrics", "models"), [(1, 1), (2, 12), (7, 2)])
def test_few_and_many_scores_stay_readable(metrics, models):
    names = [LONG.format(i) for i in range(models)]
    targets = [f"White last names and {name} last names" for name in ("Black", "Asian", "Hispanic")]
    attributes = ["Pleasant and Unpleasant", "Positive words and Negative words", "Occupations white"]
    queries = {f"metric_{i}": [f"{t} wrt {a}" for t in targets for a in attributes] for i in range(metrics)}
    table = score_table(queries, names)
    table = with_intervals(lose(table, table.index[::5]))
    figure = scores(table, {}, "Gender", dict.fromkeys(queries, 0.0), 0.9)
    assert "90 % confidence interval over words" in entries(figure)
    assert set(unwrapped(figure)) >= {*names, *attributes, *(f"{name} wrt" for name in targets)}
    assert_readable(figure)


@pytest.mark.parametrize("config", ["embedded", "config"])
def test_a_study_has_a_figure_per_criterion(config):
    study = Study.read(ROOT / "config" / f"{config}.yaml", ROOT)
    drawn = {drawing.name: drawing.spec["criterion"] for drawing in FIGURES["scores"].drawings_of(study)}
    assert drawn == {f"scores-{name.lower()}": name for name in study.ranked_criteria}

"""What is drawn of mitigation is what the table says, all of it, where it can be read."""

import numpy as np
import pandas as pd
import pytest
from artists import entries, not_laid_out, unwrapped
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb

from biasgrid.figures.before_after import before_after
from biasgrid.figures.hidden_bias import hidden_bias
from biasgrid.figures.trade_off import trade_off
from biasgrid.figures.word_map import word_map

pytestmark = pytest.mark.slow

MODELS = {
    "word2vec-google-news-300-subset": "word2vec Google News 300d (subset, 13,013 words)",
    "glove-6b-50d": "GloVe 6B 50d (complete)",
    "spacy-en-core-web-md-3.7.1": "spaCy en_core_web_md 3.7.1 Explosion Vectors (20,000 rows, long vectors)",
    "glove-840b-300d-filtered": "GloVe 840B 300d (filtered, 33,860 words)",
}
# label, bias removed, quality kept, what can be recovered after
GENDER = {
    "gender-hard": ("Hard debias", 0.75, 0.995, 0.92),
    "gender-double-hard": ("Double-hard debias", 0.8, 0.985, 0.80),
    "gender-multiclass-hard": ("Multiclass hard debias", 0.74, 0.995, 0.92),
    "gender-ran": ("RAN", 0.55, 0.90, 0.86),
    "gender-hsr": ("Half-sibling regression", 0.65, 0.97, 0.78),
    "gender-linear": ("Linear projection", 0.6, 0.996, 0.93),
    "gender-inlp": ("INLP", 0.7, 0.95, 0.60),
    "gender-leace": ("LEACE", 0.78, 0.99, 0.88),
    "gender-hard-target": ("Hard debias (target words only)", 0.5, 0.998, 0.95),
}
METRICS = {"weat": 0.8, "weat_es": 0.9, "rnd": 0.3, "rnsb": 0.05, "mac": 0.2, "ect": 0.2, "ripa": 0.4}
HIDDEN = {"cluster_accuracy": 0.96, "svm_accuracy": 0.98, "neighbours_share": 0.85}
HIDDEN["neighbours_correlation"] = 0.75
SIMILARITY = {"wordsim353": 0.65, "simlex999": 0.4, "men": 0.72}
LABELS = MODELS | {key: entry[0] for key, entry in GENDER.items()}
LABELS |= {key: key.replace("_", "-").upper() for key in METRICS}
COLUMNS = ["criterion", "model", "debias", "group", "measure", "before", "after", "n", "status"]


def others(criterion):
    return {f"{criterion.lower()}-{key}": GENDER[f"gender-{key}"] for key in ("multiclass-hard", "inlp")}


METHODS = {"Gender": GENDER, "Ethnicity": others("Ethnicity"), "Religion": others("Religion")}


def mitigation(models=tuple(MODELS), methods=METHODS, metrics=METRICS, seed=0):
    """A table as a study's: only Gender's methods are measured for what stays hidden."""
    rng = np.random.default_rng(seed)
    rows = []
    for criterion, of_criterion in methods.items():
        for model in models:
            before = {metric: value * rng.uniform(0.7, 1.3) for metric, value in metrics.items()}
            for debias, (_, removed, kept, left) in of_criterion.items():
                key = (criterion, model, debias)
                for metric, value in before.items():
                    after = value * abs(1 - removed + rng.normal(0, 0.25))
                    rows.append((*key, "metric", metric, value, after, 7, "ok"))
                for measure, value in HIDDEN.items() if criterion == "Gender" else ():
                    after = np.clip(value + left - 0.96, 0, 1)
                    rows.append((*key, "hidden", measure, value, after, 1000, "ok"))
                for benchmark, value in SIMILARITY.items():
                    after = value * (kept + rng.normal(0, 0.01))
                    rows.append((*key, "similarity", benchmark, value, after, 300, "ok"))
                rows.append((*key, "displacement", "changed_share", 0.0, 1.0, 13013, "ok"))
    return pd.DataFrame(rows, columns=COLUMNS)


def small(facts, criterion="Gender"):
    """A table of (model, debias, group, measure, before, after)."""
    return pd.DataFrame([(criterion, *fact, 5, "ok") for fact in facts], columns=COLUMNS)


def where(table, **columns):
    return np.logical_and.reduce([table[column] == value for column, value in columns.items()])


def lose(table, status="lost_words:Career", **columns):
    table.loc[where(table, **columns), "after"] = np.nan
    table.loc[where(table, **columns), "status"] = status
    return table


def head(axes):
    return " ".join(axes.get_title(loc="left").split())


def ticks(axis):
    return [" ".join(label.get_text().split()) for label in axis.get_ticklabels()]


def cells(figure):
    """(model, metric, row) -> (what is written, the shade: 0 no bias, 1 as untouched, 2 twice as much or more)"""
    found = {}
    for axes in figure.axes:
        rows, metrics = ticks(axes.yaxis), ticks(axes.xaxis)
        shades = axes.collections[0].norm(axes.collections[0].get_array()).reshape(len(rows), len(metrics))
        for text in axes.texts:
            column, row = (int(x) for x in text.get_position())
            shade = (
                shades[row, column]
                if np.ma.is_masked(shades[row, column])
                else min(2 * shades[row, column], 2)
            )
            found[head(axes), metrics[column], rows[row]] = text.get_text(), shade
    return found


@not_laid_out()
def test_a_shade_tells_less_bias_from_more():
    left = {"a": 0.5, "b": 0.51, "c": 0.1, "d": 50.0}
    facts = [("m", method, "metric", "weat", 0.5, after) for method, after in left.items()]
    facts += [("m", method, "metric", "mac", 0.0, 0.1 * (method == "d")) for method in left]
    found = cells(before_after(small(facts), {}, "Gender"))
    weat = {method: found["m", "weat", method] for method in left}
    assert [text for text, _ in weat.values()] == ["100 %", "102 %", "20 %", "100 ×"]
    assert [shade for _, shade in weat.values()] == pytest.approx([1, 1.02, 0.2, 2])
    # of no bias, nothing is no change and something is more
    assert found["m", "mac", "a"] == ("100 %", 1)
    assert found["m", "mac", "d"] == ("from 0", 2)
    figure = before_after(lose(small(facts), debias="c"), {}, "Gender")
    text, shade = cells(figure)["m", "weat", "c"]
    assert (text, np.ma.is_masked(shade)) == ("n/a", True)
    assert "n/a: no value (missing words)" in entries(figure)


@not_laid_out()
def test_a_method_that_lost_queries_has_a_dagger_and_its_own_before():
    few = {"weat": 0.8, "mac": 0.2}
    table = mitigation(list(MODELS)[:2], metrics=few)
    lost = where(table, model="glove-6b-50d", debias="gender-ran", measure="weat")
    table.loc[lost, ["before", "after", "n"]] = [0.5, 0.25, 5]
    figure = before_after(table, LABELS, "Gender")
    found = cells(figure)
    assert found["GloVe 6B 50d (complete)", "WEAT", "RAN"] == ("50 %†", 0.5)
    assert sum(text.endswith("†") for text, _ in found.values()) == 1
    full = table[where(table, model="glove-6b-50d", measure="weat", n=7, criterion="Gender")]["before"]
    untouched, _ = found["GloVe 6B 50d (complete)", "WEAT", "original"]
    assert float(untouched) == pytest.approx(full.iloc[0], rel=0.05)
    assert any(entry.startswith("† both measured on fewer queries") for entry in entries(figure))
    plain = before_after(mitigation(list(MODELS)[:1], metrics=few), LABELS, "Gender")
    assert not any("†" in text for text in unwrapped(plain))


@not_laid_out()
def test_methods_go_by_what_they_remove_and_a_model_has_rows_of_its_own_methods():
    facts = [
        (model, method, *fact)
        for model in "mn"
        for method, left in (("a", 0.9), ("b", 0.1), ("c", 0.5))
        for fact in [("metric", "weat", 1.0, left), ("hidden", "cluster_accuracy", 0.99, 0.9)]
        if (model, method) != ("n", "b")
    ]
    table = small(facts)
    copy = table.copy()
    first, second = before_after(table, {}, "Gender").axes
    assert ticks(first.yaxis) == ["original", "b", "c", "a"]
    assert ticks(second.yaxis) == ["original", "c", "a"]
    assert ticks(hidden_bias(table, {}, "Gender").axes[0].yaxis) == ["original", "b", "c", "a"]
    pd.testing.assert_frame_equal(table, copy)


def test_hidden_bias_without_a_value_is_said():
    models = ["glove-6b-50d", "glove-840b-300d-filtered"]
    table = lose(mitigation(models), "no profession", model="glove-6b-50d", measure="neighbours_correlation")
    figure = hidden_bias(table, LABELS, "Gender")
    lacking = "No value in GloVe 6B 50d (complete): Professions: correlation (no profession)."
    assert any(lacking in text for text in unwrapped(figure))
    assert unwrapped(figure.axes[-1]).count("no value") == 9


def marks(axes):
    """(x, y) -> what the mark is filled with; the untouched model's is first"""
    found = {}
    for points in axes.collections:
        if isinstance(points, PathCollection):
            points.update_scalarmappable()
            places = map(tuple, np.round(points.get_offsets(), 6))
            found |= dict(zip(places, map(to_rgb, points.get_facecolors()), strict=True))
    return found


def named(axes):
    """name -> (x, y) of the mark that its line leads to"""
    lines = [line for line in axes.lines if line.get_transform() == axes.transAxes]
    back = axes.transAxes + axes.transData.inverted()
    return {
        " ".join(text.get_text().split()): tuple(np.round(back.transform(line.get_xydata()[0]), 6))
        for text, line in zip(axes.texts[-len(lines) :], lines, strict=True)
        if np.allclose(line.get_xydata()[1], text.get_position())
    }


def reaches(axes):
    """The ends of the lines through marks, ((x, y), (x, y))."""
    return {
        tuple(map(tuple, np.round(part, 6)))
        for lines in axes.collections
        if hasattr(lines, "get_segments")
        for part in lines.get_segments()
        if len(part) and np.isfinite(part).all()
    }


def test_trade_off_is_what_its_axes_say():
    facts = [
        # twice as much and ten times as much both count -1; nothing to remove counts nothing
        ("m", "a", "metric", "weat", 1.0, 0.25),
        ("m", "a", "metric", "mac", 0.2, 0.1),
        ("m", "a", "metric", "rnd", 0.1, 1.0),
        ("m", "a", "metric", "ect", 0.0, 0.5),
        ("m", "b", "metric", "weat", 1.0, 0.0),
        ("m", "b", "metric", "mac", 0.2, 0.0),
        ("m", "b", "metric", "rnd", 0.1, 0.0),
        ("m", "a", "similarity", "men", 0.8, 0.4),
        ("m", "a", "similarity", "simlex999", 0.5, 0.5),
        # a correlation that is not positive has no quality to keep
        ("m", "a", "similarity", "rw", -0.1, 0.3),
        ("m", "b", "similarity", "men", 0.8, 0.88),
        ("m", "b", "similarity", "simlex999", 0.5, 0.5),
        ("m", "a", "hidden", "cluster_accuracy", 0.99, 0.95),
        ("m", "b", "hidden", "cluster_accuracy", 0.99, 0.5),
    ]
    figure = trade_off(small(facts), {"a": "Method A"}, "Gender")
    axes = figure.axes[0]
    # a: (0.75 + 0.5 - 1) / 3 and (0.5 + 1) / 2; b: everything and (1.1 + 1) / 2
    a = round(0.25 / 3, 6), 0.75
    assert named(axes) == {"Method A": a, "b": (1.0, 1.05)}
    assert reaches(axes) == {
        ((-1.0, a[1]), (0.75, a[1])),
        ((a[0], 0.5), (a[0], 1.0)),
        ((1.0, 1.05), (1.0, 1.05)),
        ((1.0, 1.0), (1.0, 1.1)),
    }
    fills = marks(axes)
    assert set(fills) == {(0.0, 1.0), a, (1.0, 1.05)}
    # the fuller, the more can be recovered: white is nothing
    assert fills[1.0, 1.05] == (1, 1, 1)
    assert sum(fills[0.0, 1.0]) < sum(fills[a]) < 3
    (goal,) = [line for line in axes.lines if line.get_marker() == "*"]
    assert tuple(goal.get_xydata()[0]) == (1.0, 1.0)
    assert figure.axes[-1].get_xlim() == (0.5, 1)
    assert any("(n = 3) of" in text and "(n = 2) of" in text for text in unwrapped(figure))


def test_trade_off_leaves_out_what_has_no_quality_on_the_criterion():
    """A method of another criterion that is measured on this one."""
    table = mitigation(list(MODELS)[:1])
    guest = table[where(table, criterion="Gender", debias="gender-hard", group="metric")]
    figure = trade_off(pd.concat([table, guest.assign(debias="guest")]), LABELS, "Gender")
    assert not any("guest" in text for text in unwrapped(figure))


def test_trade_off_of_a_study_says_which_methods_it_lacks():
    table = lose(mitigation(), model="glove-6b-50d", debias="gender-leace", group="similarity")
    lose(table, model="glove-6b-50d", debias="gender-hard", measure="weat")
    lose(table, model="glove-6b-50d", debias="gender-ran", measure="cluster_accuracy")
    figure = trade_off(table, LABELS, "Gender")
    panels = {head(axes): axes for axes in figure.axes[:4]}
    assert set(panels) == set(MODELS.values())
    assert any("No value in GloVe 6B 50d (complete): LEACE." in text for text in unwrapped(figure))
    methods = {entry[0] for entry in GENDER.values()}
    for title, axes in panels.items():
        if title == "GloVe 6B 50d (complete)":
            assert set(named(axes)) == methods - {"LEACE", "Hard debias"} | {"Hard debias†"}
        else:
            assert set(named(axes)) == methods
    assert "clustering not measured" in entries(figure)
    assert any(entry.startswith("† over fewer metrics") for entry in entries(figure))


def test_trade_off_where_nothing_hidden_is_measured():
    figure = trade_off(mitigation(list(MODELS)[:2]), LABELS, "Religion")
    # no scale of fills
    assert len(figure.axes) == 2
    assert not any("empty" in text or "clustering" in text for text in unwrapped(figure))


def maps(methods=GENDER, words=60, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for method in [*methods, "none"]:
        xy = rng.normal(0, [20, 10], (words, 2)) + rng.normal(0, 50, 2)
        side = np.where(np.arange(words) % 3 == 0, "male", "female")
        drawn = {"words": [f"w{i}" for i in range(words)], "side": side.tolist(), "xy": xy.tolist()}
        found.append(("spacy-en-core-web-md-3.7.1", method, drawn, None if method == "gender-ran" else 0.875))
    return found


def test_word_maps_hold_every_word():
    *of_methods, of_untouched = given_maps = maps()
    figure = word_map(given_maps, LABELS | {"male": "male words"}, "Gender")
    # the untouched model first, the others as given
    untouched, *heads = (head(axes) for axes in figure.axes)
    assert untouched == "original: 88 %"
    assert heads == [f"{label}: {'no value' if label == 'RAN' else '88 %'}" for label, *_ in GENDER.values()]
    handles = zip(figure.legends[0].legend_handles, entries(figure), strict=True)
    colours = {to_rgb(handle.get_color()): entry.split()[0] for handle, entry in handles}
    for (_, _, drawn, _), axes in zip([of_untouched, *of_methods], figure.axes, strict=True):
        (points,) = axes.collections
        places = points.get_offsets()
        sides = [colours[to_rgb(colour)] for colour in points.get_facecolors()]
        found = sorted(zip(sides, places.tolist(), strict=True))
        assert found == sorted(zip(drawn["side"], drawn["xy"], strict=True))

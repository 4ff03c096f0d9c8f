"""What is drawn of mitigation is what the table says, all of it, where it can be read."""

import re

import numpy as np
import pandas as pd
import pytest
from artists import assert_readable, names, texts, unwrapped
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from biasgrid import BiasgridError
from biasgrid.figures.before_after import LONGEST, before_after
from biasgrid.figures.frame import PAGE
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
    for criterion, entries in methods.items():
        for model in models:
            before = {metric: value * rng.uniform(0.7, 1.3) for metric, value in metrics.items()}
            for debias, (_, removed, kept, left) in entries.items():
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


def legend(figure):
    return [text.get_text() for text in figure.legends[0].texts]


def rows_of(axes):
    """y -> label of the row; the first panel of a block has the labels."""
    block = [other for other in axes.figure.axes if other.get_position().y1 == axes.get_position().y1]
    ticks = zip(block[0].get_yticks(), block[0].get_yticklabels(), strict=True)
    return {round(y, 6): " ".join(label.get_text().split()) for y, label in ticks}


def blocks(figure):
    """(model's label, column's title) -> axes, in the order they are drawn"""
    headings = sorted(
        (text for text in figure.texts if text.get_weight() == "bold" and text.get_size() < 9),
        key=lambda text: -text.get_position()[1],
    )
    tops = sorted({axes.get_position().y1 for axes in figure.axes}, reverse=True)
    model = dict(zip(tops, [" ".join(text.get_text().split()) for text in headings], strict=True))
    return {
        (model[axes.get_position().y1], " ".join(axes.get_title(loc="left").split())): axes
        for axes in figure.axes
    }


def cells(figure):
    """(model, metric, row) -> (the number in the cell, the length of its bar)"""
    found = {}
    for (model, metric), axes in blocks(figure).items():
        rows = rows_of(axes)
        bars = {
            round(c[0].get_y() + c[0].get_height() / 2, 6): c[0].get_width()
            for c in axes.containers
            if len(c.patches)
        }
        for text in axes.texts:
            y = round(text.get_position()[1], 6)
            found[model, metric, rows[y]] = text.get_text(), bars.get(y)
    return found


def test_before_and_after_are_the_tables():
    table = mitigation(list(MODELS)[:2])
    table = lose(table, model="glove-6b-50d", debias="gender-ran", measure="weat")
    figure = before_after(table, LABELS, "Gender")
    found = cells(figure)
    mine = table[where(table, criterion="Gender", group="metric")]
    assert len(found) == 2 * 7 * (9 + 1)
    for row in mine.itertuples():
        text, bar = found[LABELS[row.model], LABELS[row.measure], LABELS[row.debias]]
        if np.isnan(row.after):
            assert (text, bar) == ("n/a", None)
        else:
            assert float(text) == pytest.approx(row.after, abs=0.00501)
            assert bar == pytest.approx(min(row.after / row.before, LONGEST))
        untouched, bar = found[LABELS[row.model], LABELS[row.measure], "untouched"]
        assert float(untouched) == pytest.approx(row.before, abs=0.00501)
        assert bar is None
    # small values keep two digits
    assert all(len(text) == 5 for (_, metric, _), (text, _) in found.items() if metric == "RNSB")
    assert "n/a: no value (lost words)" in legend(figure)
    assert any("0 = unbiased" in " ".join(text.split()) for text in texts(figure))
    assert_readable(figure)
    # numbers stand between the panel's edge and the bars
    renderer = figure.canvas.get_renderer()
    for axes in figure.axes:
        for text in axes.texts:
            box = text.get_window_extent(renderer)
            assert axes.bbox.x0 <= box.x0
            assert box.x1 < axes.transData.transform((0, 0))[0]


def test_colour_tells_less_bias_from_more():
    facts = [("m", "a", "metric", "weat", 0.5, 0.5), ("m", "b", "metric", "weat", 0.5, 0.51)]
    facts += [("m", "c", "metric", "weat", 0.5, 0.1), ("m", "d", "metric", "weat", 0.5, 5.0)]
    facts += [
        ("m", method, "metric", "mac", 0.0, after)
        for method, after in zip("abcd", (0, 0, 0, 0.1), strict=True)
    ]
    figure = before_after(small(facts), {}, "Gender")
    weat = blocks(figure)["m", "weat"]
    rows = rows_of(weat)
    colours = {
        rows[round(c[0].get_y() + c[0].get_height() / 2, 6)]: to_rgb(c[0].get_facecolor())
        for c in weat.containers
    }
    # as blue as red, or less: unchanged is not worse
    blue = {method: colour[2] > colour[0] for method, colour in colours.items()}
    assert blue == {"a": True, "b": False, "c": True, "d": False}
    # longer than the axis: cut off, with a point
    assert cells(figure)["m", "weat", "d"] == ("5.00", LONGEST)
    assert [line.get_xdata()[0] for line in weat.lines if line.get_marker() == ">"] == [LONGEST]
    assert any("1.25 times" in entry for entry in legend(figure))
    # of no bias, nothing is no change and something is more
    assert cells(figure)["m", "mac", "a"] == ("0.00", 1.0)
    assert cells(figure)["m", "mac", "d"] == ("0.10", LONGEST)
    assert_readable(figure)


def test_a_method_that_lost_queries_has_a_dagger_and_its_own_before():
    few = {"weat": 0.8, "mac": 0.2}
    table = mitigation(list(MODELS)[:2], metrics=few)
    lost = where(table, model="glove-6b-50d", debias="gender-ran", measure="weat")
    table.loc[lost, ["before", "after", "n"]] = [0.5, 0.25, 5]
    figure = before_after(table, LABELS, "Gender")
    found = cells(figure)
    assert found["GloVe 6B 50d (complete)", "WEAT", "RAN"] == ("0.25†", 0.5)
    assert sum(text.endswith("†") for text, _ in found.values()) == 1
    full = table[where(table, model="glove-6b-50d", measure="weat", n=7, criterion="Gender")]["before"]
    untouched, _ = found["GloVe 6B 50d (complete)", "WEAT", "untouched"]
    assert float(untouched) == pytest.approx(full.iloc[0], abs=0.00501)
    assert any(entry.startswith("† before and after on fewer queries") for entry in legend(figure))
    plain = before_after(mitigation(list(MODELS)[:1], metrics=few), LABELS, "Gender")
    assert not any("†" in text for text in texts(plain))


def test_methods_go_by_what_they_remove_in_all_figures():
    facts = [
        (model, method, *fact)
        for model in "mn"
        for method, left in (("a", 0.9), ("b", 0.1), ("c", 0.5))
        for fact in [
            ("metric", "weat", 1.0, left),
            ("hidden", "cluster_accuracy", 0.99, 0.9),
            ("similarity", "men", 0.5, 0.5 - left / 10),
        ]
    ]
    table = small(facts)
    copy = table.copy()
    for draw in (before_after, hidden_bias):
        figure = draw(table, {}, "Gender")
        labels = [t for axes in figure.axes for t in (x.get_text() for x in axes.get_yticklabels()) if t]
        assert [label for label in labels if label != "untouched"] == list("bca") * 2
    figure = trade_off(table, {}, "Gender")
    assert legend(figure)[:3] == list("bca")
    pd.testing.assert_frame_equal(table, copy)
    # and the numbers are at the marks that they name
    for axes in figure.axes[:2]:
        assert numbered(axes) == {"1": (0.9, 0.98), "2": (0.5, 0.9), "3": (0.1, 0.82)}


def test_a_method_that_a_model_does_not_have_has_no_row_there():
    table = mitigation(list(MODELS)[:2], metrics={"weat": 0.8})
    table = table[~where(table, model="glove-6b-50d", debias="gender-ran")]
    rows = {(model, row) for model, _, row in cells(before_after(table, LABELS, "Gender"))}
    assert ("GloVe 6B 50d (complete)", "RAN") not in rows
    assert len(rows) == 2 * 10 - 1


def test_hidden_bias_is_where_the_table_says():
    models = ["glove-6b-50d", "glove-840b-300d-filtered"]
    table = lose(mitigation(models), "no profession", model="glove-6b-50d", measure="neighbours_correlation")
    below = where(table, model="glove-840b-300d-filtered", measure="neighbours_correlation")
    table.loc[below, "after"] = -0.25
    figure = hidden_bias(table, LABELS, "Gender")
    panels = blocks(figure)
    titles = dict(zip(HIDDEN, list(panels)[:4], strict=True))
    titles = {measure: title for measure, (_, title) in titles.items()}
    assert len(panels) == 8
    for (model, measure), part in table[table["group"] == "hidden"].groupby(["model", "measure"]):
        axes = panels[LABELS[model], titles[measure]]
        rows = rows_of(axes)
        dots = {
            line.get_marker(): {rows[round(y, 6)]: x for x, y in line.get_xydata()}
            for line in axes.lines
            if line.get_linestyle() == "None"
        }
        assert dots["D"] == pytest.approx(dict(zip(part["debias"].map(LABELS), part["before"], strict=True)))
        expected = dict(zip(part["debias"].map(LABELS), part["after"], strict=True))
        assert dots["o"] == pytest.approx(expected, nan_ok=True)
        written = {rows[round(text.xy[1], 6)]: text.get_text() for text in axes.texts}
        assert written == {
            key: "n/a" if np.isnan(value) else "−.25" if value < 0 else f"{value:.2f}".removeprefix("0")
            for key, value in expected.items()
        }
        (chance,) = [line for line in axes.lines if line.get_linestyle() != "None"]
        assert set(chance.get_xdata()) == {0.0 if measure == "neighbours_correlation" else 0.5}
        low, high = axes.get_xlim()
        assert all(low < x < high for marks in dots.values() for x in marks.values() if not np.isnan(x))
        # one axis a measure
        assert axes.get_xlim() == panels[LABELS["glove-6b-50d"], titles[measure]].get_xlim()
    assert "n/a: no value (no profession)" in legend(figure)
    assert any("chance" in entry for entry in legend(figure))
    assert_readable(figure)


def marks(axes, markers="oD"):
    """(marker, fill, (x, y))"""
    return [
        (line.get_marker(), to_rgb(line.get_markerfacecolor()), tuple(line.get_xydata()[0]))
        for line in axes.lines
        if line.get_linestyle() == "None" and line.get_marker() in markers
    ]


def numbered(axes):
    """number -> (x, y) of the mark that its line leads to"""
    lines = [line for line in axes.lines if line.get_transform() == axes.transAxes]
    back = axes.transAxes + axes.transData.inverted()
    return {
        text.get_text(): tuple(np.round(back.transform(line.get_xydata()[0]), 6))
        for text, line in zip(axes.texts[-len(lines) :], lines, strict=True)
        if np.allclose(line.get_xydata()[1], text.get_position())
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
    assert numbered(axes) == {"1": (1.0, 1.05), "2": (round(0.25 / 3, 6), 0.75)}
    assert legend(figure)[:3] == ["b", "Method A", "untouched"]
    by_place = {tuple(np.round(place, 6)): (marker, fill) for marker, fill, place in marks(axes)}
    assert set(by_place) == {(0.0, 1.0), (1.0, 1.05), (round(0.25 / 3, 6), 0.75)}
    assert by_place[0.0, 1.0][0] == "D"
    # the fuller, the more can be recovered: white is nothing
    assert by_place[1.0, 1.05][1] == (1, 1, 1)
    assert sum(by_place[0.0, 1.0][1]) < sum(by_place[round(0.25 / 3, 6), 0.75][1]) < 3
    assert [place for *_, place in marks(axes, "*")] == [(1.0, 1.0)]
    assert figure.axes[-1].get_xlim() == (0.5, 1)
    assert_readable(figure)


@pytest.mark.parametrize(("kept", "better"), [(0.9, False), (1.2, True)])
def test_trade_off_has_no_axis_beyond_what_can_be_and_says_what_is_better_than_untouched(kept, better):
    facts = [("m", "a", "metric", key, 1.0, 0.5) for key in ("weat", "mac", "rnd")]
    facts += [("m", "a", "similarity", key, 0.5, 0.5 * kept) for key in ("men", "rw")]
    figure = trade_off(small(facts), {}, "Gender")
    (axes,) = figure.axes
    left, right = axes.spines["bottom"].get_bounds()
    # no more than all of a bias can be removed; the goal's star is inside
    assert left <= 0 < right == 1 < axes.get_xlim()[1]
    assert axes.spines["left"].get_bounds()[1] == max(1, kept) < axes.get_ylim()[1]
    assert ("better than untouched, by the benchmarks" in legend(figure)) == better
    assert bool([patch for patch in axes.patches if patch.get_y() == 1]) == better
    assert {"(n = 3)", "(n = 2)"} <= set(re.findall(r"\(n = \d\)", " ".join(unwrapped(figure))))


@pytest.mark.parametrize("n", [1, 3, 7, 12])
def test_trade_off_of_many_models_is_on_a_page(n):
    models = {f"model_{i}": f"Model {i} with a name" for i in range(n)}
    few = {"Gender": {key: GENDER[key] for key in ("gender-hard", "gender-ran")}}
    figure = trade_off(mitigation(models, few), LABELS | models, "Gender")
    assert (figure.get_size_inches() <= PAGE).all()
    assert_readable(figure)


def test_trade_off_leaves_out_what_has_no_quality_on_the_criterion():
    """A method of another criterion that is measured on this one."""
    table = mitigation(list(MODELS)[:1])
    guest = table[where(table, criterion="Gender", debias="gender-hard", group="metric")]
    figure = trade_off(pd.concat([table, guest.assign(debias="guest")]), LABELS, "Gender")
    assert not any("guest" in text for text in [*legend(figure), *unwrapped(figure)])


def test_trade_off_of_a_study_is_readable():
    table = lose(mitigation(), model="glove-6b-50d", debias="gender-leace", group="similarity")
    lose(table, model="glove-6b-50d", debias="gender-hard", measure="weat")
    lose(table, model="glove-6b-50d", debias="gender-ran", measure="cluster_accuracy")
    # poor quality of one crowds the others together
    table.loc[where(table, debias="gender-ran", group="similarity"), "after"] *= 0.4
    figure = trade_off(table, LABELS, "Gender")
    panels = {" ".join(axes.get_title(loc="left").split()): axes for axes in figure.axes[:4]}
    assert set(panels) == set(MODELS.values())
    assert "no value: LEACE" in unwrapped(panels["GloVe 6B 50d (complete)"])
    methods = legend(figure)[:9]
    assert set(methods) == {entry[0] for entry in GENDER.values()}
    order = {method: str(number) for number, method in enumerate(methods, 1)}
    for title, axes in panels.items():
        found = set(numbered(axes))
        expected = set(order.values())
        if title == "GloVe 6B 50d (complete)":
            expected -= {order["LEACE"], order["Hard debias"]}
            expected |= {order["Hard debias"] + "†"}
            assert sum(len(set(fill)) == 1 for _, fill, _ in marks(axes)) == 1
        assert found == expected
        assert len({(axes.get_xlim(), axes.get_ylim()) for axes in panels.values()}) == 1
    assert "grey: no 2-means accuracy" in legend(figure)
    assert any(entry.startswith("† over fewer metrics") for entry in legend(figure))
    assert_readable(figure)
    # no number lies on a mark
    renderer = figure.canvas.get_renderer()
    for axes in panels.values():
        spots = np.array([axes.transData.transform(place) for *_, place in marks(axes)])
        for text in (text for text in axes.texts if text.get_text().rstrip("†").isdigit()):
            x0, y0, x1, y1 = text.get_window_extent(renderer).extents
            apart = np.maximum(np.maximum([x0, y0] - spots, spots - [x1, y1]), 0)
            # a mark has a radius of 3 points
            assert np.hypot(*apart.T).min() > 3 / 72 * figure.dpi


def test_trade_off_where_nothing_hidden_is_measured():
    figure = trade_off(mitigation(list(MODELS)[:2]), LABELS, "Religion")
    # no scale of fills
    assert len(figure.axes) == 2
    assert not any("empty" in text or "2-means" in text for text in texts(figure))
    assert_readable(figure)


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
    given_maps = maps()
    figure = word_map(given_maps, LABELS | {"male": "male words"}, "Gender")
    titles = [" ".join(axes.get_title(loc="left").split()) for axes in figure.axes]
    # the untouched model first, the others as given
    assert titles == ["untouched", *(entry[0] for entry in GENDER.values())]
    looks = {
        h.get_marker(): text for h, text in zip(figure.legends[0].legend_handles, legend(figure), strict=True)
    }
    assert set(looks.values()) == {"male words", "female"}
    by_method = {
        LABELS.get(method, "untouched"): (drawn, accuracy) for _, method, drawn, accuracy in given_maps
    }
    for title, axes in zip(titles, figure.axes, strict=True):
        drawn, accuracy = by_method[title]
        found = sorted(
            (looks[line.get_marker()].split()[0], *point)
            for line in axes.lines
            for point in line.get_xydata()
        )
        assert found == sorted((side, *xy) for side, xy in zip(drawn["side"], drawn["xy"], strict=True))
        says = "no 2-means accuracy" if accuracy is None else "2-means accuracy .88"
        assert says in texts(axes)
        # no word is outside
        points = np.array(drawn["xy"])
        assert (points.min(axis=0) > [axes.get_xlim()[0], axes.get_ylim()[0]]).all()
        assert (points.max(axis=0) < [axes.get_xlim()[1], axes.get_ylim()[1]]).all()
    assert len(looks) == 2
    assert MODELS["spacy-en-core-web-md-3.7.1"] in " ".join(unwrapped(figure))
    assert_readable(figure)


@pytest.mark.parametrize("panels", [1, 2, 5])
def test_word_maps_of_any_number_fit(panels):
    figure = word_map(maps(list(GENDER)[: panels - 1], 12), LABELS, "Gender")
    assert len(figure.axes) == panels
    assert_readable(figure)


# no shrinking: a figure takes too long to draw it hundreds of times
@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(st.lists(names, min_size=2, max_size=8, unique=True), st.integers(1, 5), st.integers(0, 99))
def test_every_figure_of_any_names_is_readable(labels, n_metrics, seed):
    rng = np.random.default_rng(seed)
    methods = {f"method_{i}": (label, *rng.uniform([0, 0.2, 0.5], 1)) for i, label in enumerate(labels)}
    keys = {f"metric_{i}": 10 ** rng.uniform(-3, 2) for i in range(n_metrics)}
    models = {f"model_{i}": label for i, label in enumerate(labels[:3])}
    table = mitigation(models, {"Gender": methods}, keys, seed)
    table.loc[rng.random(len(table)) < 0.1, ["after", "status"]] = [np.nan, "lost_words:Career"]
    printed = models | {key: entry[0] for key, entry in methods.items()}
    printed |= {key: labels[i % len(labels)] for i, key in enumerate(keys)}
    drawn = [
        before_after(table, printed, "Gender"),
        hidden_bias(table, printed, "Gender"),
        trade_off(table, printed, "Gender"),
        word_map(maps(methods, 12), printed | {"male": labels[0]}, "Gender"),
    ]
    for figure in drawn:
        found = {text.replace(" ", "") for text in unwrapped(figure)}
        assert {" ".join(label.split()).replace(" ", "") for label in labels} <= found
        assert_readable(figure)


def changed(i=0, model="spacy-en-core-web-md-3.7.1", method="gender-hard", **entries):
    few = maps(["gender-hard", "gender-ran"], 6)
    _, _, drawn, accuracy = few[i]
    return [*few[:i], (model, method, drawn | entries, accuracy), *few[i + 1 :]]


TABLE = mitigation(list(MODELS)[:1])


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (
            lambda: before_after(TABLE[:0], {}, "Gender"),
            "before_after: nothing to draw, the table is",
        ),
        (lambda: hidden_bias(TABLE[:0], {}, "Gender"), "hidden_bias: nothing to draw, the table is"),
        (
            lambda: trade_off(TABLE[:0], {}, "Gender"),
            "trade_off: nothing to draw, the table is empty",
        ),
        (
            lambda: before_after(TABLE, {}, "Age"),
            "no rows of criterion 'Age'; the table has Ethnicity, Gender, Religion",
        ),
        (
            lambda: hidden_bias(TABLE, {}, "Religion"),
            "hidden_bias, Religion: no rows of group 'hidden'; the table has displacement, metric, similarity",
        ),
        (
            lambda: hidden_bias(TABLE.replace("svm_accuracy", "mlp_accuracy"), {}, "Gender"),
            "unknown measure 'mlp_accuracy'; did you mean 'svm_accuracy'? allowed: cluster_accuracy, svm_accuracy",
        ),
        (
            lambda: trade_off(TABLE[TABLE["group"] == "metric"], {}, "Gender"),
            "trade_off, Gender: no rows of group 'similarity'; the table has metric",
        ),
        (
            lambda: trade_off(lose(TABLE.copy(), group="similarity"), {}, "Gender"),
            "no method has a value of a metric and of a similarity",
        ),
        (lambda: word_map([], {}, "Gender"), "word_map: nothing to draw, there are no maps"),
        (
            lambda: word_map(changed(model="glove-6b-50d"), {}, "Gender"),
            "maps of 2 models (glove-6b-50d, spacy-en-core-web-md-3.7.1); a figure has one",
        ),
        (
            lambda: word_map(changed(method="none"), {}, "Gender"),
            "two maps of one method; there are none, gender-ran, none",
        ),
        (
            lambda: word_map(changed(side=["other"] * 6), {}, "Gender"),
            "word_map: 3 sides; words have one of two",
        ),
        (
            lambda: word_map(changed(words=["w"]), {}, "Gender"),
            "'gender-hard' has words, side and xy of different lengths",
        ),
    ],
)
def test_errors_are_one_line(draw, says):
    with pytest.raises(BiasgridError) as caught:
        draw()
    message = str(caught.value)
    assert says in message
    assert "\n" not in message

"""The picture of which model has how much bias: topics by metrics, intervals, rings, and what comparisons say."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from artists import assert_readable, intervals_of, texts, unwrapped
from conftest import grid_config
from matplotlib.markers import CARETLEFT, CARETRIGHT

from biasgrid.figures.frame import PAGE
from biasgrid.figures.models import models
from biasgrid.figures.palette import CLEAR, model_looks
from biasgrid.measure.aggregation import OVERALL
from biasgrid.study.study import Study
from biasgrid.tables.conclusions.headline import LONGEST_HEADLINE


def tables(count=3, metrics=("weat",), criteria=("Gender",), clear=(), scaled=True):
    """rankings, aggregates and pairs; by the metrics of `clear`, the first model is clearly the lowest."""
    places = [*criteria, *[OVERALL] * (len(criteria) > 1)]
    keys = [f"m{i:02}" for i in range(count)]
    rankings, aggregates, pairs = [], [], []
    for place, criterion in enumerate(places):
        for at, metric in enumerate(metrics):
            value = {key: 0.5 + i + place / 7 + at / 11 for i, key in enumerate(keys)}
            same = {"criterion": criterion, "metric": metric}
            for rank, key in enumerate(keys):
                mark = value[key] if scaled else np.nan
                state = same | {"model": key, "debias": "none", "value": value[key]}
                rankings.append(
                    state
                    | {"rank": rank + 1.0, "value_shared": value[key], "rank_shared": rank + 1.0}
                    | {"queries": 4, "queries_of": 5, "reason": ""}
                )
                aggregates.append(
                    state
                    | {"aggregation": "abs_avg", "evidence": "none", "tests": 2, "standardized": mark}
                    | {
                        "standardized_low": mark - 0.25,
                        "standardized_high": mark + 40 * (key == keys[-1]) + 0.25,
                        "standardized_half_low": mark - 0.1,
                        "standardized_half_high": mark + 0.1,
                    }
                )
            for a, b in combinations(keys, 2):
                p = 0.001 if metric in clear and a == keys[0] else 0.6
                pairs.append(
                    same
                    | {"family": "models", "model_a": a, "debias_a": "none", "model_b": b, "debias_b": "none"}
                    | {"difference": value[a] - value[b], "p_adjusted": p, "p": p, "queries": 4}
                    | {"queries_of": 5, "reason": "", "answer": "cannot tell", "smallest_difference": 1.0}
                )
    return pd.DataFrame(rankings), pd.DataFrame(aggregates), pd.DataFrame(pairs)


def drawn(rankings, aggregates, pairs, labels=None, only=None):
    criteria = [name for name in rankings["criterion"].unique() if name != OVERALL]
    metrics = list(rankings["metric"].unique())
    return models(
        *(rankings, aggregates, pairs, labels or {}, criteria, sorted(criteria), metrics, "abs_avg", 0.5),
        only=only,
    )


def rings(figure):
    return [
        line.get_xdata()[0]
        for axes in figure.axes
        for line in axes.lines
        if line.get_markeredgecolor() == CLEAR
    ]


def marks_of_models(figure):
    """Marker, colour and value of every mark that is no ring and no arrow."""
    looks = set()
    for axes in figure.axes:
        for line in axes.lines:
            is_arrow = line.get_marker() in (CARETLEFT, CARETRIGHT)
            if line.get_linestyle() == "None" and line.get_markeredgecolor() != CLEAR and not is_arrow:
                looks |= {(line.get_marker(), line.get_color().lower(), x) for x in line.get_xdata()}
    return looks


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "metrics", "criteria"),
    [
        (2, ["weat"], ["Gender"]),
        (4, ["weat", "rnd", "ect"], ["Gender", "Religion"]),
        (20, ["weat"], ["Gender"]),
    ],
)
def test_every_mean_is_a_mark_in_its_models_look_with_its_interval(count, metrics, criteria):
    found = tables(count, metrics, criteria)
    figure = drawn(*found)
    looks = model_looks(found[0]["model"])
    aggregates = found[1]
    expected = {
        (looks[row.model]["marker"], looks[row.model]["color"].lower(), row.standardized)
        for row in aggregates.itertuples()
    }
    assert marks_of_models(figure) == expected
    ends = [end for axes in figure.axes for end in intervals_of(axes)]
    assert sorted(ends) == sorted(
        interval
        for part in ("", "_half")
        for interval in zip(
            *(aggregates[f"standardized{part}_{end}"] for end in ("low", "high")), strict=True
        )
    )
    assert [axes.get_title(loc="left") for axes in figure.axes] == metrics


@pytest.mark.slow
def test_a_ring_stands_around_a_clearly_lowest_model_and_the_words_name_it():
    found = tables(3, ["weat", "rnd"], ["Gender"], clear=["rnd"])
    figure = drawn(*found, {"m00": "GloVe"})
    lowest = found[1].query("metric == 'rnd' and model == 'm00'")["standardized"]
    assert rings(figure) == list(lowest)
    by_metric = {axes.get_title(loc="left"): unwrapped(axes) for axes in figure.axes}
    assert "GloVe is clearly lowest" in by_metric["rnd"]
    assert "cannot tell" in by_metric["weat"]
    assert figure.texts[0].get_text() == "GloVe is clearly the least biased according to rnd"
    assert rings(drawn(*tables(3))) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("clear", "label", "title"),
    [
        ([], "GloVe", "No model is clearly the least biased"),
        (["weat"], "GloVe 840B of Stanford", "GloVe 840B of Stanford is clearly lowest in 1 of 2 metrics"),
        (["weat", "rnd"], "GloVe", "GloVe is clearly the least biased according to both metrics"),
        (["weat"], "a model of seven words or more", "One model is clearly lowest in 1 of 2 metrics"),
    ],
)
def test_the_title_is_the_finding_in_ten_words(clear, label, title):
    figure = drawn(*tables(2, ["weat", "rnd"], ["Gender", "Age"], clear=clear), {"m00": label})
    if len(title.split()) > LONGEST_HEADLINE:
        title = "One model is clearly lowest in 1 of 2 metrics"
    assert figure.texts[0].get_text() == title


def test_rows_are_topics_in_order_and_say_how_many_queries_models_share():
    figure = drawn(*tables(2, ["weat"], ["Religion", "Gender"]))
    names = [" ".join(label.get_text().split()) for label in figure.axes[0].get_yticklabels()]
    assert names == ["Religion 4 of 5 queries", "Gender 4 of 5 queries", "All topics 4 of 5 queries"]


def test_without_a_bootstrap_or_a_baseline_marks_stay_and_words_say_why_none_are_compared():
    rankings, aggregates, _ = tables(2, scaled=False)
    figure = drawn(rankings, aggregates, None)
    assert sorted(x for *_, x in marks_of_models(figure)) == sorted(rankings["value_shared"])
    assert "not compared: no bootstrap" in " ".join(unwrapped(figure))
    assert "on each metric's own scale" in " ".join(unwrapped(figure))
    assert figure.texts[0].get_text() == "No model can be called the least biased"


def test_one_model_is_compared_with_none_and_has_no_figure_in_a_study(root):
    figure = drawn(*tables(1))
    assert not figure.axes
    assert any("models are not compared" in text for text in texts(figure))
    config = grid_config() | {"figures": ["models"]}
    assert list(Study.of(config, root=root).figures) == ["models"]
    del config["models"]["two"]
    assert list(Study.of(config, root=root).figures) == []


@pytest.mark.slow
def test_many_metrics_and_models_are_pages_that_can_be_printed(root):
    config = grid_config() | {"figures": ["models"]}
    config["models"] = {
        f"m{i:02}": {"label": f"Model {i}", "source": {"type": "file", "path": f"{i}.txt"}} for i in range(20)
    }
    config["metrics"] = {key: {} for key in ("weat", "weat_es", "rnd", "rnsb", "mac", "ect", "ripa", "same")}
    pages = Study.of(config, root=root).figures
    assert list(pages) == ["models", *(f"models-{i}" for i in range(2, len(pages) + 1))]
    assert len(pages) > 1
    found = tables(20, list(config["metrics"]), ["First", "Second"])
    columns = []
    for page in pages.values():
        figure = drawn(*found, only=page.spec["only"])
        assert figure.get_figheight() <= PAGE[1]
        columns += [axes.get_title(loc="left") for axes in figure.axes]
    assert columns == list(config["metrics"])
    assert_readable(figure)

"""The figure of whether models order queries alike: what it shows, on any numbers."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from artists import assert_readable, intervals_of, marks_of, texts, unwrapped
from conftest import grid_config

from biasgrid import BiasgridError
from biasgrid.figures import REGISTRY
from biasgrid.figures.query_ranks import query_ranks
from biasgrid.figures.types.heat import coefficient_text
from biasgrid.study.study import Study

LABELS = {
    "weat_es": "WEAT-ES",
    "rnd": "RND (cos)",
    "brown": "Brown corpus (1961, 1.16 million words)",
    "hard": "Hard debias",
}


def made(queries, columns, seed=0):
    """The three tables of a criterion, with random ranks."""
    rng = np.random.default_rng(seed)
    names = [f"Male terms and Female terms wrt Writing and fine arts {i}" for i in range(queries)]
    ranks = pd.DataFrame(
        {"criterion": "C", "template": "2, 1", "query": name, "metric": m, "model": model, "debias": d}
        | {"rank": float(rank), "rank_low": max(1.0, rank - 3.0), "rank_high": min(queries, rank + 4.0)}
        | {"queries": queries}
        for m, model, d in columns
        for name, rank in zip(names, rng.permutation(queries) + 1, strict=True)
    )
    sides = ("metric", "model", "debias")
    pairs = pd.DataFrame(
        {"criterion": "C", "template": "2, 1", "method": "spearman", "correlation": rng.uniform(-1, 1)}
        | {
            f"{side}_{x}": value
            for x, of in zip("ab", pair, strict=True)
            for side, value in zip(sides, of, strict=True)
        }
        | {"words_low": -0.61, "words_high": 0.42, "queries_low": -0.93, "queries_high": 0.87}
        for pair in combinations(columns, 2)
    )
    whole = {
        "kendalls_w": 0.456,
        "words_low": 0.31,
        "words_high": 0.72,
        "queries_low": 0.2,
        "queries_high": 0.8,
    }
    place = {"criterion": "C", "template": "2, 1", "columns": len(columns), "n": queries, "p_value": 0.0123}
    return ranks, pairs, pd.DataFrame([place | whole])


def drawn(tables, columns, **options):
    return query_ranks(*tables, LABELS, "C", "2, 1", columns, **options)


@pytest.mark.slow
def test_strips_have_ranks_and_intervals_of_queries_in_the_order_of_their_mean_rank():
    columns = [("rnd", "brown", "none"), ("rnd", "brown", "hard"), ("weat_es", "other", "none")]
    ranks, *_ = tables = made(8, columns)
    figure = drawn(tables, columns)
    means = ranks.groupby("query")["rank"].mean()
    order = sorted(means.index, key=lambda query: (means[query], query))
    strips, matrix = figure.axes[:3], figure.axes[3]
    # what all queries are about is said once
    named = [" ".join(label.get_text().split()) for label in strips[0].get_yticklabels()]
    assert named == [query.removeprefix("Male terms and Female terms ") for query in order]
    assert "Male terms and Female terms …" in texts(strips[0])
    for axes, column in zip(strips, columns, strict=True):
        mine = ranks[ranks[["metric", "model", "debias"]].apply(tuple, axis=1) == column].set_index("query")
        places = sorted((y, x, look) for look, (x, y) in marks_of(axes))
        assert [x for _, x, (marker, _) in places if marker == "|"] == [means[query] for query in order]
        assert [x for _, x, (marker, _) in places if marker != "|"] == [*mine.loc[order, "rank"]]
        assert intervals_of(axes) == sorted(zip(mine["rank_low"], mine["rank_high"], strict=True))
    # below the diagonal over words, above it over queries
    sides = {"[−.61, .42]": set(), "[−.93, .87]": set()}
    for text in matrix.texts:
        column, row = text.get_position()
        sides[" ".join(text.get_text().split("\n")[1:])].add(row > column)
    assert sides == {"[−.61, .42]": {True}, "[−.93, .87]": {False}}


@pytest.mark.parametrize("ends", [(0.2, np.nan), (np.nan, 0.9)])
def test_a_coefficient_without_both_ends_has_no_interval(ends):
    assert coefficient_text(0.5, *ends) == coefficient_text(0.5) == ".50"


@pytest.mark.slow
def test_what_has_no_value_or_no_interval_is_said_and_not_drawn():
    columns = [("rnd", "brown", "none"), ("rnd", "other", "none")]
    ranks, pairs, agreement = made(4, columns)
    ranks.loc[1, ["rank", "rank_low", "rank_high"]] = math.nan
    ends = ["words_low", "words_high", "queries_low", "queries_high"]
    figure = drawn((ranks, pairs.assign(**dict.fromkeys(ends, math.nan)), agreement.iloc[:0]), columns)
    assert texts(figure.axes[0]).count("no value") == 1
    assert not any("[" in text for text in texts(figure.axes[2]))
    assert not any("Kendall" in text for text in texts(figure))
    figure = drawn((ranks, pairs.assign(correlation=math.nan), agreement), columns)
    assert texts(figure.axes[2]).count("n/a") == 2
    nothing = drawn((ranks.assign(rank=math.nan), pairs, agreement), columns)
    assert "Nothing to draw: no metric ranks two queries on a model." in unwrapped(nothing)
    with pytest.raises(BiasgridError, match="no rows of criterion 'D'"):
        query_ranks(ranks, pairs, agreement, LABELS, "D", "2, 1", columns)


def test_each_template_of_a_criterion_has_a_figure():
    config = grid_config() | {"query_ranks": True, "figures": ["query-ranks"], "inference": {"bootstrap": {}}}
    attributes = {"C": ["c"], "D": ["d"]}
    config["criteria"] = {
        "First": {"queries": {"q": {"targets": {"A": ["a"], "B": ["b"]}, "attributes": attributes}}}
    }
    config["metrics"] = {"weat_es": {}, "rnd": {}, **{f"rnd_{i}": {"metric": "rnd"} for i in range(5)}}
    first, second = REGISTRY["query-ranks"].drawings_of(Study.of(config))
    assert (first.name, second.name) == ("query-ranks-first", "query-ranks-first-2")
    # of two models: six metrics of sub-queries and one of whole ones
    counts = {
        drawing.spec["template"]: len(set(map(tuple, drawing.spec["columns"]))) for drawing in (first, second)
    }
    assert counts == {"2, 1": 12, "2, 2": 2}


@pytest.mark.slow
def test_many_columns_leave_their_numbers_to_the_table():
    columns = [("rnd", f"model {i}", "none") for i in range(20)]
    figure = drawn(made(4, columns), columns)
    assert not any("[" in text for text in texts(figure.axes[-1]))
    assert_readable(figure)

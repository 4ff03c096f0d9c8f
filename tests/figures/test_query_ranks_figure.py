"""The figure of whether models order queries alike: what it shows, on any numbers."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from artists import assert_readable, texts, unwrapped
from conftest import grid_config

from biasgrid import BiasgridError
from biasgrid.figures import REGISTRY
from biasgrid.figures.frame import PAGE
from biasgrid.figures.query_ranks import MOST_COLUMNS, query_ranks
from biasgrid.plan.study import Study

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


@pytest.mark.parametrize(("queries", "count"), [(5, 2), (16, MOST_COLUMNS)])
def test_nothing_is_cut_off_and_a_page_is_no_larger_than_a_journals(queries, count):
    columns = [("rnd", "brown" if i == 0 else f"a-model-with-a-long-name-{i}", "none") for i in range(count)]
    tables = made(queries, columns)
    figure = drawn(tables, columns)
    assert_readable(figure)
    width, height = figure.get_size_inches()
    assert width <= PAGE[0] + 1e-9
    assert height <= PAGE[1] + 1e-9
    assert "A RND (cos), Brown corpus (1961, 1.16 million words)" in unwrapped(figure)


def test_strips_have_ranks_and_intervals_of_queries_in_the_order_of_their_mean_rank():
    columns = [("rnd", "brown", "none"), ("rnd", "brown", "hard"), ("weat_es", "other", "none")]
    ranks, pairs, _ = tables = made(8, columns)
    figure = drawn(tables, columns)
    means = ranks.groupby("query")["rank"].mean()
    order = sorted(means.index, key=lambda query: (means[query], query))
    strips, matrix = figure.axes[:3], figure.axes[3]
    assert [" ".join(label.get_text().split()) for label in strips[0].get_yticklabels()] == order
    for axes, column in zip(strips, columns, strict=True):
        mine = ranks[ranks[["metric", "model", "debias"]].apply(tuple, axis=1) == column].set_index("query")
        mean, *marks = axes.lines
        assert list(mean.get_xdata()) == [means[query] for query in order]
        for query, interval, mark in zip(order, marks[::2], marks[1::2], strict=True):
            assert list(interval.get_xdata()) == [mine.loc[query, "rank_low"], mine.loc[query, "rank_high"]]
            assert list(mark.get_xdata()) == [mine.loc[query, "rank"]]
    # one model under three columns has marks that differ
    looks = {(axes.lines[2].get_color(), axes.lines[2].get_marker()) for axes in strips}
    assert len(looks) == 3
    assert [" ".join(label.get_text().split()) for label in matrix.get_yticklabels()][1] == (
        "B RND (cos), Brown corpus (1961, 1.16 million words) + Hard debias"
    )
    # below the diagonal over words, above it over queries
    assert texts(matrix).count("[−.61, .42]") == texts(matrix).count("[−.93, .87]") == 3
    for value in pairs["correlation"]:
        assert texts(matrix).count(f"{value:.2f}".replace("0.", ".").replace("-", "−")) == 2
    note = " ".join(unwrapped(figure))
    assert "All 3 columns over 8 queries: Kendall's W .46, [.31, .72] over words, [.20, .80] over" in note
    assert "p = .012" in note


def test_what_has_no_value_or_no_interval_is_said_and_not_drawn():
    columns = [("rnd", "brown", "none"), ("rnd", "other", "none")]
    ranks, pairs, agreement = made(4, columns)
    ranks.loc[1, ["rank", "rank_low", "rank_high"]] = math.nan
    ends = ["words_low", "words_high", "queries_low", "queries_high"]
    figure = drawn((ranks, pairs.assign(**dict.fromkeys(ends, math.nan)), agreement.iloc[:0]), columns)
    assert_readable(figure)
    assert texts(figure.axes[0]).count("no value") == 1
    assert not any("[" in text for text in texts(figure.axes[2]))
    assert not any("Kendall" in text for text in texts(figure))
    figure = drawn((ranks, pairs.assign(correlation=math.nan), agreement), columns)
    assert texts(figure.axes[2]).count("n/a") == 2
    nothing = drawn((ranks.assign(rank=math.nan), pairs, agreement), columns)
    assert "Nothing to draw: no metric ranks two queries on a model." in unwrapped(nothing)
    with pytest.raises(BiasgridError, match="no rows of criterion 'D'"):
        query_ranks(ranks, pairs, agreement, LABELS, "D", "2, 1", columns)


def test_pages_show_all_queries_and_all_columns_once():
    config = grid_config() | {"query_ranks": True, "figures": ["query-ranks"], "inference": {"bootstrap": {}}}
    config["criteria"] = {
        "First": {
            "queries": {
                f"q{i}": {
                    "targets": {"A": [f"a{i}"], "B": ["b"]},
                    "attributes": {f"C{i}": ["c"], f"D{i}": ["d"]},
                }
                for i in range(20)
            }
        }
    }
    config["metrics"] = {"weat_es": {}, "rnd": {}, **{f"rnd_{i}": {"metric": "rnd"} for i in range(5)}}
    drawings = list(REGISTRY["query-ranks"].drawings_of(Study.of(config)))
    assert [drawing.name for drawing in drawings] == [
        "query-ranks-first",
        *(f"query-ranks-first-{i + 2}" for i in range(4)),
    ]
    shown = {}
    for drawing in drawings:
        spec = drawing.spec
        shown.setdefault((spec["template"], tuple(spec["part"])), []).extend(map(tuple, spec["columns"]))
    # 40 sub-queries on two pages, 12 columns on two; and 20 queries under one metric on one page
    assert {place: len(columns) for place, columns in shown.items()} == {
        ("2, 1", (0, 2)): 12,
        ("2, 1", (1, 2)): 12,
        ("2, 2", (0, 1)): 2,
    }
    assert all(len(set(columns)) == len(columns) for columns in shown.values())
    columns = [("rnd", "one", "none"), ("rnd", "two", "none")]
    tables = made(40, columns)
    pages = [drawn(tables, columns, part=(i, 2)) for i in range(2)]
    rows = [label.get_text() for figure in pages for label in figure.axes[0].get_yticklabels()]
    assert len(set(rows)) == len(rows) == 40
    assert [len(figure.axes) for figure in pages] == [3, 2]
    assert_readable(pages[1])
    assert "B RND (cos), two" in unwrapped(pages[1])

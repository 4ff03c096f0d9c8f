"""Aggregates, rankings and their correlations."""

import math

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from scipy.stats import kendalltau

from biasgrid.tables.aggregates import aggregates
from biasgrid.tables.correlations import correlations
from biasgrid.tables.rankings import rankings

NEUTRAL = {"weat": 0.0, "ect": 1.0}


def scores_of(rows):
    """criterion, query, metric, model, value"""
    table = pd.DataFrame(rows, columns=["criterion", "query", "metric", "model", "value"])
    table["debias"] = "none"
    return table


@pytest.fixture
def scores():
    return scores_of(
        [
            ("G", "q1", "weat", "a", 0.5),
            ("G", "q2", "weat", "a", -0.1),
            ("G", "q1", "weat", "b", 0.2),
            ("G", "q2", "weat", "b", math.nan),
            ("H", "q3", "weat", "a", -0.3),
            ("H", "q3", "weat", "b", 0.4),
            ("G", "q1", "ect", "a", 0.9),
            ("G", "q1", "ect", "b", 0.2),
            ("H", "q3", "ect", "a", 0.7),
            ("H", "q3", "ect", "b", -0.4),
            ("X", "q4", "weat", "a", 9.0),
        ]
    )


def at(table, value="value", **where):
    for column, wanted in where.items():
        table = table[table[column] == wanted]
    assert len(table) == 1, table
    return table[value].item()


def test_aggregates(scores):
    table = aggregates(scores, ["G", "H"])
    of_a = {"criterion": "G", "metric": "weat", "model": "a"}
    assert at(table, aggregation="avg", **of_a) == pytest.approx(0.2)
    assert at(table, aggregation="abs_avg", **of_a) == pytest.approx(0.3)
    assert at(table, aggregation="sum", **of_a) == pytest.approx(0.4)
    assert at(table, aggregation="abs_sum", **of_a) == pytest.approx(0.6)
    of_b = {"criterion": "G", "metric": "weat", "model": "b", "aggregation": "abs_avg"}
    assert at(table, **of_b) == pytest.approx(0.2)
    assert at(table, "cells", **of_b) == 2
    assert at(table, "cells_nan", **of_b) == 1


def test_overall_is_over_all_cells_of_ranked_criteria(scores):
    table = aggregates(scores, ["G", "H"])
    overall = at(table, criterion="Overall", metric="weat", model="a", aggregation="abs_avg")
    assert overall == pytest.approx((0.5 + 0.1 + 0.3) / 3)
    assert "X" in set(table["criterion"])


def test_a_debiased_state_of_some_criteria_is_in_no_ranking_over_all(scores):
    debiased = scores[scores["model"] == "a"].assign(debias="hard")
    whole, part = debiased, debiased[debiased["criterion"] == "G"].assign(debias="linear")
    ranks = rankings(pd.concat([scores, whole, part], ignore_index=True), ["G", "H"], NEUTRAL)
    states = (
        ranks[(ranks["model"] == "a") & (ranks["metric"] == "weat")].groupby("criterion")["debias"].agg(set)
    )
    assert states.to_dict() == {
        "G": {"none", "hard", "linear"},
        "H": {"none", "hard"},
        "Overall": {"none", "hard"},
    }
    # a model without debiasing is, with what it was measured on
    fewer = scores[~((scores["model"] == "b") & (scores["criterion"] == "H"))]
    overall = at(rankings(fewer, ["G", "H"], NEUTRAL), criterion="Overall", metric="weat", model="b")
    assert overall == pytest.approx(0.2)


def test_an_aggregate_of_nothing_is_nan_and_counted():
    table = aggregates(scores_of([("G", "q", "weat", "a", math.nan)]), ["G"])
    assert table["value"].isna().all()
    assert (table["cells_nan"] == 1).all()


def test_ranking_by_distance_knows_which_way_is_fair(scores):
    ranks = rankings(scores, ["G", "H"], NEUTRAL)
    assert at(ranks, "rank", criterion="G", metric="ect", model="a") == 1
    assert at(ranks, criterion="G", metric="ect", model="a") == pytest.approx(0.1)
    assert at(ranks, criterion="Overall", metric="ect", model="b") == pytest.approx((0.8 + 1.4) / 2)
    plain = rankings(scores, ["G", "H"], NEUTRAL, by="value")
    assert at(plain, "rank", criterion="G", metric="ect", model="a") == 2
    assert set(ranks["criterion"]) == {"G", "H", "Overall"}


def test_a_distance_has_no_sign_whatever_is_aggregated():
    scores = scores_of(
        [("G", "q1", "weat", "a", -0.5), ("G", "q1", "weat", "b", 0.2), ("G", "q1", "weat", "c", -0.1)]
    )
    for aggregation in ("avg", "sum", "abs_avg"):
        table = rankings(scores, ["G"], NEUTRAL, aggregation)
        ranks = table[table["criterion"] == "G"].set_index("model")
        assert ranks["rank"].to_dict() == {"a": 3, "b": 2, "c": 1}
        assert ranks["value"].to_dict() == pytest.approx({"a": 0.5, "b": 0.2, "c": 0.1})


def test_a_correlation_rests_on_the_fewest_queries_of_both_rankings():
    queries = {"weat": {"a": 3, "b": 3}, "ect": {"a": 3, "b": 2}}
    rows = [
        ("G", f"q{i}", metric, model, 0.1 * i if i < n else math.nan)
        for metric, models in queries.items()
        for model, n in models.items()
        for i in range(3)
    ]
    table = correlations(rankings(scores_of(rows), ["G"], NEUTRAL), ["spearman"])
    of_g = table[table["criterion"] == "G"].set_index(["metric_a", "metric_b"])["queries"]
    assert of_g.to_dict() == {
        ("weat", "weat"): 3,
        ("weat", "ect"): 2,
        ("ect", "weat"): 2,
        ("ect", "ect"): 2,
    }


def test_distance_and_value_agree_where_neutral_is_zero(scores):
    weat = scores[scores["metric"] == "weat"]
    by_distance = rankings(weat, ["G", "H"], NEUTRAL)
    by_value = rankings(weat, ["G", "H"], NEUTRAL, by="value")
    pd.testing.assert_frame_equal(by_distance, by_value)


def test_ties():
    same = scores_of([("G", "q", "weat", m, v) for m, v in zip("abc", (0.1 + 0.2, 0.3, 0.1), strict=True)])
    average = rankings(same, ["G"], NEUTRAL)
    assert list(average[average["criterion"] == "G"]["rank"]) == [2.5, 2.5, 1.0]
    first = rankings(same, ["G"], NEUTRAL, ties="first")
    assert list(first[first["criterion"] == "G"]["rank"]) == [2.0, 3.0, 1.0]


def test_a_nan_has_no_rank():
    table = rankings(
        scores_of([("G", "q", "weat", "a", math.nan), ("G", "q", "weat", "b", 1.0)]), ["G"], NEUTRAL
    )
    assert math.isnan(at(table, "rank", criterion="G", model="a"))
    assert at(table, "cells_nan", criterion="G", model="a") == 1
    assert at(table, "rank", criterion="G", model="b") == 1


@pytest.mark.slow
def test_published_ranks_and_correlations_follow_from_the_published_scores():
    """The case study's tables: its ranks from its scores, its Spearman matrices from its ranks."""
    folder = ROOT / "data" / "published"
    names = ("case_study", "case_study_ranks", "case_study_correlations")
    published = pd.concat(pd.read_csv(folder / f"{name}.csv") for name in names)
    rows = published[published["quantity"] == "abs_avg"]
    checked = 0
    for criterion in ("Gender", "Ethnicity", "Religion", "Overall"):
        part = rows[rows["criterion"] == criterion]
        table = scores_of([("C", "q", r.metric, r.model, float(r.published)) for r in part.itertuples()])
        neutral = dict.fromkeys(part["metric"], 0.0)
        ranks = rankings(table, ["C"], neutral)
        printed = published[(published["quantity"] == "rank") & (published["criterion"] == criterion)]
        for row in printed.itertuples():
            ours = at(ranks, "rank", criterion="C", metric=row.metric, model=row.model)
            # printed scores have three digits, so that close models may tie where the paper's do not
            assert abs(ours - float(row.published)) <= 0.5, row
            checked += 1
        by_metric = printed.pivot(index="model", columns="metric", values="published").astype(float)
        long = by_metric.stack().rename("rank").reset_index()
        long = long.assign(criterion=criterion, debias="none", queries=1)
        matrix = correlations(long, ["spearman"])
        is_correlation = (published["quantity"] == "correlation") & (published["criterion"] == criterion)
        for row in published[is_correlation].itertuples():
            a, b = row.metric.split("~")
            ours = at(matrix, "correlation", metric_a=a, metric_b=b)
            assert ours == pytest.approx(float(row.published), abs=1e-9), row
            checked += 1
    assert checked == 4 * 7 * 4 + 4 * 6


def test_kendall_is_scipys():
    rng = np.random.default_rng(1)
    a, b = rng.permutation(6) + 1.0, rng.permutation(6) + 1.0
    rows = [
        ("C", m, f"m{i}", "none", r, 1) for m, ranks in (("weat", a), ("ect", b)) for i, r in enumerate(ranks)
    ]
    table = pd.DataFrame(rows, columns=["criterion", "metric", "model", "debias", "rank", "queries"])
    matrix = correlations(table)
    kendall = at(matrix, "correlation", method="kendall", metric_a="weat", metric_b="ect")
    assert kendall == pytest.approx(kendalltau(a, b).statistic)
    assert set(matrix["method"]) == {"spearman", "kendall", "pearson"}

import json
import math

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from scipy.stats import kendalltau

from biasgrid import BiasgridError, tables

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
    table = tables.aggregates(scores, ["G", "H"])
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
    table = tables.aggregates(scores, ["G", "H"])
    overall = at(table, criterion="Overall", metric="weat", model="a", aggregation="abs_avg")
    assert overall == pytest.approx((0.5 + 0.1 + 0.3) / 3)
    assert "X" in set(table["criterion"])


def test_an_aggregate_of_nothing_is_nan_and_counted():
    table = tables.aggregates(scores_of([("G", "q", "weat", "a", math.nan)]), ["G"])
    assert table["value"].isna().all()
    assert (table["cells_nan"] == 1).all()


def test_ranking_by_distance_knows_which_way_is_fair(scores):
    ranks = tables.rankings(scores, ["G", "H"], NEUTRAL)
    assert at(ranks, "rank", criterion="G", metric="ect", model="a") == 1
    assert at(ranks, criterion="G", metric="ect", model="a") == pytest.approx(0.1)
    assert at(ranks, criterion="Overall", metric="ect", model="b") == pytest.approx((0.8 + 1.4) / 2)
    plain = tables.rankings(scores, ["G", "H"], NEUTRAL, by="value")
    assert at(plain, "rank", criterion="G", metric="ect", model="a") == 2
    assert set(ranks["criterion"]) == {"G", "H", "Overall"}


def test_distance_and_value_agree_where_neutral_is_zero(scores):
    weat = scores[scores["metric"] == "weat"]
    by_distance = tables.rankings(weat, ["G", "H"], NEUTRAL)
    by_value = tables.rankings(weat, ["G", "H"], NEUTRAL, by="value")
    pd.testing.assert_frame_equal(by_distance, by_value)


def test_ties():
    same = scores_of([("G", "q", "weat", m, v) for m, v in zip("abc", (0.1 + 0.2, 0.3, 0.1), strict=True)])
    average = tables.rankings(same, ["G"], NEUTRAL)
    assert list(average[average["criterion"] == "G"]["rank"]) == [2.5, 2.5, 1.0]
    first = tables.rankings(same, ["G"], NEUTRAL, ties="first")
    assert list(first[first["criterion"] == "G"]["rank"]) == [2.0, 3.0, 1.0]


def test_a_nan_has_no_rank():
    table = tables.rankings(
        scores_of([("G", "q", "weat", "a", math.nan), ("G", "q", "weat", "b", 1.0)]), ["G"], NEUTRAL
    )
    assert math.isnan(at(table, "rank", criterion="G", model="a"))
    assert at(table, "cells_nan", criterion="G", model="a") == 1
    assert at(table, "rank", criterion="G", model="b") == 1


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
        ranks = tables.rankings(table, ["C"], neutral)
        printed = published[(published["quantity"] == "rank") & (published["criterion"] == criterion)]
        for row in printed.itertuples():
            ours = at(ranks, "rank", criterion="C", metric=row.metric, model=row.model)
            # printed scores have three digits, so that close models may tie where the paper's do not
            assert abs(ours - float(row.published)) <= 0.5, row
            checked += 1
        by_metric = printed.pivot(index="model", columns="metric", values="published").astype(float)
        long = by_metric.stack().rename("rank").reset_index()
        long = long.assign(criterion=criterion, debias="none")
        matrix = tables.correlations(long, ["spearman"])
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
        ("C", m, f"m{i}", "none", r) for m, ranks in (("weat", a), ("ect", b)) for i, r in enumerate(ranks)
    ]
    table = pd.DataFrame(rows, columns=["criterion", "metric", "model", "debias", "rank"])
    matrix = tables.correlations(table)
    kendall = at(matrix, "correlation", method="kendall", metric_a="weat", metric_b="ect")
    assert kendall == pytest.approx(kendalltau(a, b).statistic)
    assert set(matrix["method"]) == {"spearman", "kendall", "pearson"}


def cell_file(folder, name, results, criterion="G", query="q"):
    path = folder / name
    record = {"criterion": criterion, "query": query, "metric": "rnd", "model": "m", "debias": "none"}
    path.write_text(json.dumps(record | {"results": results}))
    return path


def test_scores_join_shared_subqueries(tmp_path):
    def result(query, value):
        return {"query": query, "value": value, "status": "ok", "words_used": 9, "words_lost": 0}

    one = cell_file(tmp_path, "1.json", [result("A wrt X", 0.1), result("A wrt Y", None)])
    two = cell_file(tmp_path, "2.json", [result("A wrt X", 0.1), result("A wrt Z", 0.3)])
    table = tables.scores([two, one])
    assert list(table["query"]) == ["A wrt X", "A wrt Y", "A wrt Z"]
    assert math.isnan(at(table, query="A wrt Y"))
    assert list(table.columns) == tables.SCORES


def test_a_shared_subquerys_value_and_p_value_are_of_one_cell(tmp_path):
    """Two queries share it; each draws with its own seed."""
    files = {}
    for query, value, p in (("q1", 0.1, 0.01), ("q2", 0.2, 0.02)):
        cell = {"query": "A wrt X", "value": value, "status": "ok", "words_used": 9, "words_lost": 0}
        test = {"query": "A wrt X", "status": "ok", "permutation": {"p_value": p}}
        files[query] = [
            cell_file(tmp_path, f"{query}{part}.json", [result], query=query)
            for part, result in (("cell", cell), ("test", test))
        ]
    (one, one_test), (two, two_test) = files.values()
    for cells, tests, value, p in (
        ([one, two], [one_test, two_test], 0.1, 0.01),
        ([two, one], [one_test, two_test], 0.2, 0.02),
    ):
        (row,) = tables.scores(cells, tests).itertuples()
        assert (row.value, row.p_value) == (value, p)


def p_values_of(*p_values, criterion="G"):
    keys = {"criterion": criterion, "query": list(map(str, range(len(p_values)))), "metric": "weat"}
    return pd.DataFrame({**keys, "model": "m", "debias": "none", "p_value": p_values})


def test_adjusted_p_values_by_hand():
    table = p_values_of(0.01, 0.04, 0.03, math.nan, 0.005)
    # times 3, 1, 2, 4 of those that are left, never below a smaller one's
    assert list(tables.adjusted(table, "holm")) == pytest.approx(
        [0.03, 0.06, 0.06, math.nan, 0.02], nan_ok=True
    )
    # times 4/2, 4/4, 4/3, 4/1, never above a larger one's
    benjamini = tables.adjusted(table, "benjamini-hochberg")
    assert list(benjamini) == pytest.approx([0.02, 0.04, 0.04, math.nan, 0.02], nan_ok=True)
    assert list(tables.adjusted(p_values_of(0.6, 0.9), "holm")) == [1.0, 1.0]
    assert tables.adjusted(p_values_of(math.nan), "holm").isna().all()
    # each criterion has its own tests; the order of the rows does not matter
    both = pd.concat([table, p_values_of(0.02, criterion="H")], ignore_index=True).iloc[::-1]
    assert at(both.assign(p=tables.adjusted(both, "holm")), "p", criterion="H") == 0.02
    assert tables.adjusted(both, "holm")[0] == pytest.approx(0.03)


@pytest.mark.parametrize("level", [0.01, 0.05, 0.2])
def test_holm_rejects_what_its_steps_reject(level):
    """Holm 1979: from the smallest on, p(i) is held against level / (m - i + 1) until one is above."""
    p_values = np.random.default_rng(3).beta(0.3, 2, size=40)
    rejected = set()
    for left, place in zip(range(40, 0, -1), np.argsort(p_values), strict=True):
        if p_values[place] > level / left:
            break
        rejected.add(place)
    ours = tables.adjusted(p_values_of(*p_values), "holm")
    assert set(np.flatnonzero(ours <= level)) == rejected
    assert 0 < len(rejected) < 40


def test_benjamini_hochberg_rejects_up_to_the_last_below_its_line():
    p_values = np.random.default_rng(3).beta(0.3, 2, size=40)
    below = np.flatnonzero(np.sort(p_values) <= 0.1 * np.arange(1, 41) / 40)
    ours = tables.adjusted(p_values_of(*p_values), "benjamini-hochberg")
    assert 0 < np.count_nonzero(ours <= 0.1) == below.max() + 1 < 40


def test_scores_have_the_interval_and_the_adjustment_that_are_asked_for(tmp_path):
    cells, tests = [], []
    for query, p in (("q1", 0.01), ("q2", 0.03), ("q3", 0.04)):
        cell = {"query": query, "value": 0.5, "status": "ok", "words_used": 9, "words_lost": 0}
        bootstrap = {"percentile": [0.1, 0.2], "bca": [0.3, 0.4], "jackknife": [0.4, 0.6]}
        test = {"query": query, "status": "ok", "permutation": {"p_value": p}, "bootstrap": bootstrap}
        cells.append(cell_file(tmp_path, f"{query}.json", [cell], query=query))
        tests.append(cell_file(tmp_path, f"{query}test.json", [test], query=query))
    table = tables.scores(cells, tests)
    assert list(table["p_adjusted"]) == pytest.approx([0.03, 0.06, 0.06])
    assert (table[["ci_low", "ci_high"]] == [0.4, 0.6]).all(axis=None)
    bca = tables.scores(cells, tests, "bca")
    assert (bca[["ci_low", "ci_high"]] == [0.3, 0.4]).all(axis=None)
    table = tables.scores(cells, tests, "percentile", "benjamini-hochberg")
    assert list(table["p_adjusted"]) == pytest.approx([0.03, 0.04, 0.04])
    assert (table[["ci_low", "ci_high"]] == [0.1, 0.2]).all(axis=None)
    without = tables.scores(cells)
    assert without[["p_value", "p_adjusted", "ci_low", "ci_high"]].isna().all(axis=None)


def test_a_table_reads_back_to_the_last_bit(tmp_path):
    table = pd.DataFrame({"criterion": ["NA", "b"], "value": [0.1 + 0.2, math.nan], "cells": [3, 4]})
    tables.write(table, tmp_path / "t.csv")
    again = tables.read(tmp_path / "t.csv")
    assert again["value"][0] == 0.1 + 0.2
    assert list(again["criterion"]) == ["NA", "b"]
    assert math.isnan(again["value"][1])
    assert again["cells"].dtype == "int64"


@pytest.mark.parametrize("text", ["{", "{}", "[]", "null", '{"cells": 3}', '{"cells": [{"results": [{}]}]}'])
def test_a_broken_cell_is_named(tmp_path, text):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(BiasgridError, match=r"broken\.json: not a cell file"):
        tables.scores([path])

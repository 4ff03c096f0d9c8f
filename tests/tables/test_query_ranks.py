"""Ranks of queries and whether models order them alike: against arithmetic of our own, and scipy's."""

import json
import math
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from conftest import GRID_WORDS, grid_config
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import make_cells, make_inputs, make_tables
from scipy import stats

from biasgrid import tables
from biasgrid.core.in_memory import InMemory
from biasgrid.measure.results import KEYS
from biasgrid.measure.statistics.concordance import (
    chance_of_correlation,
    chance_of_w,
    corrected_interval,
    kendalls_w,
    kendalls_w_over_units,
)
from biasgrid.study.study import Study
from biasgrid.tables.query_correlations import QUERY_AGREEMENT, QUERY_CORRELATIONS
from biasgrid.tables.query_ranks import QUERY_RANKS

DRAWS, D = 40, 6
UNIT = ["metric", "model", "debias"]


def config() -> dict:
    """Four sub-queries under RND with either distance, on two models; MAC has no direction."""
    config = grid_config()
    del config["criteria"]["Second"]
    config["criteria"]["First"]["queries"]["q2"]["attributes"] = {
        letter.upper(): [f"{letter}{i}" for i in range(8)] for letter in "ef"
    }
    config["metrics"] = {
        "rnd": {"params": {"distance": "norm"}},
        "rnd_cos": {"metric": "rnd", "label": "RND (cos)", "params": {"distance": "cos"}},
        "mac": {},
    }
    inference = {"bootstrap": {"draws": DRAWS, "level": 0.9}, "interval": "percentile"}
    return config | {"inference": inference, "query_ranks": True}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("query_ranks")
    rng = np.random.default_rng(2)
    wanted = config()
    for name, entry in wanted["models"].items():
        vectors = rng.normal(size=(len(GRID_WORDS), D))
        lines = [
            f"{word} {' '.join(map(str, row))}"
            for word, row in zip(GRID_WORDS, vectors.round(4), strict=True)
        ]
        path = folder / f"{name}.txt"
        path.write_text(f"{len(lines)} {D}\n" + "\n".join(lines) + "\n")
        entry["source"]["path"] = str(path)
    study = Study.of(wanted | {"results": str(folder / "results"), "embeddings": str(folder / "embeddings")})
    make_inputs(study)
    make_cells(study)
    make_tables(study, "query_ranks", "query_correlations", "query_agreement")
    return study


def resamples(study, metric, model):
    """Sub-query -> its values in the resamples of words, from the files of inference."""
    place = study.results / "inference" / model / "none" / metric
    names = [
        result["query"]
        for cell in json.loads(place.with_suffix(".json").read_text())["cells"]
        for result in cell["results"]
    ]
    return dict(zip(names, np.load(place.with_suffix(".npy")), strict=True))


def test_ranks_and_their_intervals_are_those_of_the_values_turned_to_one_direction(study):
    found = tables.read(study.paths.table_file("query_ranks"))
    scores = tables.read(study.paths.table_file("scores")).set_index(KEYS)
    assert set(found["metric"]) == {"rnd", "rnd_cos"}
    assert len(found) == 4 * 4
    for (metric, model), part in found.groupby(["metric", "model"]):
        sign = -1 if metric == "rnd" else 1
        score = {
            row.query: scores.loc[("First", row.query, metric, model, "none")] for row in part.itertuples()
        }
        drawn = resamples(study, metric, model)
        for row in part.itertuples():
            value = sign * score[row.query]["value"]
            assert row.value == pytest.approx(value)
            ends = sorted(sign * score[row.query][end] for end in ("ci_low", "ci_high"))
            assert (row.ci_low, row.ci_high) == pytest.approx(ends)
            assert row.rank == 1 + sum(sign * other["value"] > value for other in score.values())
            ranks = sorted(
                1 + sum(sign * other[draw] > sign * drawn[row.query][draw] for other in drawn.values())
                for draw in range(DRAWS)
            )
            # 5 % of 40 resamples are cut off at either end
            assert (row.rank_low, row.rank_high) == (ranks[2], ranks[-3])
            assert (row.template, row.queries) == ("2, 1", 4)
    assert (found["rank_low"] < found["rank_high"]).any()


def test_both_distances_of_rnd_have_one_direction(study):
    """Of vectors of about one length, what is nearer by one is nearer by the other."""
    table = tables.read(study.paths.table_file("query_correlations"))
    same = table[(table["model_a"] == table["model_b"]) & (table["method"] == "pearson")]
    assert len(same) == 2
    assert (same["correlation"] > 0.5).all()


def test_correlations_are_scipys_and_their_chance_is_counted(study):
    ranks = tables.read(study.paths.table_file("query_ranks"))
    wide = ranks.pivot(index="query", columns=UNIT, values="value")
    table = tables.read(study.paths.table_file("query_correlations"))
    assert len(table) == 2 * 6
    known = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}
    for row in table.itertuples():
        x = wide[row.metric_a, row.model_a, row.debias_a].to_numpy()
        y = wide[row.metric_b, row.model_b, row.debias_b].to_numpy()
        value = known[row.method](x, y).statistic
        assert row.n == 4
        assert row.correlation == pytest.approx(value)
        orders = [known[row.method](x, y[list(order)]).statistic for order in permutations(range(4))]
        assert row.p_value == pytest.approx(np.mean(np.abs(orders) >= abs(value) - 1e-9))
        assert row.words_low <= row.correlation + 1e-3
        assert row.words_high >= row.correlation - 1e-3
    # of two queries in the config, each drawn with its sub-queries, half of the resamples are of one alone
    (agreement,) = tables.read(study.paths.table_file("query_agreement")).itertuples()
    friedman = stats.friedmanchisquare(*wide.to_numpy()).statistic
    assert (agreement.columns, agreement.n) == (4, 4)
    assert agreement.kendalls_w == pytest.approx(friedman / (4 * 3))
    assert agreement.words_low <= agreement.kendalls_w <= agreement.words_high
    assert agreement.queries_low <= agreement.kendalls_w <= agreement.queries_high


def of_values(columns):
    """scores.csv of one model under one metric a column, in memory, and the spec of the tables."""
    metrics = [f"m{i}" for i in range(len(columns))]
    rows = [
        ("C", f"q{j}", metric, "model", "none", value)
        for metric, values in zip(metrics, columns, strict=True)
        for j, value in enumerate(values)
    ]
    frame = pd.DataFrame(rows, columns=[*KEYS, "value"]).astype({"value": "float64"})
    frame = frame.assign(ci_low=math.nan, ci_high=math.nan, query_id=frame["query"])
    spec = {"metrics": [["C", metric, "2, 1", 1, 0.0] for metric in metrics], "seed": 0, "level": 0.95}
    return {"scores": InMemory(("scores",), frame)}, spec


tenths = st.integers(-30, 30).map(lambda i: i / 10)


@pytest.mark.slow
@given(st.lists(st.tuples(tenths, tenths), min_size=3, max_size=8), st.sampled_from([np.exp, np.arctan]))
@settings(deadline=None, max_examples=20)
def test_a_monotone_change_of_a_column_changes_no_rank_and_no_rank_correlation(pairs, change):
    x, y = np.array(pairs).T
    before, after = (of_values([values, y]) for values in (x, change(x)))
    assert QUERY_RANKS.make(*before)["rank"].tolist() == QUERY_RANKS.make(*after)["rank"].tolist()
    one, other = (
        QUERY_CORRELATIONS.make(*inputs).query("method == 'spearman'").drop(columns="method").iloc[0]
        for inputs in (before, after)
    )
    pd.testing.assert_series_equal(one, other)
    np.testing.assert_allclose(
        QUERY_AGREEMENT.make(*before)["kendalls_w"], QUERY_AGREEMENT.make(*after)["kendalls_w"]
    )


def test_queries_without_a_value_have_no_rank_and_do_not_count():
    inputs, spec = of_values([[3.0, math.nan, 1.0, 2.0], [1.0, 2.0, 3.0, math.nan], [4.0, 3.0, 2.0, 1.0]])
    ranks = QUERY_RANKS.make(inputs, spec).set_index(["metric", "query"])
    assert ranks.loc["m0", "rank"].fillna(0).tolist() == [1, 0, 3, 2]
    assert ranks["queries"].groupby("metric").first().tolist() == [3, 3, 4]
    pairs = QUERY_CORRELATIONS.make(inputs, spec).query("method == 'spearman'")
    assert pairs["n"].tolist() == [2, 3, 3]
    assert pairs["correlation"].round(9).fillna(9).tolist() == [9, 0.5, -1]
    (agreement,) = QUERY_AGREEMENT.make(inputs, spec).itertuples()
    assert (agreement.columns, agreement.n) == (3, 2)
    assert math.isnan(agreement.kendalls_w)


@pytest.mark.slow
@given(st.lists(st.lists(st.integers(0, 5), min_size=6, max_size=6), min_size=2, max_size=5))
@settings(deadline=None)
def test_kendalls_w_is_friedmans_statistic_by_judges_and_units(judges):
    values = np.array(judges, dtype=float)
    found = kendalls_w(values[:, :, None])[0]
    if any(len(set(judge)) == 1 for judge in judges):
        assert math.isnan(found)
    elif len(values) > 2:
        assert found == pytest.approx(stats.friedmanchisquare(*values.T).statistic / (len(values) * 5))
    else:
        # of two judges without ties half of Spearman's correlation and one
        if all(len(set(judge)) == 6 for judge in judges):
            assert found == pytest.approx((stats.spearmanr(*values).statistic + 1) / 2)


def test_units_that_are_drawn_again_count_as_often_as_they_are_drawn():
    values = np.random.default_rng(3).normal(size=(3, 7))
    clusters = np.array([0, 1, 1, 2, 3, 3, 3])
    drawn = np.random.default_rng(5).integers(4, size=(300, 4))
    repeated = [np.concatenate([np.flatnonzero(clusters == i) for i in draw]) for draw in drawn]
    found = np.array([kendalls_w(values[:, units, None])[0] for units in repeated])
    known = found[~np.isnan(found)]
    assert len(known) < 300
    expected = np.quantile(known, [0.05, 0.95])
    assert kendalls_w_over_units(values, clusters, 5, 300, 0.9) == pytest.approx(tuple(expected))


def test_chances_are_shares_of_orders():
    rising = np.arange(5.0)
    # one order of 120 for two judges, and 2 of 120 that are as far from 0
    assert chance_of_w(np.array([rising, rising]), seed=0) == pytest.approx(1 / 120, abs=0.003)
    assert chance_of_correlation(rising, rising, "spearman", seed=0) == pytest.approx(2 / 120)
    x, y = np.random.default_rng(1).normal(size=(2, 12))
    expected = stats.spearmanr(x, y).pvalue
    assert chance_of_correlation(x, y, "spearman", seed=0) == pytest.approx(expected, abs=0.02)
    assert math.isnan(chance_of_correlation(rising, np.ones(5), "pearson", seed=0))


def test_an_interval_over_words_is_moved_by_what_resampling_takes_off():
    rng = np.random.default_rng(0)
    z = rng.normal(0.4, 0.3, size=4000)  # of an observed .8, whose artanh is 1.0986
    low, high = corrected_interval(np.tanh(z), 0.8, 0.95)
    moved = np.quantile(z, [0.025, 0.975]) + np.arctanh(0.8) - z.mean()
    assert (low, high) == pytest.approx(tuple(np.tanh(moved)))
    assert low < 0.8 < high
    assert np.isnan(corrected_interval(np.where(z > 0.4, math.nan, z), 0.8, 0.95)[0]) == (
        np.mean(z > 0.4) > 0.5
    )


def test_a_study_has_the_tables_where_it_asks_for_them_alone():
    names = {"query_ranks", "query_correlations", "query_agreement"}
    assert names <= Study.of(config()).tables.keys()
    assert not names & Study.of(config() | {"query_ranks": False}).tables.keys()
    silent = config()
    del silent["query_ranks"]
    assert not names & Study.of(silent).tables.keys()
    # MAC alone has no direction
    assert not names & Study.of(config() | {"metrics": {"mac": {}}}).tables.keys()


def test_without_a_bootstrap_ranks_have_no_interval():
    plain = Study.of(config() | {"inference": {}})
    assert set(plain.tables["query_ranks"]) == {"scores"}
    inputs, spec = of_values([[3.0, 2.0, 1.0]])
    table = QUERY_RANKS.make(inputs, spec)
    assert table["rank"].tolist() == [1, 2, 3]
    assert table[["rank_low", "rank_high"]].isna().all(axis=None)

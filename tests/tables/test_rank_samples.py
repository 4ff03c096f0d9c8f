"""Ranks, their order and correlations over bootstrap resamples of words, of queries, and of both."""

import copy
import json
import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from conftest import grid_config

from biasgrid.measure.aggregation import groups
from biasgrid.measure.ranks import RESAMPLED
from biasgrid.measure.results import KEYS
from biasgrid.measure.statistics.correlation import correlate_columns
from biasgrid.study.study import Study
from biasgrid.tables.correlations import METHODS, intervals
from biasgrid.tables.order import order
from biasgrid.tables.rank_intervals import rank_intervals
from biasgrid.tables.rank_samples import rank_samples, spec, value_samples
from biasgrid.tables.rankings import rankings

pytestmark = pytest.mark.slow

NEUTRAL = {"weat": 0.0, "ect": 1.0, "mac": 1.0}
UNITS = [("a", "none"), ("b", "none"), ("b", "hard"), ("c", "none")]
UNIT = ["criterion", "metric", "model", "debias"]


@pytest.fixture(scope="module")
def toy():
    """Scores of two criteria of three queries each, a model under a debias method in the first alone, one metric that
    takes one query of a criterion only; values of 30 samples, some NaN; and counts of queries."""
    rng = np.random.default_rng(0)
    rows = []
    for criterion, metric, (model, debias) in product("GH", NEUTRAL, UNITS):
        if debias == "hard" and (criterion == "H" or metric == "mac"):
            continue
        for query in ("q1",) if metric == "mac" else ("q1", "q2", "q3"):
            rows.append((criterion, f"{criterion}{query}", metric, model, debias, rng.normal()))
    scores = pd.DataFrame(rows, columns=[*KEYS, "value"])
    samples = scores["value"].to_numpy()[:, None] + rng.normal(size=(len(scores), 30))
    # a model without a value for a query, and values that are undefined in some samples, once in all of a metric's
    lost = scores.eval("criterion == 'G' and query == 'Gq2' and metric == 'weat' and model == 'a'").to_numpy()
    scores.loc[lost, "value"] = math.nan
    samples[lost] = math.nan
    samples[rng.random(samples.shape) < 0.05] = math.nan
    samples[scores.eval("criterion == 'G' and metric == 'ect' and model == 'c'").to_numpy(), 4] = math.nan
    # two models with one value
    twins = [
        scores.eval(f"metric == 'weat' and model == '{m}' and debias == 'none'").to_numpy() for m in "bc"
    ]
    samples[twins[1], :8] = samples[twins[0], :8]
    drawn = {
        c: np.array([np.bincount(rng.integers(3, size=3), minlength=3) for _ in range(30)]) for c in "GH"
    }
    counts = np.array(
        [drawn[c][:, int(q[-1]) - 1] for c, q in zip(scores["criterion"], scores["query"], strict=True)]
    )
    return scores, samples, counts


def one_by_one(
    scores, samples, counts, ranked, neutral, aggregation="abs_avg", by="distance", ties="average"
):
    """Ranks in each kind of samples, row by row: kind -> (units x draws). A sample counts on the side of neutral on
    which the score lies, and a model's samples are moved so that their mean is what the rankings have."""
    options = {"ranked": ranked, "neutral": neutral, "aggregation": aggregation, "by": by, "ties": ties}
    observed = rankings(scores, **options).set_index(UNIT)["value"]
    zero = scores["metric"].map(neutral).to_numpy() if by == "distance" else np.zeros(len(scores))
    away, sampled = scores["value"].to_numpy() - zero, samples - zero[:, None]
    places = {unit: rows for unit, rows in groups(scores, ranked) if unit in observed.index}
    values = {kind: {} for kind in RESAMPLED}
    for unit, rows in places.items():
        side = np.sign(away[rows])[:, None] if aggregation.startswith("abs_") else 1
        if by == "distance" and not aggregation.startswith("abs_"):
            side = np.sign(np.nansum(away[rows]))
        for kind, cells, times in (
            ("words", sampled[rows], np.ones_like(counts[rows])),
            ("queries", np.repeat(away[rows][:, None], samples.shape[1], axis=1), counts[rows]),
            ("both", sampled[rows], counts[rows]),
        ):
            found = []
            for draw in range(samples.shape[1]):
                repeated = np.repeat((cells * side)[:, draw], times[:, draw])
                repeated = repeated[~np.isnan(repeated)]
                mean = np.mean if aggregation.endswith("avg") else np.sum
                found.append(mean(repeated) if len(repeated) else math.nan)
            values[kind][unit] = found - np.nanmean(found) + observed[unit]
    ranks = {}
    for kind, by_unit in values.items():
        table = pd.DataFrame(by_unit.values(), index=pd.MultiIndex.from_tuples(by_unit, names=UNIT))
        moved = table.loc[observed.index].round(12)
        ranks[kind] = moved.groupby(level=["criterion", "metric"]).rank(method=ties)
    return ranks


@pytest.mark.parametrize("by", ["distance", "value"])
@pytest.mark.parametrize(
    ("aggregation", "ties"),
    [("abs_avg", "average"), ("avg", "first"), ("sum", "average"), ("abs_sum", "first")],
)
def test_ranks_of_samples_are_those_of_their_scores(toy, by, aggregation, ties):
    scores, samples, counts = toy
    options = {"ranked": ["G", "H"], "neutral": NEUTRAL, "aggregation": aggregation, "by": by, "ties": ties}
    ranks = rank_samples(scores, samples, counts, **options)
    units = rankings(scores, **options).set_index(UNIT).index
    assert ranks.shape == (2, 3, len(units), 30)
    # those of the column `rank`; for `rank_shared`, see test_shared.py
    ranks = ranks[0]
    for kind, expected in one_by_one(scores, samples, counts, **options).items():
        ours = ranks[RESAMPLED.index(kind)]
        np.testing.assert_array_equal(ours, expected.loc[units].to_numpy(dtype=np.float32))
    assert np.isnan(ranks[0]).any()
    assert np.isnan(ranks[1]).any()


def test_models_with_the_same_samples_tie(toy):
    """But for rounding, as a model and the same model at another length."""
    scores, samples, counts = toy
    rng = np.random.default_rng(1)
    options = {"ranked": ["G", "H"], "neutral": NEUTRAL}
    of = {m: scores.eval(f"model == '{m}' and debias == 'none'").to_numpy() for m in "ac"}
    scores, samples = scores.copy(), samples.copy()
    for values in (scores["value"].to_numpy(copy=True), samples):
        noise = 1 + 1e-15 * rng.normal(size=values[of["a"]].shape)
        values[of["c"]] = values[of["a"]] * noise
        if values.ndim == 1:
            scores["value"] = values
        else:
            samples = values
    ranks = rank_samples(scores, samples, counts, **options)[0]
    units = rankings(scores, **options).reset_index()
    for _, part in units[units["debias"] == "none"].groupby(["criterion", "metric"]):
        a, c = (part.index[part["model"] == m][0] for m in "ac")
        # values on both sides of the twelfth digit's next step are few
        assert np.isclose(ranks[:, a], ranks[:, c], equal_nan=True).mean() > 0.95
    assert (ranks % 1 == 0.5).any()


def simulated(spreads, biases, worlds, queries=6, draws=150, seed=0):
    """Scores of models, world by world a metric of its own, and their samples: a score is normal around a model's
    bias, with its spread, and a sample normal around the score."""
    rng = np.random.default_rng(seed)
    shape = worlds, len(spreads), queries
    spread = np.array(spreads)[:, None]
    values = np.array(biases)[:, None] + spread * rng.normal(size=shape)
    samples = values[..., None] + spread[..., None] * rng.normal(size=(*shape, draws))
    keys = product(range(worlds), range(len(spreads)), range(queries))
    rows = [("G", f"q{q}", f"{w:03}", f"m{m}", "none") for w, m, q in keys]
    scores = pd.DataFrame(rows, columns=KEYS).assign(value=values.ravel())
    counts = np.ones((len(rows), draws), dtype=int)
    options = {"ranked": ["G"], "neutral": dict.fromkeys(scores["metric"], 0.0)}
    ranked = rankings(scores, **options)
    # no score is lost: both kinds of ranks are the same
    ranks = rank_samples(scores, samples.reshape(-1, draws), counts, **options)[1]
    of_criterion = (ranked["criterion"] == "G").to_numpy()
    return ranked[of_criterion].reset_index(drop=True), ranks[:, of_criterion]


def test_an_unbiased_model_is_not_ranked_down_by_its_samples():
    """Two models of one expected distance from neutral: m0 has no bias and scores that scatter, m1 a bias and scores
    that hardly do. Absolute values of m0's samples are 1.4 times those of its scores, and m1 would come out as less
    biased in nearly all samples."""
    expected = math.sqrt(2 / math.pi)
    ranked, ranks = simulated([1.0, 0.1], [0.0, expected], worlds=200)
    shares = order(ranked, ranks).query("resampled == 'words'")
    share = shares["share_of_resamples"].to_numpy()
    assert share.mean() == pytest.approx(0.5, abs=0.05)
    # where the truth is a tie, one order is decided in about 5 % of the worlds, and each way
    assert np.mean(share < 0.025) < 0.06
    assert np.mean(share > 0.975) < 0.06
    # no share says the opposite of the ranks, but where they are as good as equal
    first = ranked["rank"].to_numpy()[::2] == 1
    assert (np.where(first, share, 1 - share) > 0.4).all()
    assert ((share > 0.5) == first).mean() > 0.95
    found = rank_intervals(ranked, ranks, 0.95).query("resampled == 'words'")
    assert ((found["low"] == 1) & (found["high"] == 2)).mean() > 0.9


def test_rank_intervals_hold_the_true_rank():
    """Of each of five models: two with little bias and scores that scatter, three with more that do not."""
    biases, spreads = [0.0, 0.2, 0.55, 0.62, 0.7], [0.7, 0.8, 0.2, 0.1, 0.1]
    ranked, ranks = simulated(spreads, biases, worlds=200, seed=1)
    distances = np.abs(np.random.default_rng(2).normal(biases, spreads, size=(100_000, 5))).mean(axis=0)
    true = np.argsort(np.argsort(distances)) + 1
    found = rank_intervals(ranked, ranks, 0.95).query("resampled == 'words'")
    low, high = (found[end].to_numpy().reshape(200, 5) for end in ("low", "high"))
    assert (((low <= true) & (true <= high)).mean(axis=0) > 0.9).all()


def test_a_criterion_that_is_not_ranked_has_no_ranks(toy):
    scores, samples, counts = toy
    options = {"ranked": ["G"], "neutral": NEUTRAL}
    ranks = rank_samples(scores, samples, counts, **options)
    ranked = rankings(scores, **options)
    assert set(ranked["criterion"]) == {"G", "Overall"}
    assert ranks.shape[2] == len(ranked)


def rankings_of(*models, metrics=("weat",)):
    rows = [
        ("G", metric, model, "none", float(i + 1)) for metric in metrics for i, model in enumerate(models)
    ]
    return pd.DataFrame(rows, columns=[*UNIT, "rank"]).assign(rank_shared=lambda table: table["rank"])


def test_intervals_and_order_of_ranks_by_hand():
    # four samples of words: a before b before c, b before a, a and b tied, a without a rank
    words = [[1, 2, 1.5, math.nan], [2, 1, 1.5, 1], [3, 3, 3, 2]]
    queries = [[1] * 4, [2] * 4, [math.nan] * 4]
    ranks = np.array([words, queries, queries], dtype=np.float32)
    ranked = rankings_of("a", "b", "c")
    table = rank_intervals(ranked, ranks, 0.95).set_index(["resampled", "model"])
    assert list(table.columns) == ["criterion", "metric", "debias", "rank", "mean", "low", "high", "first"]
    of_words = table.loc["words"]
    assert of_words["mean"].tolist() == pytest.approx([1.5, 5.5 / 4, 11 / 4])
    assert of_words["low"].tolist() == [1, 1, 2]
    assert of_words["high"].tolist() == [2, 2, 3]
    # a tie at the top counts in full
    assert of_words["first"].tolist() == pytest.approx([2 / 3, 3 / 4, 0])
    assert table.loc["queries"]["first"].tolist() == pytest.approx([1, 0, math.nan], nan_ok=True)
    assert table.loc[("queries", "c"), ["mean", "low", "high"]].isna().all()
    shares = order(ranked, ranks)
    of_words = shares[shares["resampled"] == "words"]
    assert list(zip(of_words["model_a"], of_words["model_b"], strict=True)) == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert of_words["share_of_resamples"].tolist() == pytest.approx([1.5 / 3, 1, 1])
    assert shares.query("resampled == 'queries' and model_b == 'c'")["share_of_resamples"].isna().all()


def test_an_interval_leaves_out_at_most_its_tails():
    """Of 1000 samples, 25 at each end; the ends are ranks that occur."""
    sample = np.random.default_rng(1).permutation(np.repeat([1.0, 2.0, 3.5, 7.0], [25, 400, 550, 25]))
    ranks = np.tile(sample.astype(np.float32), (3, 1, 1))

    def ends(sample, level):
        ranks[:, 0] = sample
        row = rank_intervals(rankings_of("a"), ranks, level).iloc[0]
        return row["low"], row["high"]

    assert ends(sample, 0.95) == (2.0, 3.5)
    assert ends(sample, 0.96) == (1.0, 7.0)
    assert ends(np.repeat([1.0, 2.0, 3.0], [26, 949, 25]), 0.95) == (1.0, 2.0)
    assert ends(np.repeat([1.0, 2.0, 3.0], [25, 949, 26]), 0.95) == (2.0, 3.0)


def test_correlations_of_samples_are_those_of_pandas(toy):
    scores, samples, counts = toy
    options = {"ranked": ["G", "H"], "neutral": NEUTRAL}
    ranks = rank_samples(scores, samples, counts, **options)[0, 0]
    ranked = rankings(scores, **options)
    compared = 0
    for criterion, part in ranked.groupby("criterion"):
        pivots = [
            part.assign(rank=ranks[part.index, draw]).pivot(index=UNIT[2:], columns="metric", values="rank")
            for draw in range(30)
        ]
        stacked = {metric: np.array([p[metric] for p in pivots]).T for metric in NEUTRAL}
        for method in METHODS:
            found = intervals(ranked, ranks, [method], 0.9)
            matrices = [pivot.corr(method=method) for pivot in pivots]
            for a, b in product(NEUTRAL, repeat=2):
                expected = np.array([matrix.loc[a, b] for matrix in matrices])
                ours = correlate_columns(stacked[a], stacked[b], method)
                assert ours == pytest.approx(expected, nan_ok=True), (criterion, method, a, b)
                ends = np.nanquantile(expected, [0.05, 0.95])
                assert found[criterion, method, a, b] == pytest.approx(ends)
                assert found[criterion, method, b, a] == found[criterion, method, a, b]
                compared += np.isfinite(expected).sum()
    assert compared > 2000


def test_no_interval_where_most_samples_have_no_correlation():
    ranked = rankings_of("a", "b", metrics=("weat", "ect"))
    for undefined, there in ((2, True), (3, False)):
        ranks = np.array([[1.0] * 4, [2.0] * 4, [1.0] * 4, [2.0] * 4])
        ranks[0, :undefined] = math.nan
        found = intervals(ranked, ranks, ["spearman"], 0.95)
        assert found["G", "spearman", "ect", "weat"] == pytest.approx(
            (1, 1) if there else (math.nan,) * 2, nan_ok=True
        )


def counts_of_queries(folder, spec, criterion, queries):
    """How often each query of a criterion is in each draw of its queries, from files of inference."""
    folder.mkdir()
    cells = [
        {
            "criterion": criterion,
            "query": q,
            "metric": "weat",
            "model": "m",
            "debias": "none",
            "function": "weat",
            "params": {},
            "words": {},
            "inference": {},
            "results": [{"query": q, "status": "ok"}],
        }
        for q in queries
    ]
    (folder / "weat.json").write_text(json.dumps({"cells": cells}))
    np.save(folder / "weat.npy", np.zeros((len(cells), spec["draws"])))
    scores = pd.DataFrame([(criterion, q, "weat", "m", "none") for q in queries], columns=KEYS)
    inputs = {"inferences": [folder / "weat.json"], "samples": [folder / "weat.npy"]}
    _, counts = value_samples(scores, inputs, spec)
    return dict(zip(queries, counts, strict=True))


def test_draws_of_queries(root, monkeypatch):
    monkeypatch.chdir(root)

    def counts(folder, criterion="First", queries=("q1", "q2"), **changed):
        config = grid_config() | {"inference": {"bootstrap": {"draws": 4000}}} | changed
        return counts_of_queries(root / folder, spec(Study.of(config)), criterion, queries)

    drawn = counts("study")
    assert (drawn["q1"] + drawn["q2"] == 2).all()
    # one of each in half of the draws, one alone in a quarter
    assert np.bincount(drawn["q1"]) / 4000 == pytest.approx([0.25, 0.5, 0.25], abs=0.05)
    # the order in the config does not matter, the seed and the criterion do
    criteria = copy.deepcopy(grid_config()["criteria"])
    criteria["First"]["queries"] = dict(reversed(criteria["First"]["queries"].items()))
    again = counts("reversed", criteria=criteria)
    assert all((again[q] == drawn[q]).all() for q in drawn)
    assert (counts("seed", seed=1)["q1"] != drawn["q1"]).any()
    criteria["Second"]["queries"]["q4"] = criteria["Second"]["queries"]["q3"]
    assert (counts("second", "Second", ("q3", "q4"), criteria=criteria)["q3"] != drawn["q1"]).any()

"""Tables of inference: tests and sensitivity in full, ranks and correlations over samples of words and of queries."""

import copy
import json
import math
import shutil
from itertools import product

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from conftest import Project, grid_config

from biasgrid import BiasgridError, tables, uncertainty
from biasgrid.cli import main
from biasgrid.study import Study, cell_seed

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
    scores = pd.DataFrame(rows, columns=[*tables.SCORES[:5], "value"])
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
    observed = tables.rankings(scores, **options).set_index(UNIT)["value"]
    zero = scores["metric"].map(neutral).to_numpy() if by == "distance" else np.zeros(len(scores))
    away, sampled = scores["value"].to_numpy() - zero, samples - zero[:, None]
    places = {unit: rows for unit, rows in tables.groups(scores, ranked) if unit in observed.index}
    values = {kind: {} for kind in uncertainty.RESAMPLED}
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
    ranks = uncertainty.rank_samples(scores, samples, counts, **options)
    units = tables.rankings(scores, **options).set_index(UNIT).index
    assert ranks.shape == (3, len(units), 30)
    for kind, expected in one_by_one(scores, samples, counts, **options).items():
        ours = ranks[uncertainty.RESAMPLED.index(kind)]
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
    ranks = uncertainty.rank_samples(scores, samples, counts, **options)
    units = tables.rankings(scores, **options).reset_index()
    for _, part in units[units["debias"] == "none"].groupby(["criterion", "metric"]):
        a, c = (part.index[part["model"] == m][0] for m in "ac")
        # values on both sides of the twelfth digit's next step are few
        assert np.isclose(ranks[:, a], ranks[:, c], equal_nan=True).mean() > 0.95
    assert (ranks % 1 == 0.5).any()


def simulated(spreads, biases, worlds, queries=6, draws=300, seed=0):
    """Scores of models, world by world a metric of its own, and their samples: a score is normal around a model's
    bias, with its spread, and a sample normal around the score."""
    rng = np.random.default_rng(seed)
    shape = worlds, len(spreads), queries
    spread = np.array(spreads)[:, None]
    values = np.array(biases)[:, None] + spread * rng.normal(size=shape)
    samples = values[..., None] + spread[..., None] * rng.normal(size=(*shape, draws))
    keys = product(range(worlds), range(len(spreads)), range(queries))
    rows = [("G", f"q{q}", f"{w:03}", f"m{m}", "none") for w, m, q in keys]
    scores = pd.DataFrame(rows, columns=tables.SCORES[:5]).assign(value=values.ravel())
    counts = np.ones((len(rows), draws), dtype=int)
    options = {"ranked": ["G"], "neutral": dict.fromkeys(scores["metric"], 0.0)}
    rankings = tables.rankings(scores, **options)
    ranks = uncertainty.rank_samples(scores, samples.reshape(-1, draws), counts, **options)
    of_criterion = (rankings["criterion"] == "G").to_numpy()
    return rankings[of_criterion].reset_index(drop=True), ranks[:, of_criterion]


def test_an_unbiased_model_is_not_ranked_down_by_its_samples():
    """Two models of one expected distance from neutral: m0 has no bias and scores that scatter, m1 a bias and scores
    that hardly do. Absolute values of m0's samples are 1.4 times those of its scores, and m1 would come out as less
    biased in nearly all samples."""
    expected = math.sqrt(2 / math.pi)
    rankings, ranks = simulated([1.0, 0.1], [0.0, expected], worlds=400)
    order = uncertainty.order(rankings, ranks).query("resampled == 'words'")
    share = order["share_of_resamples"].to_numpy()
    assert share.mean() == pytest.approx(0.5, abs=0.05)
    # where the truth is a tie, one order is decided in about 5 % of the worlds, and each way
    assert np.mean(share < 0.025) < 0.06
    assert np.mean(share > 0.975) < 0.06
    # no share says the opposite of the ranks, but where they are as good as equal
    first = rankings["rank"].to_numpy()[::2] == 1
    assert (np.where(first, share, 1 - share) > 0.4).all()
    assert ((share > 0.5) == first).mean() > 0.95
    intervals = uncertainty.rank_intervals(rankings, ranks, 0.95).query("resampled == 'words'")
    assert ((intervals["low"] == 1) & (intervals["high"] == 2)).mean() > 0.9


def test_rank_intervals_hold_the_true_rank():
    """Of each of five models: two with little bias and scores that scatter, three with more that do not."""
    biases, spreads = [0.0, 0.2, 0.55, 0.62, 0.7], [0.7, 0.8, 0.2, 0.1, 0.1]
    rankings, ranks = simulated(spreads, biases, worlds=400, seed=1)
    distances = np.abs(np.random.default_rng(2).normal(biases, spreads, size=(100_000, 5))).mean(axis=0)
    true = np.argsort(np.argsort(distances)) + 1
    found = uncertainty.rank_intervals(rankings, ranks, 0.95).query("resampled == 'words'")
    low, high = (found[end].to_numpy().reshape(400, 5) for end in ("low", "high"))
    assert (((low <= true) & (true <= high)).mean(axis=0) > 0.9).all()


def test_a_criterion_that_is_not_ranked_has_no_ranks(toy):
    scores, samples, counts = toy
    options = {"ranked": ["G"], "neutral": NEUTRAL}
    ranks = uncertainty.rank_samples(scores, samples, counts, **options)
    rankings = tables.rankings(scores, **options)
    assert set(rankings["criterion"]) == {"G", "Overall"}
    assert ranks.shape[1] == len(rankings)


def rankings_of(*models, metrics=("weat",)):
    rows = [
        ("G", metric, model, "none", float(i + 1)) for metric in metrics for i, model in enumerate(models)
    ]
    return pd.DataFrame(rows, columns=[*UNIT, "rank"])


def test_intervals_and_order_of_ranks_by_hand():
    # four samples of words: a before b before c, b before a, a and b tied, a without a rank
    words = [[1, 2, 1.5, math.nan], [2, 1, 1.5, 1], [3, 3, 3, 2]]
    queries = [[1] * 4, [2] * 4, [math.nan] * 4]
    ranks = np.array([words, queries, queries], dtype=np.float32)
    rankings = rankings_of("a", "b", "c")
    table = uncertainty.rank_intervals(rankings, ranks, 0.95).set_index(["resampled", "model"])
    assert list(table.columns) == ["criterion", "metric", "debias", "rank", "mean", "low", "high", "first"]
    of_words = table.loc["words"]
    assert of_words["mean"].tolist() == pytest.approx([1.5, 5.5 / 4, 11 / 4])
    assert of_words["low"].tolist() == [1, 1, 2]
    assert of_words["high"].tolist() == [2, 2, 3]
    # a tie at the top counts in full
    assert of_words["first"].tolist() == pytest.approx([2 / 3, 3 / 4, 0])
    assert table.loc["queries"]["first"].tolist() == pytest.approx([1, 0, math.nan], nan_ok=True)
    assert table.loc[("queries", "c"), ["mean", "low", "high"]].isna().all()
    order = uncertainty.order(rankings, ranks)
    of_words = order[order["resampled"] == "words"]
    assert list(zip(of_words["model_a"], of_words["model_b"], strict=True)) == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert of_words["share_of_resamples"].tolist() == pytest.approx([1.5 / 3, 1, 1])
    assert order.query("resampled == 'queries' and model_b == 'c'")["share_of_resamples"].isna().all()


def test_an_interval_leaves_out_at_most_its_tails():
    """Of 1000 samples, 25 at each end; the ends are ranks that occur."""
    sample = np.random.default_rng(1).permutation(np.repeat([1.0, 2.0, 3.5, 7.0], [25, 400, 550, 25]))
    ranks = np.tile(sample.astype(np.float32), (3, 1, 1))

    def ends(sample, level):
        ranks[:, 0] = sample
        row = uncertainty.rank_intervals(rankings_of("a"), ranks, level).iloc[0]
        return row["low"], row["high"]

    assert ends(sample, 0.95) == (2.0, 3.5)
    assert ends(sample, 0.96) == (1.0, 7.0)
    assert ends(np.repeat([1.0, 2.0, 3.0], [26, 949, 25]), 0.95) == (1.0, 2.0)


def test_correlations_of_samples_are_those_of_pandas(toy):
    scores, samples, counts = toy
    options = {"ranked": ["G", "H"], "neutral": NEUTRAL}
    ranks = uncertainty.rank_samples(scores, samples, counts, **options)[0]
    rankings = tables.rankings(scores, **options)
    compared = 0
    for criterion, part in rankings.groupby("criterion"):
        pivots = [
            part.assign(rank=ranks[part.index, draw]).pivot(index=UNIT[2:], columns="metric", values="rank")
            for draw in range(30)
        ]
        stacked = {metric: np.array([p[metric] for p in pivots]).T for metric in NEUTRAL}
        for method in tables.CORRELATIONS:
            found = uncertainty.correlation_intervals(rankings, ranks, [method], 0.9)
            matrices = [pivot.corr(method=method) for pivot in pivots]
            for a, b in product(NEUTRAL, repeat=2):
                expected = np.array([matrix.loc[a, b] for matrix in matrices])
                ours = uncertainty.correlation(stacked[a], stacked[b], method)
                assert ours == pytest.approx(expected, nan_ok=True), (criterion, method, a, b)
                ends = np.nanquantile(expected, [0.05, 0.95])
                assert found[criterion, method, a, b] == pytest.approx(ends)
                assert found[criterion, method, b, a] == found[criterion, method, a, b]
                compared += np.isfinite(expected).sum()
    assert compared > 2000


def test_no_interval_where_most_samples_have_no_correlation():
    rankings = rankings_of("a", "b", metrics=("weat", "ect"))
    for undefined, there in ((2, True), (3, False)):
        ranks = np.array([[1.0] * 4, [2.0] * 4, [1.0] * 4, [2.0] * 4])
        ranks[0, :undefined] = math.nan
        found = uncertainty.correlation_intervals(rankings, ranks, ["spearman"], 0.95)
        assert found["G", "spearman", "ect", "weat"] == pytest.approx(
            (1, 1) if there else (math.nan,) * 2, nan_ok=True
        )


def test_draws_of_queries(root, monkeypatch):
    monkeypatch.chdir(root)
    study = Study.of(grid_config())
    drawn = uncertainty.drawn_queries(study, "First", 4000)
    assert set(drawn) == {"q1", "q2"}
    assert (drawn["q1"] + drawn["q2"] == 2).all()
    # one of each in half of the draws, one alone in a quarter
    assert np.bincount(drawn["q1"]) / 4000 == pytest.approx([0.25, 0.5, 0.25], abs=0.05)
    config = grid_config()
    config["criteria"]["First"]["queries"] = dict(reversed(config["criteria"]["First"]["queries"].items()))
    assert all(
        (uncertainty.drawn_queries(Study.of(config), "First", 4000)[q] == drawn[q]).all() for q in drawn
    )
    other = uncertainty.drawn_queries(Study.of(config | {"seed": 1}), "First", 4000)
    assert (other["q1"] != drawn["q1"]).any()
    assert cell_seed(0, "queries/First") != cell_seed(0, "queries/Second")


def inference_file(path, results, metric="weat"):
    record = {"criterion": "G", "query": path.stem, "metric": metric, "model": "m", "debias": "none"}
    path.write_text(json.dumps(record | {"results": results}))
    return path


TESTED = {
    "query": "one",
    "status": "ok",
    "value": 0.5,
    "permutation": {
        "test_of": "words", "p_value": 0.01, "p_low": 0.008, "p_high": 0.02, "p_normal": 0.015, "p_lowest": 0.001,
        "alternative": "greater", "method": "monte_carlo", "partitions": 10**40, "draws": 999, "observed": 0.5,
    },
    "bootstrap": {
        "draws": 50, "undefined": 2, "mean": 0.4, "standard_error": 0.1,
        "percentile": [0.2, 0.6], "bca": [None, None], "jackknife": [0.1, 0.9],
        "reasons": {"bca": "all resamples lie on one side of the value"},
    },
    "influence": {"A": {"x": 0.1, "NA": -0.3}, "B": {"x": None, "z": 0.2}},
    "halves": {"targets": 0.2, "attributes": 0.5},
}  # fmt: skip


def test_inference_in_full(tmp_path):
    """A test with everything, two without a test, and one of a sub-query that another query has already."""
    files = [
        inference_file(
            tmp_path / "q1.json",
            [TESTED, {"query": "two", "status": "lost_words:A"}, {"query": "three", "status": "ok", "value": 1.0,
             "permutation": {"reason": "why not"}, "influence": {}}],
        ),
        inference_file(tmp_path / "q2.json", [TESTED | {"value": 9.0}, TESTED | {"query": "four"}]),
    ]  # fmt: skip
    made = uncertainty.inference(files, {("G", "weat"): (-2.0, 2.0)})
    tables.write(made, tmp_path / "t.csv")
    assert ",10000000000000000000000000000000000000000," not in (tmp_path / "t.csv").read_text()
    table = tables.read(tmp_path / "t.csv")
    assert list(table["query"]) == ["four", "one", "three", "two"]
    table = table.set_index("query")
    one = table.loc["one"]
    assert one["value"] == 0.5
    assert (one["alternative"], one["method"], one["draws"], one["partitions"]) == (
        "greater",
        "monte_carlo",
        999,
        1e40,
    )
    assert one["test_of"] == "words"
    assert table.loc["three", "test_of"] == ""
    # two tests in the family
    assert (one["p_value"], one["p_holm"], one["p_benjamini_hochberg"]) == (0.01, 0.02, 0.01)
    assert (one["set"], one["word"], one["influence"]) == ("A", "NA", -0.3)
    assert (one["halves_targets"], one["robustness_targets"], one["robustness_attributes"]) == (
        0.2,
        0.05,
        0.125,
    )
    assert (one["percentile_low"], one["percentile_high"], one["undefined"]) == (0.2, 0.6, 2)
    assert (one["jackknife_low"], one["jackknife_high"]) == (0.1, 0.9)
    assert math.isnan(one["bca_low"])
    assert one["interval_reason"] == "bca: all resamples lie on one side of the value"
    assert table.loc["three", "reason"] == "why not"
    for query in ("two", "three"):
        empty = table.loc[query].drop(["criterion", "metric", "model", "debias", "reason", "value"])
        assert all(value == "" or math.isnan(value) for value in empty)
    # infinite ranges are no unit
    made = uncertainty.inference(files, {("G", "weat"): (-math.inf, math.inf)})
    assert made["robustness_targets"].isna().all()
    words = uncertainty.influence(files)
    assert words[words["query"] == "one"][["set", "word"]].values.tolist() == [
        ["A", "x"], ["A", "NA"], ["B", "x"], ["B", "z"],
    ]  # fmt: skip
    assert len(words) == 8


def inferred_config():
    """The small study with everything inferred; two queries of one criterion share sub-queries."""
    config = grid_config()
    config["criteria"]["First"]["queries"]["q4"] = {
        "targets": {"A": [f"a{i}" for i in range(8)], "B": [f"b{i}" for i in range(8)]},
        "attributes": {"C": [f"c{i}" for i in range(8)], "E": "toy.e"},
    }
    config["figures"] = []
    config["inference"] = {
        "permutation": {"draws": 30, "exact": 10},
        "bootstrap": {"draws": 25},
        "sensitivity": {"halves": 5},
    }
    return config


@pytest.fixture(scope="module")
def inferred_project(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("inferred"))
    made.configure(inferred_config())
    made.run()
    return made


@pytest.fixture
def inferred(inferred_project, tmp_path):
    folder = tmp_path / "project"
    shutil.copytree(inferred_project.folder, folder, symlinks=True)
    made = Project.__new__(Project)
    made.folder, made.config = folder, inferred_config()
    return made


def test_a_study_runs_to_its_tables_of_inference(inferred_project, monkeypatch):
    monkeypatch.chdir(inferred_project.folder)
    study = Study.read("config/config.yaml")
    found = {name: tables.read(study.results / f"{name}.csv") for name in study.tables}
    assert {"inference", "influence", "rank_intervals", "order"} <= set(found)
    scores, inference, rankings = found["scores"], found["inference"], found["rankings"]
    for name, table in found.items():
        numeric = table.select_dtypes("number").columns
        text = {
            "criterion",
            "query",
            "metric",
            "model",
            "debias",
            "aggregation",
            "status",
            "method",
            "metric_a",
            "metric_b",
        }
        text |= {
            "alternative",
            "quantity",
            "reason",
            "interval_reason",
            "groups_reason",
            "test_of",
            "set",
            "word",
            "resampled",
            "model_a",
            "debias_a",
            "model_b",
            "debias_b",
        }
        assert set(table.columns) - set(numeric) <= text, name
    keys = tables.SCORES[:5]
    pd.testing.assert_frame_equal(scores[[*keys, "value", "p_value"]], inference[[*keys, "value", "p_value"]])
    assert scores["p_value"].notna().all()
    pd.testing.assert_series_equal(scores["p_adjusted"], inference["p_holm"], check_names=False)
    # WEAT and its effect size are one test, and RNSB's is none of words
    assert set(scores["metric"]) == {"weat", "weat_es", "rnd", "rnsb"}
    one = inference.query("metric != 'weat_es'")
    for _, family in one.groupby([one["criterion"], one["metric"] == "rnsb"]):
        expected = scipy.stats.false_discovery_control(family["p_value"])
        assert family["p_benjamini_hochberg"].tolist() == pytest.approx(expected.tolist())
    adjusted = {metric: part["p_benjamini_hochberg"].tolist() for metric, part in inference.groupby("metric")}
    assert adjusted["weat"] == adjusted["weat_es"]
    assert min(adjusted["weat"]) < 1
    pd.testing.assert_series_equal(scores["ci_low"], inference["jackknife_low"], check_names=False)
    most = found["influence"].groupby(keys)["influence"].agg(lambda values: values.abs().max())
    assert most.tolist() == inference["influence"].abs().tolist()

    # the ranks are those of scores with the samples in place of their values, a sub-query being its first query's
    ranks = np.load(study.results / "rank_samples.npy")
    assert ranks.shape == (3, len(rankings), 25)
    drawn = {criterion: uncertainty.drawn_queries(study, criterion, 25) for criterion in study.ranked}
    values, times = {}, {}
    for group in study.inference_groups.values():
        cells = json.loads(study.inference_file(group[0]).read_text())["cells"]
        names = [(cell, result["query"]) for cell in cells for result in cell["results"]]
        for (cell, name), sample in zip(names, np.load(study.samples_file(group[0])), strict=True):
            key = cell["criterion"], name, cell["metric"], cell["model"], cell["debias"]
            values.setdefault(key, sample)
            times.setdefault(key, drawn[cell["criterion"]][cell["query"]])
    of_rows = [tuple(row) for row in scores[keys].to_numpy()]
    naive = one_by_one(
        scores, *(np.array([found[key] for key in of_rows]) for found in (values, times)), **study.ranking
    )
    for kind, expected in enumerate(naive.values()):
        of_kind = expected.loc[rankings.set_index(UNIT).index].to_numpy(dtype=np.float32)
        np.testing.assert_array_equal(ranks[kind], of_kind)
    of_words = found["rank_intervals"].query("resampled == 'words'")
    for ends in (("rank_low", "low"), ("rank_high", "high")):
        assert rankings[ends[0]].tolist() == of_words[ends[1]].tolist()
    assert len(found["order"]) == 3 * len(rankings) / 2  # of two models
    assert found["correlations"]["ci_low"].notna().any()
    assert (found["correlations"]["ci_low"] <= found["correlations"]["ci_high"]).sum() > 0


def test_tables_of_inference_are_the_same_on_one_core_and_by_hand(inferred, monkeypatch, capsys):
    before = inferred.results()
    shutil.rmtree(inferred.folder / "results")
    done = inferred.snakemake("--cores", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert inferred.results() == before
    assert planned_rules(inferred) == set()
    monkeypatch.chdir(inferred.folder)
    ranks = inferred.folder / "results/small/rank_samples.npy"
    # empty, an archive, other rankings' - not a traceback
    np.save(inferred.folder / "others.npy", np.zeros((3, 1, 25)))
    others = (inferred.folder / "others.npy").read_bytes()
    for broken, says in ((b"", "no boot"), (b"PK\3\4", "no boot"), (others, "has the shape (3, 1, 25)")):
        ranks.write_bytes(broken)
        assert main(["table", "--study", "config/config.yaml", "--table", "order"]) == 2
        assert f"rank_samples.npy: {says}" in capsys.readouterr().err
    ranks.unlink()
    assert main(["table", "--study", "config/config.yaml", "--table", "order"]) == 2
    assert "rank_samples.npy: no bootstrap samples" in capsys.readouterr().err
    for name in ("rankings", "correlations", "inference", "influence", "rank_intervals", "order"):
        (inferred.folder / f"results/small/{name}.csv").unlink()
        assert main(["table", "--study", "config/config.yaml", "--table", name]) == 0
    assert inferred.results() == before
    study = Study.read("config/config.yaml")
    scores = tables.read(study.results / "scores.csv")
    samples = study.samples_file(next(iter(study.inferences.values())))
    np.save(samples, np.zeros((1, 3)))
    with pytest.raises(BiasgridError, match=r"has the shape \(1, 3\), not \(4, 25\)"):
        uncertainty.study_samples(study, scores)
    samples.unlink()
    with pytest.raises(BiasgridError, match="biasgrid infer --cell one/none/weat/q1 makes it"):
        uncertainty.study_samples(study, scores)


def test_a_study_without_ranked_criteria_has_empty_rankings(inferred, monkeypatch):
    monkeypatch.chdir(inferred.folder)
    for criterion in inferred.config["criteria"].values():
        criterion["ranked"] = False
    study = Study.of(inferred.config)
    for name in study.tables:
        made = tables.make(study, name)
        assert (made == 0) == (name in RANKED), name


RANKED = {"rankings", "correlations", "rank_intervals", "order"}
OF_INFERENCE = {"scores", "aggregates", "inference_table", "influence", *RANKED}


def planned_rules(project):
    """The rules that would run, by a dry run."""
    done = project.snakemake("--cores", "2", "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    return {line.split()[-1].rstrip(":") for line in lines if line.startswith(("rule ", "localrule "))} - {
        "all"
    }


def edited_inference(**parts):
    def edit(project):
        config = copy.deepcopy(project.config)
        config["inference"] |= parts
        project.configure(config)

    return edit


def edited_module(name):
    def edit(project):
        path = project.folder / "src" / "biasgrid" / f"{name}.py"
        path.write_text(path.read_text() + "\n# edited\n")

    return edit


@pytest.mark.parametrize(
    ("edit", "rules"),
    [
        (
            edited_inference(interval="percentile"),
            {"study", *OF_INFERENCE} - {"inference_table", "influence"},
        ),
        (
            edited_inference(adjust="benjamini-hochberg"),
            {"study", *OF_INFERENCE} - {"inference_table", "influence"},
        ),
        (edited_inference(bootstrap={"draws": 20}), {"study", "inference", *OF_INFERENCE}),
        (edited_inference(permutation={"draws": 20, "exact": 10}), {"study", "inference", *OF_INFERENCE}),
        (edited_module("uncertainty"), {"inference_table", "influence", *RANKED}),
        (edited_module("families"), OF_INFERENCE - {"influence"}),
        (edited_module("inference/bootstrap"), {"inference", *OF_INFERENCE}),
    ],
    ids=["interval", "adjust", "samples", "permutations", "uncertainty.py", "families.py", "inference/"],
)
def test_what_an_edit_of_inference_reruns(inferred, edit, rules):
    edit(inferred)
    assert planned_rules(inferred) == rules

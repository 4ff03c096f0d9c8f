"""Pairs of models on the standardised scale: which rows count, and what third models may change."""

import math

import numpy as np
import pandas as pd
import pytest

import biasgrid as bg
from biasgrid.core.in_memory import InMemory
from biasgrid.measure.statistics.scale import NO_BASELINE
from biasgrid.measure.statistics.shared import FEW_SHARED, NO_VALUE
from biasgrid.tables import model_pairs, pairs
from biasgrid.tables.model_pairs import RawScores, StandardizedScores, compare_family
from biasgrid.tables.shared import places_of

QUERIES, DRAWS = 8, 300
A, B, C = (("a", "none"), ("b", "none"), ("c", "none"))


def study(models, spread=0.3, seed=0, parts=1):
    """Scores of models by name: their standardised bias in each query, or none; and the arrays that go with them."""
    rows, resamples = [], []
    for model, values in models.items():
        moves = np.random.default_rng([seed, ord(model)]).normal(size=(QUERIES * parts, DRAWS)) * spread
        for row in range(QUERIES * parts):
            value = values[row // parts] if values is not None else math.nan
            rows.append(("Gender", f"q{row}", "weat", model, "none", value, value))
            resamples.append(value + moves[row])
    names = ["criterion", "query", "metric", "model", "debias", "value", "standardized"]
    table = pd.DataFrame(rows, columns=names)
    return table, np.array(resamples)


def compared(
    models, pairs, clusters=None, parts=1, baselines=None, margin=0.5, has_common_zero=True, **options
):
    table, resamples = study(models, parts=parts, **options)
    names = [[f"q{query * parts + part}" for part in range(parts)] for query in range(QUERIES)]
    groups = {"weat": [[("Gender", name) for q in group for name in names[q]] for group in clusters or []]}
    (place, _) = places_of(table, ["Gender"], parts={"Gender": {"weat": names}}, clusters=groups)
    values = table["standardized"].to_numpy(float)
    if baselines is not None:
        values = np.where(table["model"].isin(baselines), values, math.nan)
    scores = StandardizedScores(values, resamples, np.zeros(len(values)))
    return compare_family(
        place, pairs, scores, np.full(QUERIES * parts, 8.0), margin, has_common_zero=has_common_zero
    )


def scores_of(seed, shift=0.0):
    return np.random.default_rng(seed).normal(shift, 0.5, size=QUERIES)


def test_two_models_differ_on_both_claims():
    (row,) = compared({"a": scores_of(1), "b": scores_of(2, 3.0)}, [(A, B)])
    assert row["answer"] == row["other_answer"] == "different"
    assert row["difference"] == pytest.approx(np.mean(scores_of(1) - scores_of(2, 3.0)))
    assert (row["queries"], row["clusters"], row["reason"]) == (QUERIES, QUERIES, "")
    assert "needed" not in row


def test_a_third_model_changes_the_adjustment_alone():
    two = {"a": scores_of(1), "b": scores_of(2, 0.4)}
    (alone,) = compared(two, [(A, B)])
    # a third model with many times the spread, and without values of some queries
    third = 40 * scores_of(3)
    third[:2] = math.nan
    together, *_ = compared(two | {"c": third}, [(A, B), (A, C), (B, C)])
    for name in ("difference", "low", "high", "p", "other_difference", "other_low", "other_p", "queries"):
        assert together[name] == alone[name]
    assert alone["p_adjusted"] <= together["p_adjusted"] <= 3 * alone["p_adjusted"]


def test_unclear_pairs_say_what_would_be_needed():
    (row,) = compared({"a": 4 * scores_of(1), "b": scores_of(2)}, [(A, B)], spread=2.0)
    assert row["answer"] == row["other_answer"] == "cannot tell"
    assert row["smallest_difference"] > 0.5
    assert row["needed"] > 8
    assert row["other_needed"] > QUERIES


def test_few_clusters_say_nothing_about_other_queries():
    clusters = [[0, 1, 2], [3, 4], [5, 6, 7]]
    (row,) = compared({"a": scores_of(1), "b": scores_of(2, 3.0)}, [(A, B)], clusters)
    assert (row["clusters"], row["other_answer"], row["other_reason"]) == (3, "", "too few clusters")
    assert row["answer"] == "different"
    assert math.isnan(row["other_p"])


def test_sub_queries_are_averaged_first():
    values = {"a": scores_of(1), "b": scores_of(2)}
    (row,) = compared(values, [(A, B)], parts=2)
    assert row["queries"] == row["clusters"] == QUERIES
    assert row["difference"] == pytest.approx(np.mean(values["a"] - values["b"]))


def test_reasons_say_why_two_are_not_compared():
    few = scores_of(3)
    few[3:] = math.nan
    (no_value,) = compared({"a": scores_of(1), "b": None}, [(A, B)])
    (few_shared,) = compared({"a": scores_of(1), "b": few}, [(A, B)])
    (no_baseline,) = compared({"a": scores_of(1), "b": scores_of(2)}, [(A, B)], baselines=["a"])
    reasons = [row["reason"] for row in (no_value, few_shared, no_baseline)]
    assert reasons == [NO_VALUE, FEW_SHARED, NO_BASELINE]
    assert few_shared["queries"] == 3
    assert "answer" not in no_value


def test_resamples_are_put_on_the_scale_of_the_original_model():
    names = ["criterion", "query", "metric", "model", "debias", "value", "standardized"]
    place = ("Gender", "q", "ect", "a")
    table = pd.DataFrame([(*place, "none", 0.6, 1.0), (*place, "hard", 0.8, -1.0)], columns=names)
    scale = {
        "neutral": 1.0,
        "mean": 0.3,
        "sd": 0.1,
        "variances": [1e-4, 0.0, 4e-4],
        "draws": 999,
        "topics": 99,
    }
    cell = dict(zip(("criterion", "metric", "model"), ("Gender", "ect", "a"), strict=True))
    records = [
        InMemory((), {**cell, "query": "q", "debias": debias, "results": [{"query": "q", **found}]})
        for debias, found in (("none", {"random_groups": {"scale": scale}}), ("hard", {}))
    ]
    samples = np.array([[0.5, 0.7], [0.8, 1.1]])
    scores = StandardizedScores.read(table, samples, {"inferences": records}, {"ect": 1.0})
    # further below 1 is more biased; beyond 1 counts as less than no bias
    assert scores.resamples == pytest.approx(np.array([[2.0, 0.0], [-1.0, -4.0]]))
    assert scores.baseline_variances == pytest.approx([(1e-4 + 4e-4) / 0.01] * 2)


def test_a_model_without_scale_has_no_standardised_score():
    names = ["criterion", "query", "metric", "model", "debias", "value", "standardized"]
    table = pd.DataFrame([("Gender", "q", "weat", "a", "none", 0.6, 1.0)], columns=names)
    scores = StandardizedScores.read(table, np.zeros((1, 3)), {"inferences": []}, {"weat": 0.0})
    assert np.isnan(scores.values).all()


def test_the_table_of_pairs_is_read_off_the_scale(monkeypatch):
    rng = np.random.default_rng(5)
    words = {name: [f"{name}{i}" for i in range(6)] for name in ("x", "y", *(f"a{q}" for q in range(6)))}
    queries = [
        bg.Query([words["x"], words["y"]], [words[f"a{q}"]], ["X", "Y"], [f"A{q}"], name=f"q{q}")
        for q in range(6)
    ]

    def model(bias):
        return bg.load(
            {
                word: rng.normal(size=8) * 0.2 + np.eye(8)[0] * (bias if name != "y" else 0.2)
                for name, of_set in words.items()
                for word in of_set
            }
        )

    models = {"one": model(0.2), "two": model(3.0), "three": model(3.0)}
    grid = bg.measure_grid(["rnd"], {"C": queries}, models, bootstrap={"draws": 99}, progress=False)
    # without random groups, different models have no baseline
    raw = grid.frame("pairs")
    assert set(raw["answer"].fillna("")) == {""}
    assert set(raw["reason"]) == {"no baseline"}
    real_read, real_results = pairs.read_ranked, model_pairs.results

    is_repeated = False

    def with_scale(files):
        found = [*real_results(files)]
        for key, query, result in found:
            scale = {
                "neutral": 0.0,
                "mean": 1.0,
                "sd": 0.5,
                "variances": [0.0] * 3,
                "draws": 999,
                "topics": 999,
            }
            yield key, query, result | {"random_groups": {"scale": scale}}
        # a sub-query of two queries: scores.csv has the first one's scale
        for key, query, result in found if is_repeated else ():
            yield key, query, result | {"random_groups": {"scale": scale | {"sd": 5.0}}}

    def standardized(*args):
        scores = real_read(*args)
        return scores.assign(standardized=(scores["value"].abs() - 1) / 0.5)

    monkeypatch.setattr(pairs, "read_ranked", standardized)
    monkeypatch.setattr(model_pairs, "results", with_scale)
    again = bg.measure_grid(["rnd"], {"C": queries}, models, bootstrap={"draws": 99}, progress=False)
    rows = again.frame("pairs").query("criterion == 'C'")
    (row,) = rows.query("model_a == 'one' and model_b == 'two'").to_dict("records")
    scores = again.scores.query("criterion == 'C'").groupby("model")["value"]
    means = scores.apply(lambda values: (values.abs() - 1).mean() / 0.5)
    assert row["difference"] == pytest.approx(means["one"] - means["two"])
    assert (row["queries"], row["clusters"], row["scale"]) == (6, 6, "standardized")
    assert row["answer"] == "different"
    assert row["low"] <= row["difference"] <= row["high"] < 0
    # alike within a margin that holds the whole interval, and not within a narrow one
    (near,) = rows.query("model_a == 'three' and model_b == 'two'").to_dict("records")
    widest = max(abs(near["low"]), abs(near["high"]))
    found = [
        bg.compare_models(again, "three", "two", margin=margin).query("criterion == 'C'")["answer"].item()
        for margin in (widest, widest / 100)
    ]
    assert found == ["alike", "cannot tell"]
    with pytest.raises(
        bg.BiasgridError, match="compare_models: margin: 0 is not allowed: it should be greater"
    ):
        bg.compare_models(again, "three", "two", margin=0)
    is_repeated = True
    with_others = bg.measure_grid(["rnd"], {"C": queries}, models, bootstrap={"draws": 99}, progress=False)
    assert with_others.frame("pairs").equals(again.frame("pairs"))


@pytest.mark.filterwarnings("ignore::biasgrid.LostWordsWarning")
def test_values_of_texts_are_compared_as_distances_from_no_bias():
    def text(times):
        return [f"he {word}" for word in "abcdef" for _ in range(2 * times)] + [
            f"she {word}" for word in "abcdef" for _ in range(2)
        ]

    models = {name: bg.load(text(times), kind="corpus") for name, times in {"one": 1, "two": 4}.items()}
    queries = [bg.Query([["he"], ["she"]], [[word, f"{word}x"]], ["He", "She"], [word]) for word in "abcdef"]
    grid = bg.measure_grid(["pmi"], {"C": queries}, models, bootstrap={"draws": 50}, progress=False)
    (row,) = grid.frame("pairs").query("criterion == 'C'").to_dict("records")
    distances = grid.scores.query("criterion == 'C'")["value"].abs().groupby(grid.scores["model"]).mean()
    assert (row["scale"], row["reason"], row["queries"]) == ("raw", "", 6)
    assert row["difference"] == pytest.approx(distances["one"] - distances["two"])
    assert row["answer"] in ("different", "cannot tell")


def test_a_raw_distance_is_below_0_on_the_other_side_of_no_bias():
    rows = [("C", "q1", "ect", "a", "none", 0.6), ("C", "q2", "ect", "a", "none", 1.5)]
    table = pd.DataFrame(rows, columns=["criterion", "query", "metric", "model", "debias", "value"])
    scores = RawScores.read(table, np.array([[0.5, 1.2], [1.5, math.nan]]), {"ect": 1.0})
    assert scores.values == pytest.approx([0.4, 0.5])
    assert scores.resamples == pytest.approx(np.array([[0.5, -0.2], [0.5, math.nan]]), nan_ok=True)


def test_by_a_metric_without_a_common_zero_no_models_are_compared():
    scores = {"a": scores_of(1), "b": scores_of(1)}
    (row,) = compared(scores, [(A, B)], spread=0.01, has_common_zero=False)
    assert (row["reason"], row["pairs"], row["queries"]) == ("no common zero", 0, 0)
    assert "difference" not in row


def test_on_a_raw_scale_nothing_is_alike():
    same = scores_of(1)
    (row,) = compared({"a": same, "b": same}, [(A, B)], spread=0.01)
    assert (row["answer"], row["difference"]) == ("alike", 0)
    (row,) = compared({"a": same, "b": same}, [(A, B)], spread=0.01, margin=None)
    assert row["answer"] == "cannot tell"
    assert "needed" not in row

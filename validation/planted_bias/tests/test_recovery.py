"""Tables of what is recovered, from records of made-up numbers whose answers are known."""

import numpy as np
import pandas as pd
import pytest
from planted_records import OCCUPATIONS, SIX, WORDS, measured, record

from validation.planted_bias.recovery import figure_tables, model_table, recovery_table, retest

NEUTRAL, LENGTHS = {"mac": 1.0, "same": 0.0}, {"mac": 2.0, "same": 1.0, "weat": None}


def rows(table, **key):
    for name, value in key.items():
        table = table[table[name] == value]
    return table


def the_value(table, **key):
    (value,) = rows(table, **key)["value"]
    return value


def squared(x, y):
    return np.corrcoef(x, y)[0, 1] ** 2


@pytest.fixture
def acting():
    """A model that fills gaps: share, unmasking, errors, and word scores."""
    rng = np.random.default_rng(3)
    share = rng.random(WORDS)
    unmasking = (share + 0.1 * rng.normal(size=WORDS)).clip(0, 1)
    errors = (0.5 * (unmasking - 0.5) + 0.2 * rng.normal(size=WORDS)).clip(-1, 1)
    same = unmasking - 0.5 + 0.1 * rng.normal(size=WORDS)
    return share, unmasking, errors, same


def test_scores_are_compared_with_what_was_planted_and_with_what_the_model_does(acting):
    share, unmasking, errors, same = acting
    model = record(
        share, {"same": measured(same)}, behaviour=(unmasking, errors), trainer="bert", kind="input"
    )
    table = model_table([model], NEUTRAL, LENGTHS)
    distances = {"planted": abs(share - 0.5), "unmasking": abs(unmasking - 0.5), "errors": abs(errors)}
    for against, truth in {"planted": share, "unmasking": unmasking, "errors": errors}.items():
        of_same = rows(table, vectors="input", metric="same", level="word", against=against, what="r_squared")
        found = of_same.set_index("truth")["value"]
        assert found["signed"] == pytest.approx(squared(same, truth))
        assert found["absolute"] == pytest.approx(squared(same, distances[against]))
        assert found["unsigned"] == pytest.approx(squared(abs(same), distances[against]))
        true = rows(table, metric="same", level="set", against=against, what="score").set_index("truth")[
            "true"
        ]
        assert true["mean"] == pytest.approx(truth.mean())
        assert true["sd"] == pytest.approx(truth.std())
        assert true["absolute"] == pytest.approx(distances[against].mean())
    # what the model does is entered as metrics, and not compared with itself
    acts = rows(table, vectors="behaviour", level="word", truth="signed", what="r_squared")
    found = acts.set_index(["metric", "against"])["value"]
    assert set(found.index) == {
        ("unmasking", "planted"), ("unmasking", "errors"), ("errors", "planted"), ("errors", "unmasking")
    }  # fmt: skip
    assert found["unmasking", "errors"] == found["errors", "unmasking"]
    assert found["unmasking", "planted"] == the_value(table, what="gate") > 0.7
    assert set(table["judged"]) == {"yes"}


def test_a_model_that_does_not_say_what_was_planted_is_not_judged(acting):
    share, unmasking, errors, same = acting
    noise = np.random.default_rng(4).random(WORDS)
    models = [
        record(share, {"same": measured(scores)}, behaviour=(says, errors), trainer="bert", replicate=i)
        for i, (says, scores) in enumerate([(unmasking, same), (noise, noise)], 1)
    ]
    table = model_table(models, NEUTRAL, LENGTHS)
    assert table.groupby("replicate")["judged"].unique().map(list).to_dict() == {1: ["yes"], 2: ["no"]}
    found = recovery_table(table)
    of_same = rows(found, metric="same", against="planted", truth="signed", what="r_squared")
    assert of_same["models"].tolist() == [1]
    assert of_same["value"].tolist() == [pytest.approx(squared(same, share))]
    # the gate itself is of both
    gates = [squared(unmasking, share), squared(noise, share)]
    assert the_value(found, what="gate") == pytest.approx(np.mean(gates))
    assert the_value(found, what="gate_passed") == 0.5
    assert the_value(found, what="accuracy") == 0.8


def test_a_model_of_static_vectors_is_always_judged():
    share = np.random.default_rng(1).random(WORDS)
    model = record(share, {"same": measured(np.random.default_rng(2).random(WORDS))})
    table = model_table([model], NEUTRAL, LENGTHS)
    assert set(table["judged"]) == {"yes"}
    assert set(table["against"]) == {"planted", ""}
    assert "behaviour" not in set(table["vectors"])
    # records of earlier versions have no such key
    del model["behaviour"], model["measured"]["word"]["example"]
    pd.testing.assert_frame_equal(model_table([model], NEUTRAL, LENGTHS), table)


def test_unsigned_is_the_distance_from_the_metrics_own_neutral_value():
    """MAC is neutral at 1: scores on both sides of it that grow with the bias are seen unsigned, and not signed."""
    rng = np.random.default_rng(5)
    share = rng.random(WORDS)
    side = rng.choice([-1, 1], WORDS)
    scores = 1 + side * 0.3 * abs(share - 0.5)
    table = model_table([record(share, {"mac": measured(scores)})], NEUTRAL, LENGTHS)
    found = rows(table, metric="mac", level="word", what="r_squared").set_index("truth")["value"]
    assert found["unsigned"] == pytest.approx(1)
    assert found["signed"] < 0.1
    assert found["absolute"] < 0.1
    wrong = model_table([record(share, {"mac": measured(scores)})], NEUTRAL | {"mac": 0.0}, LENGTHS)
    assert the_value(wrong, metric="mac", truth="unsigned", what="r_squared") < 0.1


def test_halves_are_shares_of_the_range():
    share = np.random.default_rng(6).random(WORDS)
    metrics = {
        "same": measured(share, halves=0.02),
        "mac": measured(share, halves=0.02),
        "weat": measured(share, halves=0.02),
        "other": measured(share),
    }
    found = rows(model_table([record(share, metrics)], NEUTRAL, LENGTHS), what="halves")
    # WEAT's range is infinite, and the last was not measured on halves
    assert found.set_index("metric")["value"].to_dict() == {"same": 0.02, "mac": 0.01}


def test_halves_of_what_a_model_does_are_the_records(acting):
    share, unmasking, errors, same = acting
    model = record(share, {"same": measured(same)}, behaviour=(unmasking, errors), trainer="bert")
    for halves in ({}, {"halves": None}):
        model["behaviour"] |= halves
        assert rows(model_table([model], NEUTRAL, LENGTHS), what="halves").empty
    model["behaviour"]["halves"] = {"unmasking": 0.02, "errors": 0.03}
    table = model_table([model], NEUTRAL, LENGTHS)
    # errors are from -1 to 1
    found = rows(table, what="halves", vectors="behaviour").set_index("metric")["value"].to_dict()
    assert found == {"unmasking": 0.02, "errors": 0.015}
    assert the_value(recovery_table(table), what="halves", metric="errors") == 0.015


def test_retest_is_the_mean_correlation_with_the_judged_others():
    rng = np.random.default_rng(9)
    common = rng.normal(size=WORDS)
    a, b, c, d = (common + rng.normal(size=WORDS) for _ in range(4))
    r = np.corrcoef([a, b, c, d])
    found = retest(np.array([a, b, c, d]), np.array([True, True, True, False]))
    assert found[0] == pytest.approx((r[0, 1] + r[0, 2]) / 2)
    # the last is compared, too, and counts for no other
    assert found[3] == pytest.approx(r[3, :3].mean())
    assert np.isnan(retest(np.array([a]), np.array([True]))).all()
    assert np.isnan(retest(np.array([a, np.ones(WORDS)]), np.array([True, True]))).all()
    # of words that both have
    partly = a.copy()
    partly[:100] = np.nan
    found = retest(np.array([partly, b]), np.array([True, True]))
    assert found == pytest.approx([np.corrcoef(a[100:], b[100:])[0, 1]] * 2)


def test_retest_is_within_a_plan():
    rng = np.random.default_rng(10)
    scores = [rng.normal(size=WORDS) for _ in range(4)]
    share = rng.random(WORDS)
    models = [
        record(share, {"same": measured(of)}, mu=mu, replicate=i)
        for of, (mu, i) in zip(scores, [(0.3, 1), (0.3, 2), (0.7, 1), (0.7, 2)], strict=True)
    ]
    found = rows(model_table(models, NEUTRAL, LENGTHS), what="retest").set_index(["mu", "replicate"])["value"]
    for mu, pair in ((0.3, scores[:2]), (0.7, scores[2:])):
        assert found[mu].tolist() == [pytest.approx(np.corrcoef(pair)[0, 1])] * 2


def test_words_without_a_score_are_left_out():
    """A metric that takes two sets of words has none of a word whose share is a half."""
    rng = np.random.default_rng(11)
    share = rng.random(WORDS)
    share[:9] = 0.5
    scores = share + rng.normal(size=WORDS)
    scores[:9] = np.nan
    table = model_table([record(share, {"weat": measured(scores)})], NEUTRAL, LENGTHS)
    assert the_value(table, level="word", truth="signed", what="r_squared") == pytest.approx(
        squared(scores[9:], share[9:])
    )
    assert the_value(table, level="word", what="sd") == pytest.approx(scores[9:].std())
    # SAME has all words; what it is compared with WEAT in are WEAT's
    both = {"weat": measured(scores), "same": measured(np.where(np.isnan(scores), 3.0, scores))}
    of_same = rows(model_table([record(share, both)], NEUTRAL, LENGTHS), truth="signed", level="word")
    assert the_value(of_same, what="same_r_squared") == the_value(of_same, metric="weat", what="r_squared")
    assert the_value(of_same, metric="same", what="r_squared") != the_value(of_same, what="same_r_squared")


def test_the_example_of_six_words():
    rng = np.random.default_rng(12)
    share, unmasking = rng.random((2, WORDS))
    sizes = [0.4, -1.7, 0.02, 0.9, None, 0.3, 0.5, 0.6, 0.7, 0.8]
    example = {"words": SIX[::-1], "effect_sizes": sizes, "same": 0.2}
    static = model_table([record(share, {}, example=example)], NEUTRAL, LENGTHS)
    found = static.set_index("what")["value"]
    assert found["example_largest"] == 1.7
    assert found["example_smallest"] == 0.02
    assert found["example_same"] == 0.2
    assert found["example_2"] == 1.7
    assert np.isnan(found["example_5"])
    assert found["example_bias"] == pytest.approx(abs(share[:6] - 0.5).mean())
    assert OCCUPATIONS[:6] == SIX
    acts = model_table(
        [record(share, {}, example=example, behaviour=(unmasking, unmasking))], NEUTRAL, LENGTHS
    )
    assert the_value(acts, what="example_bias") == pytest.approx(abs(unmasking[:6] - 0.5).mean())
    assert rows(acts, what="example_bias")["against"].tolist() == ["unmasking"]


def test_replicates_of_what_a_model_does_are_compared_like_those_of_metrics(acting):
    share, unmasking, errors, same = acting
    models = [
        record(share, {"same": measured(same)}, behaviour=(u, errors), trainer="bert", replicate=i)
        for i, u in enumerate([unmasking, 0.5 + 0.5 * (unmasking - 0.5)], 1)
    ]
    found = rows(recovery_table(model_table(models, NEUTRAL, LENGTHS)), what="sd_difference").set_index(
        "metric"
    )
    # one has half of the other's standard deviation: 1 - .5 over .75
    assert found.loc["unmasking", "value"] == pytest.approx(0.5 / 0.75)
    assert found.loc["same", "value"] == 0


def test_what_a_model_does_stands_beside_each_kind_of_vectors(acting):
    share, unmasking, errors, same = acting
    kinds = {"contextual": {"same": measured(same)}, "input": {"same": measured(-same)}}
    static = record(share, {"same": measured(same)})
    model = record(share, kinds, kind=list(kinds), behaviour=(unmasking, errors), trainer="bert")
    tables = figure_tables(model_table([static, model], NEUTRAL, LENGTHS))
    words = tables["words"]
    assert words[["trainer", "vectors", "truth"]].to_numpy().tolist() == [
        [trainer, kind, truth]
        for trainer, kind in [("ppmi", "word"), ("bert", "contextual"), ("bert", "input")]
        for truth in ("signed", "absolute")
    ]
    signed = words[words["truth"] == "signed"].set_index("vectors")
    assert signed["unmasking"].isna().tolist() == [True, False, False]
    assert signed.loc["input", "unmasking"] == pytest.approx(np.corrcoef(unmasking, share)[0, 1])
    assert signed.loc["input", "same"] == -signed.loc["contextual", "same"]
    assert set(tables["words-errors"]["trainer"]) == {"bert"}
    assert set(tables) == {
        *("words", "words-unmasking", "words-errors", "truth-ppmi", "truth-bert", "truth-bert-unmasking"),
        *("truth-bert-errors", "directions", "example", "gate"),
    }  # fmt: skip
    # values of sets are the metrics'; those of what a model does are in no such table
    assert "unmasking" not in tables["truth-bert-unmasking"]
    assert tables["truth-bert-unmasking"]["true_sd"].tolist() == [pytest.approx(unmasking.std())] * 2

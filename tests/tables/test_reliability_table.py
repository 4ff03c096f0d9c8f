"""The table of reliability, of a grid of made models."""

import math

import numpy as np
import pytest
from scipy.stats import norm

import biasgrid as bg
from biasgrid.core.errors import BiasgridError
from biasgrid.measure.statistics.intraclass import icc_agreement, icc_consistency
from biasgrid.tables.reliability import _agreement, _of_trainings

RNG = np.random.default_rng(2)
NAMES = [f"{name}{i}" for name in "mfxy" for i in range(8)]
GENDER = {name: (1, -1, 0, 0)["mfxy".index(name[0])] for name in NAMES}


def model(name, strength):
    """Words on an axis of gender, as strongly as the words of X lie on it."""
    vectors = {}
    for word in NAMES:
        vector = 0.6 * RNG.normal(size=12)
        vector[0] = 2 * GENDER[word] + (strength + 0.2 * RNG.normal() if word[0] == "x" else 0)
        vectors[word] = vector
    return bg.load(vectors, name=name)


MODELS = [model("weak", 0.0), model("strong", 2.0), model("other", -1.0)]
SETS = [[word for word in NAMES if word[0] == name] for name in "mfxy"]
PAIRS = bg.Query(SETS[:2], SETS[2:3], ["M", "F"], ["X"])
FOUR = bg.Query(SETS[2:], SETS[:2], ["X", "Y"], ["M", "F"])
METRICS = {"rnd": {}, "ripa": {}, "weat": {}, "rnsb": {"holdout": False}, "mac": {}}


@pytest.fixture(scope="module")
def grid():
    options = {"bootstrap": {"draws": 200}, "reliability": True, "progress": False}
    return bg.measure_grid(METRICS, {"Gender": [PAIRS, FOUR]}, MODELS, **options)


@pytest.fixture(scope="module")
def table(grid):
    return grid.reliability()


def of(table, **place):
    for name, value in place.items():
        table = table[table[name] == value]
    return table


@pytest.mark.filterwarnings("ignore:.*not measured")
def test_every_score_has_its_three_questions(grid, table):
    assert set(table["question"]) == {"score", "words", "metrics"}
    asked = table[table["question"] != "metrics"].groupby(["query", "metric", "model"]).size()
    assert len(asked) == len(grid.scores)
    assert grid.reliability("Gender").equals(table)
    with pytest.raises(BiasgridError, match="criterion"):
        grid.reliability("Age")


def test_a_sign_that_another_list_may_turn(table):
    signs = of(table, coefficient="sign", metric="ripa", query="M and F wrt X").set_index("model")
    assert signs.loc["strong", "verdict"] == "holds"
    assert signs.loc["strong", "z"] > 3
    assert signs.loc["weak", "value"] < 0.95 < signs.loc["strong", "value"]
    assert (of(table, coefficient="sign", metric="rnsb")["note"] != "").all()


def test_an_order_of_models_is_that_of_the_same_resamples(grid, table):
    rows = of(table, coefficient="order", metric="ripa", query="M and F wrt X")
    assert set(rows["items"]) == {3}
    first = {
        i.cell.model: i for i in reversed(grid.study.grid.inferences.values()) if i.cell.metric == "ripa"
    }
    values = {model: grid.study.paths.samples_file(i).content[0] for model, i in first.items()}
    scores = of(grid.scores, metric="ripa", query="M and F wrt X").set_index("model")["value"].abs()
    assert scores["strong"] > scores["other"]
    for row in rows.itertuples():
        shares = []
        for other in set(values) - {row.model}:
            mine, theirs = (np.abs(values[m]) for m in (row.model, other))
            alike = np.sum((mine > theirs) == (scores[row.model] > scores[other]))
            shares.append(norm.cdf(norm.ppf((alike + 0.5) / (len(mine) + 1)) / math.sqrt(2)))
        assert row.value == pytest.approx(np.mean(shares))
    # a model alone has no order
    alone = bg.measure_grid(["ripa"], [PAIRS], MODELS[:1], bootstrap=True, reliability=True, progress=False)
    (row,) = of(alone.reliability(), coefficient="order").itertuples()
    assert (row.note, row.verdict) == ("one model only", "")


def test_metrics_agree_in_units_of_their_root_mean_square(grid, table):
    rows = of(table, question="metrics", coefficient="ICC(C,1)", model="strong", metric="rnd", beside="ripa")
    rows = of(rows, query="M and F wrt X")
    (row,) = rows.itertuples()
    assert (row.set, row.words, row.items) == ("X", 8, 2)
    # up means nearer to the first group: of RND, which is a distance, that is less
    result = bg.metrics.rnd(PAIRS, MODELS[1])
    other = bg.metrics.ripa(PAIRS, MODELS[1])
    first = -np.array([*result.detail["distance_by_word"]["X"].values()])
    second = np.array([*other.detail["inner_product"]["X"].values()])
    numbers = np.stack([x / np.sqrt((x**2).mean()) for x in (first, second)], axis=1)
    assert [row.value, row.low, row.high] == pytest.approx(list(icc_consistency(numbers)))
    ranks_of = {
        "coefficient": "rank correlation",
        "model": "strong",
        "metric": "ripa",
        "query": "M and F wrt X",
    }
    (ranks,) = of(table, **ranks_of).itertuples()
    assert 0 < ranks.value <= 1
    # a classifier's probability of the second group is about one half
    assert len(of(table, question="metrics", metric="rnsb", beside="weat", coefficient="ICC(C,1)")) == 6
    assert not len(of(table, question="metrics", metric="mac"))


def test_words_that_do_not_differ_have_no_agreement():
    assert _agreement(np.ones((8, 2)))[0]["note"] == "words do not differ"
    assert _agreement(np.ones((4, 2)))[0]["note"] == "fewer than 5 words"
    same = RNG.normal(size=(8, 1)) * [1, 3]
    assert _agreement(same)[0] == {
        "coefficient": "ICC(C,1)",
        "value": 1.0,
        "note": "both metrics have the same numbers of words",
    }


@pytest.mark.filterwarnings("ignore:.*not measured")
@pytest.mark.slow
def test_thresholds_move_verdicts_and_no_number(table):
    lax = {"acceptable": 0.01, "good": 0.02, "excellent": 0.03, "holds": 0.05}
    options = {"bootstrap": {"draws": 200}, "reliability": lax, "progress": False}
    other = bg.measure_grid(METRICS, {"Gender": [PAIRS, FOUR]}, MODELS, **options).reliability()
    assert set(of(other, coefficient="sign", metric="ripa")["verdict"]) == {"holds"}
    words = ["verdict", "says"]
    assert other.drop(columns=words).equals(table.drop(columns=words))


def test_trainings_that_differ_in_their_seed_alone():
    words = [f"w{i}" for i in range(8)]
    values = RNG.normal(size=(8, 1)) + 0.3 * RNG.normal(size=(8, 3))
    key = "G", "Q", "rnd", "base", "none"
    numbers = {
        (*key[:3], model, "none"): {"Jobs": dict(zip(words, column, strict=True))}
        for model, column in zip(("base", "second", "third"), values.T, strict=True)
    }
    (row,) = _of_trainings(numbers, [["seeds", ["base", "second", "third"]]])
    assert [row[name] for name in ("model", "beside", "words", "items")] == ["base", "seeds", 8, 3]
    expected = icc_agreement(values)
    assert [row[name] for name in ("value", "low", "high")] == pytest.approx(list(expected))
    # a seed that lacks a word, and one that was not measured
    del numbers[(*key[:3], "third", "none")]["Jobs"]["w0"]
    assert next(_of_trainings(numbers, [["seeds", ["base", "third"]]]))["words"] == 7
    assert not list(_of_trainings(numbers, [["seeds", ["base", "fourth"]]]))
    flat = {k: {"Jobs": dict.fromkeys(words, 1.0)} for k in numbers}
    assert next(_of_trainings(flat, [["seeds", ["base", "third"]]]))["note"] == "words do not differ"

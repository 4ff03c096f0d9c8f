"""Are words ordered reliably: what subjects and items are, by metric."""

import math

import numpy as np
import pytest
from scipy.stats import norm

import biasgrid as bg
from biasgrid import metrics
from biasgrid.core.geometry import cosines, unit
from biasgrid.measure.candidate_words import pool_of
from biasgrid.measure.group_draws import WITHIN, draws_of
from biasgrid.measure.statistics.internal_consistency import (
    all_splits,
    alpha,
    correlations,
    split_half,
)

RNG = np.random.default_rng(5)
WORDS = {
    f"{name}{i}": RNG.normal(size=20)
    for name, size in {"x": 9, "y": 7, "a": 6, "b": 4, "m": 8, "f": 8}.items()
    for i in range(size)
}
MODEL = bg.load(WORDS, name="made")


def words(name):
    return [word for word in WORDS if word.startswith(name)]


def vectors(name):
    return np.stack([WORDS[word] for word in words(name)]).astype("float32").astype("float64")


def rows(metric, query, **options):
    result = getattr(metrics, metric)(query, MODEL, reliability=True, **options)
    assert result.status == "ok"
    return {row["set"]: row for row in result.reliability if row["question"] == "words"}


def halves(tables, splits):
    """The words' difference of means over two lists of items, by both halves of each split."""
    return [
        np.stack([a[:, x[half]].mean(axis=1) - b[:, y[half]].mean(axis=1) for x, y in splits])
        for half in (0, 1)
        for a, b in [tables]
    ]


def by_halves(tables):
    """The split-half reliability of a difference of means over two lists of items, by all splits."""
    splits = all_splits([table.shape[1] for table in tables])
    return split_half(*halves(tables, splits), sum(table.shape[1] for table in tables), True)


FOUR = bg.Query([words("x"), words("y")], [words("a"), words("b")], ["X", "Y"], ["A", "B"])
PAIRS = bg.Query([words("m"), words("f")], [words("x")], ["M", "F"], ["X"])


def test_weat_is_a_difference_of_two_lists_within_one_set_at_a_time():
    found = rows("weat", FOUR)
    assert set(found) == {"X", "Y", ""}
    for name in "xy":
        tables = [cosines(vectors(name), vectors(other)) for other in "ab"]
        expected = by_halves(tables)
        row = found[name.upper()]
        numbers = [row[key] for key in ("value", "low", "high")]
        assert numbers == pytest.approx(expected[:3], rel=1e-5, nan_ok=True)
        assert (row["words"], row["items"], row["coefficient"]) == (len(tables[0]), 10, "split-half")
        assert (row["verdict"] == "none") == math.isnan(expected.value)
    # that the sets differ is bias, no reliability: it does not count
    shifted = dict(WORDS)
    for word in words("x"):
        shifted[word] = WORDS[word] + 3 * vectors("a").mean(axis=0)
    far = bg.load(shifted, name="far")
    together = metrics.weat(FOUR, far, reliability=True).reliability[-1]
    assert together["set"] == ""
    pooled = np.concatenate([cosines(np.stack([shifted[w] for w in words(n)]), vectors("a")) for n in "xy"])
    assert (together["verdict"], alpha(pooled).value > 0.7) == ("none", True)


def test_ripa_over_pairs():
    (row,) = rows("ripa", PAIRS, relation="mean").values()
    table = vectors("x") @ unit(vectors("m") - vectors("f")).T
    assert row["value"] == pytest.approx(float(alpha(table).value), rel=1e-5)
    assert (row["words"], row["items"], row["coefficient"]) == (9, 8, "alpha")
    # its default is a direction, which is no sum
    (row,) = rows("ripa", PAIRS).values()
    assert (row["coefficient"], row["items"]) == ("split-half", 8)


@pytest.mark.parametrize(
    ("metric", "options"), [("semaxis", {}), ("same", {}), ("sc_weat", {}), ("rnd", {"distance": "cos"})]
)
def test_numbers_are_sums_over_the_words_of_two_groups_up_to_one_factor(metric, options):
    pairs = bg.Query([words("m")[:4], words("f")[:4]], [words("x")], ["M", "F"], ["X"])
    row = rows(metric, pairs, **options)["X"]
    groups, targets = [vectors("m")[:4], vectors("f")[:4]], unit(vectors("x"))
    if metric in ("same", "sc_weat"):
        groups = [unit(group) for group in groups]
    lengths = [np.linalg.norm(group.mean(axis=0)) if metric == "rnd" else 1 for group in groups]
    tables = [targets @ group.T / length for group, length in zip(groups, lengths, strict=True)]
    assert row["value"] == pytest.approx(by_halves(tables).value, rel=1e-5, nan_ok=True)
    assert (row["coefficient"], row["items"], row["words"]) == ("split-half", 8, 9)
    if metric != "sc_weat":  # whose numbers are divided by each word's own deviation
        result = getattr(metrics, metric)(pairs, MODEL, **options)
        numbers = np.array([*next(iter(result.detail.values()))["X"].values()])
        sums = tables[0].mean(axis=1) - tables[1].mean(axis=1)
        assert np.ptp(numbers / sums) < 1e-5 * np.abs(numbers / sums).max()


@pytest.mark.slow
def test_three_groups_are_no_sum_over_words():
    three = bg.Query([words("m"), words("f"), words("a")], [words("x")], ["M", "F", "A"], ["X"])
    assert rows("same", three)["X"]["coefficient"] == "split-half"


def test_splits_are_all_or_drawn_with_the_seed():
    side = {"m": 1.0, "f": -1.0}
    axis = {w: side.get(w[0], i / 4) * np.eye(20)[0] for i, w in enumerate(WORDS)}
    model = bg.load({w: 0.3 * vector + axis[w] for w, vector in WORDS.items()}, name="on an axis")

    def of_x(query, seed):
        return metrics.rnd(query, model, seed=seed, reliability=True).reliability[0]

    # two lists of 8 words have 2,450 splits
    found = [of_x(PAIRS, seed) for seed in (0, 0, 1)]
    assert found[0]["value"] == found[1]["value"] != found[2]["value"]
    error = found[0]["mc_error"]
    assert 0 < error < 0.1
    assert found[0]["value"] == pytest.approx(found[2]["value"], abs=5 * error)
    # lists of 4 and 4 words have 18
    few = bg.Query([words("m")[:4], words("f")[:4]], [words("x")], ["M", "F"], ["X"])
    found = [of_x(few, seed) for seed in (0, 1)]
    assert found[0]["value"] == found[1]["value"]
    assert found[0]["mc_error"] == 0


def test_halves_that_do_not_correlate_are_none():
    found = {}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        model = bg.load({w: rng.normal(size=20) for w in WORDS}, name="noise")
        for row in metrics.rnd(PAIRS, model, reliability=True).reliability:
            found.setdefault(row["verdict"] == "none", []).append(row)
    for row in found[True]:
        assert math.isnan(row["value"])
        assert row["note"] == "none: the scores by halves of the items do not correlate"
        assert row["says"] == "Halves of the 16 items do not order the words of X alike (split-half: none)."
    assert all(row["value"] > 0 for row in found[False])


def test_why_there_is_none():
    few = bg.Query([words("m"), words("f")], [words("x")[:4]], ["M", "F"], ["X"])
    assert rows("rnd", few)["X"]["note"] == "fewer than 5 words"
    one = bg.Query([["m0"], ["f0"]], [words("x")], ["M", "F"], ["X"])
    (row,) = rows("rnd", one).values()
    assert row["note"] == "fewer than 2 items"
    assert math.isnan(row["value"])
    assert rows("mac", FOUR)["X"]["note"] == "measures nearness, not a difference"
    assert rows("mac", FOUR)["X"]["value"] < 1
    assert rows("rnsb", FOUR)["X"]["coefficient"] == "split-half"
    (row,) = rows("gipe", PAIRS).values()
    assert row["note"] == "not a sum over items"  # it asks the model for neighbours


def test_a_bootstrap_says_how_often_another_list_has_the_same_sign():
    result = metrics.weat(FOUR, MODEL, bootstrap={"draws": 200})
    (row,) = result.reliability
    record = result.inference["bootstrap"]
    assert row["z"] == record["z"] == pytest.approx(result.value / record["standard_error"])
    assert row["value"] == pytest.approx(norm.cdf(abs(row["z"]) / math.sqrt(2)))
    assert 0.5 < row["value"] < 1
    # all of its values are above the neutral one
    (row,) = metrics.rnsb(FOUR, MODEL, bootstrap={"draws": 20}).reliability
    assert row["note"] == "the metric's sign does not show a direction of bias"
    # near and far are no groups
    (row,) = metrics.mac(FOUR, MODEL, bootstrap={"draws": 20}).reliability
    assert (row["note"], row["verdict"]) == ("the metric's sign does not show a direction of bias", "")
    assert metrics.weat(FOUR, MODEL).reliability == ()
    # the sentences stand where the card was asked for
    assert "reliability" not in result.to_dict()
    both = metrics.weat(FOUR, MODEL, bootstrap={"draws": 20}, reliability=True)
    says = [row["says"] for row in both.reliability]
    assert [row["says"] for row in both.to_dict()["reliability"]] == says
    assert says[0].startswith("Another list of 26 words would give the same sign in ")
    assert all(f">{sentence}</div>" in both._repr_html_() for sentence in says if sentence)
    assert " ".join(filter(None, says)) in " ".join(str(both).split())


def test_templates_are_the_items_of_a_language_model():
    class Network:
        def score(self, texts):
            return [-1.0 - sum(map(ord, text)) % 17 for text in texts]

        def score_continuations(self, pairs):
            return self.score([a + b for a, b in pairs])

    model = bg.language_model(Network())
    jobs = ["doctor", "nurse", "teacher", "pilot", "cook", "clerk"]
    query = bg.Query([["he", "man"], ["she", "woman"]], [jobs], ["M", "F"], ["Jobs"])
    templates = [
        "{target} is a {attribute}.",
        "{target} works as a {attribute}.",
        "{target} was a {attribute}.",
    ]
    (row,) = metrics.lpbs(query, model, templates=templates, reliability=True).reliability
    assert (row["coefficient"], row["words"], row["items"]) == ("alpha", 6, 3)
    assert row["value"] <= 1
    (row,) = metrics.lpbs(query, model, templates=templates[:1], reliability=True).reliability
    assert row["note"] == "fewer than 2 items"


@pytest.mark.slow
def test_alpha_beside_that_of_random_groups():
    rng = np.random.default_rng(2)
    model = bg.load({**WORDS, **{f"other{i}": rng.normal(size=20) for i in range(900)}}, name="larger")
    pool, keys = pool_of(model), tuple(tuple(words(name)) for name in "ab")
    options = {"random_groups": 150}
    found = metrics.weat(FOUR, model, reliability=options).reliability
    block = draws_of(model, pool, keys, 0, WITHIN).block(model, pool, 0)
    is_drawn = block.numbers < 150
    others = []
    for draw in zip(*(places[is_drawn] for places in block.places), strict=True):
        groups = [[pool.entries[i] for i in places] for places in draw]
        if set(words("x") + words("y")).isdisjoint(groups[0] + groups[1]):
            tables = [cosines(vectors("x"), np.stack([model[w] for w in group])) for group in groups]
            others.append(correlations(*halves(tables, all_splits([6, 4]))).mean())
    assert len(others) > 75
    tables = [cosines(vectors("x"), vectors(name)) for name in "ab"]
    r = correlations(*halves(tables, all_splits([6, 4]))).mean()
    assert r > 0
    assert found[0]["percentile"] == pytest.approx(np.mean(np.array(others) < r), abs=0.01)
    # a score that is no sum over items is not compared, and a model of few words has too few such groups
    (row,) = metrics.rnd(PAIRS, model, reliability=options).reliability
    assert math.isnan(row["percentile"])
    for row in metrics.weat(FOUR, MODEL, reliability=options).reliability:
        assert math.isnan(row["percentile"])
        assert row["note"].endswith("too few random groups are as coherent as the items")

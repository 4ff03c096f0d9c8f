"""Families of tests: which metrics' tests are one, found by trying, and how often each counts."""

import json
import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgrid import Query, metrics
from biasgrid.measure import families
from biasgrid.tables.scores import adjust

SIZES = [(4, 5), (3, 4), (5, 4), (4, 4), (3, 3)]
# metrics of two groups and two sets of other words, under parameters
VARIANTS = [
    ("weat", {}),
    ("weat_es", {}),
    ("weat_es", {"ddof": 1}),
    ("generalized_weat", {}),
    ("sc_weat", {}),
    ("sc_weat", {"ddof": 0}),
    ("nas", {}),
    ("same", {}),
    ("same_skew", {}),
    ("same_stereotype", {}),
    ("same_stereotype", {"as_printed": True}),
    ("semaxis", {}),
]


def signature(name, params=None, template=(2, 2), normalize=False, alternative="bias", test="permutation"):
    return families.signature(name, json.dumps(params or {}), template, normalize, alternative, test)


class InMemory:
    vocab_prefix = ""

    def __init__(self, words, vectors):
        self.words, self.vectors = words, vectors

    def rows(self, words):
        return np.array([self.words.index(word) for word in words])

    def take(self, words, rows):
        return self.vectors[rows]


def drawn(seed):
    """A query of two target and two attribute sets of a few words, and a model that has them: clusters of words that
    vary in length."""
    rng = np.random.default_rng(seed)
    sizes = [*SIZES[rng.integers(len(SIZES))], *rng.integers(2, 6, size=2)]
    names = [[f"{i} {word}" for word in range(size)] for i, size in enumerate(sizes)]
    vectors = [
        (rng.normal(size=8) + rng.normal(size=(size, 8))) * rng.uniform(0.2, 4, (size, 1)) for size in sizes
    ]
    return Query(names[:2], names[2:]), InMemory([w for s in names for w in s], np.concatenate(vectors))


@pytest.mark.filterwarnings("ignore:.*cannot be small")
@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from(["bias", "greater", "less"]))
def test_tests_of_one_name_give_one_p_value(seed, normalize, alternative):
    """On data that the names were not made from, by the metrics' front door."""
    query, model = drawn(seed)
    p_values: dict[str, set] = {}
    for name, params in VARIANTS:
        tested = {"alternative": alternative, "exact": 200, "draws": 100}
        result = metrics.REGISTRY[name](query, model, permutation=tested, normalize=normalize, **params)
        named = signature(name, params, normalize=normalize, alternative=alternative)
        p_values.setdefault(named, set()).add(result.p_value)
    assert all(len(found) == 1 for found in p_values.values()), p_values
    assert len(p_values) == 5 + (not normalize)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*cannot be small")
def test_tests_of_two_names_differ_somewhere():
    """For each two of them there are words for which their p-values do."""
    named = {signature(name, params): (name, params) for name, params in VARIANTS}
    apart = set()
    for seed in range(12):
        query, model = drawn(seed)
        p = {
            key: metrics.REGISTRY[name](query, model, permutation={}, **params).p_value
            for key, (name, params) in named.items()
        }
        apart |= {pair for pair in combinations(named, 2) if p[pair[0]] != p[pair[1]]}
    assert apart == set(combinations(named, 2))
    assert len(named) == 6


@pytest.mark.slow
def test_which_tests_are_equal():
    """What follows from the metrics' formulas."""
    # a difference of sums and of means, over the same words; divided by what no partition changes
    assert signature("weat") == signature("weat", {"return_effect_size": True}) == signature("weat_es")
    # half of it of two sets each; of three another thing
    assert signature("weat") == signature("generalized_weat")
    assert signature("sc_weat") == signature("nas") == signature("sc_weat", {"ddof": 0})
    # vectors of one length
    assert signature("semaxis") != signature("same_skew")
    assert signature("semaxis", normalize=True) == signature("same_skew", normalize=True)
    assert signature("rnd", template=(2, 1)) != signature("rnd", {"distance": "cos"}, template=(2, 1))
    # the sum of components is their length where there is one
    assert signature("same") == signature("same", {"legacy_l1": True})
    assert signature("same", template=(3, 1)) != signature("same", {"legacy_l1": True}, template=(3, 1))
    # the mean of |cos| with the difference of the groups' means
    assert signature("same") == signature("direct_bias", {"direction": "mean"}) != signature("direct_bias")
    # another tail is another test
    assert signature("weat", alternative="greater") != signature("weat")
    assert signature("same", alternative="greater") == signature("same")
    # one classifier of all words, however many splits the value is a mean of
    assert signature("rnsb") == signature("rnsb", {"n_iterations": 3})
    assert signature("rnsb") != signature("weat")
    # no test of an exchange, and one that takes a model: each is itself
    assert len({signature(name) for name in ("mac", "indirect_bias", "gipe", "pmn")}) == 4
    assert signature("mac") == signature("mac", {"legacy_pooled": False})


def test_which_tests_of_random_groups_are_equal():
    def of(name, params=None, **options):
        return signature(name, params, test="random_groups", **options)

    # other words have another standard deviation
    assert of("weat") != of("weat_es")
    assert of("weat_es") == of("weat_es", {"ddof": 1}) == of("weat", {"return_effect_size": True})
    assert of("same") == of("direct_bias", {"direction": "mean"}) != of("direct_bias")
    assert of("sc_weat") == of("nas")
    assert of("semaxis") != of("same_skew")
    assert of("semaxis", normalize=True) == of("same_skew", normalize=True)
    assert of("mac") not in (of("rnsb"), of("weat"))


def test_which_tests_by_frequency_are_equal():
    def controls(name, params=None, **options):
        return signature(name, params, test="control_words", **options)

    # within bands there are fewer permutations, and the values are the same
    assert signature("weat", test="frequency_bands") == signature("weat")
    # the groups stay, the words of the other side are drawn, and the effect size divides by how these spread
    assert controls("weat") != controls("weat_es")
    # of target sets of unlike sizes, a difference of sums is another than one of means
    assert controls("weat") != controls("generalized_weat")
    assert controls("sc_weat") == controls("nas")
    assert controls("same") == controls("direct_bias", {"direction": "mean"})
    assert controls("mac") not in (controls("rnsb"), controls("weat"), signature("mac", test="random_groups"))


KEYS = ["criterion", "query", "metric", "model", "debias"]


def test_equal_tests_count_once():
    rows = [
        ("G", "q1", "weat", "m", "none", 0.01),
        ("G", "q1", "weat_es", "m", "none", 0.012),  # of fewer draws
        ("G", "q1", "rnd", "m", "none", 0.03),
        ("G", "q1", "rnsb", "m", "none", 0.04),
        ("G", "q1", "mac", "m", "none", math.nan),
        ("G", "q2", "weat", "m", "none", 0.2),
        ("G", "q1", "weat", "m", "hard", 0.02),
        ("H", "q1", "weat", "m", "none", 0.03),
        ("H", "q1", "weat_es", "m", "none", 0.03),
    ]
    table = pd.DataFrame(rows, columns=[*KEYS, "p_groups"])
    tests = {
        (criterion, query, metric, "m"): ("labels" if metric == "rnsb" else "words", name)
        for criterion in "GH"
        for query in ("q1", "q2")
        for metric, name in (("weat", "A"), ("weat_es", "A"), ("rnd", "rnd"), ("rnsb", "rnsb"))
    }
    found = adjust(table, "holm", tests, "p_groups")
    # of G's words in original models: .012, .03, .2 times 3, 2, 1; the debiased model is a family of its own
    words = [0.036, 0.036, 0.06, 0.04, math.nan, 0.2, 0.02, 0.03, 0.03]
    assert found.tolist() == pytest.approx(words, nan_ok=True)
    # whatever the order of the rows
    backwards = adjust(table.iloc[::-1], "holm", tests, "p_groups")
    assert backwards.sort_index().tolist() == pytest.approx(words, nan_ok=True)
    # of tests that nothing is known of, each is one: times 5/2, 5/3, 5/4 and never above a larger one's
    each = adjust(table, "benjamini-hochberg", column="p_groups")
    assert each[:4].tolist() == pytest.approx([0.03, 0.03, 0.05, 0.05])

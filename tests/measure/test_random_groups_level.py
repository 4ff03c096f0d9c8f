"""How often the test against random groups rejects where there is nothing to find, groups that it did not draw.

benchmarks/random_groups.py has more models, metrics and ways to make groups.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from biasgrid import Query, metrics
from biasgrid.measure.candidate_words import pool_of
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from validation.calibration.queries import Words

SIZE, NEAREST, GROUPS, ATTRIBUTES = 8, 30, 30, 2


@pytest.fixture(scope="module")
def words(word2vec) -> Words:
    return Words(word2vec, 10_000)


def topic(words, start, free, rng):
    """A word and some of those nearest to it."""
    others = free.copy()
    others[start] = False
    near = words.nearest(words.vectors[start], others, NEAREST)
    places = [start, *rng.choice(near, SIZE - 1, replace=False)]
    free[places] = False
    return places


@pytest.fixture(scope="module")
def queries(word2vec, words) -> list[Query]:
    """Two groups around words that are no seeds of random groups, siblings or far apart, and two other topics."""
    pool = pool_of(word2vec)
    seeds = {pool.entries[place] for place in pool.seeds}
    is_start = np.array([word.isalpha() and word not in seeds for word in words.words])
    found = []
    for number in range(GROUPS):
        rng = np.random.default_rng([37, number])
        free = np.array([word.isalpha() for word in words.words])
        first = topic(words, rng.choice(np.flatnonzero(is_start)), free, rng)
        starts = np.flatnonzero(is_start & free)
        nearest = starts[np.argsort(-(words.vectors[starts] @ words.vectors[first].mean(axis=0)))]
        second = topic(words, nearest[int(len(nearest) ** rng.random()) - 1], free, rng)
        for _ in range(ATTRIBUTES):
            others = free.copy()
            topics = [topic(words, rng.choice(np.flatnonzero(others)), others, rng) for _ in range(2)]
            sides = ([words.words[places].tolist() for places in side] for side in ([first, second], topics))
            found.append(Query(*sides))
    return found


def p_values(word2vec, queries, test, options):
    """WEAT's, those that are there. Every eighth seed may start a group: a test looks at the groups around each, and
    of eight times as many, a right test, and one with a fault, reject as often."""
    metric, whole = metrics.metric("weat"), pool_of(word2vec)
    pool = replace(whole, seeds=whole.seeds[::8], near=whole.near[::8])
    records = [
        infer_query(MeasurementSpec(metric, inference={test: options}), query, word2vec, pool=pool)[0][0]
        for query in queries
    ]
    found = [record[test].get("p_value") for record in records]
    assert found.count(None) < 0.1 * len(queries)
    return np.array([p for p in found if p is not None])


def share_that_a_right_test_has(level):
    """Its bounds, which it leaves one time in 500. Queries of the same groups are not independent: there are at least
    as many as groups."""
    return np.array(binom.interval(0.998, GROUPS, level)) / GROUPS


def test_few_groups_that_were_made_another_way_stand_out(word2vec, queries):
    found = p_values(word2vec, queries, "random_groups", {"draws": 199})
    for level in (0.05, 0.25, 0.5):
        low, high = share_that_a_right_test_has(level)
        assert low <= (found <= level).mean() <= high


def test_a_test_that_takes_topics_for_bias_is_found_out(word2vec, queries):
    """The check above can fail: fruits are not exchangeable with cities, and the permutation test says so."""
    found = p_values(word2vec, queries, "permutation", {"draws": 199, "exact": 0})
    assert (found <= 0.05).mean() > share_that_a_right_test_has(0.05)[1]

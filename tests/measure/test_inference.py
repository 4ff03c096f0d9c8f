"""Permutation tests: the definition, agreement with scipy, words that are shared or lost, and the workflow's step.

What a metric makes of exchanged words is in test_resampling.py, the bootstrap in test_bootstrap.py.
"""

import copy
import json
import math
from itertools import combinations
from typing import get_args

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from conftest import GRID_WORDS, ROOT, biasgrid, grid_config, make_store, refusal, write_text_model
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import make, make_inputs, make_some
from reruns import every, made_with, stale

from biasgrid import Query, metrics
from biasgrid.core.errors import BiasgridError
from biasgrid.core.validation import to_record
from biasgrid.measure import permutation, write_inference
from biasgrid.measure.infer import infer_query
from biasgrid.measure.measurement_spec import MeasurementSpec
from biasgrid.measure.options import BIAS, Alternative
from biasgrid.measure.permutation import monte_carlo_test, permutation_test, share_as_extreme
from biasgrid.models.words import WordOptions
from biasgrid.study.steps import cell_step, inference_step
from biasgrid.study.study import Study
from biasgrid.tables import scores

SETS = json.loads((ROOT / "data" / "word_sets" / "weat.json").read_text())["sets"]
ALTERNATIVES = ("greater", "less", "two-sided")


def sums(values):
    """Sum over the first set minus sum over the second."""
    values = np.asarray(values, dtype=float)
    return lambda labels: (1 - 2 * labels.astype(float)) @ values


def by_scipy(first, second, alternative):
    def statistic(x, y, axis):
        return x.sum(axis=axis) - y.sum(axis=axis)

    return scipy.stats.permutation_test(
        (first, second), statistic, vectorized=True, n_resamples=np.inf, alternative=alternative
    ).pvalue


small_sets = st.lists(st.integers(-4, 4), min_size=2, max_size=5)


@settings(max_examples=40, deadline=None)
@given(small_sets, small_sets, st.sampled_from(ALTERNATIVES))
def test_exact_p_values_are_scipys(first, second, alternative):
    """Integers: their sums have ties and no rounding."""
    ours = permutation_test(sums(first + second), (len(first), len(second)), alternative=alternative)
    assert ours.p_value == pytest.approx(by_scipy(np.array(first), np.array(second), alternative), abs=1e-12)
    assert ours.method == "exact"
    assert ours.partitions == ours.draws == math.comb(len(first) + len(second), len(first))
    assert ours.p_lowest <= ours.p_value <= 1


def between(values):
    """Sum of squares between sets, of labels of any number of sets."""
    values = np.asarray(values, dtype=float)

    def statistic(labels):
        sets = [labels == i for i in range(labels.max() + 1)]
        return sum((s @ values) ** 2 / s.sum(axis=1) for s in sets)

    return statistic


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 2, 2), (2, 3, 4), (2, 2, 2, 2)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_more_than_two_sets(sizes, alternative):
    values = np.random.default_rng(8).integers(-3, 4, size=sum(sizes)).astype(float)
    samples = np.split(values, np.cumsum(sizes)[:-1])

    def statistic(*sets, axis):
        return sum(s.sum(axis=axis) ** 2 / s.shape[axis] for s in sets)

    expected = scipy.stats.permutation_test(
        samples, statistic, vectorized=True, n_resamples=np.inf, alternative=alternative
    )
    ours = permutation_test(between(values), sizes, alternative=alternative)
    assert ours.p_value == pytest.approx(expected.pvalue, abs=1e-12)
    assert ours.partitions == len(expected.null_distribution)
    assert np.sort(ours.null_distribution) == pytest.approx(np.sort(expected.null_distribution))
    drawn = permutation_test(between(values), sizes, alternative=alternative, exact=0, draws=4000)
    assert drawn.method == "monte_carlo"
    assert drawn.p_value == pytest.approx(expected.pvalue, abs=0.08)


@pytest.mark.parametrize("sizes", [(3, 4), (3, 1, 2), (1, 1, 1, 1)])
def test_all_partitions_are_dealt_each_once_and_drawn_alike(sizes):
    seen = {}

    def statistic(of):
        return lambda labels: seen.setdefault(of, []).append(labels.copy()) or np.zeros(len(labels))

    every = permutation_test(statistic("all"), sizes)
    permutation_test(statistic("drawn"), sizes, exact=0, draws=20_000)
    enumerated = np.concatenate(seen["all"])
    assert len(np.unique(enumerated, axis=0)) == len(enumerated) == every.partitions
    assert (np.sort(enumerated, axis=1) == np.repeat(np.arange(len(sizes)), sizes)).all()
    drawn = np.concatenate([block for block in seen["drawn"] if len(block) > 1])
    partitions, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(partitions) == every.partitions
    assert scipy.stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_pairs_change_places_or_do_not(alternative):
    first, second = np.random.default_rng(3).integers(-4, 5, size=(2, 7)).astype(float)
    statistic = sums([*first, *second])
    expected = scipy.stats.permutation_test(
        (first, second),
        lambda x, y, axis: x.sum(axis=axis) - y.sum(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
        alternative=alternative,
    )
    ours = permutation_test(statistic, (7, 7), pairs=True, alternative=alternative)
    assert (ours.partitions, ours.method) == (2**7, "exact")
    assert ours.p_value == pytest.approx(expected.pvalue, abs=1e-12)
    drawn = permutation_test(statistic, (7, 7), pairs=True, alternative=alternative, exact=0, draws=5000)
    assert drawn.p_value == pytest.approx(expected.pvalue, abs=0.06)


def test_an_observed_value_that_differs_each_time_is_as_extreme_as_itself():
    """A statistic found by iteration gives the same partition other last places when asked for again."""

    def statistic(labels):
        return (labels == 0) @ np.arange(6.0, 0, -1) + 1e-9 * (len(labels) == 1)

    tested = permutation_test(statistic, (3, 3))
    assert (tested.p_value, tested.p_lowest) == (1 / 20, 1 / 20)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32))
def test_under_the_null_every_p_value_is_as_likely(first, second, seed):
    """Each partition in turn taken for the observed one: p is 1/N, 2/N, ... 1, each once."""
    values = np.random.default_rng(seed).normal(size=first + second)
    found = []
    for chosen in combinations(range(first + second), first):
        rest = [i for i in range(first + second) if i not in chosen]
        found.append(permutation_test(sums(values[[*chosen, *rest]]), (first, second)).p_value)
    assert sorted(found) == pytest.approx((np.arange(len(found)) + 1) / len(found))


def test_rounding_does_not_break_ties():
    """Ten words with one value up to rounding, and an observed value near 0: all partitions tie."""
    values = [0.1 * 3, 0.3] * 5
    assert permutation_test(sums(values), (5, 5)).p_value == 1.0
    # sums of thirds in another order differ in the last place
    values = np.array([1, -2, 4, 1, -2, 4]) / 3
    tied = by_scipy(np.array([1, -2, 4]), np.array([1, -2, 4]), "greater")
    assert permutation_test(sums(values), (3, 3)).p_value == pytest.approx(tied)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_drawn_partitions_estimate_the_exact_p_value(alternative):
    values = np.random.default_rng(5).normal(size=14) + np.repeat([0.6, 0], 7)
    options = {"alternative": alternative, "seed": 3}
    exact = permutation_test(sums(values), (7, 7), **options)
    drawn = permutation_test(sums(values), (7, 7), draws=9999, exact=0, **options)
    assert (exact.method, drawn.method) == ("exact", "monte_carlo")
    assert drawn.draws == 9999
    one_sided = exact.p_value / (1 + (alternative == "two-sided"))
    error = math.sqrt(one_sided * (1 - one_sided) / 9999)
    assert abs(drawn.p_value - exact.p_value) < 8 * error
    # (k + 1) / (n + 1)
    assert drawn.p_value * 10_000 == pytest.approx(round(drawn.p_value * 10_000))
    assert drawn.p_normal == pytest.approx(exact.p_normal, rel=0.1)


def test_the_interval_of_a_drawn_p_value():
    """Clopper & Pearson: of n draws, k or more have the chance 2.5 % at the lower end, k or fewer at the upper."""
    values = np.random.default_rng(5).normal(size=14) + np.repeat([0.6, 0], 7)
    drawn = permutation_test(sums(values), (7, 7), draws=9999, exact=0)
    k = round(drawn.p_value * 10_000) - 1
    assert scipy.stats.binom.sf(k - 1, 9999, drawn.p_low) == pytest.approx(0.025, rel=1e-6)
    assert scipy.stats.binom.cdf(k, 9999, drawn.p_high) == pytest.approx(0.025, rel=1e-6)
    exact = permutation_test(sums(values), (7, 7))
    assert exact.p_low == exact.p_value == exact.p_high
    assert drawn.p_low < exact.p_value < drawn.p_high
    # both tails of one draw
    sided = permutation_test(sums(values), (7, 7), draws=9999, exact=0, alternative="two-sided")
    assert (sided.p_low, sided.p_high) == pytest.approx((2 * drawn.p_low, 2 * drawn.p_high))
    # of 99 draws that none reached: 1 - .025^(1/99)
    none = permutation_test(sums([*range(20, 40), *range(20)]), (20, 20), draws=99)
    assert (none.p_low, none.p_high) == (0, pytest.approx(1 - 0.025 ** (1 / 99)))


def test_no_drawn_p_value_is_zero():
    values = [*range(20, 40), *range(20)]
    tested = permutation_test(sums(values), (20, 20), draws=99)
    assert tested.p_value == tested.p_lowest == 1 / 100
    both = permutation_test(sums(values), (20, 20), draws=99, alternative="two-sided")
    assert both.p_value == both.p_lowest == 2 / 100


def test_a_distance_is_from_the_neutral_value():
    """Of MAC, whose no-bias value is 1: .75 is .25 away, farther than all but 1.3."""
    draws = np.array([0.8, 1.1, 1.3, 0.95])
    assert share_as_extreme(draws, 0.75, "distance", 1.0) == 1 / 4
    assert share_as_extreme(draws, 1.25, "distance", 1.0) == 1 / 4


@pytest.mark.parametrize("observed", [0.75, 1.25])
def test_the_normal_p_value_of_a_distance_has_both_tails(observed):
    """Of a normal distribution with the draws' mean and spread, the share at least .25 away from 1."""
    draws = np.array([0.8, 1.1, 1.3, 0.95])
    tested = monte_carlo_test(lambda *_: draws, observed, "distance", [0, 4], None, neutral=1.0)
    fitted = scipy.stats.norm(np.mean(draws), np.std(draws))
    assert tested.p_normal == pytest.approx(fitted.cdf(0.75) + fitted.sf(1.25))


GROUPS_AT_ONCE = [
    name
    for name, metric in metrics.REGISTRY.items()
    if metric.redrawn and not metric.of_model and metric.needs == "vectors"
]


@pytest.mark.parametrize("name", GROUPS_AT_ONCE)
def test_groups_at_once_have_the_values_of_each_alone(name):
    metric = metrics.metric(name)
    # with random splits it is moved to its value
    parameters = {"holdout": False} if name == "rnsb" else {}
    rng = np.random.default_rng(3)
    targets, attributes = ({"k": 2, "n": 2}.get(number, number) for number in metric.template)
    pool, words = rng.normal(size=(40, 6)), [rng.normal(size=(5, 6)) + 0.5 * i for i in range(attributes)]
    draws = np.argsort(rng.random((7, 40)), axis=1)
    places = [draws[:, 4 * i : 4 * i + 4] for i in range(targets)]
    expected = [
        metric.function([pool[rows] for rows in draw], words, **parameters).value
        for draw in zip(*places, strict=True)
    ]
    assert np.isfinite(expected).all()
    assert metric.redrawn(pool, places, words, **parameters) == pytest.approx(np.array(expected), abs=1e-9)


@pytest.mark.parametrize("name", [name for name, metric in metrics.REGISTRY.items() if metric.redrawn_words])
def test_words_of_groups_at_once_have_the_numbers_of_each_alone(name):
    metric = metrics.metric(name)
    rng = np.random.default_rng(5)
    pool, words = rng.normal(size=(40, 6)), rng.normal(size=(5, 6))
    draws = np.argsort(rng.random((7, 40)), axis=1)
    places = [draws[:, :4], draws[:, 4:8]]
    detail, selection = metric.scored_by
    expected = []
    for draw in zip(*places, strict=True):
        (numbers,) = metric.function([pool[rows] for rows in draw], [words]).detail[detail].values
        expected.append(numbers[:, 0] - numbers[:, 1] if selection == "difference" else numbers)
    (found,) = metric.redrawn_words(pool, places, [words])
    assert found == pytest.approx(np.array(expected), abs=1e-12)


def test_sets_keep_their_sizes_and_no_word_is_drawn_twice():
    seen = []

    def statistic(labels):
        seen.append(labels.copy())
        return labels @ np.arange(10.0)

    permutation_test(statistic, (3, 7), draws=500, exact=0)
    labels = np.concatenate(seen)
    assert labels.shape == (501, 10)
    assert set(np.unique(labels)) == {0, 1}
    assert (labels.sum(axis=1) == 7).all()
    # every word is in the first set in three tenths of the draws
    assert np.allclose((labels == 0).mean(axis=0), 0.3, atol=0.1)


def test_seed_and_blocks(monkeypatch):
    values = np.random.default_rng(0).normal(size=30)
    whole = permutation_test(sums(values), (15, 15), draws=1000, seed=7)
    assert permutation_test(sums(values), (15, 15), draws=1000, seed=7) == whole
    assert permutation_test(sums(values), (15, 15), draws=1000, seed=8) != whole
    few = permutation_test(sums(values[:10]), (5, 5))
    monkeypatch.setattr(permutation, "BLOCK", 30 * 64)
    # what is drawn may depend on how much is worked on at a time; all partitions do not
    assert permutation_test(sums(values[:10]), (5, 5)) == few
    blocks = permutation_test(sums(values), (15, 15), draws=1000, seed=7)
    assert blocks.p_value == pytest.approx(whole.p_value, abs=0.08)
    assert len(np.unique(blocks.null_distribution)) == 1000


def test_a_config_may_ask_for_every_alternative():
    assert get_args(Alternative) == (BIAS, *permutation.ALTERNATIVES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "draws: 0 is not allowed"),
        ({"exact": -1}, "exact: -1 is not allowed"),
        ({"draws": True}, "draws: True"),
        ({"alternative": "both"}, "alternative: unknown value 'both'; allowed: greater, less, two-sided"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(BiasgridError, match=message):
        permutation_test(sums([1, 2]), (1, 1), **options)


WEAT = metrics.metric("weat")


def infer(query, model, metric=WEAT, **options):
    """The record of a query's permutation test; the whole result where there is none."""
    wanted = {"alternative": "greater"} | options
    (result,), samples = infer_query(MeasurementSpec(metric, inference={"permutation": wanted}), query, model)
    assert samples is None
    return result.get("permutation", result)


def words(*numbers):
    return [f"w{n}" for n in numbers]


A, B = words(30, 31, 32), words(33, 34)


def by_measuring(model, both, first, second, alternative="greater"):
    """Every way to deal the words of one set out, each measured as a query of its own."""
    pool = first + second
    values = []
    for chosen in combinations(pool, len(first)):
        rest = [word for word in pool if word not in chosen]
        values.append(metrics.weat(Query([[*both, *chosen], [*both, *rest]], [A, B]), model).value)
    observed = metrics.weat(Query([both + first, both + second], [A, B]), model).value
    extreme = [v >= observed - 1e-12 if alternative == "greater" else v <= observed + 1e-12 for v in values]
    return np.mean(extreme)


@pytest.mark.filterwarnings("ignore:.*a word in two sets")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_unequal_sets_and_shared_words(random_model, seed, alternative):
    """A word of both sets stays in both; the others are dealt out."""
    model, first, second = random_model(seed), words(1, 2, 3, 4), words(5, 6)
    for both in ([], words(7), words(7, 8)):
        query = Query([both + first, both + second], [A, B])
        result = infer(query, model, alternative=alternative)
        assert result["p_value"] == pytest.approx(by_measuring(model, both, first, second, alternative))
        assert result["partitions"] == math.comb(6, 2)
        drawn = infer(query, model, alternative=alternative, exact=0, draws=4000, stop=None)
        assert drawn["p_value"] == pytest.approx(result["p_value"], abs=0.05)


def test_sets_that_differ_in_one_set_only_have_one_partition(random_model):
    result = infer(Query([words(1, 2, 3), words(1, 2)], [A, B]), random_model(0))
    assert (result["p_value"], result["partitions"]) == (1.0, 1)


def test_lost_words(random_model):
    model, first, second = random_model(1), words(1, 2, 3, 4), words(5, 6, 7, 8)
    whole = infer(Query([first, second], [A, B]), model)
    one_lost = infer(Query([[*first, "lost"], second], [A, B]), model)
    assert one_lost == whole
    lost = infer(Query([[*first, "lost", "gone"], second], [A, B]), model)
    assert lost == {
        "query": "Target set 0 and Target set 1 wrt Attribute set 0 and Attribute set 1",
        "status": "lost_words:Target set 0",
    }


@pytest.mark.parametrize("options", [{}, {"exact": 0, "draws": 500}])
def test_the_effect_size_has_the_statistics_p_value(random_model, options):
    """What divides the one to make the other is the same for every partition, and both draw the same ones."""
    query = Query([words(1, 2, 3, 4), words(5, 6, 7, 8)], [A, B])
    one, other = (
        infer(query, random_model(2), metric, **options)
        for metric in (metrics.metric("weat"), metrics.metric("weat_es"))
    )
    assert one.pop("observed") != other.pop("observed")
    # of two statistics
    counts = [test.pop("histogram")["counts"] for test in (one, other)]
    assert sum(counts[0]) == sum(counts[1]) == one["draws"]
    assert one.pop("p_normal") == pytest.approx(other.pop("p_normal"), rel=1e-9)
    assert one == other


def test_sub_queries_and_seeds(random_model):
    """A test a sub-query, of partitions that the seed decides."""
    model, sets = random_model(0), [words(1, 2, 3), words(4, 5, 6), words(7, 8, 9)]
    query = Query(sets, [A, B])

    def results(seed):
        drawn, _ = infer_query(
            MeasurementSpec(
                metrics.metric("weat"), inference={"permutation": {"exact": 0, "draws": 500}}, draw_seed=seed
            ),
            query,
            model,
        )
        return drawn

    assert [r["query"] for r in results(1)] == [q.name for q in query.subqueries((2, 2))]
    assert results(1) == results(1)
    p_normal = [[r["permutation"]["p_normal"] for r in results(seed)] for seed in (1, 2)]
    assert all(one != other for one, other in zip(*p_normal, strict=True))


def test_as_many_partitions_as_the_limit_are_enumerated():
    for exact, method in ((19, "monte_carlo"), (20, "exact")):
        assert permutation_test(sums(range(6)), (3, 3), exact=exact).method == method


def test_a_test_that_makes_no_sense_says_why(random_model):
    query, model = Query([words(1, 2), words(3, 4)], [A, B]), random_model(0)
    assert infer(query, model, metrics.metric("mac")) == {"reason": metrics.metric("mac").no_test}
    assert "mean over the words of all target sets" in metrics.metric("mac").no_test
    # no others of the registry have such a reason
    along = {"direct_bias", "indirect_bias", "gipe", "proximity", "pmn"}
    of_vectors = [m for m in metrics.REGISTRY.values() if m.needs == "vectors"]
    assert {m.name for m in of_vectors if m.no_test} == {"mac", "ripa"} | along
    # along the difference of means, with each word's bias as it is, Direct Bias is SAME
    assert not metrics.metric("direct_bias").under({"direction": "mean"}).no_test
    assert metrics.metric("direct_bias").under({"direction": "mean", "c": 2}).no_test


def test_forms_of_one_word_are_not_dealt_out(random_model, root, tmp_path):
    """Two words a set in two forms each are 70 partitions of forms, and 6 of words."""
    names = [f"{form}{i}" for form in ("w", "W") for i in range(8)]
    model = make_store(tmp_path, names, np.random.default_rng(0).normal(size=(16, 5)))
    forms = WordOptions(preprocessors=({}, {"uppercase": True}), strategy="all")
    query = Query([words(1, 2), words(3, 4)], [words(5, 6), words(7, 0)])

    def results(metric, model, options=forms):
        (result,), _ = infer_query(
            MeasurementSpec(metric, {}, options, inference={"permutation": {}}), query, model
        )
        return result["permutation"]

    for metric in metrics.REGISTRY.values():
        if metric.needs == "vectors" and metric.template[1] == 2 and not metric.no_test:
            assert "strategy: first" in results(metric, model)["reason"]
    # a word in one form is one word
    query = Query([words(1, 2), words(3, 4)], [A, B])
    assert results(metrics.metric("weat"), random_model(0)) == results(
        metrics.metric("weat"), random_model(0), WordOptions()
    )
    # and a study may ask
    config = grid_config() | {"inference": {"permutation": {}}}
    config["models"]["two"]["words"] = {"strategy": "all"}
    study = Study.of(config, root=root)
    assert set(study.grid.inferences) == set(study.grid.cells)
    del config["inference"]
    assert not Study.of(config, root=root).grid.inferences


def weat_query(*names):
    return Query([SETS[name] for name in names[:2]], [SETS[name] for name in names[2:]])


def test_golden_p_values(word2vec):
    """Exact p-values of WEAT on word2vec, enumerated elsewhere."""
    terms = infer(weat_query("male_terms", "female_terms", "career", "family"), word2vec)
    assert terms["p_value"] == pytest.approx(0.197125, abs=5e-7)
    assert terms["partitions"] == 12_870
    names = infer(weat_query("male_names", "female_names", "career", "family"), word2vec)
    assert names["p_value"] == pytest.approx(7.77e-5, abs=5e-8)
    # P(>) is what P(<=) leaves
    disease = weat_query("mental_disease", "physical_disease", "temporary", "permanent")
    assert 1 - infer(disease, word2vec, alternative="less")["p_value"] == pytest.approx(0.0065, abs=5e-5)


def test_the_normal_curve_of_all_partitions(word2vec):
    """The difference of two means of random partitions has the variance s^2 (1/n + 1/m)."""
    query = weat_query("math", "arts", "male_terms", "female_terms")
    d = metrics.weat_es(query, word2vec, ddof=1).value
    z = d / math.sqrt(1 / 8 + 1 / 8)
    for alternative, tail in (("greater", scipy.stats.norm.sf(z)), ("two-sided", 2 * scipy.stats.norm.sf(z))):
        assert infer(query, word2vec, alternative=alternative)["p_normal"] == pytest.approx(tail, rel=1e-9)


@pytest.mark.slow
def test_a_metric_under_a_name_of_the_study_has_its_p_value(root, monkeypatch):
    monkeypatch.chdir(root)
    write_text_model(root / "one.txt", GRID_WORDS, seed=1)
    config = grid_config() | {
        "metrics": {"mine": {"metric": "weat_es", "params": {"ddof": 1}}},
        "inference": {"permutation": {"draws": 20, "exact": 10}, "bootstrap": {"draws": 30}},
    }
    study = Study.of(config, root=root)
    make_inputs(study, "one")
    cell = study.grid.cells["one/none/mine/q1"]
    inference = study.grid.inferences[cell.name]
    make_some(study, cell.name)
    inputs = {
        "cells": [study.paths.cell_file(cell)],
        "inferences": [study.paths.inference_file(inference)],
        "queries": [study.paths.query_file("q1")],
    }
    spec = {"interval": "jackknife", "adjust": "holm", "level": 0.95, "tests": [[cell.criterion, "mine", 2]]}
    (row,) = scores.make(inputs, spec).to_dict("records")
    assert row["metric"] == "mine"
    assert 0 < row["p_value"] <= 1
    # the samples lie beside it
    samples = np.load(study.paths.samples_file(inference))
    assert (samples.dtype, samples.shape) == (np.float64, (1, 30))
    (made,) = json.loads(study.paths.inference_file(inference).read_text())["cells"]
    made = made["results"][0]["bootstrap"]
    assert made["percentile"] == pytest.approx(np.quantile(samples[0], [0.025, 0.975]))
    assert (row["ci_low"], row["ci_high"]) == tuple(made["jackknife"])


def test_cells_draw_the_same_samples_of_a_set(root, monkeypatch):
    """Samples are of the sets' words, whatever metric they are for and whatever is inferred first."""
    monkeypatch.chdir(root)
    write_text_model(root / "one.txt", GRID_WORDS, seed=1)
    config = grid_config() | {
        "metrics": {"weat": {}, "weat_es": {}, "rnd": {"params": {"distance": "cos"}}},
        "inference": {"bootstrap": {"draws": 25}},
    }
    study = Study.of(config, root=root)
    make_inputs(study, "one")
    names = [f"one/none/{metric}/q1" for metric in ("weat", "weat_es", "rnd")]

    def samples():
        return [np.load(study.paths.samples_file(study.grid.inferences[name])) for name in names]

    make_some(study, *names)
    forward = samples()
    make_some(study, "one/none/weat/q2", "one/none/rnd/q3", *names[::-1])
    assert all((one == other).all() for one, other in zip(forward, samples(), strict=True))
    # the effect size has the statistic's sign, sample by sample
    assert (np.sign(forward[0]) == np.sign(forward[1])).all()


def test_a_study_is_tested(project, monkeypatch):
    """Asking for p-values, and for more draws, runs the tests and what is made of them; no cell. That Snakemake
    makes the same files is tested in tables/test_inference_tables.py."""
    monkeypatch.chdir(project.folder)

    def study(draws):
        return Study.of(grid_config() | {"inference": {"permutation": {"draws": draws, "exact": 10_000}}})

    tested = make(study(50))
    # a step for all queries of a metric on a model
    names = {f"inference/{name.rpartition('/')[0]}.json" for name in every("")}
    follows = {f"{name}.csv" for name in ("scores", "aggregates", "rankings", "correlations", "tests")}
    for before in (Study.of(grid_config()), study(60)):
        made = stale(before, tested)
        assert {path for path in made if path.startswith("inference/")} == names
        others = {path for path in made - names if not path.startswith("figures/")}
        assert others == {"study.json", "report.html", *follows}
    code = made_with(tested, "measure.permutation")
    assert names <= code
    assert not {path for path in code if path.startswith("cells/")}
    scores = pd.read_csv(tested.paths.table_file("scores"))
    assert scores["p_value"].between(0, 1, inclusive="right").all()
    made = json.loads((tested.results / "inference/one/none/weat.json").read_text())["cells"][0]
    # C(16, 8) is more than 10,000
    test = made["results"][0]["permutation"]
    assert (test["method"], test["partitions"], test["draws"]) == ("monte_carlo", 12_870, 50)
    of_cell = scores.query("metric == 'weat' and model == 'one' and query == 'A and B wrt C and D'")
    assert of_cell["p_value"].tolist() == [test["p_value"]]

    # by hand
    project.configure(to_record(tested.config))
    infer = ("step", "--study", "config/config.yaml")
    target = tested.results / "inference/two/none/weat_es.json"
    bytes_made = target.read_bytes()
    target.unlink()
    done = biasgrid(*infer, "inference two/none/weat_es/q3")
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == bytes_made
    assert json.loads(done.stdout)["files"] == [
        "results/small/cells/two/none/weat_es/q3.json",
        "results/small/inference/two/none/weat_es.json",
    ]
    # beside what is made of it, several at a time
    done = biasgrid(*infer, "table scores", "inference two/none/weat_es/q3", "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert target.read_bytes() == bytes_made
    refusal(*infer, "inference two/none/rnd/q4", parts=["unknown step 'inference two/none/rnd/q4'"])


@pytest.mark.slow
def test_an_edited_query_is_inferred_again_and_no_other(root, monkeypatch):
    """What is in a metric's file and is of the same words, cell, model, spec and code stays; the bytes are those of a
    file made at once."""
    monkeypatch.chdir(root)
    write_text_model(root / "one.txt", GRID_WORDS, seed=1)
    config = grid_config() | {
        "metrics": {"weat": {}, "rnsb": {"params": {"n_iterations": 5}}},
        "inference": {"permutation": {"draws": 20, "exact": 0}, "bootstrap": {"draws": 25}},
    }
    measured = []

    def counted(request, query, *args, **options):
        measured.append(query.name)
        return infer_query(request, query, *args, **options)

    monkeypatch.setattr(write_inference, "infer_query", counted)

    def run(config, metric):
        study = Study.of(config, root=root)
        make_inputs(study, "one")
        group = study.grid.inference_groups[f"one/none/{metric}"]
        for chosen in group:
            cell_step(study, chosen.cell).run()
        measured.clear()
        inference_step(study, group).run()
        files = study.paths.inference_file(group[0]), study.paths.samples_file(group[0])
        return len(group), len(measured), files, [file.read_bytes() for file in files]

    for metric in ("weat", "rnsb"):
        cells, made, files, first = run(config, metric)
        assert made == cells > 1
        assert run(config, metric)[1] == 0
        edited = copy.deepcopy(config)
        edited["criteria"]["First"]["queries"]["q1"]["targets"]["A"] = GRID_WORDS[:5]
        assert run(edited, metric)[1] == 1
        # a query that is left out leaves the file, one that comes back is made
        fewer = copy.deepcopy(config)
        del fewer["criteria"]["First"]["queries"]["q1"]
        assert run(fewer, metric)[:2] == (cells - 1, 0)
        assert run(config, metric)[1] == 1
        assert [file.read_bytes() for file in files] == first
        # other draws, or half a file: all of them
        more = copy.deepcopy(config)
        more["inference"]["bootstrap"]["draws"] = 26
        assert run(more, metric)[1] == cells
        files[0].write_text(files[0].read_text()[:100])
        assert run(config, metric)[1] == cells
        np.save(files[1], np.zeros((1, 2)))
        assert run(config, metric)[1] == cells
        assert [file.read_bytes() for file in files] == first

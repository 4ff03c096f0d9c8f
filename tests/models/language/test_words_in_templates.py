"""Metrics of word queries on language models: against tables of probabilities that are known."""

from math import exp, log

import numpy as np
import pytest
from fake_models import Table, model_of
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgrid import BiasgridError, Query, metrics

MEN, WOMEN, WORK, HOME = ["he", "man"], ["she", "woman"], ["office", "salary"], ["kitchen", "garden"]
WORDS = [(t, a) for t in MEN + WOMEN for a in WORK + HOME]
positive = st.floats(0.01, 1.0)


def joint(weights):
    total = sum(weights)
    return dict(zip(WORDS, [w / total for w in weights], strict=True))


def pmi(table, target, attribute):
    """log P(t, a) / (P(t) P(a)), written down from the table alone."""
    of_target = sum(p for (t, _), p in table.items() if t == target)
    of_attribute = sum(p for (_, a), p in table.items() if a == attribute)
    return log(table[target, attribute] / (of_target * of_attribute))


@pytest.mark.slow
@given(st.lists(positive, min_size=16, max_size=16))
@settings(deadline=None)
def test_lpbs_is_the_difference_of_pmi_on_masked_and_on_causal_models(weights):
    table = joint(weights)
    query = Query([MEN, WOMEN], [WORK])
    expected = np.mean([pmi(table, t, a) for t in MEN for a in WORK])
    expected -= np.mean([pmi(table, t, a) for t in WOMEN for a in WORK])
    masked, causal = (metrics.lpbs(query, model_of(Table(table, m), m)) for m in (True, False))
    assert masked.value == pytest.approx(expected, abs=1e-9)
    # what a causal model predicts is the attribute: by Bayes' rule the same
    assert causal.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@given(st.lists(positive, min_size=16, max_size=16))
@settings(deadline=None)
def test_effect_size_is_that_of_weat_on_pmi(weights):
    table = joint(weights)
    s = {
        t: np.mean([pmi(table, t, a) for a in WORK]) - np.mean([pmi(table, t, a) for a in HOME])
        for t in MEN + WOMEN
    }
    spread = np.std([s[t] for t in MEN + WOMEN])
    if spread < 1e-3:
        return
    expected = (np.mean([s[t] for t in MEN]) - np.mean([s[t] for t in WOMEN])) / spread
    query = Query([MEN, WOMEN], [WORK, HOME])
    for masked in (True, False):
        result = metrics.lpbs_es(query, model_of(Table(table, masked), masked))
        assert result.value == pytest.approx(expected, abs=1e-6)
    swapped = metrics.lpbs_es(Query([WOMEN, MEN], [WORK, HOME]), model_of(Table(table, True)))
    assert swapped.value == pytest.approx(-expected, abs=1e-6)


def test_completion_compares_sums_of_probabilities():
    table = joint([3, 1, 1, 1, 1, 1, 2, 2, 1, 1, 3, 3, 2, 2, 2, 2])
    model = model_of(Table(table, True))
    result = metrics.completion(Query([MEN + WOMEN], [WORK, HOME]), model)
    # he 4:2, man 2:4, she 2:6, woman 4:4, which counts as the first
    assert result.value == 0.5
    assert result.scalars["ties"] == 1
    assert result.scalars["mean_share"] == pytest.approx(np.mean([4 / 6, 2 / 6, 2 / 8, 1 / 2]))
    assert result.detail["share"]["Target set 0"]["she"] == pytest.approx(0.25)


def test_completion_takes_means_of_probabilities_over_templates():
    # of the first, .9 and .1 in two templates; of the second, .4 in both
    completions = np.log([[[0.9, 0.4]], [[0.1, 0.4]]])
    score = metrics.metric("completion").function(
        [np.ones((1, 1))], [np.ones((1, 1)), np.ones((1, 1))], completions=completions
    )
    assert score.value == 1.0
    assert score.scalars["mean_share"] == pytest.approx(0.5 / 0.9)


@pytest.mark.filterwarnings("ignore:.*cannot be small")
def test_inference_exchanges_words_and_asks_nothing_twice():
    rng = np.random.default_rng(1)
    network = Table(joint(rng.random(16) + 0.1), True)
    model = model_of(network)
    query = Query([MEN, WOMEN], [WORK, HOME])
    result = metrics.lpbs_es(query, model, permutation=True, bootstrap={"draws": 20}, sensitivity=True)
    assert result.inference["permutation"]["partitions"] == 6
    assert 0 < result.p_value <= 1
    # 3 templates, 16 pairs of words, with the other word and without
    assert len(network.asked) == len(set(network.asked)) == 3 * 16 * 2


def test_templates_are_filled_and_checked():
    network = Table(joint(range(1, 17)), True)
    result = metrics.lpbs(
        Query([["he"], ["she"]], [["office"]]), model_of(network), templates=["{target} sees {attribute}."]
    )
    texts = {s.text for s in network.asked}
    assert texts == {"He sees office.", "She sees office."}
    assert result.scalars["templates"] == 1
    for wrong in (
        [],
        ["{target} is"],
        ["{attribute} {target}"],
        "{target} {attribute}",
        ["{target} {attribute}"] * 2,
    ):
        with pytest.raises(BiasgridError, match="templates"):
            metrics.lpbs(Query([["he"], ["she"]], [["office"]]), model_of(network), templates=wrong)


def test_spread_over_templates():
    class Two:
        def score(self, sentences):
            # the second template doubles the ratio
            of_he = np.array([s.text.startswith("He") and s.hidden is None for s in sentences])
            return of_he * np.where(["likes" in s.text for s in sentences], 2, 1) * log(2) - 9

    result = metrics.lpbs(
        Query([["he"], ["she"]], [["office"]]),
        model_of(Two()),
        templates=["{target} is {attribute}.", "{target} likes {attribute}."],
    )
    assert result.value == pytest.approx(1.5 * log(2))
    assert exp(result.scalars["lowest_template"]) == pytest.approx(2)
    assert exp(result.scalars["highest_template"]) == pytest.approx(4)
    assert result.scalars["template_sd"] == pytest.approx(log(2) / 2**0.5)

"""CEAT: effect sizes of contexts, combined by a random-effects model."""

import math

import numpy as np
import pytest

from biasgrid import BiasgridError
from biasgrid.metrics import metric
from biasgrid.metrics.ceat import combine_effect_sizes

CEAT, WEAT_ES = metric("ceat"), metric("weat_es")


def drawn(seed=0, sizes=(5, 4, 3, 6), contexts=4, dimensions=7):
    """Sets of words in contexts, (words, contexts, dimensions) each."""
    rng = np.random.default_rng(seed)
    words = [rng.normal(size=(n, 1, dimensions)) for n in sizes]
    sets = [own + 0.7 * rng.normal(size=(len(own), contexts, dimensions)) for own in words]
    return sets[:2], sets[2:]


def by_hand(sizes, variances):
    """The model as DerSimonian and Laird (1986) write it, number by number."""
    k = len(sizes)
    w = [1 / v for v in variances]
    mean = math.fsum(a * b for a, b in zip(w, sizes, strict=True)) / math.fsum(w)
    q = math.fsum(a * (b - mean) ** 2 for a, b in zip(w, sizes, strict=True))
    tau2 = max(0.0, (q - (k - 1)) / (math.fsum(w) - math.fsum(a * a for a in w) / math.fsum(w)))
    w = [1 / (v + tau2) for v in variances]
    value = math.fsum(a * b for a, b in zip(w, sizes, strict=True)) / math.fsum(w)
    return value, 1 / math.sqrt(math.fsum(w)), tau2, q


@pytest.mark.parametrize("variance", ["effect_size", "associations"])
def test_contexts_are_combined_as_studies_are(variance):
    targets, attributes = drawn()
    score = CEAT.function(targets, attributes, variance=variance)
    sizes, variances = [], []
    for place in range(4):
        one = WEAT_ES.function([t[:, place] for t in targets], [a[:, place] for a in attributes], ddof=1)
        sizes.append(one.value)
        association = np.concatenate(one.detail["association"].values)
        hedges = 9 / 20 + one.value**2 / 18
        variances.append(hedges if variance == "effect_size" else association.var(ddof=1))
    expected = by_hand(sizes, variances)
    found = [score.value, *(score.scalars[name] for name in ("standard_error", "tau2", "q"))]
    assert found == pytest.approx(expected, rel=1e-12)
    assert (score.scalars["lowest"], score.scalars["highest"]) == pytest.approx((min(sizes), max(sizes)))
    p = math.erfc(abs(expected[0] / expected[1]) / math.sqrt(2))
    assert score.scalars["p_random_effects"] == pytest.approx(p, rel=1e-9)


def test_contexts_that_agree_have_no_variance_between_them():
    found = combine_effect_sizes(np.array([0.5, 0.5, 0.5]), np.array([0.1, 0.2, 0.3]))
    assert [float(number) for number in found[2:]] == pytest.approx([0, 0], abs=1e-15)
    # weights 10, 5, 10/3
    assert float(found[0]) == pytest.approx(0.5)
    assert float(found[1]) == pytest.approx(1 / math.sqrt(10 + 5 + 10 / 3))
    # as uncertain each, and far apart: the mean, which is as uncertain as a mean of three numbers
    value, error, tau2, q = (
        float(n) for n in combine_effect_sizes(np.array([-10.0, 0, 13]), np.array([0.2, 0.2, 0.2]))
    )
    assert value == pytest.approx(1)
    assert error == pytest.approx(math.sqrt(np.var([-10, 0, 13], ddof=1) / 3))
    assert tau2 == pytest.approx(np.var([-10, 0, 13], ddof=1) - 0.2)
    assert q == pytest.approx(266 / 0.2)


def test_one_context_is_weats_effect_size():
    targets, attributes = drawn(contexts=1)
    score = CEAT.function(targets, attributes)
    flat = WEAT_ES.function([t[:, 0] for t in targets], [a[:, 0] for a in attributes], ddof=1)
    assert score.value == pytest.approx(flat.value)
    assert score.scalars["tau2"] == 0


@pytest.mark.parametrize("variance", ["effect_size", "associations"])
def test_samples_have_the_values_of_their_words(variance):
    targets, attributes = drawn(seed=3)
    words, others = np.concatenate(targets), np.concatenate(attributes)
    statistic = CEAT.resampled(words, others, variance=variance)
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, size=(2, 6, 9)).astype(float)
    fixed = [np.zeros((1, 9)), np.zeros((1, 9))]
    fixed[0][0, :3] = fixed[1][0, 3:] = 1
    values = statistic(list(weights), fixed)
    for sample, value in enumerate(values):
        drawn_again = [words[np.repeat(np.arange(9), weights[side, sample].astype(int))] for side in (0, 1)]
        assert value == pytest.approx(
            CEAT.function(drawn_again, attributes, variance=variance).value, rel=1e-9
        )


def test_words_that_all_lean_alike_have_no_value():
    targets, attributes = drawn()
    targets = [np.broadcast_to(targets[0][:1], own.shape) for own in targets]
    assert math.isnan(CEAT.function(targets, attributes).value)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"variance": "hedges"}, "variance: unknown value 'hedges'; allowed: effect_size, associations"),
        ({"ddof": 2}, "ddof: 2"),
    ],
)
def test_a_wrong_parameter_is_one_line(options, says):
    with pytest.raises(BiasgridError, match=says):
        CEAT.check_parameters(options)

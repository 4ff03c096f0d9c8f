"""Permutation test: does it matter which set a word is in?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from ...core.validation import Strict, Whole, field
from ...metrics.registry import Metric
from ...models.words import WordVectors
from ..bootstrap import digest
from ..candidate_words import Pool
from ..metric_input import MetricInput
from ..options import ALTERNATIVE, BIAS, STOP, AnAlternative, Stop
from ..permutation import Permutation, binomial_test, permutation_test
from ..random_data import DRAWS, resampler_of
from ..resampler import Resampler, rows_at_once
from .test import Outcome, Test

T = TypeVar("T")

# Questions of the test, by the exchanged items.
ASKED = {
    "targets": "does it matter which target set a word is in?",
    "pairs": "does it matter which word of a pair is in which target set?",
    "attributes": "does it matter which attribute set a word is in?",
    "constituents": "does it matter in which of the first two target sets, or of the other two, a word is?",
}
# Question of a test that permutes labels.
OF_LABELS = (
    "does it matter to the classifier which attribute set a training word is in? It says nothing about the words of "
    "the target sets."
)


class PermutationOptions(Strict):
    """Permutation test of every metric that has one."""

    draws: Whole = field(
        "random permutations of the words at most, where there are too many to enumerate",
        19_999,
        ge=1,
        le=100_000_000,
    )
    exact: Whole = field(
        "all permutations are enumerated where there are at most this many", 20_000, ge=0, le=10_000_000
    )
    stop: Stop = field(STOP, 20, ge=1, le=1_000_000)
    alternative: AnAlternative = field(ALTERNATIVE, BIAS)


def run(sample: MetricInput, resampler: Resampler, pool: Pool | None, seed: int, **options: Any) -> Outcome:
    """Run `query_permutation_test` and return its result and its subject."""
    test = query_permutation_test(resampler, seed=seed, **options)
    return Outcome(test, {} if isinstance(test, str) else {"test_of": resampler.metric.test_of})


def query_permutation_test(
    resampler: Resampler,
    *,
    seed: int = 0,
    alternative: str = BIAS,
    of_words: np.ndarray | None = None,
    **options: Any,
) -> Permutation | str:
    """Run the permutation test of a metric on a query, or return the reason why this is impossible.

    The drawn permutations depend on `seed` and on the words of the sets: queries with the same sets have the same
    draws. `of_words` is the band of each word of the permuted sets, one set after the other, within which it is
    permuted.
    """
    sets = exchangeable_sets(resampler)
    if isinstance(sets, str):
        return sets
    metric, keys = resampler.metric, [key for s in sets for key in s.keys]
    sizes, shared = sizes_and_shared(resampler, sets)
    starts = np.cumsum([0, *sizes])
    # Move a word together with all its sentences.
    unit_of_row = np.concatenate(
        [unit + start for unit, start in zip(_exchanged(resampler, resampler.units), starts, strict=False)]
    )

    def statistic(labels: np.ndarray) -> np.ndarray:
        labels = labels if len(unit_of_row) == starts[-1] else labels[:, unit_of_row]
        weights = [(labels == i).astype(np.float64) for i in range(len(sets))]
        targets, attributes = resampler.full_weights
        if metric.exchanged == "attributes":
            return resampler.statistic(targets, weights)
        return resampler.statistic(weights, attributes)

    # A metric's arrays are as long as all sets, not only the exchanged ones.
    block = rows_at_once(sum(map(len, resampler.units)))
    test = permutation_test(
        lambda labels: np.concatenate(
            [statistic(labels[i : i + block]) for i in range(0, len(labels), block)]
        ),
        sizes,
        shared,
        pairs=metric.exchanged == "pairs",
        bands=bands_of(metric, sizes, of_words),
        alternative=metric.bias if alternative == BIAS else alternative,
        seed=[seed, digest(keys)],
        **options,
    )
    is_drawn = test.method == "monte_carlo" and of_words is None
    return binomial_test(test, *resampler.pairs_won) if is_drawn and resampler.pairs_won else test


def exchangeable_sets(resampler: Resampler) -> list[WordVectors] | str:
    """Return the sets whose words a permutation test permutes, or the reason why it cannot."""
    metric = resampler.metric
    if metric.no_test:
        return metric.no_test
    sets = resampler.attributes if metric.exchanged == "attributes" else resampler.targets
    if len(sets) < 2:
        return "there is one target set, and no other whose words it could exchange"
    if resampler.has_forms:
        return "forms of one word (strategy: all) are not independent of each other: it needs strategy: first"
    return sets


def bands_of(metric: Metric, sizes: Sequence[int], of_words: np.ndarray | None = None) -> np.ndarray | None:
    """Return the band within which each word is permuted, combining constituents with given bands."""
    if metric.exchanged != "constituents":
        return of_words
    constituents = np.repeat([0, 0, 1, 1], sizes)
    return constituents if of_words is None else 2 * of_words + constituents


def sizes_and_shared(resampler: Resampler, sets: Sequence[WordVectors]) -> tuple[list[int], list[int]]:
    """Return the numbers of words of the sets, and the indices of words that are in several sets."""
    if is_of_sentences(resampler):
        words, places = _exchanged(resampler, resampler.words), _exchanged(resampler, resampler.places)
        keys = [of_set[i] for of_set, found in zip(words, places, strict=True) for i in found.tolist()]
        sizes = list(map(len, places))
    else:
        keys = [key for s in sets for key in s.keys]
        sizes = [len(s.keys) for s in sets]
    occurrences = Counter(keys)
    pairs = resampler.metric.exchanged == "pairs"
    return sizes, [] if pairs else [i for i, key in enumerate(keys) if occurrences[key] > 1]


def is_of_sentences(resampler: Resampler) -> bool:
    """Return whether the sets contain sentences, so that words are exchanged with all their sentences."""
    sets = _exchanged(resampler, (*resampler.query.target_sets, *resampler.query.attribute_sets))
    return not resampler.metric.paired and any(s.of for s in sets)


def _exchanged(resampler: Resampler, of_sets: Sequence[T]) -> Sequence[T]:
    """Select the items of the sets whose words are exchanged from the items of all sets."""
    targets = len(resampler.targets)
    return of_sets[targets:] if resampler.metric.exchanged == "attributes" else of_sets[:targets]


def simulate(
    metric: Metric, params: dict, template: tuple[int, int], normalize: bool, alternative: str, trial: int
) -> np.ndarray | None:
    """Compute the metric's value for each permutation of random words; None if it has no test."""
    resampler = resampler_of(metric, params, template, normalize, trial)
    test = query_permutation_test(resampler, alternative=alternative, draws=DRAWS, exact=DRAWS)
    return None if isinstance(test, str) else test.null_distribution


PERMUTATION = Test(
    name="permutation",
    label="Permutation test",
    noun="permutation test",
    column="p_value",
    options=PermutationOptions,
    help="the permutation test",
    run=run,
    question=lambda metric: OF_LABELS if metric.test_of == "labels" else ASKED[metric.exchanged],
    compared="permutations of the words",
    applies=lambda metric: metric.no_test,
    drawn="shuffled words",
    counts="permutation",
    order=1,
    permutes=True,
    simulate=simulate,
)
TESTS = (PERMUTATION,)

"""Bands of frequency: groups of words of similar frequency.

Frequent words have special vectors, whatever they mean (Valentini et al. 2022). If one of two sets is more
frequent, its words are therefore not exchangeable with the other's, even without bias. Within a band they are, with
respect to frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.validation import field
from ...models.frequencies import WORDFREQ, Frequency, counts_of
from ...models.store import DebiasedModel
from ..candidate_words import Pool
from ..metric_input import MetricInput
from ..options import Frequencies, Number
from ..permutation import Permutation, permutations_of
from ..resampler import Resampler
from .permutation import (
    PermutationOptions,
    bands_of,
    exchangeable_sets,
    is_of_sentences,
    query_permutation_test,
    simulate,
    sizes_and_shared,
)
from .test import Outcome, Test

# Smallest number of permutations of a test: with fewer, its p-value could not be below .05.
FEWEST = 20
UNKNOWN = (
    "the frequencies of the model's words are unknown: it has no counts and is not declared as sorted by "
    "frequency (in a config: sorted: true); the option frequencies: wordfreq estimates them"
)


class FrequencyBandsOptions(Frequencies, PermutationOptions):
    """Permutation test within bands of frequency, of every metric that has a permutation test."""

    width: Number = field(
        "how many times as frequent as the least frequent word of a band its most frequent one may be",
        4,
        ge=1,
        le=1_000_000,
    )


def run(sample: MetricInput, resampler: Resampler, pool: Pool | None, seed: int, **options: Any) -> Outcome:
    """Run `banded_test` and return its result and facts."""
    return Outcome(*banded_test(resampler, sample.model, seed=seed, **options))


def banded_test(
    resampler: Resampler,
    model: Any,
    *,
    width: float,
    frequency: str = "own",
    language: str = "en",
    seed: int = 0,
    **options: Any,
) -> tuple[Permutation | str, dict[str, Any]]:
    """Run the permutation test of a metric on a query within bands of frequency.

    Within a band, no word is more than `width` times as frequent as another (`frequency_bands.bands`); a word is
    exchanged only with words of its band. The words of a pair are exchanged if neither is more than `width` times
    as frequent as the other.

    Returns
    -------
    test : Permutation or str
        The result, or the reason for a missing test.
    facts : dict
        Source of the frequencies ("frequency"), number of permutations, and mean and variance of the logarithms of
        frequency of the permuted sets.
    """
    sets = exchangeable_sets(resampler)
    if isinstance(sets, str):
        return sets, {}
    if is_of_sentences(resampler):
        return "sentences have no frequency, by which their words could be exchanged", {}
    frequencies = frequency_of(model, frequency, language)
    if frequencies is None:
        return UNKNOWN, {}
    logarithms = [frequencies.logarithms(s.keys, s.rows) for s in sets]
    pairs = resampler.metric.exchanged == "pairs"
    of_words = pair_bands(*logarithms, width=width) if pairs else bands(np.concatenate(logarithms), width)
    sizes, shared = sizes_and_shared(resampler, sets)
    count = permutations_of(sizes, shared, pairs=pairs, bands=bands_of(resampler.metric, sizes, of_words))
    facts = {"frequency": frequencies.source, "partitions": count} | summarise_logarithms(logarithms)
    if count < FEWEST:
        number_text = f"only {count} permutation{'s' * (count != 1)} of the words within bands of frequency"
        return f"there {'is' if count == 1 else 'are'} {number_text}: a test needs {FEWEST}", facts
    return query_permutation_test(resampler, seed=seed, of_words=of_words, **options), facts


def frequency_of(model: Any, source: str, language: str) -> Frequency | None:
    """Return the frequencies of a model's words, original or debiased; None if they are unknown.

    They come from its counts; otherwise, if `source` is "wordfreq", from that package; otherwise, if its model.json
    declares that it is sorted, from ranks. Raises BiasgridError if the package is missing, or does not have the
    language.
    """
    store = model.model if isinstance(model, DebiasedModel) else model
    has_frequencies = counts_of(store) is not None or source == WORDFREQ or store.metadata.get("sorted")
    return Frequency.of(store, source, language) if has_frequencies else None


def bands(logarithms: np.ndarray, width: float) -> np.ndarray:
    """Divide words into bands: the most frequent word and all at least 1 / `width` times as frequent are one.

    The most frequent of the other words begins the next band.

    Parameters
    ----------
    logarithms
        Natural logarithms of frequencies, (words,); NaN if unknown: such a word is its own band.
    width
        Ratio of frequencies, from 1.

    Returns
    -------
    numpy.ndarray
        int64 (words,), from 0.
    """
    band_numbers = np.empty(len(logarithms), dtype=np.int64)
    reach = _reach(width)
    band, most = -1, np.nan
    for place in np.argsort(-logarithms, kind="stable").tolist():
        if not most - logarithms[place] <= reach:
            band, most = band + 1, logarithms[place]
        band_numbers[place] = band
    return band_numbers


def pair_bands(first: np.ndarray, second: np.ndarray, *, width: float) -> np.ndarray:
    """Divide the words of pairs into bands, first words first, then second words.

    The two words of a pair form a band of their own if neither is more than `width` times as frequent as the other.

    Parameters
    ----------
    first, second
        Natural logarithms of frequencies, (pairs,); NaN if unknown: such a word shares no band.
    width
        Ratio of frequencies, from 1.

    Returns
    -------
    numpy.ndarray
        int64 (2 pairs,), from 0.
    """
    pairs = np.arange(len(first))
    return np.concatenate(
        [pairs, np.where(np.abs(first - second) <= _reach(width), pairs, pairs + len(first))]
    )


def _reach(width: float) -> float:
    """Return the largest difference of logarithms in one band, with room for rounding at exactly `width`."""
    return float(np.log(width)) * (1 + 1e-12)


def summarise_logarithms(logarithms: Sequence[np.ndarray]) -> dict[str, list[float | None]]:
    """Compute the mean and variance of the logarithms of frequency of each set; None if all are unknown."""
    finite_logs = [logs[np.isfinite(logs)] for logs in logarithms]
    return {
        "mean_log_frequency": [float(logs.mean()) if len(logs) else None for logs in finite_logs],
        "variance_log_frequency": [float(logs.var()) if len(logs) else None for logs in finite_logs],
    }


FREQUENCY_BANDS = Test(
    name="frequency_bands",
    label="Within bands of frequency",
    noun="permutation test within bands of frequency",
    column="p_bands",
    options=FrequencyBandsOptions,
    help="the permutation test within bands of words that are about as frequent",
    run=run,
    question=lambda metric: (
        "the permutation test, but words change places only with words of similar frequency."
    ),
    compared="permutations within bands of frequency",
    applies=lambda metric: metric.no_test,
    drawn="shuffled by frequency",
    order=3,
    permutes=True,
    by_frequency=True,
    simulate=simulate,
)
TESTS = (FREQUENCY_BANDS,)

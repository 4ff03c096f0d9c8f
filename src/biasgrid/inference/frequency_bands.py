"""Bands of frequency: words that are about as frequent as each other.

Frequent words have vectors of their own kind, whatever they mean (Valentini et al. 2022). So words of two sets of
which one is more frequent are not exchangeable, even where there is no bias. Within a band they are, as far as
frequency goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..embeddings.frequencies import WORDFREQ, Frequency, counts_of
from ..embeddings.store import DebiasedModel

# with fewer permutations, there is no test: its p-value could not be below .05
FEWEST = 20
UNKNOWN = (
    "it is not known how frequent the model's words are: it has no counts, nothing says that it is sorted by "
    "frequency (in a config: sorted: true), and frequencies: wordfreq was not asked for"
)


def frequency_of(model: Any, source: str, language: str) -> Frequency | None:
    """How frequent a model's words are, untouched or under a debias method: by its counts; else, where `source` is
    "wordfreq", by that package; else, where its model.json says that it is sorted, by rank; None where none of it is
    known. Raises BiasgridError where the package is missing, or does not have the language."""
    store = model.model if isinstance(model, DebiasedModel) else model
    has_frequencies = counts_of(store) is not None or source == WORDFREQ or store.metadata.get("sorted")
    return Frequency.of(store, source, language) if has_frequencies else None


def bands(logarithms: np.ndarray, width: float) -> np.ndarray:
    """The band of each word: the most frequent word and all that are at least 1 / `width` times as frequent are one,
    the most frequent of the others begins the next.

    Parameters
    ----------
    logarithms
        Natural logarithms of frequencies, (words,); NaN where a word's is not known, which is a band of its own.
    width
        From 1.

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


def pair_bands(first: np.ndarray, second: np.ndarray, width: float) -> np.ndarray:
    """The band of each word of pairs, those of the first words and then those of the second: the two words of a pair
    are in one, which is theirs alone, where neither is more than `width` times as frequent as the other.

    Parameters
    ----------
    first, second
        Natural logarithms of frequencies, (pairs,); NaN where a word's is not known, which is in no band with any.
    width
        From 1.

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
    """How far apart logarithms in one band may be: rounding decides over no word that is exactly `width` times less
    frequent."""
    return float(np.log(width)) * (1 + 1e-12)


def summarise_logarithms(logarithms: Sequence[np.ndarray]) -> dict[str, list[float | None]]:
    """Mean and variance of the logarithms of frequency of each set; None where none is known."""
    finite_logs = [logs[np.isfinite(logs)] for logs in logarithms]
    return {
        "mean_log_frequency": [float(logs.mean()) if len(logs) else None for logs in finite_logs],
        "variance_log_frequency": [float(logs.var()) if len(logs) else None for logs in finite_logs],
    }

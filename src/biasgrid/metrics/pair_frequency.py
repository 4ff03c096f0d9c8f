"""Pair frequency: share of the first group among sentences with the words and either of two groups."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from annotated_types import Ge

from ..core.limits import limited
from ..models.corpus.cooccurrence import Cooccurrence
from . import corpus_counts
from .registry import Detail, Metric, Score


@limited
def pair_frequency(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    window: Annotated[int, Ge(2)] | None = None,
    cooccurrence: Cooccurrence,
) -> Score:
    """Compute the share of co-occurrences with the first group. Counted in the sentences of a corpus.

    With the number of sentences that have a word of the attribute set and one of the first target set, n_1x, and of
    the second, n_2x::

        pair frequency = n_1x / (n_1x + n_2x)

    Parameters
    ----------
    targets, attributes : list of array, (words, 1)
        Frequencies of the words of the two target sets and of one attribute set.
    window
        Count in consecutive windows of this number of words, in place of sentences; None for the corpus' own units.
    cooccurrence
        Counts of sentences by the words that they contain together.

    Returns
    -------
    Score
        Range [0, 1], no-bias value 0.5. Above it: more often with the first group; below it, with the second. NaN
        if no sentence has the words and a group. `scalars`: units_first, units_first_words, units_second,
        units_second_words, units, as in `pmi`; p_binomial, the two-sided binomial test against one half;
        standard_error, ci_low, ci_high, over sentences, 95 %, by the delta method. `detail`: share_by_word, the
        value of each attribute word alone.

    Notes
    -----
    **Blind spots.** It does not see how often the groups are mentioned at all. In a text that is mostly
    about men, most words occur with them more often, and the value is above 0.5 for nearly all words. `pmi`
    compares shares and so corrects for that. Sentences with both groups count for both; the binomial test ignores
    this, the interval does not.

    **Defaults.** Equation 3.2 of the thesis, for sentences and not for pairs of words. WEFE does not have the
    metric.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> text = ["he is a doctor", "he was a doctor", "he is the doctor", "she is a doctor"]
    >>> corpus = load(text, name="tiny", kind="corpus")
    >>> metrics.pair_frequency(Query([["he"], ["she"]], [["doctor"]]), corpus).value
    0.75
    """
    groups, words = corpus_counts.sets_of(targets, attributes)
    numbers = corpus_counts.counts(cooccurrence, groups, words)
    value = float(_value(*numbers)[0])
    first, second = float(numbers[1][0]), float(numbers[3][0])
    error = p_binomial = math.nan
    if math.isfinite(value):
        slopes = np.array([0.0, (1 - value), 0.0, -value]) / (first + second)
        error = corpus_counts.standard_error(*corpus_counts.joint(cooccurrence, targets, attributes), slopes)
        from scipy.special import bdtr  # imported here: planning a study does not need it

        # Test one half, two-sided: twice the tail beyond the smaller number.
        p_binomial = min(1.0, 2 * float(bdtr(min(first, second), int(first + second), 0.5)))
    word_values = corpus_counts.by_word(cooccurrence, targets, attributes, _value)
    return Score(
        value,
        scalars={
            **corpus_counts.scalars(numbers, cooccurrence),
            "p_binomial": p_binomial,
            "standard_error": error,
            "ci_low": max(value - corpus_counts.Z95 * error, 0.0) if math.isfinite(error) else math.nan,
            "ci_high": min(value + corpus_counts.Z95 * error, 1.0) if math.isfinite(error) else math.nan,
        },
        detail={"share_by_word": Detail("attribute", [word_values])},
    )


def _value(
    first: np.ndarray, first_words: np.ndarray, second: np.ndarray, second_words: np.ndarray
) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return first_words / (first_words + second_words)


PAIR_FREQUENCY = Metric(
    name="pair_frequency",
    label="Pair frequency",
    function=pair_frequency,
    needs="corpus",
    asks="Of the sentences with words of {A} and one of the groups, how many have {T1}, and how many {T2}?",
    above="words of {A} stand in more sentences with {T1} than with {T2}",
    below="words of {A} stand in more sentences with {T2} than with {T1}",
    details={"share_by_word": "share of {T1} in the word's sentences with a group"},
    nearer="first",
    word_neutral=0.5,
    template=(2, 1),
    range=(0.0, 1.0),
    neutral=0.5,
    reference="Maddalozzo. Methods and measures for bias detection in natural language processing. Politecnico "
    "di Torino 2023, equation 3.2",
    **corpus_counts.samples_of(lambda: _value),
)
METRICS = (PAIR_FREQUENCY,)

"""PMI bias: how much more often words occur with one group than with another, in a corpus."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge

from ..core.limits import limited
from ..models.corpus.cooccurrence import Cooccurrence
from . import corpus_counts
from .registry import Detail, Metric, Score


@limited
def pmi(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    estimator: Literal["risk_ratio", "odds_ratio"] = "risk_ratio",
    smoothing: Annotated[float, Ge(0)] = 0.0,
    window: Annotated[int, Ge(2)] | None = None,
    cooccurrence: Cooccurrence,
) -> Score:
    """Compare words' co-occurrence with two groups. Difference in pointwise mutual information (PMI bias).

    Let n_1 be the number of sentences with a word of the first target set, and n_1x the number of these that also
    have a word of the attribute set. n_2 and n_2x are the same numbers for the second target set::

        PMI bias = log((n_1x / n_1) / (n_2x / n_2))

    A sentence counts once, even if it has several of the words.

    Parameters
    ----------
    targets, attributes : list of array, (words, 1)
        Frequencies of the words of the two target sets and of one attribute set.
    estimator
        "risk_ratio": the ratio of shares, as above. "odds_ratio": the ratio of odds, n_1x / (n_1 - n_1x) in place
        of n_1x / n_1.
    smoothing
        From 0: this is added to the numbers of sentences with and without the words, in both groups. With 0.5 the
        value is defined even if no sentence has both.
    window
        Count in consecutive windows of this number of words, in place of sentences; None for the corpus' own units.
    cooccurrence
        Counts of sentences by the words that they contain together.

    Returns
    -------
    Score
        Range (-inf, inf), no-bias value 0. Positive: a sentence with the first group has the words more often; log
        2, about .69, means twice as often. NaN if no sentence has a group and the words (`smoothing` 0). `scalars`:
        units_first, units_first_words, units_second, units_second_words, units, the numbers of sentences n_1, n_1x,
        n_2, n_2x and of all sentences; standard_error, ci_low, ci_high, over sentences, 95 %, by the delta method.
        `detail`: pmi_by_word, the value of each attribute word alone.

    Notes
    -----
    **Blind spots.** It does not see that "nurse" and "she" occur with the same other words, as word vectors
    do: only words in one sentence count. Rare words have few sentences: read the interval, and
    `units_first_words`. It says nothing about who does what in a sentence. It compares shares, so a group does not
    come out closer because it is mentioned more often.

    **Defaults.** The risk ratio is the printed formula of Maddalozzo (2023, equation 3.3). The thesis's code takes
    the odds ratio; the two agree if words are rare. The default is without smoothing, as in the thesis. WEFE does
    not have the metric.

    **The interval** assumes that sentences are independent of each other, which is only approximately true within
    one text. It takes into account that sentences with both groups count in both shares. Without such sentences it
    is Katz's interval (risk ratio) or Woolf's (odds ratio), which Valentini et al. (2023) use.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> men, women = ["he is a doctor"] * 2 + ["he is here"] * 2, ["she is a doctor"] + ["she is here"] * 3
    >>> corpus = load(men + women, name="tiny", kind="corpus")
    >>> result = metrics.pmi(Query([["he"], ["she"]], [["doctor"]]), corpus)
    >>> round(result.value, 3)  # log((2 / 4) / (1 / 4))
    0.693
    """
    value = _value_of(estimator, smoothing)
    groups, words = corpus_counts.sets_of(targets, attributes)
    numbers = corpus_counts.counts(cooccurrence, groups, words)
    bias = float(value(*numbers)[0])
    bias = bias if math.isfinite(bias) else math.nan
    kinds, units = corpus_counts.joint(cooccurrence, targets, attributes)
    error = math.nan
    if math.isfinite(bias):
        error = corpus_counts.standard_error(
            kinds, units, _slopes(*(n[0] for n in numbers), estimator=estimator, smoothing=smoothing)
        )
    word_values = corpus_counts.by_word(cooccurrence, targets, attributes, value)
    return Score(
        bias,
        scalars={
            **corpus_counts.scalars(numbers, cooccurrence),
            "standard_error": error,
            "ci_low": bias - corpus_counts.Z95 * error,
            "ci_high": bias + corpus_counts.Z95 * error,
        },
        detail={
            "pmi_by_word": Detail("attribute", [np.where(np.isfinite(word_values), word_values, np.nan)])
        },
    )


def _value_of(estimator: str = "risk_ratio", smoothing: float = 0.0) -> corpus_counts.Value:
    def share(whole: np.ndarray, part: np.ndarray) -> np.ndarray:
        with_words, without_words = part + smoothing, whole - part + smoothing
        return with_words / (without_words + (with_words if estimator == "risk_ratio" else 0.0))

    def value(
        first: np.ndarray, first_words: np.ndarray, second: np.ndarray, second_words: np.ndarray
    ) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(share(first, first_words)) - np.log(share(second, second_words))

    return value


def _slopes(
    first: float, first_words: float, second: float, second_words: float, *, estimator: str, smoothing: float
) -> np.ndarray:
    """Return the derivatives of the value by the counts: first group, first group with words, and the same for the
    second."""
    slopes = []
    for sign, whole, part in ((1, first, first_words), (-1, second, second_words)):
        with_words = 1 / (part + smoothing)
        if estimator == "risk_ratio":
            slopes += [-sign / (whole + 2 * smoothing), sign * with_words]
        else:
            without_words = 1 / (whole - part + smoothing) if whole - part + smoothing else math.inf
            slopes += [-sign * without_words, sign * (with_words + without_words)]
    return np.array(slopes)


PMI = Metric(
    name="pmi",
    label="PMI",
    function=pmi,
    needs="corpus",
    asks="Does a text have the words of {A} in a sentence with {T1} more often than with {T2}?",
    above="a sentence with {T1} has words of {A} more often",
    below="a sentence with {T2} has words of {A} more often",
    details={"pmi_by_word": "PMI of the word alone: positive is beside {T1} more often than beside {T2}"},
    template=(2, 1),
    range=(-np.inf, np.inf),
    neutral=0.0,
    word_bias="pmi_by_word",
    reference="Maddalozzo. Methods and measures for bias detection in natural language processing. Politecnico "
    "di Torino 2023, equation 3.3; Valentini, Rosati, Blasi, Slezak, Altszyler. On the interpretability and "
    "significance of bias metrics in texts: a PMI-based approach. ACL 2023",
    **corpus_counts.samples_of(_value_of),
)
METRICS = (PMI,)

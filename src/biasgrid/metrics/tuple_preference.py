"""Tuple preference: how often a language model prefers the first of several versions of a sentence to another."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from ..models.language.model import LanguageModel
from ..models.language.sentence import Sentence
from . import sentences
from .registry import Detail, Metric, Score
from .sentences import Normalize


def tuple_preference(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    score: Literal["sz", "cp", "l2r"] = "sz",
    normalize: Normalize = None,
    scores: np.ndarray,
) -> Score:
    """Compare the first version with the others. Count how often the first version of a sentence is likelier.

    A tuple has a version of a sentence for each of two or more groups. The first version is compared with each of
    the others::

        preference = share of comparisons with s(first) > s(other)

    Parameters
    ----------
    targets : list of array, (tuples, 1)
        Two or more sets of sentences; sentences at the same place in the sets are a tuple. The first set has the
        versions about the stereotyped group.
    attributes : list
        Empty.
    score
        "sz": the log-likelihood of a causal model, the pseudo-log-likelihood of a masked one. "cp": for a masked
        model, only the tokens that the two sentences of a comparison share. "l2r": for a masked model, like "sz",
        but the tokens to the right in a token's word are also masked.
    normalize
        "tokens": each score is divided by the number of its tokens. None: scores are sums.
    scores
        (sets, sets, tuples), flattened: the score of each set's sentence, compared with each set.

    Returns
    -------
    Score
        Range [0, 1], no-bias value .5: the first version is at a random place among the others. Below it the model
        prefers the other versions, above it the first ones. A tuple with an unscored sentence is left out.
        NaN for "cp" or "l2r" of a causal model. `scalars`: tuples, comparisons, preferred, ties; first, the share
        of tuples in which the first version is the most probable; p_exact, two-sided, if in each tuple any version
        could be the first. `detail`: share of the other versions that are less probable than the sentence.

    Notes
    -----
    **Blind spots.** It does not see how much more probable a version is. With two sets it equals
    `pll_preference`. A version may be more probable because its words are more frequent.

    Ties count as not preferred.

    **Defaults.** "sz" is available for every model. EmbeddingBiasScores compares the tokens that neighbouring
    sentences of a tuple share; "cp" takes the tokens that the two compared sentences share.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> scores = {"women cook": -8.0, "men cook": -9.0, "boys cook": -7.5}
    >>> model = load(scores, kind="language_model", name="measured")
    >>> metrics.tuple_preference(Query([["women cook"], ["men cook"], ["boys cook"]]), model).value
    0.5
    """
    beside = _by_pair(scores, len(targets))
    shares = _shares(beside)
    detail = {"share": Detail("target", list(shares))}
    if np.isnan(shares).any():
        return Score(math.nan, detail=detail)
    sets, tuples = shares.shape
    wins = np.rint(shares * (sets - 1)).astype(int)
    return Score(
        float(shares[0].mean()),
        scalars={
            "tuples": float(tuples),
            "comparisons": float(tuples * (sets - 1)),
            "preferred": float(wins[0].sum()),
            "ties": float((beside[0, 1:] == beside[1:, 0]).sum()),
            "first": float((shares[0] == 1).mean()),
            "p_exact": _p_exact(wins),
        },
        detail=detail,
    )


def _by_pair(scores: np.ndarray, sets: int) -> np.ndarray:
    """Reshape scores to (sets, sets, tuples): entry (i, j) is the score of set i's sentence, compared with set j."""
    return scores.reshape(sets, sets, -1)


def _shares(beside: np.ndarray) -> np.ndarray:
    """Compute the share of other versions that are less probable than each version (sets, tuples); NaN without a
    score."""
    is_other = ~np.eye(len(beside), dtype=bool)[:, :, None]
    is_scored = ~np.isnan(beside) | ~is_other
    shares = ((beside > beside.swapaxes(0, 1)) & is_other).sum(axis=1) / (len(beside) - 1)
    return np.where(is_scored.all(axis=(0, 1)), shares, math.nan)


def _p_exact(wins: np.ndarray) -> float:
    """Compute the p-value of the first versions' wins, if each version of a tuple is as likely to be the first."""
    sets, tuples = wins.shape
    distribution = np.ones(1)
    for place in range(tuples):
        distribution = np.convolve(distribution, np.bincount(wins[:, place], minlength=sets) / sets)
    observed = int(wins[0].sum())
    lower, upper = distribution[: observed + 1].sum(), distribution[observed:].sum()
    return float(min(1.0, 2 * min(lower, upper)))


def _of_model(
    model: LanguageModel,
    targets: Sequence[Any],
    attributes: Sequence[Any],
    *,
    score: str = "sz",
    normalize: Normalize = None,
    **_: Any,
) -> dict[str, Any]:
    asked = [
        of_pair
        for number in range(len(targets))
        for of_pair in zip(*_asked(targets, number, score), strict=True)
    ]
    requests = [sentence for of_pair in asked for sentence in of_pair]
    return {"scores": model.score(requests, normalize=normalize)}


def _unscored(
    model: LanguageModel, targets: Sequence[Any], attributes: Sequence[Any], *, score: str = "sz", **_: Any
) -> list[dict[int, str]]:
    sets = range(len(targets))
    asked = [
        [
            [sentence for other, sentence in enumerate(of_text) if other != number]
            for of_text in _asked(targets, number, score)
        ]
        for number in sets
    ]
    return sentences.lost_sentences(model, targets, asked, [sets for _ in sets])


def _asked(targets: Sequence[Any], number: int, score: str) -> list[list[Sentence]]:
    """Return the requests for each sentence of a set: one score for each set that it is compared with."""
    return [
        [
            Sentence(text, beside=other.keys[place]) if score == "cp" else Sentence(text, l2r=score == "l2r")
            for other in targets
        ]
        for place, text in enumerate(targets[number].keys)
    ]


def _resampled(
    words: np.ndarray, attributes: np.ndarray, *, scores: np.ndarray, **_: Any
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    # Scores are a score for each of the words, the sentences of all sets, compared with each set.
    sets = len(scores) // len(words)
    shares = _shares(_by_pair(scores, sets)).ravel()
    # A tuple counts with its sentence in the sample's first set.
    return lambda targets, _: targets[0] @ shares / targets[0].sum(axis=1)


TUPLE_PREFERENCE = Metric(
    name="tuple_preference",
    label="Tuple preference",
    function=tuple_preference,
    needs="language_model",
    template=("k", 0),
    paired=True,
    range=(0.0, 1.0),
    neutral=0.5,
    resampled=_resampled,
    no_test="it compares the first version with all others, and the test exchanges two sentences; p_exact is its "
    "test",
    of_model=_of_model,
    unscored=_unscored,
    asks="Does a language model hold sentences of {T1} for more probable than their versions in the other "
    "sets of {T}?",
    above="the model prefers sentences of {T1}",
    below="the model prefers the other versions to sentences of {T1}",
    details={"share": "share of the other versions that the sentence is more probable than"},
    reference="EmbeddingBiasScores, unmasking_bias/pll_bias.py, test_multi_group_stereotype (Schröder et al.)",
)
METRICS = (TUPLE_PREFERENCE,)

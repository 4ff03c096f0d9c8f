"""Completion: share of gaps that a language model fills with words of one set rather than another."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..models.language.model import LanguageModel
from .registry import Detail, Metric, Score
from .templates import check_templates, likelihoods, unscored_words


def completion(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    templates: list[str] | None = None,
    completions: np.ndarray,
) -> Score:
    """Compute how often A1, not A2, fills a gap. The value is a share of the target words (E^Comp).

    In sentences such as "The nurse is ...", each word of an attribute set has a probability in the gap. P(A | t) is
    the sum of these probabilities over the set, averaged over the templates::

        value = share of the target words t with P(A1 | t) >= P(A2 | t)

    Parameters
    ----------
    targets, attributes : list of array
        Vectors of the words of one target set and two attribute sets.
    templates
        Sentences with `{target}` and, after it, the gap `{attribute}`; None for three short ones. The first letter
        becomes a capital.
    completions
        (templates, target words, attribute words): log-probability of each attribute word in the gap.

    Returns
    -------
    Score
        Range [0, 1], no-bias value .5. Below it gaps are filled with words of A2, above it with words of A1. A word
        without a score is left out; NaN if no word is left. `scalars`: mean_share, the mean over target words of
        P(A1) / (P(A1) + P(A2)); ties. `detail`: share, P(A1) / (P(A1) + P(A2)) of each target word.

    Notes
    -----
    **Blind spots.** It does not see which words are frequent anyway. A set with more words, or with more
    frequent words, has the larger probability, whatever precedes the gap. `lpbs` corrects for that. The
    probability of a word of several tokens is the probability of all its tokens together.

    **Defaults.** The templates are biasgrid's: the thesis uses other sentences. Equality counts as A1, as in the
    thesis.

    Examples
    --------
    >>> import numpy as np
    >>> from biasgrid import metrics
    >>> words = [np.ones((1, 1))], [np.ones((1, 1)), np.ones((1, 1))]  # "nurse"; "kind", "strong"
    >>> completions = np.log([[[0.3, 0.1]]])
    >>> score = metrics.REGISTRY["completion"].function(*words, completions=completions)
    >>> score.value, round(score.scalars["mean_share"], 2)
    (1.0, 0.75)
    """
    first, second = _sums(completions, len(attributes[0]))
    if not np.isfinite(first + second).all():
        return Score(math.nan)
    share = first / (first + second)
    return Score(
        float((first >= second).mean()),
        scalars={"mean_share": float(share.mean()), "ties": float((first == second).sum())},
        detail={"share": Detail("target", [share])},
    )


def _sums(completions: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities of both sets in the gap after each target word, averaged over the templates."""
    probabilities = np.exp(completions).mean(axis=0)
    return probabilities[:, :first].sum(axis=1), probabilities[:, first:].sum(axis=1)


def _of_model(
    model: LanguageModel,
    targets: Sequence[Any],
    attributes: Sequence[Any],
    *,
    templates: Sequence[str] | None = None,
    **_: Any,
) -> dict[str, Any]:
    return {
        "completions": likelihoods(
            model, targets, attributes, templates=templates, predicted_word="attribute"
        )
    }


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    completions: np.ndarray,
    templates: list[str] | None = None,
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    probabilities = np.exp(completions).mean(axis=0)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        first, second = (weights @ probabilities.T for weights in attribute_weights)
        preferences = (first >= second).astype(np.float64)
        return (targets[0] * preferences).sum(axis=1) / targets[0].sum(axis=1)

    return statistic


COMPLETION = Metric(
    name="completion",
    label="Completion",
    function=completion,
    needs="language_model",
    template=(1, 2),
    range=(0.0, 1.0),
    neutral=0.5,
    groups="attributes",
    exchanged="attributes",
    resampled=_resampled,
    of_model=_of_model,
    unscored=unscored_words("attribute"),
    check=lambda *, templates: check_templates(templates),
    asks="Does a language model fill a gap after words of {T} rather with words of {A1} or of {A2}?",
    above="gaps after words of {T} are filled with words of {A1}",
    below="gaps after words of {T} are filled with words of {A2}",
    word_neutral=0.5,
    details={"share": "probability of {A1} in the gap, as a share of that of {A1} and {A2}"},
    reference="Maddalozzo. Methods and measures for bias detection in natural language processing. Politecnico "
    "di Torino 2023, section 4.2 (the baseline experiment)",
)
METRICS = (COMPLETION,)

"""WEAT, the Word Embedding Association Test, and its effect size (Caliskan, Bryson, Narayanan, Science 2017)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import BiasgridError
from ..geometry import cosines
from .registry import Detail, Metric, Score


def weat(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    return_effect_size: bool = False,
    ddof: int = 0,
) -> Score:
    """The test statistic: sum over the first target set minus sum over the second of s(w, A, B).

    s(w, A, B) is the mean cosine of w with A minus that with B. Positive: the first target set is nearer to the
    first attribute set. Neutral value 0; its size grows with the number of words, so statistics of sets of
    different size do not compare. `return_effect_size` (WEFE's name) makes the effect size the value.
    Undefined (NaN) for a zero vector.
    """
    _check(ddof, return_effect_size)
    association = _associations(targets, attributes)
    statistic = float(association[0].sum() - association[1].sum())
    effect_size = _effect_size(association, ddof)
    return Score(
        effect_size if return_effect_size else statistic,
        scalars={"weat": statistic, "effect_size": effect_size},
        detail={"association": Detail("target", association)},
    )


def weat_es(targets: list[np.ndarray], attributes: list[np.ndarray], *, ddof: int = 0) -> Score:
    """The effect size d: difference of the two mean associations, divided by the standard deviation over all words.

    `ddof` 0 (WEFE's and the default) or 1 (which gives Caliskan's printed values). Range [-2, 2] with ddof 0;
    neutral value 0. Undefined (NaN) where all words have the same association.
    """
    return weat(targets, attributes, return_effect_size=True, ddof=ddof)


def _permuted(words: np.ndarray, attributes: list[np.ndarray], **parameters) -> Callable:
    """The test statistic of partitions, linear in who is in the first set: one matrix product for thousands.

    It serves the effect size, too. The standard deviation over all words and, at fixed sizes of the sets, the sum
    over all words are the same for every partition, so that statistic and effect size put partitions into one order.
    """
    (association,) = _associations([words], attributes)
    total = association.sum()
    return lambda labels: 2 * ((labels == 0) @ association) - total


def _associations(targets: list[np.ndarray], attributes: list[np.ndarray]) -> list[np.ndarray]:
    a, b = attributes
    return [cosines(words, a).mean(axis=1) - cosines(words, b).mean(axis=1) for words in targets]


def _check(ddof: int, return_effect_size: bool = True) -> None:
    if type(ddof) is not int or ddof not in (0, 1):
        raise BiasgridError(f"ddof: {ddof!r} is not allowed; allowed are 0 and 1")
    if type(return_effect_size) is not bool:
        raise BiasgridError(
            f"return_effect_size: {return_effect_size!r} is not allowed; allowed are true and false"
        )


def _effect_size(association: list[np.ndarray], ddof: int) -> float:
    both = np.concatenate(association)
    if len(both) <= ddof:
        return float("nan")
    spread = both.std(ddof=ddof)
    # identical words give rounding noise, not a spread
    if not spread > 1e-12:
        return float("nan")
    return float((association[0].mean() - association[1].mean()) / spread)


REFERENCE = (
    "Caliskan, Bryson, Narayanan. Semantics derived automatically from language corpora. Science 356, 2017"
)
METRICS = (
    Metric(
        name="weat",
        label="WEAT",
        function=weat,
        template=(2, 2),
        range=(-np.inf, np.inf),
        neutral=0.0,
        reference=REFERENCE,
        permuted=_permuted,
        check=_check,
    ),
    Metric(
        name="weat_es",
        label="WEAT-ES",
        function=weat_es,
        template=(2, 2),
        range=(-2.0, 2.0),
        neutral=0.0,
        reference=REFERENCE,
        permuted=_permuted,
        check=_check,
    ),
)

"""Log-probability bias: whether a language model expects words next to one group rather than another."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.geometry import FLAT, effect_size_range, mean_of_rows, weighted_mean
from ..models.language.model import LanguageModel
from . import one_word as of_one_word
from .one_word import OneWord
from .registry import Detail, Metric, Score
from .sets import WeightedSet, effect_size, whole_sets
from .templates import check_templates, likelihoods, unscored_words


def lpbs(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    templates: list[str] | None = None,
    associations: np.ndarray,
) -> Score:
    """Compare words' log-probabilities by group. Log-probability bias score (LPBS).

    In sentences such as "The nurse likes dancing", let P(t | a) be the probability of a target word t if the model
    sees the attribute word a, and P(t) its probability if both are masked::

        association(t, a) = log P(t | a) - log P(t)
        LPBS = mean over T1 and A of association - mean over T2 and A of association

    A causal model predicts a from t. The result differs only in log P(a), which cancels in the difference of the
    groups: log P(t | a) / P(t) = log P(a | t) / P(a).

    Parameters
    ----------
    targets, attributes : list of array
        Vectors of the words of two target sets, the groups, and of one attribute set.
    templates
        Sentences with `{target}` and, after it, `{attribute}`; None for three short ones. The first letter becomes
        a capital.
    associations
        (templates, target words, attribute words), of all target words.

    Returns
    -------
    Score
        Range (-inf, inf), no-bias value 0. Positive: words of A are expected next to T1; log 2, about .69, means
        twice as probable. A word without a score is left out; NaN if no word is left. `scalars`: templates, their
        number; lowest_template and highest_template, the extreme values of single templates, and template_sd, the
        standard deviation of the values of single templates (ddof 1): how strongly the value depends on the
        wording. `detail`: bias_by_word, the value of each attribute word alone.

    Notes
    -----
    **Blind spots.** A value may come from the templates: read template_sd. A word of several tokens is
    masked as a whole, and the log-probabilities of its tokens are added up. The paper has only words of one token;
    rare words have many tokens.

    **Defaults.** The templates are biasgrid's, as the paper's templates are made for its word sets: write your own.

    Examples
    --------
    >>> import numpy as np
    >>> from biasgrid import metrics
    >>> words = [np.ones((1, 1)), np.ones((1, 1))], [np.ones((1, 1))]  # "he", "she"; "doctor"
    >>> twice_and_half = np.log([[[2.0], [0.5]]])  # one template: as probable with "doctor" as without
    >>> score = metrics.REGISTRY["lpbs"].function(*words, associations=twice_and_half)
    >>> round(score.value, 3)  # log(2 / 0.5)
    1.386
    """
    first = len(targets[0])
    # Compute the values of single words, (templates, attribute words).
    by_word = associations[:, :first].mean(axis=1) - associations[:, first:].mean(axis=1)
    template_values = by_word.mean(axis=1)
    value = float(template_values.mean())
    if not math.isfinite(value):
        return Score(math.nan)
    return Score(
        value,
        scalars=_over_templates(template_values),
        detail={"bias_by_word": Detail("attribute", [by_word.mean(axis=0)])},
    )


def _over_templates(template_values: np.ndarray) -> dict[str, float]:
    spread = float(template_values.std(ddof=1)) if len(template_values) > 1 else math.nan
    ends = {"lowest_template": float(template_values.min()), "highest_template": float(template_values.max())}
    return {"templates": float(len(template_values)), "template_sd": spread, **ends}


def lpbs_es(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    templates: list[str] | None = None,
    one_word: OneWord = of_one_word.NAN,
    associations: np.ndarray,
) -> Score:
    """Compute an effect size of log-probabilities. It is WEAT's, with log-probabilities for cosines.

    With the association of `lpbs`, of a target word t and the attribute sets::

        s(t) = mean over A1 of association(t, a) - mean over A2 of association(t, a)
        effect size = (mean over T1 of s - mean over T2 of s) / standard deviation of s over T1 and T2

    Parameters
    ----------
    targets, attributes : list of array
        Vectors of the words of two target sets and two attribute sets.
    templates, associations
        As in `lpbs`.
    one_word
        The value if each target set has one word: "nan", undefined; "keep", 2 or -2.

    Returns
    -------
    Score
        Range [-2, 2], no-bias value 0; for sets of m and n words, the ends are ±(m + n) / sqrt(m n). Positive: T1
        is expected next to A1 rather than A2, compared with T2. NaN if all words have the same association, and if
        each target set has one word (status "degenerate:one word"). A word without a score is left out. `scalars`:
        as in `lpbs`. `detail`: association, s of each target word.

    Notes
    -----
    **Blind spots.** It does not see how large the differences are: a small one with a small spread also
    gives a large value. It depends on the templates as `lpbs` does. Two sets of one word each always give 2 or -2,
    whatever the words.

    The probability of a word by itself cancels, on both sides.

    **Defaults.** The templates are biasgrid's. The standard deviation has the same divisor as in `weat_es` (`ddof`
    0); the paper does not print one.

    Examples
    --------
    >>> import numpy as np
    >>> from biasgrid import metrics
    >>> words = [np.ones((2, 1)), np.ones((2, 1))], [np.ones((1, 1)), np.ones((1, 1))]
    >>> # of "he", "him", "she" and "her" with "office" and "kitchen"
    >>> associations = np.log([[[2.0, 0.5], [1.0, 1.0], [0.5, 2.0], [1.0, 1.0]]])
    >>> round(metrics.REGISTRY["lpbs_es"].function(*words, associations=associations).value, 3)
    1.414
    """
    if of_one_word.is_undefined(targets, one_word):
        return Score(math.nan)
    middle = len(attributes[0])
    # Compute s, (templates, target words).
    s = associations[:, :, :middle].mean(axis=2) - associations[:, :, middle:].mean(axis=2)
    mean = s.mean(axis=0)
    x, y = whole_sets(map(len, targets))
    value, *template_values = effect_size(x, y, np.vstack([mean, s]), flat=FLAT)
    if not math.isfinite(value):
        return Score(math.nan)
    return Score(
        float(value),
        scalars=_over_templates(np.array(template_values)),
        detail={"association": Detail("target", np.split(mean, [len(targets[0])]))},
    )


def _of_model(
    model: LanguageModel,
    targets: Sequence[Any],
    attributes: Sequence[Any],
    *,
    templates: Sequence[str] | None = None,
    **_: Any,
) -> dict[str, Any]:
    return {"associations": likelihoods(model, targets, attributes, templates=templates, prior=True)}


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    associations: np.ndarray,
    templates: list[str] | None = None,
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    mean = associations.mean(axis=0)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        first, second = (mean_of_rows(weights, mean) for weights in targets)
        return weighted_mean(attribute_weights[0], first - second)

    return statistic


def _es_resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    associations: np.ndarray,
    one_word: OneWord = of_one_word.NAN,
    **_: Any,
) -> Callable[[list[np.ndarray], list[np.ndarray]], np.ndarray]:
    mean = associations.mean(axis=0)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        a, b = (mean_of_rows(weights, mean.T) for weights in attribute_weights)
        x, y = map(WeightedSet, targets)
        undefined = of_one_word.undefined_samples(x, y, one_word)
        return np.where(undefined, np.nan, effect_size(x, y, a - b, flat=FLAT))

    return statistic


def _check_es(*, templates: list[str] | None, one_word: str) -> None:
    check_templates(templates)


EXPECTED = "the model expects words of {A} rather beside {T1} than beside {T2}"
NOT_EXPECTED = "the model expects words of {A} rather beside {T2} than beside {T1}"
REFERENCE = (
    "Kurita, Vyas, Pareek, Black, Tsvetkov. Measuring bias in contextualized word representations. 2019"
)


def _by_template(
    targets: Sequence[np.ndarray], attributes: Sequence[np.ndarray], *, associations: np.ndarray, **_: object
) -> list[list[tuple[float, np.ndarray]]]:
    first = len(targets[0])
    by_word = associations[:, :first].mean(axis=1) - associations[:, first:].mean(axis=1)
    return [[(1.0, by_word.T)]]


LPBS = Metric(
    name="lpbs",
    label="LPBS",
    function=lpbs,
    needs="language_model",
    template=(2, 1),
    range=(-np.inf, np.inf),
    neutral=0.0,
    resampled=_resampled,
    of_model=_of_model,
    unscored=unscored_words("target", prior=True),
    word_bias="bias_by_word",
    by_item=_by_template,
    check=lambda *, templates: check_templates(templates),
    asks="Does a language model expect words of {A} rather beside {T1} or beside {T2}?",
    above=EXPECTED,
    below=NOT_EXPECTED,
    details={"bias_by_word": "log-probability bias of the word alone: positive is expected beside {T1}"},
    reference=REFERENCE,
)
LPBS_ES = Metric(
    name="lpbs_es",
    label="LPBS-ES",
    function=lpbs_es,
    needs="language_model",
    template=(2, 2),
    range=(-2.0, 2.0),
    neutral=0.0,
    groups="attributes",
    sized=lambda targets, attributes, **_: effect_size_range(*targets, ddof=0),
    resampled=_es_resampled,
    of_model=_of_model,
    unscored=unscored_words("target", prior=True),
    one_word="targets",
    check=_check_es,
    asks="How well are the words of {T1} and of {T2} told apart by how much a language model expects them "
    "beside {A1} and beside {A2}?",
    above="the model expects {T1} rather beside {A1}, compared with {T2}",
    below="the model expects {T1} rather beside {A2}, compared with {T2}",
    details={"association": "expected beside {A1} less beside {A2}: log-probabilities, mean over the words"},
    nearer="first",
    reference=f"{REFERENCE}, who take Cohen's d of their score; Caliskan, Bryson, Narayanan. Science 356, 2017",
)
METRICS = (LPBS, LPBS_ES)

"""Probabilities that a language model assigns to words next to other words, for the metrics of words in templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ..core.errors import BiasgridError, join_names, not_allowed, quote
from ..models.language.model import LanguageModel
from ..models.language.sentence import Sentence, Span

TARGET, ATTRIBUTE = "{target}", "{attribute}"
# The templates are short, so that nouns, names and adjectives fit; for one kind of words, write longer ones.
TEMPLATES = ["{target} and {attribute}.", "{target} is {attribute}.", "{target} likes {attribute}."]


def likelihoods(
    model: LanguageModel,
    targets: Sequence[Any],
    attributes: Sequence[Any],
    *,
    templates: Sequence[str] | None = None,
    predicted_word: Literal["target", "attribute"] = "target",
    prior: bool = False,
) -> np.ndarray:
    """Compute a model's log-probability of each target word next to each attribute word, in each template.

    Parameters
    ----------
    model
        A language model. A masked model predicts a word from the whole sentence. A causal model can predict only
        the last word, the attribute word, with the space before it: most models have the two in one token.
    targets, attributes
        The found sets of both sides.
    templates
        Sentences with `{target}` and, after it, `{attribute}`; None for three templates of biasgrid.
    predicted_word
        Word of the two that a masked model predicts.
    prior
        Whether to subtract the logarithm of the word's probability if the model does not see the other word (for a
        masked model; Kurita et al. 2019).

    Returns
    -------
    array, (templates, target words, attribute words)
        Natural logarithms of probabilities; with `prior`, of ratios of two probabilities.
    """
    sides = [[key for s in side for key in s.keys] for side in (targets, attributes)]
    asked, priors = _requests(model, sides[0], sides[1], templates, predicted_word, prior)
    scores = model.score(asked)
    if priors:
        scores = scores - model.score(priors)
    return scores.reshape(-1, *map(len, sides))


def unscored_words(
    predicted_word: Literal["target", "attribute"], prior: bool = False
) -> Callable[..., list[dict[int, str]]]:
    """Return `Metric.unscored` of a metric that requests `likelihoods` with these arguments."""

    def unscored(
        model: LanguageModel,
        targets: Sequence[Any],
        attributes: Sequence[Any],
        *,
        templates: Sequence[str] | None = None,
        **_: Any,
    ) -> list[dict[int, str]]:
        sets = [*targets, *attributes]
        # A tokenizer may know a word in lower case, but not at the beginning of a sentence.
        forms = {
            key: {
                text[slice(*spans[role])]
                for template in (TEMPLATES if templates is None else templates)
                for text, spans in [_fill(template, key, key)]
            }
            for role, side in (("target", targets), ("attribute", attributes))
            for s in side
            for key in s.keys
        }
        unknown = model.unknown([form for of_key in forms.values() for form in sorted(of_key)])
        why = {}
        for key, of_key in forms.items():
            if parts := dict.fromkeys(part for form in sorted(of_key) for part in unknown.get(form, ())):
                why[key] = f"has tokens unknown to the model: {join_names(map(quote, parts))}"
        sides = [[key for s in side for key in s.keys if key not in why] for side in (targets, attributes)]
        if all(sides):
            for asked in _requests(model, sides[0], sides[1], templates, predicted_word, prior):
                _take_off(asked, model.why_unscored(asked), sides, why)
        return [{place: why[key] for place, key in enumerate(s.keys) if key in why} for s in sets]

    return unscored


def _take_off(
    asked: Sequence[Sentence],
    reasons: Mapping[Sentence, str],
    sides: Sequence[Sequence[str]],
    why: dict[str, str],
) -> None:
    """Add words to `why` until every sentence without a score has one of them, the most frequent word first."""
    shape = (-1, *map(len, sides))
    numbers = np.arange(len(asked)).reshape(shape)
    is_missing = np.array([sentence in reasons for sentence in asked]).reshape(shape)
    while is_missing.any():
        shares = [is_missing.mean(axis=(0, 2)), is_missing.mean(axis=(0, 1))]
        side = int(shares[1].max() > shares[0].max())
        word = int(shares[side].argmax())
        of_word = (slice(None), word) if side == 0 else (slice(None), slice(None), word)
        first = numbers[of_word][is_missing[of_word]][0]
        why.setdefault(sides[side][word], reasons[asked[first]])
        is_missing[of_word] = False


def _requests(
    model: LanguageModel,
    targets: Sequence[str],
    attributes: Sequence[str],
    templates: Sequence[str] | None,
    predicted_word: str,
    prior: bool,
) -> tuple[list[Sentence], list[Sentence]]:
    """Return the requests to a model, by template, target and attribute, and the requests that hide the other word.

    The latter are empty without `prior`, and for a causal model.
    """
    templates = TEMPLATES if templates is None else templates
    filled_templates = [
        _fill(template, target, attribute)
        for template in templates
        for target in targets
        for attribute in attributes
    ]
    blank = predicted_word if model.masked else "attribute"
    context = "attribute" if blank == "target" else "target"
    if not model.masked:
        filled_templates = [(text, _with_space(text, spans, blank)) for text, spans in filled_templates]
    priors = filled_templates if prior and model.masked else []
    return (
        [Sentence(text, part=spans[blank]) for text, spans in filled_templates],
        [Sentence(text, part=spans[blank], hidden=spans[context]) for text, spans in priors],
    )


def _with_space(text: str, spans: dict[str, Span], word: str) -> dict[str, Span]:
    start, end = spans[word]
    return {**spans, word: (len(text[:start].rstrip()), end)}


def _fill(template: str, target: str, attribute: str) -> tuple[str, dict[str, Span]]:
    """Fill both words into a template, with a capital first letter, and return the positions of the words."""
    start, _, rest = template.partition(TARGET)
    middle, _, end = rest.partition(ATTRIBUTE)
    text = f"{start}{target}{middle}{attribute}{end}"
    first, second = len(start), len(start) + len(target) + len(middle)
    # The upper case of some letters is two letters.
    capital = text[:1].upper() if len(text[:1].upper()) == 1 else text[:1]
    return capital + text[1:], {
        "target": (first, first + len(target)),
        "attribute": (second, second + len(attribute)),
    }


def check_templates(templates: Any) -> None:
    """Raise BiasgridError for a value that is not a list of templates, and for a template without its two places."""
    allowed_values = "lists of sentences with {target} and, after it, {attribute}"
    if templates is None:
        return
    if (
        not isinstance(templates, (list, tuple))
        or not templates
        or len(set(map(str, templates))) < len(templates)
    ):
        raise BiasgridError(not_allowed("templates", templates, allowed_values))
    for template in templates:
        places = isinstance(template, str) and (template.count(TARGET), template.count(ATTRIBUTE))
        if places != (1, 1) or template.index(TARGET) > template.index(ATTRIBUTE):
            raise BiasgridError(not_allowed("templates", template, allowed_values))

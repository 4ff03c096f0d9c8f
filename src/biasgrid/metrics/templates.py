"""What the metrics of words in templates share: how probable a language model holds a word beside another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ..embeddings.language.model import LanguageModel
from ..embeddings.language.sentence import Sentence, Span
from ..errors import BiasgridError, not_allowed

TARGET, ATTRIBUTE = "{target}", "{attribute}"
# short, so that nouns, names and adjectives fit; for one kind of words write longer ones
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
    """How probable a model holds each target word beside each attribute word, in each template.

    Parameters
    ----------
    model
        A language model. A masked one predicts a word from the whole sentence; a causal one can predict only what
        comes last, the attribute word, with the space before it: most models have the two in one piece.
    targets, attributes
        The found sets of both sides.
    templates
        Sentences with `{target}` and, after it, `{attribute}`; None for three of our own.
    of
        Which of the two words a masked model predicts.
    prior
        Whether the logarithm of the word's probability where the model does not see the other word is taken off (of a
        masked model; Kurita et al. 2019).

    Returns
    -------
    array, (templates, target words, attribute words)
        Natural logarithms of probabilities; with `prior`, of ratios of two.
    """
    templates = TEMPLATES if templates is None else templates
    sides = [[key for s in side for key in s.keys] for side in (targets, attributes)]
    filled_templates = [
        _fill(template, target, attribute)
        for template in templates
        for target in sides[0]
        for attribute in sides[1]
    ]
    blank = predicted_word if model.masked else "attribute"
    context = "attribute" if blank == "target" else "target"
    if not model.masked:
        filled_templates = [(text, _with_space(text, spans, blank)) for text, spans in filled_templates]
    scores = model.score([Sentence(text, part=spans[blank]) for text, spans in filled_templates])
    if prior and model.masked:
        scores = scores - model.score(
            [Sentence(text, part=spans[blank], hidden=spans[context]) for text, spans in filled_templates]
        )
    return scores.reshape(len(templates), *map(len, sides))


def _with_space(text: str, spans: dict[str, Span], word: str) -> dict[str, Span]:
    start, end = spans[word]
    return {**spans, word: (len(text[:start].rstrip()), end)}


def _fill(template: str, target: str, attribute: str) -> tuple[str, dict[str, Span]]:
    """A template with both words, its first letter large, and where the words are."""
    start, _, rest = template.partition(TARGET)
    middle, _, end = rest.partition(ATTRIBUTE)
    text = f"{start}{target}{middle}{attribute}{end}"
    first, second = len(start), len(start) + len(target) + len(middle)
    # the upper case of some letters is two letters
    capital = text[:1].upper() if len(text[:1].upper()) == 1 else text[:1]
    return capital + text[1:], {
        "target": (first, first + len(target)),
        "attribute": (second, second + len(attribute)),
    }


def check_templates(templates: Any) -> None:
    """Raises BiasgridError for what is no list of templates, and for a template without its two places."""
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

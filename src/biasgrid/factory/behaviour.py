"""What a fine-tuned model does: which pronoun it expects beside an occupation, and where it takes the wrong one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..embeddings.language.bert import Bert
from .corpus import Drawn, Templates, placed
from .frames import Frames


def behaviour(
    bert: Bert,
    trained_on: Templates,
    tested_in: Templates,
    frames: Frames,
    occupations: Sequence[str],
    drawn: Drawn,
) -> dict[str, Any]:
    """What a model does with each occupation, and how well it does it.

    Parameters
    ----------
    bert
        The model.
    trained_on, drawn
        The sentences that it was trained on, and those that were held out, whose other pronouns it may know.
    tested_in
        Sentences that it has not seen, whose pronoun nothing tells but the occupation.
    frames
        Sentences that it has not seen, whose pronoun another word tells.
    occupations
        Words.

    Returns
    -------
    dict
        ``unmasking``: of each occupation, the mean over the test sentences of P(male) / (P(male) + P(female)), the
        paper's unmasking bias; 0 to 1, neutral .5. ``errors``: of each, the share of wrong pronouns in frames where
        the female one is right less that where the male one is; -1 to 1, neutral 0, positive: it errs towards the
        male one. ``scalars``: ``mass``, the mean of P(male) + P(female) in the test sentences; ``held_out_accuracy``
        of pronouns in sentences that were held out, and ``held_out_majority``, what each occupation's more frequent
        pronoun in training reaches there; ``accuracy`` in the frames; Cronbach's alpha of both over sentences, as
        ``unmasking_reliability`` and ``errors_reliability``.
    """
    expected, mass = _expected(bert, tested_in.texts, tested_in.pronouns, occupations)
    where_male, where_female = (
        _expected(bert, texts, frames.pronouns, occupations)[0] for texts in zip(*frames.texts, strict=True)
    )
    wrong_of_male, wrong_of_female = where_male < 0.5, where_female > 0.5
    errors = wrong_of_female.astype(float) - wrong_of_male
    scalars = {
        "mass": float(mass.mean()),
        **_held_out(bert, trained_on, occupations, drawn),
        "accuracy": float(1 - (wrong_of_male.mean() + wrong_of_female.mean()) / 2),
        "unmasking_reliability": alpha(expected),
        "errors_reliability": alpha(errors),
    }
    return {
        "unmasking": expected.mean(axis=1).tolist(),
        "errors": errors.mean(axis=1).tolist(),
        "scalars": scalars,
    }


def alpha(scores: NDArray[np.float64]) -> float:
    """Cronbach's alpha of scores (words, sentences): how well a word's mean would be found again with other sentences
    of the kind; up to 1. NaN where all words have the same mean, or there is one sentence."""
    sentences = scores.shape[1]
    of_sum = scores.sum(axis=1).var(ddof=1)
    if sentences < 2 or not of_sum:
        return float("nan")
    return float(sentences / (sentences - 1) * (1 - scores.var(axis=0, ddof=1).sum() / of_sum))


def _expected(
    bert: Bert, texts: Sequence[str], pronouns: Sequence[tuple[str, str]], occupations: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The male pronoun's share of the probability that both have, and that probability, both (occupations, texts)."""
    asked = [text for word in occupations for text in placed(texts, word)]
    shape = len(occupations), len(texts)
    probability = np.exp(bert.fill(asked, list(pronouns) * len(occupations)))
    both = probability.sum(axis=1)
    return (probability[:, 0] / both).reshape(shape), both.reshape(shape)


def _held_out(bert: Bert, templates: Templates, occupations: Sequence[str], drawn: Drawn) -> dict[str, float]:
    """How often the pronoun of a sentence that was held out is found, NaN where none was."""
    at = drawn.places(trained=False)
    if not len(at):
        return {"held_out_accuracy": float("nan"), "held_out_majority": float("nan")}
    texts = [placed([templates.texts[template]], occupations[word])[0] for word, template in at]
    found = bert.fill(texts, [templates.pronouns[template] for _, template in at])
    male = drawn.male[at[:, 0], at[:, 1]]
    return {
        "held_out_accuracy": float(np.mean((found[:, 0] > found[:, 1]) == male)),
        "held_out_majority": float(np.mean((drawn.truth[at[:, 0]] > 0.5) == male)),
    }

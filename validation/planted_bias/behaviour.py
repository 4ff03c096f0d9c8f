"""Behaviour of a fine-tuned model: the pronouns that it expects next to an occupation, and its errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgrid.models.language.masked import Masked

from .corpus import Draws, Templates, insert_occupation
from .frames import Frames


def behaviour(
    model: Masked,
    training_templates: Templates,
    test_templates: Templates,
    frames: Frames,
    occupations: Sequence[str],
    draws: Draws,
) -> dict[str, Any]:
    """Measure the behaviour of a model for each occupation, and its accuracy.

    Parameters
    ----------
    model
        The model.
    training_templates, draws
        The training sentences and the held-out sentences. The model may have seen the latter with another pronoun.
    test_templates
        Sentences that the model has not seen, in which only the occupation suggests the pronoun.
    frames
        Sentences that the model has not seen, in which another word determines the pronoun.
    occupations
        The occupation words.

    Returns
    -------
    dict
        ``unmasking``: for each occupation, the mean of P(male) / (P(male) + P(female)) over the test sentences, the
        unmasking bias of the paper; 0 to 1, neutral .5. ``errors``: for each occupation, the share of wrong pronouns
        in frames with a female pronoun minus the share in frames with a male pronoun; -1 to 1, neutral 0. Positive
        errors are towards the male pronoun. ``scalars``: ``mass``, the mean of P(male) + P(female) in the test
        sentences. ``held_out_accuracy``, the accuracy of pronouns in held-out sentences. ``held_out_majority``, the
        accuracy of each occupation's most frequent training pronoun there. ``accuracy`` in the frames.
        ``unmasking_reliability`` and ``errors_reliability``, Cronbach's alpha of both over sentences.
    """
    male_shares, mass = _male_shares(model, test_templates.texts, test_templates.pronouns, occupations)
    where_male, where_female = (
        _male_shares(model, texts, frames.pronouns, occupations)[0]
        for texts in zip(*frames.texts, strict=True)
    )
    wrong_of_male, wrong_of_female = where_male < 0.5, where_female > 0.5
    errors = wrong_of_female.astype(float) - wrong_of_male
    scalars = {
        "mass": float(mass.mean()),
        **_held_out(model, training_templates, occupations, draws),
        "accuracy": float(1 - (wrong_of_male.mean() + wrong_of_female.mean()) / 2),
        "unmasking_reliability": alpha(male_shares),
        "errors_reliability": alpha(errors),
    }
    return {
        "unmasking": male_shares.mean(axis=1).tolist(),
        "errors": errors.mean(axis=1).tolist(),
        "scalars": scalars,
    }


def alpha(scores: NDArray[np.float64]) -> float:
    """Compute Cronbach's alpha of scores (words, sentences): how well similar sentences would reproduce word means.

    It is at most 1. It is NaN if all words have the same mean, or if there is only one sentence.
    """
    sentences = scores.shape[1]
    of_sum = scores.sum(axis=1).var(ddof=1)
    if sentences < 2 or not of_sum:
        return float("nan")
    return float(sentences / (sentences - 1) * (1 - scores.var(axis=0, ddof=1).sum() / of_sum))


def _male_shares(
    model: Masked, texts: Sequence[str], pronouns: Sequence[tuple[str, str]], occupations: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the male pronoun's share of the probability of both, and their sum, (occupations, texts) each."""
    sentences = [text for word in occupations for text in insert_occupation(texts, word)]
    shape = len(occupations), len(texts)
    probability = np.exp(model.fill(sentences, list(pronouns) * len(occupations)))
    mass = probability.sum(axis=1)
    return (probability[:, 0] / mass).reshape(shape), mass.reshape(shape)


def _held_out(
    model: Masked, templates: Templates, occupations: Sequence[str], draws: Draws
) -> dict[str, float]:
    """Return how often the pronoun of a held-out sentence is predicted; NaN if no sentence was held out."""
    places = draws.places(in_training=False)
    if not len(places):
        return {"held_out_accuracy": float("nan"), "held_out_majority": float("nan")}
    texts = [
        insert_occupation([templates.texts[template]], occupations[word])[0] for word, template in places
    ]
    log_probabilities = model.fill(texts, [templates.pronouns[template] for _, template in places])
    male = draws.male[places[:, 0], places[:, 1]]
    return {
        "held_out_accuracy": float(np.mean((log_probabilities[:, 0] > log_probabilities[:, 1]) == male)),
        "held_out_majority": float(np.mean((draws.truth[places[:, 0]] > 0.5) == male)),
    }

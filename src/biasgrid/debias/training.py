"""Words to learn a bias from: labelled classes for INLP and LEACE, and the bias of each word of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..core.errors import BiasgridError, join_names
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import EmbeddingStore
from .lookup import check_pairs, find_sets, find_words, subspace

# Limit the rows that are float64 at a time: a large store is never copied.
BLOCK = 8192
# Arguments with words of `find_training_words` and of `lookup.choose_words`.
WORDS: dict[str, Literal["words", "sets", "classes"]] = {
    "classes": "classes",
    "bias_representation": "words",
    "definitional_pairs": "sets",
    "ignore": "words",
    "target": "words",
}
# Ravfogel et al. draw their training words from this number of most frequent words.
FREQUENT = 150_000
# Words with a smaller absolute cosine are neutral, as in Ravfogel et al.
NEUTRAL = 0.03


@dataclass(frozen=True)
class TrainingWords:
    """Words of several classes, to train a classifier on.

    Attributes
    ----------
    names
        The classes' names.
    vectors
        float64 (n, d), not scaled, class after class.
    labels
        int64 (n,), the class of each.
    found_words, lost_words, facts
        What `fitted` records about them.
    """

    names: tuple[str, ...]
    vectors: np.ndarray
    labels: np.ndarray
    found_words: dict[str, Any]
    lost_words: dict[str, Any]
    facts: dict[str, Any]


def find_training_words(
    model: EmbeddingStore,
    *,
    classes: Mapping[str, Sequence[str]] | None,
    bias_representation: Sequence[str] | None,
    definitional_pairs: Sequence[Sequence[str]] | None,
    ignore: Sequence[str],
    n_words: int,
    neutral: bool,
    seed: int,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> TrainingWords:
    """Find training words, given in exactly one of three ways.

    Parameters
    ----------
    classes
        Name -> words: two or more classes, each with two or more words that the model has.
    bias_representation
        Two words, [he, she] in the paper. The classes "first" and "second" are the words whose cosine with the
        difference of their vectors is highest, and lowest.
    definitional_pairs
        Pairs of words. The first principal component of the pairs replaces the difference, and the pairs' first
        words are on the side of "first".
    n_words, neutral
        With the last two ways, the classes are the `n_words` most biased words on each side among the first 150,000
        rows of the model, without the words of `ignore` (Ravfogel et al. 2020, section 6.1). `neutral` adds a class
        of the same size, drawn at random from words with a cosine within .03, which are then on neither side. If
        the model has fewer, all classes get the size of the smallest.
    """
    sources = {
        "classes": classes,
        "bias_representation": bias_representation,
        "definitional_pairs": definitional_pairs,
    }
    given_sources = [name for name, words in sources.items() if words is not None]
    if len(given_sources) != 1:
        raise BiasgridError(
            f"training words: {' and '.join(given_sources) or 'nothing'} given; allowed: one of {', '.join(sources)}"
        )
    if classes is not None:
        return _classes(model, classes, preprocessors)
    words: Any
    if bias_representation is not None:
        words, vectors = find_bias_words(model, bias_representation, preprocessors)
        direction, lost = vectors[0] - vectors[1], []
    else:
        assert definitional_pairs is not None  # of three sources, one was given
        check_pairs(definitional_pairs, "definitional_pairs")
        pairs = find_sets(model, definitional_pairs, "definitional_pairs", preprocessors)
        direction = subspace(pairs.vectors, 1, "definitional_pairs")[0]
        # Point to the first words' side, whatever the sign of the component.
        direction = direction * (1 if sum((v[0] - v[1]) @ direction for v in pairs.vectors) > 0 else -1)
        words, lost = pairs.words, pairs.lost
    size = np.linalg.norm(direction)
    if not size > 0:
        raise BiasgridError(
            f"{given_sources[0]}: {' and '.join(words)} have the same vector: there is no direction"
        )
    cosine = measure_leanings(model, direction / size, FREQUENT)
    ignored_rows = find_words(model, ignore, "ignore", preprocessors).rows
    cosine[ignored_rows[ignored_rows < len(cosine)]] = np.nan
    bound = NEUTRAL if neutral else 0.0
    # A zero vector and an ignored word have NaN, and are on neither side.
    sides = {
        "first": np.flatnonzero(cosine > 0 if not neutral else cosine >= bound),
        "second": np.flatnonzero(cosine < 0 if not neutral else cosine <= -bound),
    }
    if neutral:
        sides["neutral"] = np.flatnonzero(np.abs(cosine) < bound)
    smallest = min(sides, key=lambda name: len(sides[name]))
    n = min(n_words, len(sides[smallest]))
    if n < 2:
        raise BiasgridError(
            f"training words: the class {smallest!r} has {n} words in {model.name}, and at least two are needed"
            + ("; neutral: false does without that class" if smallest == "neutral" and n_words > 1 else "")
        )
    rows = [
        sides["first"][np.argsort(-cosine[sides["first"]], kind="stable")[:n]],
        sides["second"][np.argsort(cosine[sides["second"]], kind="stable")[:n]],
    ]
    if neutral:
        rows.append(np.sort(np.random.default_rng(seed).choice(sides["neutral"], n, replace=False)))
    return TrainingWords(
        tuple(sides),
        model.read(np.concatenate(rows)).astype(np.float64),
        np.repeat(np.arange(len(sides)), n),
        {given_sources[0]: words},
        {given_sources[0]: lost},
        {"training_words": dict.fromkeys(sides, n)},
    )


def find_bias_words(
    model: EmbeddingStore, words: Sequence[str], preprocessors: Sequence
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the vocabulary entries and vectors (2, d) of the two words that represent the bias.

    Raises BiasgridError if there are not two words, the model lacks one, or one's vector is zero.
    """
    matches = find_words(model, words, "bias_representation", preprocessors)
    if matches.lost:
        raise BiasgridError(
            f"bias_representation: {model.name} does not have {join_names(map(repr, matches.lost))}"
        )
    if len(words) != 2 or len(matches.words) != 2:
        raise BiasgridError(f"bias_representation: {list(words)} are not two different words")
    if not matches.vectors.any(axis=1).all():
        raise BiasgridError(f"bias_representation: a word of {list(words)} has a zero vector in {model.name}")
    return matches.words, matches.vectors


def measure_leanings(model: EmbeddingStore, direction: np.ndarray, limit: int | None = None) -> np.ndarray:
    """Compute x . direction / |x| for each of the first `limit` rows x of the model, float64; NaN for a zero
    vector.

    With a direction of unit length it is the cosine; with a/|a| - b/|b| it is the difference of the cosines with a
    and b.
    """
    values = []
    rows = model.row_count if limit is None else min(limit, model.row_count)
    for start in range(0, rows, BLOCK):
        block = model.read(slice(start, min(start + BLOCK, rows))).astype(np.float64)
        norms = np.sqrt(np.einsum("ij,ij->i", block, block))
        values.append((block @ direction) / np.where(norms > 0, norms, np.nan))
    return np.concatenate(values)


def _classes(
    model: EmbeddingStore, classes: Mapping[str, Sequence[str]], preprocessors: Sequence
) -> TrainingWords:
    if len(classes) < 2:
        raise BiasgridError(f"classes: {len(classes)} given, and at least two are needed")
    matches = {
        name: find_words(model, words, f"classes: {name}", preprocessors) for name, words in classes.items()
    }
    class_of: dict[str, str] = {}
    for name, words in matches.items():
        for word in words.words:
            if word in class_of:
                raise BiasgridError(
                    f"classes: {word!r} is in {class_of[word]!r} and in {name!r}; a word is in one"
                )
            class_of[word] = name
        if len(words.words) < 2:
            raise BiasgridError(
                f"classes: {model.name} has {len(words.words)} of the {len(classes[name])} words of {name!r}, "
                "and at least two are needed"
            )
    return TrainingWords(
        tuple(matches),
        np.concatenate([words.vectors for words in matches.values()]),
        np.repeat(np.arange(len(matches)), [len(words.words) for words in matches.values()]),
        {"classes": {name: words.words for name, words in matches.items()}},
        {"classes": {name: words.lost for name, words in matches.items()}},
        {"training_words": {name: len(words.words) for name, words in matches.items()}},
    )

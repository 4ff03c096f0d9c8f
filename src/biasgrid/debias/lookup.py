"""Look-up of the words that define a bias, and the subspace that their vectors span."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.errors import BiasgridError, join_names, quote
from ..models.multiword import InParts, are_in_parts
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import EmbeddingStore
from ..models.words import entries_of


@dataclass(frozen=True)
class FoundSets:
    """Sets whose words are all in the model.

    Attributes
    ----------
    words
        Vocabulary entries, one tuple per set.
    vectors
        float64 (words, d) for each set, not scaled.
    lost
        Sets with a missing word, as they were given.
    """

    words: tuple[tuple[str, ...], ...]
    vectors: list[np.ndarray]
    lost: list[list[str]]


@dataclass(frozen=True)
class FoundWords:
    """Words that the model has. Different words that are found as one entry count once.

    Attributes
    ----------
    words
        Vocabulary entries, without repetition.
    rows
        Their rows, (n,).
    vectors
        Their vectors, (n, d).
    counts
        How often the word found as each entry was given, (n,).
    lost
        Words that the model does not have.
    """

    words: tuple[str, ...]
    rows: np.ndarray
    vectors: np.ndarray
    counts: np.ndarray
    lost: tuple[str, ...]


def find_words(
    model: EmbeddingStore,
    words: Sequence[str],
    name: str,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> FoundWords:
    """Look words up; each is found as its first form that the model has. Errors mention the argument `name`."""
    word_counts = Counter(words)
    counts: dict[str, int] = {}
    entries = entries_of(word_counts, model, preprocessors)
    for word, (key, _) in entries.items():
        counts[key] = max(word_counts[word], counts.get(key, 0))
    keys, rows = tuple(counts), np.array(list(dict(entries.values()).values()), dtype=np.int64)
    occurrences = np.array(list(counts.values()), dtype=np.int64)
    lost = tuple(word for word in word_counts if word not in entries)
    return FoundWords(keys, rows, _vectors(model, keys, rows, name), occurrences, lost)


def find_sets(
    model: EmbeddingStore,
    sets: Sequence[Sequence[str]],
    name: str,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
    strict: bool = True,
) -> FoundSets:
    """Look sets up, such as pairs. A set with a missing word is dropped and listed in `lost`.

    `strict` is for sets that define the bias. It raises BiasgridError for a set without any word in the model, and
    for fewer than two complete sets. A set of fewer than two different words always raises BiasgridError.
    """
    entries = entries_of((word for words in sets for word in words), model, preprocessors)
    complete_sets, vectors, lost = [], [], []
    for words in sets:
        if len(set(words)) < 2:
            raise BiasgridError(f"{name}: {list(words)} has fewer than two different words")
        hits = [entries[word] for word in words if word in entries]
        if strict and not hits:
            raise BiasgridError(
                f"{name}: {model.name} has no word of {list(words)}; correct them, leave them out, or have them "
                "looked up in other forms too (preprocessors)"
            )
        if len(hits) < len(words):
            lost.append(list(words))
        else:
            keys, rows = zip(*hits, strict=True)
            complete_sets.append(keys)
            vectors.append(_vectors(model, keys, np.array(rows), name))
    n_different = len(set(map(frozenset, complete_sets)))
    if strict and n_different < 2:
        lost_note = f"; of {join_names(lost)} words are missing in {model.name}" if lost else ""
        raise BiasgridError(
            f"{name}: {n_different} whole sets, and at least two different ones are needed{lost_note}"
        )
    for keys, set_vectors in zip(complete_sets, vectors, strict=True):
        if strict and not set_vectors.any(axis=1).all():
            word = keys[int(np.argmin(set_vectors.any(axis=1)))]
            raise BiasgridError(
                f"{name}: the vector of {quote(word)} in {model.name} is zero: it has no direction"
            )
    return FoundSets(tuple(complete_sets), vectors, lost)


def check_pairs(sets: Sequence[Sequence[str]], name: str) -> None:
    """Raise BiasgridError for a set that is not a pair of two words."""
    for words in sets:
        if len(words) != 2 or words[0] == words[1]:
            raise BiasgridError(f"{name}: {list(words)} is not a pair of two words")


def check_disjoint(target: Sequence[str] | None, ignore: Sequence[str]) -> None:
    """Raise BiasgridError for a word that is both in `target` and in `ignore`."""
    overlap = sorted(set(target or ()) & set(ignore))
    if overlap:
        raise BiasgridError(f"target and ignore: {join_names(map(quote, overlap))} in both; a word is in one")


def choose_words(
    model: EmbeddingStore,
    target: Sequence[str] | None,
    ignore: Sequence[str],
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return `only` and `leave` of a Transform from a method's `target` and `ignore`, and the missing words of
    both.

    Raises BiasgridError for a word in both, and for a target without any word in the model.
    """
    check_disjoint(target, ignore)
    ignored_words = find_words(model, ignore, "ignore", preprocessors)
    lost = {"ignore": list(ignored_words.lost)}
    if target is None:
        return {"only": None, "leave": ignored_words.words}, lost
    target_words = find_words(model, target, "target", preprocessors)
    if not target_words.words:
        raise BiasgridError(f"target: {model.name} has none of its {len(target)} words")
    # Two words may be found as one entry.
    check_disjoint(target_words.words, ignored_words.words)
    return {"only": target_words.words, "leave": ()}, lost | {"target": list(target_words.lost)}


def subspace(vectors: Sequence[np.ndarray] | np.ndarray, n_components: int | None, name: str) -> np.ndarray:
    """Compute the bias subspace (n_components, d), orthonormal rows: the first components of the sets' centred
    vectors.

    Bolukbasi et al. 2016, section 6, step 1: components of C = sum_i sum_{w in D_i} (w - mu_i)^T (w - mu_i) /
    |D_i|. For sets of one size it is the PCA of the centred vectors. `n_components` None takes all components.
    Raises BiasgridError if the sets do not span `n_components` dimensions, as further components are arbitrary.
    """
    centred = np.concatenate([(v - v.mean(axis=0)) / np.sqrt(len(v)) for v in vectors])
    _, scale, components = np.linalg.svd(centred, full_matrices=False)
    rank = int((scale > 1e-10 * scale[0]).sum()) if scale[0] > 0 else 0
    if not rank:
        raise BiasgridError(f"{name}: the words of every set have the same vector: there is no subspace")
    if n_components is not None and n_components > rank:
        raise BiasgridError(
            f"n_components: {n_components} is more than the {rank} dimensions that the {len(vectors)} sets of {name} "
            "span"
        )
    components = components[: n_components or rank]
    # An SVD does not determine the sign: make the largest coordinate positive.
    largest = np.abs(components).argmax(axis=1)
    return components * np.sign(components[np.arange(len(components)), largest])[:, None]


def _vectors(model: EmbeddingStore, words: Sequence[str], rows: np.ndarray, name: str) -> np.ndarray:
    # Evaluations look words up in a model that computes these vectors.
    if (is_mean := are_in_parts(rows)).any() and not isinstance(model, InParts):
        raise BiasgridError(
            f"{name}: {quote(words[int(is_mean.argmax())])} is the mean of its parts, and debias methods take words: "
            "leave the word, or parts in preprocessors, out"
        )
    vectors = model.take(words, rows)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        word = words[int(np.argmin(finite))]
        raise BiasgridError(f"{name}: the vector of {quote(word)} in {model.name} is not finite")
    return vectors

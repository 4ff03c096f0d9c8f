"""Direction between two groups of words in a model, and the projections of random words of that model on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.errors import InputError, did_you_mean, join_names, quote, unknown_name
from ..core.geometry import FLAT
from ..debias.lookup import find_sets, find_words
from ..evaluation.facts import direction_in, directions
from ..evaluation.hidden_bias import lower_case_words
from ..evaluation.spec import first_words
from ..measure.candidate_words import bands_of, draw_words
from ..measure.statistics.scale import NONE, Scale, Standardized
from ..models.cache_per_model import remember
from ..models.checks import check_model
from ..models.directions import DIRECTIONS, PAIR, PAIRED
from ..models.directions import axis as axis_of_vectors
from ..models.model import DebiasedModel, Model
from ..queries.query import Query
from ..queries.word_set import Sets, WordSet, word_sets

Groups = Query | Sets
VOCABULARY = 50_000


@dataclass(frozen=True, eq=False)
class Axis:
    """Direction in which two groups of words differ.

    Attributes
    ----------
    names
        Names of the groups: words with positive projections are closer to the first.
    vector
        float64 (dimensions,), of unit length in the original model (`in_variant`).
    rows
        Rows of the groups' words.
    missing
        Words of the groups that the model lacks.
    """

    names: tuple[str, str]
    vector: np.ndarray
    rows: frozenset[int]
    missing: tuple[str, ...]

    def in_variant(self, model: Model) -> Axis:
        """Return the direction of the original model in the dimensions of a variant, which may have fewer."""
        return replace(self, vector=direction_in(model, self.vector))

    def cosines(self, units: np.ndarray) -> np.ndarray:
        """Return the cosine (n,) of unit vectors (n, d) with the direction; rounding noise becomes 0."""
        cosines: np.ndarray = units @ self.vector
        return np.where(np.abs(cosines) < FLAT, 0.0, cosines)

    def leans(self, projection: float) -> str:
        """Return the name of the group to which a projection is closer; empty for none."""
        return self.names[0] if projection > 0 else self.names[1] if projection < 0 else ""


def original(model: Model) -> Model:
    """Return the original model of a debiased model; any other model itself."""
    return model.model if isinstance(model, DebiasedModel) else model


def groups_of(groups: Groups, number: int | None = 2) -> tuple[WordSet, ...]:
    """Return word sets given in the form of a query's target sets, or as a query.

    Raises
    ------
    InputError
        If their number is not `number` or, with None, less than two.
    """
    sets = groups.target_sets if isinstance(groups, Query) else word_sets("target", groups, None)
    if len(sets) != number if number else len(sets) < 2:
        allowed = f"{number} groups" if number else "two groups or more"
        raise InputError(f"groups: expected {allowed} of words, not {len(sets)}")
    return sets


def find_axis(model: Model, groups: Groups, direction: str) -> Axis:
    """Find the direction of two groups in the original model.

    The direction for a debiased model of fewer dimensions is converted to its dimensions.

    Parameters
    ----------
    model
        A model of word vectors.
    groups
        Two sets of words. With the directions "pca" and "pair", word i of both is a pair.
    direction
        One of `biasgrid.models.directions.DIRECTIONS`.

    Raises
    ------
    InputError
        If the direction is unknown, words of a pair lack a partner, or the model lacks the words.
    """
    check_model(model, ("rows", "take", "vocabulary"))
    if direction not in DIRECTIONS:
        raise InputError(unknown_name("direction", direction, DIRECTIONS))
    store: Any = original(model)
    first, second = groups_of(groups)
    vectors: list[np.ndarray]
    if direction in PAIRED:
        if len(first) != len(second):
            raise InputError(
                f"groups: {quote(first.name)} has {len(first)} words and {quote(second.name)} {len(second)}: "
                f"direction={direction!r} takes word i of both as a pair; direction='mean' takes any number"
            )
        pairs = list(zip(first, second, strict=True))[: 1 if direction == PAIR else None]
        found = find_sets(store, pairs, "groups", strict=False)
        vectors = [np.array([pair[side] for pair in found.vectors]) for side in (0, 1)]
        keys = [word for pair in found.words for word in pair]
        missing = tuple(f"{a}:{b}" for a, b in found.lost)
    else:
        both = [find_words(store, words, "groups") for words in (first, second)]
        vectors = [side.vectors for side in both]
        keys = [word for side in both for word in side.words]
        missing = tuple(word for side in both for word in side.lost)
    if not all(map(len, vectors)):
        raise InputError(
            f"groups: {store.name} lacks the words of {quote(first.name)} or {quote(second.name)}: "
            f"{join_names(missing)}"
        )
    vector = axis_of_vectors(vectors[0], vectors[1], direction)
    if not np.isfinite(vector).all():
        raise InputError(
            f"groups: {quote(first.name)} and {quote(second.name)} do not differ in one direction in {store.name}"
        )
    axis = Axis((first.name, second.name), vector, frozenset(store.rows(keys).tolist()), missing)
    return axis.in_variant(model)


@dataclass(frozen=True, eq=False)
class Words:
    """Words of a model, as they were given, with their vocabulary entries and rows; and the missing words."""

    words: tuple[str, ...]
    entries: tuple[str, ...]
    rows: np.ndarray
    missing: tuple[str, ...] = ()

    def units(self, model: Model, block: int = 8192) -> np.ndarray:
        """Return unit vectors (words, d) in a model; NaN for a word without direction."""
        parts = [np.empty((0, model.dimensions))]
        for start in range(0, len(self.rows), block):
            part = slice(start, start + block)
            parts.append(unit_or_nan(model.matrix(self.entries[part], self.rows[part])))
        return np.concatenate(parts)

    def project(self, model: Model, axis: Axis, block: int = 8192) -> np.ndarray:
        """Return the cosine (words,) of each word with a direction; NaN for a word without direction."""
        parts = [np.empty(0)]
        for start in range(0, len(self.rows), block):
            part = slice(start, start + block)
            parts.append(axis.cosines(unit_or_nan(model.matrix(self.entries[part], self.rows[part]))))
        return np.concatenate(parts)


def unit_or_nan(vectors: np.ndarray) -> np.ndarray:
    """Return rows at unit length, float64; NaN for a row that is zero or not finite."""
    units, has_direction = directions(np.asarray(vectors, dtype=np.float64))
    return np.where(has_direction[:, None], units, np.nan)


def find(model: Model, words: Iterable[str], name: str) -> Words:
    """Look words up in the original model, each in the first form that it has.

    A list that begins with a word, as in debiaswe's professions, is replaced by the word.

    Raises
    ------
    InputError
        If the model lacks all of the words.
    """
    if isinstance(words, str):
        raise InputError(f"{name}: expected a list of words, not the text {quote(words)}")
    words = tuple(first_words(words))
    if wrong := [word for word in words if not isinstance(word, str)]:
        raise InputError(f"{name}: expected a list of words, not of {quote(wrong[0])}")
    store: Any = original(model)
    found = find_words(store, words, name)
    if not found.words:
        raise InputError(f"{name}: {store.name} has none of the {len(words)} words")
    prefix = store.vocab_prefix
    return Words(
        tuple(entry.removeprefix(prefix) for entry in found.words), found.words, found.rows, found.lost
    )


def find_one(model: Model, word: str, name: str) -> Words:
    """Look one word up. Raises InputError for a word that the model lacks, with the most similar of its words."""
    if not isinstance(word, str):
        raise InputError(f"{name}: expected one word, not {quote(word)}")
    store: Any = original(model)
    found = find_words(store, [word], name)
    if not found.words:
        close = [entry.removeprefix(store.vocab_prefix) for entry in store.vocabulary(VOCABULARY)[0]]
        raise InputError(
            f"{name}: {store.name} has no word {quote(word)}; {did_you_mean(word, close)}".rstrip("; ")
        )
    return Words((found.words[0].removeprefix(store.vocab_prefix),), found.words, found.rows)


def whole_vocabulary(
    model: Model, vocabulary: int | None, only_letters: bool, excluded_rows: Iterable[int] = ()
) -> Words:
    """Return the words of the first rows of a model.

    Parameters
    ----------
    model
        The model.
    vocabulary
        Number of rows to read; None reads all.
    only_letters
        Whether to leave out entries that contain other characters than lower-case letters, or more than 20
        characters.
    excluded_rows
        Rows of words to leave out.
    """
    store = original(model)
    excluded = set(excluded_rows)
    if only_letters:
        rows = lower_case_words(store, vocabulary, excluded)
    else:
        rows = [
            (entry.removeprefix(store.vocab_prefix), entry, int(row))
            for entry, row in zip(*store.vocabulary(vocabulary), strict=True)
            if row not in excluded
        ]
    words, entries, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    return Words(words, entries, np.array(numbers, dtype=np.int64))


# Cache the words: a report scores the same random words by each direction.
@remember(4)
def random_words(model: Model) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]:
    """Draw random words of a model, the same in all its variants (`biasgrid.measure.candidate_words.draw_words`)."""
    return draw_words(model, np.random.default_rng(0))


@dataclass(frozen=True, eq=False)
class Baseline:
    """Scores of random words of a model, the random-word baseline of a word.

    A word is compared with up to 6,000 random words of its own band of frequency
    (`biasgrid.measure.candidate_words.bands_of`). The words of the groups that define the direction are left out.

    Attributes
    ----------
    scales
        Band -> scale of its random words.
    """

    scales: Mapping[int, Scale]

    @classmethod
    def of(
        cls,
        model: Model,
        score: Callable[[np.ndarray, Sequence[str], np.ndarray], np.ndarray],
        *,
        excluded_rows: Iterable[int] = (),
        neutral: float = 0.0,
        per_band: int | None = None,
        bands: Iterable[int] | None = None,
    ) -> Baseline:
        """Score random words of each band.

        Parameters
        ----------
        model
            Model in which the words are scored.
        score
            Function of unit vectors (n, d), entries and rows that returns scores (n,).
        excluded_rows
            Rows of words that are not drawn.
        neutral
            Score that means no bias.
        per_band
            Number of words that are scored for each band; None scores all drawn words.
        bands
            Bands that are needed; None for all.
        """
        entries, rows, of_band, vectors = random_words(model)
        is_allowed = ~np.isin(rows, list(excluded_rows))
        scales = {}
        for band in np.unique(of_band).tolist() if bands is None else sorted(set(bands)):
            chosen = np.flatnonzero((of_band == band) & is_allowed)[:per_band]
            if not len(chosen):
                continue
            values = score(vectors[chosen].astype(np.float64), [entries[i] for i in chosen], rows[chosen])
            values = values[np.isfinite(values)]
            if len(values) > 1:
                # Each random word is its own topic.
                scales[band] = Scale.of(values, np.arange(len(values)), neutral)
        return cls(scales)

    @classmethod
    def of_axis(cls, model: Model, axis: Axis) -> Baseline:
        """Project random words of a model on a direction."""
        return cls.of(model, lambda units, entries, rows: axis.cosines(units), excluded_rows=axis.rows)

    def read(self, values: np.ndarray, rows: np.ndarray) -> list[Standardized]:
        """Standardise scores of words: standard deviations above random words of the same band of frequency."""
        return [
            self.scales[band].read(float(value)) if band in self.scales else NONE
            for value, band in zip(values, bands_of(rows).tolist(), strict=True)
        ]

"""Look-up of a set's words in a model, with a record of missing (out-of-vocabulary) words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import BiasgridError, is_among, not_allowed, quote, unknown_name
from ..core.geometry import unit
from ..core.letters import lookalikes
from .cache_per_model import remember
from .model import DebiasedModel, Model
from .multiword import InParts, parts_of, rows_in_parts
from .preprocessing import (
    DEFAULT_FORMS,
    FUNCTION,
    Preprocessor,
    check_preprocessor,
    form_of,
    in_parts,
    variant,
)
from .subwords import SubwordModel

THE_MODEL_HAS = "; the model has "  # precedes the form of a missing word that the vocabulary has
NOT_FOUND, EMPTY, NGRAMS = "not in the vocabulary", "nothing is left of it", "n-grams"
UNKNOWN = "with tokens unknown to the model"  # beginning of the form of a sentence that is scored with them


@dataclass(frozen=True)
class WordOptions:
    """Options of the word look-up, which are the same for all sets of a query.

    Parameters
    ----------
    preprocessors
        Variants of a word to try, in order. Each is a mapping of these options, or `{}` for the word as written:

        - `unicode`: "NFC", "NFD", "NFKC" or "NFKD";
        - `lowercase`, `uppercase`, `titlecase`: true or false, at most one true;
        - `language`: with `lowercase`, a tag such as "tr", in which I and İ become ı and i;
        - `without`: texts that are removed from the beginning and the end of the word;
        - `strip_accents`: true or "unicode" removes the marks of Latin, Greek and Cyrillic letters; "ascii"
          removes everything outside ASCII; "nfkd" works as in WEFE, which changes other scripts;
        - `join`: a text that replaces spaces, such as "_";
        - `parts`: "raw" or "unit": the word is the mean of its parts between spaces, of their vectors or of unit
          vectors.

        In Python, a variant may also be a function from word to word, bare or as {"preprocessor": function},
        without other options. Default: the word as written, then in lower case.
    strategy
        "first": use a word's first variant that is found; "all": use every variant found.
    normalize
        Whether each vector is divided by its Euclidean norm.
    lost_vocabulary_threshold
        From 0 to 1: a set fails if more than this share of its distinct words is missing.
    """

    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS
    strategy: str = "first"
    normalize: bool = False
    lost_vocabulary_threshold: float = 0.2

    def __post_init__(self) -> None:
        if isinstance(self.preprocessors, (Mapping, str)) or not isinstance(self.preprocessors, Sequence):
            raise BiasgridError("preprocessors: expected a list such as [{}, {lowercase: true}]")
        object.__setattr__(self, "preprocessors", tuple(self.preprocessors))
        if not self.preprocessors:
            raise BiasgridError("preprocessors: the list is empty; [{}] looks words up as they are written")
        for preprocessor in self.preprocessors:
            check_preprocessor(preprocessor)
        bare = (p if callable(p) else p.get(FUNCTION, p) for p in self.preprocessors)
        object.__setattr__(self, "preprocessors", tuple(bare))
        if not is_among(self.strategy, ("first", "all")):
            raise BiasgridError(f"strategy: {unknown_name('value', self.strategy, ('first', 'all'))}")
        if not isinstance(self.normalize, bool):
            raise BiasgridError(not_allowed("normalize", self.normalize, "true, false"))
        threshold = self.lost_vocabulary_threshold
        if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 <= threshold <= 1:
            raise BiasgridError(not_allowed("lost_vocabulary_threshold", threshold, "numbers from 0 to 1"))


class LookUp(NamedTuple):
    """The words of a set as found in a store.

    Attributes
    ----------
    slots
        The used slots: positions of a word and variant.
    keys, rows
        The vocabulary entry of each slot, and its row in the store.
    entries
        The entries of each word that was found.
    first
        The first of these entries, with its row.
    forms
        The positions of the variants that were found, by word.
    ngrams
        Words without a variant in the vocabulary whose vectors were computed from n-grams.
    why_lost
        Reasons for missing words, unless their variants are simply not in the vocabulary.
    """

    slots: np.ndarray
    keys: tuple[str, ...]
    rows: np.ndarray
    entries: dict[str, tuple[str, ...]]
    first: dict[str, tuple[str, int]]
    forms: dict[str, tuple[int, ...]]
    ngrams: frozenset[str]
    why_lost: dict[str, str]


@dataclass(frozen=True)
class WordVectors:
    """One word set as found in a model.

    Attributes
    ----------
    words, keys
        The set's word of each row, and its vocabulary entry. A word with several variants found (strategy
        "all") has several rows; a missing word does not have one.
    slots
        Position of each row's word and variant in the set as given; equal slots of two sets form a pair.
    vectors
        float64 (rows, dimensions).
    rows
        The rows of the keys in the model's vocabulary.
    found
        The vocabulary entries of each word, even if an earlier word has the same entry.
    lost
        Distinct words without any variant in the vocabulary.
    forms
        A description of the variant of each word, if it is not the first one or its vector is computed from
        n-grams.
    why_lost
        Reasons for missing words, unless their variants are simply not in the vocabulary.
    """

    name: str
    words: tuple[str, ...]
    keys: tuple[str, ...]
    slots: np.ndarray
    vectors: np.ndarray
    rows: np.ndarray
    found: dict[str, list[str]]
    lost: tuple[str, ...]
    forms: dict[str, str] = field(default_factory=dict)
    why_lost: dict[str, str] = field(default_factory=dict)

    @property
    def same_vector(self) -> list[list[str]]:
        """Return groups of words that are different entries of the vocabulary with the same vector."""
        entries: dict[int, dict[str, str]] = {}
        for word, key, row in zip(self.words, self.keys, self.rows.tolist(), strict=True):
            entries.setdefault(row, {}).setdefault(key, word)
        return [list(by_key.values()) for by_key in entries.values() if len(by_key) > 1]

    @property
    def lost_share(self) -> float:
        """Return the share of the set's distinct words that are missing, 0 to 1."""
        return len(self.lost) / (len(self.found) + len(self.lost))

    def take(self, places: np.ndarray) -> WordVectors:
        """Return the set with only the vectors at these positions."""
        return replace(
            self,
            words=tuple(self.words[place] for place in places),
            keys=tuple(self.keys[place] for place in places),
            slots=self.slots[places],
            vectors=self.vectors[places],
            rows=self.rows[places],
        )

    def without(self, why_lost: Mapping[int, str]) -> WordVectors:
        """Return the set without the rows in these slots; their words count as missing, for the given reasons."""
        if not why_lost:
            return self
        kept = self.take(np.flatnonzero(~np.isin(self.slots, list(why_lost))))
        places = dict(zip(self.slots.tolist(), zip(self.words, self.keys, strict=True), strict=True))
        reasons, by_key = {}, {}
        for slot, reason in why_lost.items():
            word, key = places[slot]
            reasons[word] = by_key[key] = reason
        keys = set(kept.keys)
        found = {word: [key for key in of_word if key in keys] for word, of_word in self.found.items()}
        for word, of_word in self.found.items():
            if not found[word]:
                reasons.setdefault(word, by_key[of_word[0]])
        lost = tuple(dict.fromkeys((*self.lost, *reasons)))
        return replace(
            kept,
            found={word: of_word for word, of_word in found.items() if of_word},
            lost=lost,
            forms={word: form for word, form in self.forms.items() if found.get(word)},
            why_lost={**self.why_lost, **reasons},
        )


def _why_lost(keys: Sequence[str], store: Model) -> str:
    """Return why none of a word's variants was found."""
    forms = [key.removeprefix(store.vocab_prefix) for key in keys]
    if not any(forms):
        return EMPTY
    missing = [
        [part for part in parts if store.rows([store.vocab_prefix + part])[0] < 0]
        for form in forms
        if (parts := parts_of(form))
    ]
    fewest = min(missing, key=len, default=[])
    if not fewest and isinstance(store, SubwordModel):
        return "not in the vocabulary, and too short for n-grams"
    return f"parts missing: {', '.join(fewest)}" if fewest else NOT_FOUND


def _forms_alike(words: Sequence[str], store: Model) -> dict[str, str]:
    """Return the words that the model has in a form that looks the same, with the difference and the form."""
    forms = {word: lookalikes(word) for word in words}
    keys = [store.vocab_prefix + form for of_word in forms.values() for form in of_word]
    if fold := getattr(store, "fold", None):
        keys = list(map(fold, keys))
    in_vocabulary = iter((store.rows(keys) >= 0).tolist() if keys else [])
    has = {word: [form for form in of_word if next(in_vocabulary)] for word, of_word in forms.items()}
    return {
        word: f"{forms[word][of_word[0]]}{THE_MODEL_HAS}{quote(of_word[0])}"
        for word, of_word in has.items()
        if of_word
    }


def find(
    name: str,
    words: Sequence[str],
    model: Model,
    options: WordOptions,
    in_pairs: bool = False,
) -> WordVectors:
    """Look up a set's words in a model.

    Repeated words, and words whose variants coincide in one vocabulary entry, count once. With `in_pairs`, a
    word keeps all its positions in the set, because each position belongs to another pair.
    """
    found = _look_up(words, model, options, in_pairs)
    vectors = model.take(found.keys, found.rows)
    if options.normalize:
        vectors = unit(vectors)
    places = found.slots // len(options.preprocessors)
    return WordVectors(
        name=name,
        words=tuple(words[p] for p in places.tolist()),
        keys=found.keys,
        # With "first", the two words of a pair may be found as different variants.
        slots=places if options.strategy == "first" else found.slots,
        vectors=vectors,
        rows=found.rows,
        found=dict(zip(found.entries, map(list, found.entries.values()), strict=True)),
        lost=tuple(word for word in dict.fromkeys(words) if word not in found.entries),
        forms={
            word: _describe_forms(of_word, word in found.ngrams, options)
            for word, of_word in found.forms.items()
            if of_word != (0,) or word in found.ngrams
        },
        why_lost=found.why_lost,
    )


def _describe_forms(of_word: tuple[int, ...], from_ngrams: bool, options: WordOptions) -> str:
    """Return a description of the variants that were found for a word."""
    form = "; ".join(form_of(options.preprocessors[place]) for place in of_word)
    if not from_ngrams:
        return form
    return NGRAMS if of_word == (0,) else f"{form}, {NGRAMS}"


def entries_and_rows(
    words: Sequence[str], model: Model, options: WordOptions
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the vocabulary entries that `find` finds for these words, and their rows, without their vectors."""
    found = _look_up(words, model, options)
    return found.keys, found.rows


def entries_of(
    words: Iterable[str],
    model: Model,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> dict[str, tuple[str, int]]:
    """Return vocabulary entry and row of each word that the model has, for the word's first variant found."""
    return dict(_look_up(tuple(dict.fromkeys(words)), model, WordOptions(preprocessors)).first)


def _look_up(words: Sequence[str], model: Model, options: WordOptions, in_pairs: bool = False) -> LookUp:
    """Look words up in the vocabulary of a model, each in the forms that the options ask for."""
    # A debiased model has the vocabulary of its original model.
    store = model.base if isinstance(model, InParts) else model
    store = store.model if isinstance(store, DebiasedModel) else store
    variants = tuple(
        p if callable(p) else tuple((key, _hashable(value)) for key, value in sorted(p.items()))
        for p in options.preprocessors
    )
    # Functions are not cached: their results may change, and some cannot be hashed.
    look_up = _find_entries.__wrapped__ if any(map(callable, variants)) else _find_entries  # type: ignore[attr-defined]
    return look_up(store, tuple(words), variants, options.strategy, in_pairs)


# Looking up a lexicon of thousands of words takes a tenth of a second, and a study does it hundreds of times.
@remember(128)
def _find_entries(
    store: Model,
    words: tuple[str, ...],
    preprocessors: tuple[tuple[tuple[str, Any], ...] | Callable[[str], str], ...],
    strategy: str,
    in_pairs: bool,
) -> LookUp:
    """Find the entry of each word: its first form that the model has, or all forms, by `strategy`."""
    variants = [p if callable(p) else dict(p) for p in preprocessors]
    width = len(variants)
    keys = [variant(word, p, store.vocab_prefix) for word in words for p in variants]
    if fold := getattr(store, "fold", None):
        keys = list(map(fold, keys))
    vocabulary = store.base if isinstance(store, SubwordModel) else store
    may_be_parts = in_parts(variants)
    rows = rows_in_parts(vocabulary, keys) if may_be_parts else vocabulary.rows(keys)
    # `strip_accents: ascii` removes all letters of a word in another script.
    is_word = np.array([key != store.vocab_prefix for key in keys], dtype=bool)
    hits = ((rows >= 0) & is_word).tolist()
    ngrams = set()
    if vocabulary is not store:
        # A word without any form in the vocabulary: its first form, or its parts, are made of n-grams.
        slots_of_lost: dict[int, str] = {}
        for place in np.flatnonzero(~np.reshape(hits, (-1, width)).any(axis=1)).tolist():
            its_slots = [slot for slot in range(place * width, (place + 1) * width) if is_word[slot]]
            if its_slots:
                slots_of_lost[min(its_slots, key=lambda slot: not parts_of(keys[slot]))] = words[place]
        its_keys = [keys[slot] for slot in slots_of_lost]
        made = rows_in_parts(store, its_keys) if may_be_parts else store.rows(its_keys)
        for (slot, word), row in zip(slots_of_lost.items(), made.tolist(), strict=True):
            if row >= 0:
                rows[slot], hits[slot] = row, True
                ngrams.add(word)
    used_slots: list[int] = []
    entries_by_word: dict[str, tuple[str, ...]] = {}
    first: dict[str, tuple[str, int]] = {}
    forms: dict[str, tuple[int, ...]] = {}
    why_lost: dict[str, str] = {}
    former_keys: set[str] = set()
    for place, word in enumerate(words):
        of_word = [slot for slot in range(place * width, (place + 1) * width) if hits[slot]]
        if strategy == "first":
            of_word = of_word[:1]
        if of_word:
            entries_by_word[word] = tuple(dict.fromkeys(keys[slot] for slot in of_word))
            first[word] = keys[of_word[0]], int(rows[of_word[0]])
            forms[word] = tuple(slot % width for slot in of_word)
        elif (reason := _why_lost(keys[place * width : (place + 1) * width], store)) != NOT_FOUND:
            why_lost[word] = reason
        if in_pairs:
            former_keys = set()
        for slot in of_word:
            if keys[slot] not in former_keys:
                former_keys.add(keys[slot])
                used_slots.append(slot)
    if lost := [word for word in dict.fromkeys(words) if word not in entries_by_word]:
        why_lost |= _forms_alike(lost, vocabulary)
    slots = np.array(used_slots, dtype=np.int64)
    rows = rows[slots]
    slots.setflags(write=False)
    rows.setflags(write=False)
    taken = tuple(keys[slot] for slot in used_slots)
    return LookUp(slots, taken, rows, entries_by_word, first, forms, frozenset(ngrams), why_lost)


def whole_pairs(sets: Sequence[WordVectors]) -> list[WordVectors]:
    """Return paired sets without incomplete pairs: row i of one belongs to row i of the others."""
    common = sets[0].slots
    for s in sets[1:]:
        common = np.intersect1d(common, s.slots)
    return [s.take(np.flatnonzero(np.isin(s.slots, common))) for s in sets]


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value

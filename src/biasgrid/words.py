"""From the words of a set to vectors: look-up, and account of what was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from .embeddings.in_parts import InParts, parts_of, rows_in_parts
from .embeddings.model import DebiasedModel, Model
from .embeddings.remember import remember
from .embeddings.subwords import SubwordModel
from .errors import BiasgridError, is_among, not_allowed, quote, unknown_name
from .geometry import unit
from .letters import lookalikes
from .preprocessing import (
    DEFAULT_FORMS,
    FUNCTION,
    Preprocessor,
    check_preprocessor,
    form_of,
    in_parts,
    variant,
)

THE_MODEL_HAS = "; the model has "  # begins the form of a lost word that the vocabulary has
NOT_FOUND, EMPTY, NGRAMS = "not in the vocabulary", "nothing is left of it", "n-grams"
UNKNOWN = "with tokens unknown to the model"  # begins the form of a sentence that is scored with them


@dataclass(frozen=True)
class WordOptions:
    """How words are looked up; the same for all sets of a query.

    Parameters
    ----------
    preprocessors : sequence
        Variants to try, in order. Each is a mapping with any of `unicode` ("NFC", "NFD", "NFKC" or "NFKD"),
        `lowercase`, `uppercase`, `titlecase` (true or false, at most one true), `language` (beside `lowercase`, a tag
        such as "tr", in which I and İ become ı and i), `without` (texts that are taken off where the word begins or
        ends with one), `strip_accents` (true or "unicode": without the marks of Latin, Greek and Cyrillic letters;
        "ascii": without all that ASCII lacks; "nfkd": as in WEFE, which changes other scripts), `join` (a text such
        as "_" in place of spaces), and `parts` ("raw" or "unit": the word is the mean of its parts between spaces, of
        their vectors or of unit vectors); `{}` is the word as written. In Python also a function from word to word,
        bare or as {"preprocessor": function}, which stands alone. Default: the word as written, else in lower case.
    strategy : {"first", "all"}
        "first": a word's first variant that is found; "all": every variant found.
    normalize : bool
        Whether each vector is divided by its Euclidean norm.
    lost_vocabulary_threshold : float
        From 0 to 1: a set fails if more than this share of its distinct words is lost.
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
    """What words were found as in a store.

    slots     that are taken: place of a word and variant
    keys      of each of them, and its row in the store
    entries   word -> the keys that it was found as
    first     word -> the first of these, with its row
    forms     word -> the places of the variants that it was found as
    ngrams    the words that are in the vocabulary as no variant, and were made of n-grams
    why_lost  lost word -> why, where that is not that its variants are not in the vocabulary
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
class FoundSet:
    """One word set as a model knows it.

    words     the set's word of each row, keys the vocabulary entry it was found as; a word that several variants
              were found of (strategy "all") has several rows, one that was lost has none
    slots     place of each row's word and variant in the set as given; equal slots of two sets form a pair
    vectors   float64 (rows, dimensions)
    rows      of the keys in the model's vocabulary
    found     word -> the vocabulary entries it was found as, also where another word had the same entry before
    lost      distinct words of which no variant was found
    forms     word -> the variant that it was found as, in words, where that is not the first; and n-grams, where
              its vector is made of them
    why_lost  lost word -> why, where that is not that its variants are not in the vocabulary
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
        """Words that are different entries of the vocabulary, and one vector."""
        entries: dict[int, dict[str, str]] = {}
        for word, key, row in zip(self.words, self.keys, self.rows.tolist(), strict=True):
            entries.setdefault(row, {}).setdefault(key, word)
        return [list(by_key.values()) for by_key in entries.values() if len(by_key) > 1]

    @property
    def lost_share(self) -> float:
        """Share of the set's distinct words that was lost, 0 to 1."""
        return len(self.lost) / (len(self.found) + len(self.lost))

    def take(self, places: np.ndarray) -> FoundSet:
        """The same set with the vectors at these places only."""
        return replace(
            self,
            words=tuple(self.words[place] for place in places),
            keys=tuple(self.keys[place] for place in places),
            slots=self.slots[places],
            vectors=self.vectors[places],
            rows=self.rows[places],
        )

    def without(self, why_lost: Mapping[int, str]) -> FoundSet:
        """Return the set without the rows in these slots, whose words are lost, each for its reason."""
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
    """Why none of a word's variants was found."""
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
    """Return the words that the model has in a form that looks the same: what is different, and the form."""
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
) -> FoundSet:
    """Look a set's words up in a model.

    Repeated words, and words whose variants coincide in one vocabulary entry, count once - unless `in_pairs`,
    where a word keeps every place it has in the set because each place belongs to another pair.
    """
    found = _look_up(words, model, options, in_pairs)
    vectors = model.take(found.keys, found.rows)
    if options.normalize:
        vectors = unit(vectors)
    places = found.slots // len(options.preprocessors)
    return FoundSet(
        name=name,
        words=tuple(words[p] for p in places.tolist()),
        keys=found.keys,
        # under "first" a pair holds whichever variant each side was found as
        slots=places if options.strategy == "first" else found.slots,
        vectors=vectors,
        rows=found.rows,
        found=dict(zip(found.entries, map(list, found.entries.values()), strict=True)),
        lost=tuple(word for word in dict.fromkeys(words) if word not in found.entries),
        forms={
            word: _form(of_word, word in found.ngrams, options)
            for word, of_word in found.forms.items()
            if of_word != (0,) or word in found.ngrams
        },
        why_lost=found.why_lost,
    )


def _form(of_word: tuple[int, ...], from_ngrams: bool, options: WordOptions) -> str:
    """The variants that a word was found as, in words."""
    form = "; ".join(form_of(options.preprocessors[place]) for place in of_word)
    if not from_ngrams:
        return form
    return NGRAMS if of_word == (0,) else f"{form}, {NGRAMS}"


def entries_and_rows(
    words: Sequence[str], model: Model, options: WordOptions
) -> tuple[tuple[str, ...], np.ndarray]:
    """The vocabulary entries that `find` finds for these words, and their rows, without their vectors."""
    found = _look_up(words, model, options)
    return found.keys, found.rows


def entries_of(
    words: Iterable[str],
    model: Model,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> dict[str, tuple[str, int]]:
    """Vocabulary entry and row of each of the words that the model has, as their first variants that it has."""
    return dict(_look_up(tuple(dict.fromkeys(words)), model, WordOptions(preprocessors)).first)


def _look_up(words: Sequence[str], model: Model, options: WordOptions, in_pairs: bool = False) -> LookUp:
    # a transform changes vectors, and finds what its model finds
    store = model.base if isinstance(model, InParts) else model
    store = store.model if isinstance(store, DebiasedModel) else store
    variants = tuple(
        p if callable(p) else tuple((key, _hashable(value)) for key, value in sorted(p.items()))
        for p in options.preprocessors
    )
    # what a function returns may change, and not every one can be a key of the cache
    look_up = _find_entries.__wrapped__ if any(map(callable, variants)) else _find_entries  # type: ignore[attr-defined]
    return look_up(store, tuple(words), variants, options.strategy, in_pairs)


# a lexicon of thousands of words takes a tenth of a second, and a study's cells look it up hundreds of times
@remember(128)
def _find_entries(
    store: Model,
    words: tuple[str, ...],
    preprocessors: tuple[tuple[tuple[str, Any], ...] | Callable[[str], str], ...],
    strategy: str,
    in_pairs: bool,
) -> LookUp:
    variants = [p if callable(p) else dict(p) for p in preprocessors]
    width = len(variants)
    keys = [variant(word, p, store.vocab_prefix) for word in words for p in variants]
    if fold := getattr(store, "fold", None):
        keys = list(map(fold, keys))
    vocabulary = store.base if isinstance(store, SubwordModel) else store
    may_be_parts = in_parts(variants)
    rows = rows_in_parts(vocabulary, keys) if may_be_parts else vocabulary.rows(keys)
    # strip_accents: ascii leaves nothing of a word in another script
    is_word = np.array([key != store.vocab_prefix for key in keys], dtype=bool)
    hits = ((rows >= 0) & is_word).tolist()
    ngrams = set()
    if vocabulary is not store:
        # of what is in the vocabulary in no form the first one is made of n-grams; of several words their parts
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


def whole_pairs(sets: Sequence[FoundSet]) -> list[FoundSet]:
    """Paired sets cut to the pairs that are whole: row i of one belongs to row i of the others."""
    common = sets[0].slots
    for s in sets[1:]:
        common = np.intersect1d(common, s.slots)
    return [s.take(np.flatnonzero(np.isin(s.slots, common))) for s in sets]


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value

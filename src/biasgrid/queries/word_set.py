"""Word sets: named, ordered words, and their forms as arguments of a query."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, overload

from ..core.errors import ArgumentTypeError, BiasgridError, join_names, quote
from ..core.printable import HIDDEN, check_line, check_texts
from ..core.user_warnings import stacklevel

# The sets of one side of a query, in order or by name.
Sets = Iterable[Iterable[str]] | Mapping[str, Iterable[str]]
LINE = 72  # maximum length of a set's words in a repr


@dataclass(frozen=True, repr=False)
class WordSet(Sequence[str]):
    """A named, ordered set of words, which is a sequence. Order matters to metrics that take pairs (RIPA).

    Parameters
    ----------
    name
        The name in tables and figures.
    words
        The words, in order. Repeated words cause a warning.
    of
        For sentences, the word in each of them. Words are then permuted and resampled with all their sentences.
        Empty: each sentence is a unit of its own.

    Raises
    ------
    BiasgridError
        The set is empty, or a word is not a string.
    """

    name: str
    words: tuple[str, ...]
    of: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._set("word", self.name, self.words, self.of)

    def _set(
        self, role: str, name: str, words: Iterable[str], of: Iterable[str] = (), warn: bool = True
    ) -> WordSet:
        name = line_of_text(f"{role} set's name", name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "words", _words(f"{role} set {quote(name)}", words, warn))
        of = _as_list(of, f"{role} set {quote(name)}: of must be a list of words")
        if of and (len(of) != len(self.words) or not all(isinstance(word, str) and word for word in of)):
            raise BiasgridError(
                f"query: {role} set {quote(name)}: of must have a word for each of its sentences"
            )
        check_texts(of, f"query: {role} set {quote(name)}: of")
        object.__setattr__(self, "of", tuple(of))
        return self

    @classmethod
    def unwarned(cls, name: str, words: Iterable[str], of: Iterable[str] = ()) -> WordSet:
        """Create a word set without a warning about repetitions, which are normal for sentences of a file.

        Parameters
        ----------
        name, words, of
            As in the class.
        """
        return object.__new__(cls)._set("word", name, words, of, warn=False)

    @property
    def units(self) -> tuple[str, ...]:
        """Return the units of permutation and resampling: the words, or for sentences the words in them."""
        return tuple(dict.fromkeys(self.of)) or self.words

    @property
    def distinct(self) -> tuple[str, ...]:
        """Return the words without repetitions, in order of first appearance."""
        return tuple(dict.fromkeys(self.words))

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.words)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        return self.words[place]

    def __add__(self, words: Iterable[str]) -> list[str]:
        """Return a list of the words followed by other words, like a sum of lists."""
        return [*self.words, *words] if isinstance(words, (WordSet, list, tuple)) else NotImplemented

    def __radd__(self, words: Iterable[str]) -> list[str]:
        return [*words, *self.words] if isinstance(words, (list, tuple)) else NotImplemented

    def __repr__(self) -> str:
        return f"WordSet {shorten(self.name)} ({len(self.words)}): {first_words(self.words)}"


def word_sets(role: str, sets: Sets, names: Iterable[str] | None, warn: bool = True) -> tuple[WordSet, ...]:
    """Return the checked sets of one side of a query ("target" or "attribute"); `warn` of repeated words."""
    if isinstance(sets, Mapping):
        if names is not None:
            raise BiasgridError(
                f"query: the {role} sets are a mapping, whose keys are their names; "
                f"leave {role}_sets_names out, or give lists of words"
            )
        names, sets = list(sets), list(sets.values())
    else:
        sets = _as_list(
            sets, f"the {role} sets must be a list of lists of words, or a mapping from names to them"
        )
        for words in sets:
            if isinstance(words, str):
                raise ArgumentTypeError(
                    f"query: each {role} set must be a list of words, not the string {quote(words)}; "
                    f"one set alone is [[word, ...]], and names go to {role}_sets_names"
                )
    if not sets and role == "target":
        raise BiasgridError(f"query: no {role} set; at least one list of words is needed")
    if names is None:
        names = [
            words.name if isinstance(words, WordSet) else f"{role.capitalize()} set {i}"
            for i, words in enumerate(sets)
        ]
    names = _as_list(names, f"the {role} sets' names must be a list")
    if len(names) != len(sets):
        raise BiasgridError(f"query: {len(sets)} {role} sets but {len(names)} names for them")
    return tuple(
        words
        if isinstance(words, WordSet) and words.name == name
        else object.__new__(WordSet)._set(role, name, words, getattr(words, "of", ()), warn)
        for name, words in zip(names, sets, strict=True)
    )


def _words(label: str, values: Iterable[str], warn: bool) -> tuple[str, ...]:
    words = _as_list(values, f"{label} must be a list of words")
    if not words:
        raise BiasgridError(f"query: {label} is empty")
    try:
        text = "".join(words)
        are_words = all(map(str.strip, words)) and _is_unicode(text) and not HIDDEN.search(text)
    except TypeError:
        are_words = False
    if not are_words:
        check_texts([word for word in words if isinstance(word, str)], f"query: {label}")
        wrong = next(w for w in words if not isinstance(w, str) or not w.strip() or not _is_unicode(w))
        error = BiasgridError if isinstance(wrong, str) else ArgumentTypeError
        raise error(f"query: {label}: {quote(wrong)} is not a word (a non-empty string)")
    if warn and len(set(words)) < len(words):
        duplicates = [word for word, count in Counter(words).items() if count > 1]
        warnings.warn(
            f"{label} repeats {join_names(map(quote, duplicates))}; it counts once, but for metrics of pairs",
            stacklevel=stacklevel(),
        )
    return tuple(map(str, words))


def _as_list(values: Iterable[Any], must: str) -> list[Any]:
    """Return the content of an ordered iterable as a list.

    Raises ArgumentTypeError for text, bytes, mappings and sets, which are not ordered lists.
    """
    # The views of a dict are ordered sets.
    is_unordered = isinstance(values, AbstractSet) and not hasattr(values, "mapping")
    if not isinstance(values, (str, bytes, Mapping)) and not is_unordered:
        try:
            return list(values)
        except TypeError:
            pass
    hint = ""
    if is_unordered:
        hint = "; a set has no order, sorted() gives it one"
    elif isinstance(values, str) and "list of words" not in must:
        hint = "; the query's own name is given as name="
    raise ArgumentTypeError(f"query: {must}, not {_describe(values)}{hint}")


def _describe(value: object) -> str:
    return (
        quote(value) if value is None or isinstance(value, (str, bytes, int, float)) else type(value).__name__
    )


def line_of_text(what: str, text: str) -> str:
    """Return a checked name.

    Raises BiasgridError if it is not a line of text.
    """
    return check_line(text, what=f"query: a {what}")


def _is_unicode(text: str) -> bool:
    """Return whether a text can be encoded; half a surrogate pair, which JSON allows, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shorten(text: str, length: int = 40) -> str:
    """Return a text, shortened to `length` characters, as a part of a line."""
    text = text if text.isprintable() else repr(text)
    return text if len(text) <= length else f"{text[: length - 3]}..."


def first_words(words: Sequence[str]) -> str:
    """Return the first words that fit in a line, and the number of the remaining ones."""
    line = ""
    for place, word in enumerate(map(shorten, words)):
        if line and len(line) + 2 + len(word) > LINE:
            return f"{line} and {len(words) - place} more"
        line = f"{line}, {word}" if line else word
    return line

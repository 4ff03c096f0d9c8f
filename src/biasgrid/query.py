"""Queries: named target sets and attribute sets of words (Badilla et al., IJCAI 2020, section 3)."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

from .configs import read_json
from .errors import BiasgridError, listed, shown, unknown

Arity = int | Literal["n", "k"]  # "n": any number from one on; "k": any from two on, on both sides the same


@dataclass(frozen=True)
class WordSet:
    """A named, ordered set of words. Order matters to metrics that take pairs (RIPA)."""

    name: str
    words: tuple[str, ...]

    @property
    def distinct(self) -> tuple[str, ...]:
        """The words without repetitions, in order of first appearance."""
        return tuple(dict.fromkeys(self.words))


@dataclass(frozen=True)
class Query:
    """Target sets T and attribute sets A. Build one with `Query.of`, which checks it.

    `name` is WEFE's "T1, T2 and T3 wrt A1 and A2" unless given.
    """

    name: str
    target_sets: tuple[WordSet, ...]
    attribute_sets: tuple[WordSet, ...]

    @classmethod
    def of(
        cls,
        target_sets: Sequence[Sequence[str]],
        attribute_sets: Sequence[Sequence[str]],
        target_set_names: Sequence[str] | None = None,
        attribute_set_names: Sequence[str] | None = None,
        name: str | None = None,
    ) -> Query:
        """A checked query from lists of words.

        Raises BiasgridError for no set, an empty set, a word that is not a string, or two sets of one name.
        Warns of words that a set repeats.
        """
        targets = _word_sets("target", target_sets, target_set_names)
        attributes = _word_sets("attribute", attribute_sets, attribute_set_names)
        repeated = [n for n, c in Counter(s.name for s in targets + attributes).items() if c > 1]
        if repeated:
            raise BiasgridError(f"query: two sets are named {shown(repeated[0])}; set names must differ")
        if name is None:
            name = generated_name(targets, attributes)
        _check_text("query's name", name)
        return cls(name, targets, attributes)

    @property
    def template(self) -> tuple[int, int]:
        """(number of target sets, number of attribute sets)."""
        return len(self.target_sets), len(self.attribute_sets)

    def fits(self, template: tuple[Arity, Arity]) -> bool:
        """Whether the query has the template, or sub-queries that have it."""
        least = [{"n": 1, "k": 2}.get(need, need) for need in template]
        enough = all(need <= have for need, have in zip(least, self.template, strict=True))
        return enough and (template != ("k", "k") or len(set(self.template)) == 1)

    def exactly(self, template: tuple[Arity, Arity]) -> bool:
        """Whether the query has the template as it is, not only through sub-queries."""
        as_it_is = all(need in ("n", "k", have) for need, have in zip(template, self.template, strict=True))
        return as_it_is and self.fits(template)

    def subqueries(self, template: tuple[Arity, Arity]) -> tuple[Query, ...]:
        """The queries of a smaller template inside this one; the query itself where it fits as it is.

        Combinations of target sets (outer loop) by combinations of attribute sets (inner loop), as WEFE
        orders them; "n" and "k" take all sets. Raises BiasgridError where the query has too few sets.
        """
        if template == ("k", "k") and len(set(self.template)) > 1:
            raise BiasgridError(
                f"query {shown(self.name)} has template {self.template}; it needs as many target as attribute sets"
            )
        if not self.fits(template):
            raise BiasgridError(
                f"query {shown(self.name)} has template {self.template}; {template} needs more sets than it has"
            )
        if self.exactly(template):
            return (self,)
        t, a = (
            have if need in ("n", "k") else need for need, have in zip(template, self.template, strict=True)
        )
        return tuple(
            Query(generated_name(targets, attributes), targets, attributes)
            for targets in combinations(self.target_sets, t)
            for attributes in combinations(self.attribute_sets, a)
        )

    def to_json(self) -> str:
        """The query file's text: deterministic, in the form that `from_dict` reads."""
        record = {
            "name": self.name,
            "target_sets": [{"name": s.name, "words": list(s.words)} for s in self.target_sets],
            "attribute_sets": [{"name": s.name, "words": list(s.words)} for s in self.attribute_sets],
        }
        return json.dumps(record, ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_dict(cls, record: dict, where: str = "query") -> Query:
        """A query from `{"name", "target_sets": [{"name", "words"}], "attribute_sets": [...]}`."""
        if not isinstance(record, dict):
            raise BiasgridError(f"{where}: expected an object with target_sets and attribute_sets")
        keys = ("name", "target_sets", "attribute_sets")
        for key in record.keys() - keys:
            raise BiasgridError(f"{where}: {unknown('key', key, keys)}")
        sides = []
        for side in ("target_sets", "attribute_sets"):
            sets = record.get(side)
            if not isinstance(sets, list) or not sets:
                raise BiasgridError(f"{where}: {side} must be a list with at least one set")
            for s in sets:
                if not isinstance(s, dict) or "words" not in s or set(s) - {"name", "words"}:
                    raise BiasgridError(f"{where}: each of {side} must be an object with name and words")
            default = "Target set" if side == "target_sets" else "Attribute set"
            sides.append(
                ([s["words"] for s in sets], [s.get("name", f"{default} {i}") for i, s in enumerate(sets)])
            )
        (targets, target_names), (attributes, attribute_names) = sides
        try:
            return cls.of(targets, attributes, target_names, attribute_names, record.get("name"))
        except BiasgridError as error:
            raise BiasgridError(f"{where}: {str(error).removeprefix('query: ')}") from None

    @classmethod
    def read(cls, path: Path | str) -> Query:
        """A query from a query file (JSON)."""
        return cls.from_dict(read_json(path), str(path))


def generated_name(targets: Sequence[WordSet], attributes: Sequence[WordSet]) -> str:
    """WEFE's query name: "A, B and C wrt X and Y"."""
    return f"{_listed(targets)} wrt {_listed(attributes)}"


def _listed(sets: Sequence[WordSet]) -> str:
    *head, last = [s.name for s in sets]
    return f"{', '.join(head)} and {last}" if head else last


def _word_sets(role: str, sets: Sequence[Sequence[str]], names: Sequence[str] | None) -> tuple[WordSet, ...]:
    if isinstance(sets, str) or not isinstance(sets, Sequence):
        raise BiasgridError(f"query: the {role} sets must be a list of lists of words, not {shown(sets)}")
    if isinstance(names, str):
        raise BiasgridError(f"query: the {role} sets' names must be a list, not {shown(names)}")
    if not sets:
        raise BiasgridError(f"query: no {role} set; at least one list of words is needed")
    if names is None:
        names = [f"{role.capitalize()} set {i}" for i in range(len(sets))]
    if len(names) != len(sets):
        raise BiasgridError(f"query: {len(sets)} {role} sets but {len(names)} names for them")
    return tuple(_word_set(role, name, words) for name, words in zip(names, sets, strict=True))


def _word_set(role: str, name: str, words: Sequence[str]) -> WordSet:
    _check_text(f"{role} set's name", name)
    if isinstance(words, (str, dict)) or not hasattr(words, "__iter__"):
        raise BiasgridError(
            f"query: {role} set {shown(name)} must be a list of words, not {type(words).__name__}"
        )
    words = tuple(words)
    if not words:
        raise BiasgridError(f"query: {role} set {shown(name)} is empty")
    try:
        are_words = all(map(str.strip, words)) and _is_unicode("".join(words))
    except TypeError:
        are_words = False
    if not are_words:
        wrong = next(w for w in words if not isinstance(w, str) or not w.strip() or not _is_unicode(w))
        raise BiasgridError(
            f"query: {role} set {shown(name)}: {shown(wrong)} is not a word (a non-empty string)"
        )
    if len(set(words)) < len(words):
        repeated = [word for word, count in Counter(words).items() if count > 1]
        warnings.warn(
            f"{role} set {shown(name)} repeats {listed(map(shown, repeated))}; it counts once, "
            "but for metrics of pairs",
            stacklevel=4,
        )
    return WordSet(name, tuple(map(str, words)))


def _check_text(what: str, text: str) -> None:
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise BiasgridError(f"query: a {what} must be a line of text, not {shown(text)}")


def _is_unicode(text: str) -> bool:
    """Half a surrogate pair, which JSON can spell, is in no text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

"""Queries: named target sets and attribute sets of words (Badilla et al., IJCAI 2020, section 3)."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from ..core.configs import read_json
from ..core.errors import BiasgridError, quote, unknown_name
from ..core.files import write_text
from ..core.keywords import checked_keywords
from ..core.validation import check_path
from ..core.wefe_names import QUERY, no_attribute
from .word_set import Sets, WordSet, first_words, line_of_text, shorten, word_sets

# 0: no set; "n": one or more sets; "k": two or more, and the same number on both sides.
Arity = int | Literal["n", "k"]

Repetitions = Literal["once", "count"]
MARK = re.compile(r" \[[^\[\]]+\]")  # the end of a marked query's name: see `marked`
MOST_LINES = 8  # maximum number of sets of one side in a repr


@dataclass(frozen=True, init=False, repr=False)
class Query:
    """Target sets T and attribute sets A, whose association a metric measures.

    Queries are immutable, and compared and hashed by value. A query of sentences, for language models, has only
    target sets; sentence i of each set belongs to the same pair.

    Parameters
    ----------
    target_sets, attribute_sets
        Lists of words, one list for each set; or a mapping from the sets' names to their words. Words may be in
        lists, tuples, NumPy arrays, pandas Series and Index, or word sets of another query. A warning lists
        repeated words of a set. Attribute sets may be left out if the target sets are sentences.
    target_sets_names, attribute_sets_names
        A name for each set, unless the sets have names. Default: "Target set 0", "Attribute set 0", and so on.
    name
        The query's name. Default: WEFE's "T1, T2 and T3 wrt A1 and A2".
    repetitions
        "once": a repeated word of a set counts once, as in WEFE; "count": every repetition counts, as in
        WEATHub. None for "once", after a warning.

    Raises
    ------
    BiasgridError
        There are no sets, a set is empty or not a list of words, a word is not a string, or two sets have the
        same name. The message is one sentence.

    References
    ----------
    Badilla, P., Bravo-Marquez, F., Pérez, J. (2020). WEFE: the word embeddings fairness evaluation framework.
    IJCAI, 430-436. Section 3.

    Examples
    --------
    >>> query = Query([["he", "man"], ["she", "woman"]], [["office", "salary"], ["home", "family"]],
    ...               ["Male", "Female"], ["Career", "Family"])
    >>> query.name
    'Male and Female wrt Career and Family'
    >>> query == Query({"Male": ["he", "man"], "Female": ["she", "woman"]},
    ...                {"Career": ["office", "salary"], "Family": ["home", "family"]})
    True
    """

    name: str
    target_sets: tuple[WordSet, ...]
    attribute_sets: tuple[WordSet, ...]
    repetitions: Repetitions | None = None

    @checked_keywords()
    def __init__(
        self,
        target_sets: Sets,
        attribute_sets: Sets = (),
        target_sets_names: Iterable[str] | None = None,
        attribute_sets_names: Iterable[str] | None = None,
        *,
        name: str | None = None,
        repetitions: Repetitions | None = None,
    ) -> None:
        if repetitions not in (None, *get_args(Repetitions)):
            raise BiasgridError(
                f"query: repetitions: {unknown_name('value', repetitions, get_args(Repetitions))}"
            )
        warn = repetitions is None
        targets = word_sets("target", target_sets, target_sets_names, warn)
        attributes = word_sets("attribute", attribute_sets, attribute_sets_names, warn)
        duplicates = [n for n, c in Counter(s.name for s in targets + attributes).items() if c > 1]
        if duplicates:
            raise BiasgridError(f"query: two sets are named {quote(duplicates[0])}; set names must differ")
        generated = generated_name(targets, attributes)
        # A generated name consists of checked names, and its length is not limited.
        name = generated if name is None or name == generated else line_of_text("query's name", name)
        self._set(name, targets, attributes, repetitions)

    def _set(
        self,
        name: str,
        targets: tuple[WordSet, ...],
        attributes: tuple[WordSet, ...],
        repetitions: Repetitions | None,
    ) -> Query:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "target_sets", targets)
        object.__setattr__(self, "attribute_sets", attributes)
        object.__setattr__(self, "repetitions", repetitions)
        return self

    @property
    def target_sets_names(self) -> list[str]:
        """Return the target sets' names."""
        return [s.name for s in self.target_sets]

    @property
    def attribute_sets_names(self) -> list[str]:
        """Return the attribute sets' names."""
        return [s.name for s in self.attribute_sets]

    @property
    def template(self) -> tuple[int, int]:
        """Return (number of target sets, number of attribute sets)."""
        return len(self.target_sets), len(self.attribute_sets)

    def fits(self, template: tuple[Arity, Arity]) -> bool:
        """Return whether the query has the `template`, such as (2, 1), or sub-queries that have it.

        A query without attribute sets does not have sub-queries, because its target sets belong together.
        """
        template = _template(template)
        if not self.attribute_sets or template[1] == 0:
            sets = len(self.target_sets)
            is_enough = template[0] == sets or (
                template[0] in ("n", "k") and sets >= {"n": 1, "k": 2}[template[0]]
            )
            return is_enough and template[1] == len(self.attribute_sets)
        minima = [need if isinstance(need, int) else {"n": 1, "k": 2}[need] for need in template]
        has_enough = all(need <= have for need, have in zip(minima, self.template, strict=True))
        return has_enough and (template != ("k", "k") or len(set(self.template)) == 1)

    def exactly(self, template: tuple[Arity, Arity]) -> bool:
        """Return whether the query itself has the `template`, such as (2, 1), not only its sub-queries."""
        template = _template(template)
        as_it_is = all(need in ("n", "k", have) for need, have in zip(template, self.template, strict=True))
        return as_it_is and self.fits(template)

    def subqueries(self, template: tuple[Arity, Arity]) -> tuple[Query, ...]:
        """Return the sub-queries with a smaller template, or the query itself if it has the template.

        Parameters
        ----------
        template
            The numbers of target and attribute sets of each sub-query, such as (2, 1). "n" takes all sets, and
            ("k", "k") needs the same number on both sides.

        Returns
        -------
        tuple of Query
            Combinations of target sets (outer loop) by combinations of attribute sets (inner loop), in WEFE's
            order. They have WEFE's names, followed by this query's key, if it has one ("A and B wrt X and Y
            [key]").

        Raises
        ------
        BiasgridError
            The query has too few sets, or the template is invalid.
        """
        template = _template(template)
        if template == ("k", "k") and len(set(self.template)) > 1:
            raise BiasgridError(
                f"query {quote(self.name)} has template {self.template}; it needs as many target as attribute sets"
            )
        if not self.fits(template):
            raise BiasgridError(
                f"query {quote(self.name)} has template {self.template}; {template} needs more sets than it has"
            )
        if self.exactly(template):
            return (self,)
        t, a = (
            need if isinstance(need, int) else have
            for need, have in zip(template, self.template, strict=True)
        )
        mark = self.name.removeprefix(generated_name(self.target_sets, self.attribute_sets))
        mark = mark if MARK.fullmatch(mark) else ""
        # The sets are checked already, and a study has thousands of sub-queries.
        return tuple(
            object.__new__(Query)._set(
                generated_name(targets, attributes) + mark, targets, attributes, self.repetitions
            )
            for targets in combinations(self.target_sets, t)
            for attributes in combinations(self.attribute_sets, a)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the query as a mapping that `from_dict` reads.

        It is `{"name", "target_sets": [{"name", "words"}, ...], "attribute_sets": [...]}`, with "repetitions"
        if the query sets them. A set of sentences also has "of", the words in its sentences.
        """

        def record(word_set: WordSet) -> dict[str, Any]:
            of = {"of": list(word_set.of)} if word_set.of else {}
            return {"name": word_set.name, "words": list(word_set.words)} | of

        repetitions = {} if self.repetitions is None else {"repetitions": self.repetitions}
        return {
            "name": self.name,
            "target_sets": list(map(record, self.target_sets)),
            "attribute_sets": list(map(record, self.attribute_sets)),
            **repetitions,
        }

    def to_json(self) -> str:
        """Return the text of a query file: `to_dict` as JSON, identical on every machine."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], where: str = "query") -> Self:
        """Create a query from a mapping in the form of `to_dict`; names may be left out.

        Parameters
        ----------
        record
            The mapping.
        where
            Its name in messages, such as its file.

        Raises
        ------
        BiasgridError
            The mapping is invalid; the message is one sentence that begins with `where`.
        """
        if not isinstance(record, Mapping):
            raise BiasgridError(f"{where}: expected an object with target_sets and attribute_sets")
        keys = ("name", "target_sets", "attribute_sets", "repetitions")
        for key in record.keys() - keys:
            raise BiasgridError(f"{where}: {unknown_name('key', key, keys)}")
        sides = []
        for side in ("target_sets", "attribute_sets"):
            sets = record.get(side)
            if not isinstance(sets, list) or not (sets or side == "attribute_sets"):
                raise BiasgridError(f"{where}: {side} must be a list with at least one set")
            for s in sets:
                if not isinstance(s, Mapping) or "words" not in s or set(s) - {"name", "words", "of"}:
                    raise BiasgridError(f"{where}: each of {side} must be an object with name and words")
            default = "Target set" if side == "target_sets" else "Attribute set"
            sides.append((sets, [s.get("name", f"{default} {i}") for i, s in enumerate(sets)]))
        (targets, target_names), (attributes, attribute_names) = sides
        try:
            targets, attributes = (
                [
                    WordSet(name, s["words"], s["of"]) if s.get("of") else s["words"]
                    for s, name in zip(sets, names, strict=True)
                ]
                for sets, names in sides
            )
            if not attributes:  # a sentence may belong to several pairs
                targets = [
                    WordSet.unwarned(name, words) for name, words in zip(target_names, targets, strict=True)
                ]
            return cls(
                targets,
                attributes,
                target_names,
                attribute_names,
                name=record.get("name"),
                repetitions=record.get("repetitions"),
            )
        except BiasgridError as error:
            raise BiasgridError(f"{where}: {str(error).removeprefix('query: ')}") from None

    @classmethod
    def read(cls, path: Path | str) -> Query:
        """Read a query from the query file (JSON) at `path`.

        Raises BiasgridError with the file's name.
        """
        return cls.from_dict(read_json(_path(path)), str(path))

    def save(self, path: Path | str) -> None:
        """Write the query to `path` as a query file (JSON), which `read` and `biasgrid measure` accept.

        Raises BiasgridError with the file's name.
        """
        try:
            write_text(_path(path), self.to_json())
        except OSError as error:
            raise BiasgridError(f"{path}: cannot write it: {error.strerror}") from None

    def __repr__(self) -> str:
        lines = [f"Query {quote(self.name)}"]
        for role, sets in (("target", self.target_sets), ("attribute", self.attribute_sets)):
            for s in sets[:MOST_LINES]:
                lines.append(f"  {role:<9}  {shorten(s.name)} ({len(s)}): {first_words(s.words)}")
            if len(sets) > MOST_LINES:
                lines.append(f"  {role:<9}  and {len(sets) - MOST_LINES} more sets")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the query as HTML for a notebook, with a line for each set."""
        rows = "".join(
            f"<tr><td>{role}</td><td>{escape(shorten(s.name))}</td><td>{len(s)}</td>"
            f"<td style='text-align: left'>{escape(first_words(s.words))}</td></tr>"
            for role, sets in (("target", self.target_sets), ("attribute", self.attribute_sets))
            for s in sets
        )
        return (
            f"<p>Query <b>{escape(self.name)}</b></p><table>"
            f"<tr><th></th><th>set</th><th>size</th><th>words</th></tr>{rows}</table>"
        )

    if not TYPE_CHECKING:  # so that type checkers also report these names

        def __getattr__(self, attribute: str) -> Any:
            raise AttributeError(no_attribute("a Query", attribute, QUERY), name=attribute, obj=self)


def generated_name(targets: Sequence[WordSet], attributes: Sequence[WordSet]) -> str:
    """Return WEFE's query name: "A, B and C wrt X and Y"."""
    return " wrt ".join(_join_names(side) for side in (targets, attributes) if side)


def marked(query: Query, key: str) -> Query:
    """Return the query with a key in its name, "A and B wrt X and Y [key]", which its sub-queries inherit."""
    name = f"{generated_name(query.target_sets, query.attribute_sets)} [{key}]"
    return object.__new__(Query)._set(name, query.target_sets, query.attribute_sets, query.repetitions)


def _join_names(sets: Sequence[WordSet]) -> str:
    *head, last = [s.name for s in sets]
    return f"{', '.join(head)} and {last}" if head else last


def _path(path: Path | str) -> Path | str:
    if not isinstance(path, (str, os.PathLike)):
        raise BiasgridError(f"query: a query file's path must be text or a path, not {quote(path)}")
    check_path(os.fsdecode(path))
    return path


def _template(template: tuple[Arity, Arity]) -> tuple[Arity, Arity]:
    try:
        targets, attributes = template
    except (TypeError, ValueError):
        pass
    else:
        if _is_arity(targets) and (_is_arity(attributes) or attributes == 0):
            return targets, attributes
    raise BiasgridError(
        f"query: {quote(template)} is no template; allowed: a pair of numbers of sets, such as (2, 1), "
        'or "n" for all'
    )


def _is_arity(arity: object) -> bool:
    if isinstance(arity, int):
        return not isinstance(arity, bool) and arity > 0
    return isinstance(arity, str) and arity in ("n", "k")

"""Queries made from a criterion's `phenomena`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...core.errors import BiasgridError, quote
from ...tables.planned import phenomenon_id
from .criteria import Phenomena, Phenomenon, Query

Words = Callable[[Any, str], list[str]]  # a word set in a config, and its place for messages -> its words


def queries(criterion: str, phenomena: Phenomena, words: Words, where: str) -> dict[str, Query]:
    """Return the queries of a criterion's phenomena by id, in the form of a config.

    Raise BiasgridError for a word that is in two phenomena, or in a phenomenon and a group, regardless of
    case. The tests assume that phenomena are sets of different words. `overlaps` allows such words.
    """
    owners: dict[str, str] = {}
    for group, of_group in phenomena.groups.items():
        owners |= dict.fromkeys(_lower_case(words(of_group, f"{where}: groups: {group}")), group)
    by_id: dict[str, Any] = {}
    for name, entry in phenomena.sets.items():
        place = f"{where}: {name}"
        phenomenon_words = _phenomenon_words(entry, words, place)
        for word in _lower_case(phenomenon_words):
            if word in owners and not phenomena.overlaps:
                raise BiasgridError(
                    f"{place}: {quote(word)} is also in {quote(owners[word])}; leave it out of one (without)"
                )
            owners[word] = name
        key = phenomenon_id(criterion, name)
        if key in by_id:
            raise BiasgridError(
                f"{place}: another phenomenon has the query id {quote(key)}; give it a different name"
            )
        is_whole_set = phenomenon_words == words(entry.words, place)
        attributes = {name: entry.words if is_whole_set else phenomenon_words}
        by_id[key] = Query.model_construct(targets=dict(phenomena.groups), attributes=attributes)
    return by_id


def _lower_case(words: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(word.lower() for word in words)


def _phenomenon_words(entry: Phenomenon, words: Words, where: str) -> list[str]:
    """Return the words of a phenomenon, without duplicates."""
    set_words, left_out = words(entry.words, where), entry.without or []
    whole_set = words(entry.part_of, f"{where}: part_of") if entry.part_of is not None else set_words
    for key, part, all_words in (("part_of", set_words, whole_set), ("without", left_out, set_words)):
        for word in part:
            if word not in all_words:
                raise BiasgridError(f"{where}: {key}: {quote(word)} is not in the word set")
    phenomenon_words = list(dict.fromkeys(word for word in set_words if word not in left_out))
    if not phenomenon_words:
        raise BiasgridError(f"{where}: without: leaves no word")
    return phenomenon_words

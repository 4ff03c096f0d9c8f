"""The queries that a criterion's `phenomena` stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..errors import BiasgridError, shown
from ..files import slug

Words = Callable[[Any, str], list[str]]  # a word set as a config has it, and where it stands -> its words


def queries(criterion: str, phenomena: Mapping[str, Any], words: Words, where: str) -> dict[str, Any]:
    """The queries of a criterion's phenomena by id, as a config has them.

    Raises BiasgridError for a word of two phenomena, or of a phenomenon and a group, whatever the case of its
    letters: the tests take the phenomena for sets of different words.
    """
    owners: dict[str, str] = {}
    for group, of_group in phenomena["groups"].items():
        owners |= dict.fromkeys(_folded(words(of_group, f"{where}: groups: {group}")), group)
    found: dict[str, Any] = {}
    for name, entry in phenomena["sets"].items():
        place = f"{where}: {name}"
        chosen = _chosen(entry, words, place)
        for word in _folded(chosen):
            if word in owners:
                raise BiasgridError(
                    f"{place}: {shown(word)} is in {shown(owners[word])}, too; leave it out of one of them (without)"
                )
            owners[word] = name
        key = query_id(criterion, name)
        if key in found:
            raise BiasgridError(
                f"{place}: another phenomenon has the query id {shown(key)}; name it otherwise"
            )
        whole = chosen == words(entry["words"], place)
        attributes = {name: entry["words"] if whole else chosen}
        found[key] = {"targets": dict(phenomena["groups"]), "attributes": attributes}
    return found


def query_id(criterion: str, phenomenon: str) -> str:
    """The id of a phenomenon's query."""
    return f"{slug(criterion)}_{slug(phenomenon)}"


def _folded(words: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(word.lower() for word in words)


def _chosen(entry: Mapping[str, Any], words: Words, where: str) -> list[str]:
    """The words of a phenomenon, each once."""
    own, left_out = words(entry["words"], where), entry.get("without", [])
    of = words(entry["part_of"], f"{where}: part_of") if "part_of" in entry else own
    for key, some, all_words in (("part_of", own, of), ("without", left_out, own)):
        for word in some:
            if word not in all_words:
                raise BiasgridError(f"{where}: {key}: {shown(word)} is not in the word set")
    chosen = list(dict.fromkeys(word for word in own if word not in left_out))
    if not chosen:
        raise BiasgridError(f"{where}: without: leaves no word")
    return chosen


def of_criteria(criteria: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """Of the criteria with phenomena: query id -> the phenomenon's name."""
    return {
        name: {query_id(name, phenomenon): phenomenon for phenomenon in entry["phenomena"]["sets"]}
        for name, entry in criteria.items()
        if "phenomena" in entry
    }

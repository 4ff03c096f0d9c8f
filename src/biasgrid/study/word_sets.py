"""Word sets that come with biasgrid: `word_sets("weat")["career"]`."""

from __future__ import annotations

import textwrap
from html import escape
from pathlib import Path
from typing import Any, overload

from ..core.configs import read_json
from ..core.errors import BiasgridError, WordError, is_among, not_allowed, unknown_name
from ..core.keywords import checked_keywords
from ..core.resources import resource
from .census import GROUPS, occupations
from .config.word_sets import fetch_sets

FOLDER = "data/word_sets"
# The collection eds chooses occupations by their shares in a census; its file contains these.
YEAR, MOST = 2015, 10
BY_SHARE = [f"occupations_{group}" for group in GROUPS]


class WordSets(dict[str, Any]):
    """Sets of a collection by name: lists of words, and for debias methods lists of pairs or of tuples.

    An ordinary dict, except that a missing name raises an error with the nearest name.

    Attributes
    ----------
    name
        The collection's name, such as "weat".
    title, paper, taken_from, licence
        Its title, the paper to cite, its source, and its terms.
    notes
        Warnings for users of the sets.
    """

    name: str
    title: str
    paper: str
    taken_from: str
    licence: str
    notes: list[str]

    def __missing__(self, key: object) -> Any:
        raise WordError(f"word sets {self.name!r}: {unknown_name('word set', key, self)}")

    def __repr__(self) -> str:
        # Keep a name and its number in one line.
        names = textwrap.wrap(", ".join(f"{name}\xa0({len(words)})" for name, words in self.items()), 108)
        return "\n".join(
            [
                f"{len(self)} word sets {self.name!r}: {self.title}",
                *(f"  {line}".replace("\xa0", " ") for line in names),
                *(f"  note: {textwrap.shorten(note, 102, placeholder=' ...')}" for note in self.notes),
            ]
        )

    def _repr_html_(self) -> str:
        """Return the collection as HTML, a line for each set; words of a set with a content note are not shown."""
        shown = 0 if any(note.startswith("Content note") for note in self.notes) else 12
        lines = (
            (name, len(words), textwrap.shorten(", ".join(text_of(part) for part in list(words)[:shown]), 90))
            for name, words in self.items()
        )
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{size}</td><td style='text-align: left'>{escape(words)}</td></tr>"
            for name, size, words in lines
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return (
            f"<p><b>{escape(self.name)}</b>: {escape(self.title)}<br>{escape(self.paper)}</p><ul>{notes}</ul>"
            f"<table><tr><th>set</th><th>size</th><th>words</th></tr>{rows}</table>"
        )


class Collections(dict[str, str]):
    """Descriptions of the collections of word sets, by name."""

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {what}" for name, what in self.items())

    def __missing__(self, key: object) -> str:
        raise WordError(unknown_name("collection of word sets", key, self))


@overload
def word_sets(collection: None = None) -> Collections: ...
@overload
def word_sets(
    collection: str,
    *,
    occupations_year: int | None = None,
    top_n_race_occupations: int | None = None,
    census_folder: Path | str | None = None,
) -> WordSets: ...
@checked_keywords()
def word_sets(
    collection: str | None = None,
    *,
    occupations_year: int | None = None,
    top_n_race_occupations: int | None = None,
    census_folder: Path | str | None = None,
) -> Collections | WordSets:
    """Return the word sets of a collection by name, or the list of collections.

    Parameters
    ----------
    collection
        The collection's name, such as "weat". data/word_sets/README.md lists their sources.
    occupations_year
        Only for "eds": the census year whose shares choose the occupations. The collection contains 2015; other
        years need `census_folder`.
    top_n_race_occupations
        Only for "eds": the number of occupations in each of occupations_white, _black, _asian and _hispanic, 1 to
        10, or any number with `census_folder`. As in WEFE, they have the lowest shares of the group.
    census_folder
        Only for "eds": a folder with the authors' tables, occupation_percentages_gender_occ1950.csv and
        occupation_percentages_race_occ1950.csv, whose shares choose the occupations. data/word_sets/README.md
        gives their address.

    Returns
    -------
    WordSets or Collections
        A dict from a set's name to its list of words, with the source's order, case and repetitions. Pairs and
        definitional sets are lists of lists, as debias methods need them. The caller may change the dict.
        Without `collection`: a dict from a collection's name to a description.

    Raises
    ------
    BiasgridError
        A collection or set does not exist (also a KeyError), the data do not allow an option, or a collection
        cannot be fetched.

    Examples
    --------
    >>> sets = word_sets("weat")
    >>> sets["career"][:3]
    ['executive', 'management', 'professional']
    >>> word_sets("debiaswe")["definitional_pairs"][0]
    ['woman', 'man']
    """
    folder = resource(FOLDER)
    options = {
        "occupations_year": occupations_year,
        "top_n_race_occupations": top_n_race_occupations,
        "census_folder": census_folder,
    }
    eds_options = [option for option, value in options.items() if value is not None]
    if eds_options and not is_among(collection, ["eds"]):
        raise BiasgridError(f"word_sets: {eds_options[0]} is an option of the collection 'eds' only")
    names = sorted(path.stem for path in folder.glob("*.json"))
    if collection is None:
        records = {name: read_json(folder / f"{name}.json") for name in names}
        return Collections({name: _description(record) for name, record in records.items()})
    if not is_among(collection, names):
        raise WordError(unknown_name("collection of word sets", collection, names))
    record = read_json(folder / f"{collection}.json")
    sets = WordSets(record["sets"] if "sets" in record else fetch_sets(collection, record))
    sets.name = collection
    for field in ("title", "paper", "taken_from", "licence", "notes"):
        setattr(sets, field, record[field])
    if census_folder is not None:
        year, number = YEAR if occupations_year is None else occupations_year, top_n_race_occupations
        sets.update(occupations(census_folder, year, MOST if number is None else number))
    elif eds_options:
        _check_census_options(YEAR if occupations_year is None else occupations_year, top_n_race_occupations)
        for name in BY_SHARE:
            # Words are sorted by share, so a smaller number of occupations is a prefix of the list.
            sets[name] = sets[name][:top_n_race_occupations]
    return sets


def _description(record: dict[str, Any]) -> str:
    if "sets" in record:
        return f"{len(record['sets'])} sets. {record['title']}"
    return f"{len(record['names'])} sets, fetched. {record['title']}"


def _check_census_options(year: object, number: object) -> None:
    if isinstance(year, bool) or year != YEAR:
        raise BiasgridError(
            not_allowed("occupations_year", year, f"{YEAR}")
            + ", the census whose occupations are in eds.json; another year needs the authors' tables: "
            "census_folder='folder'"
        )
    if number is not None and (
        isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MOST
    ):
        raise BiasgridError(
            not_allowed(
                "top_n_race_occupations", number, f"whole numbers from 1 to {MOST}, as many as eds.json has"
            )
            + "; more need the authors' tables: census_folder='folder'"
        )


def text_of(part: Any) -> str:
    """Return a word, or the words of a pair or tuple joined by hyphens."""
    return "-".join(map(str, part)) if isinstance(part, list) else str(part)

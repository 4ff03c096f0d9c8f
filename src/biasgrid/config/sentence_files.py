"""Files of sentences that a language model is asked: CSV, and StereoSet's JSON."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path

from ..configs import files_read, read_json
from ..errors import BiasgridError, join_names, quote, unknown_name
from ..resources import find_file
from ..word_set import WordSet
from .criteria import Query

Rows = tuple[dict[str, str], ...]
# StereoSet's names of the sentences of an item
LABELS = ("stereotype", "anti-stereotype", "unrelated")


def sentences(entry: Query, where: str, root: Path = Path(".")) -> dict[str, WordSet]:
    """The target sets of a query of sentences.

    Parameters
    ----------
    entry
        The query in a config: `file`, `sets`, `where`.
    where
        What messages begin with.
    root
        Folder that the file's path is relative to.

    Returns
    -------
    dict
        Target set -> its sentences; those in one place belong together.

    Raises
    ------
    BiasgridError
        One line: the file cannot be read, or lacks a column, a row or a sentence.
    """
    path = find_file(entry.file, root)
    try:
        files_read[str(path)] = None
        state = path.stat()
        rows = _rows(str(path), (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BiasgridError(f"{where}: file: {entry.file}: cannot read it: {error}") from None
    except BiasgridError as error:
        raise BiasgridError(f"{where}: file: {error}") from None
    columns = list(rows[0]) if rows else []
    for key, names in (("sets", entry.sets.values()), ("where", (entry.where or {}))):
        for name in names:
            if name not in columns:
                raise BiasgridError(f"{where}: {key}: {entry.file}: {unknown_name('column', name, columns)}")
    for column, value in (entry.where or {}).items():
        selection = tuple(row for row in rows if row[column] == value)
        if not selection:
            values = sorted({row[column] for row in rows})
            raise BiasgridError(
                f"{where}: where: {column}: no such row has {quote(value)}; allowed: {join_names(map(quote, values))}"
            )
        rows = selection
    word_sets = {}
    for name, column in entry.sets.items():
        texts = [row[column].strip() for row in rows]
        if "" in texts:
            raise BiasgridError(f"{where}: sets: {entry.file}: {quote(column)} has a row without a sentence")
        word_sets[name] = WordSet.unwarned(name, texts)
    return word_sets


# several queries of a study are in one file
@lru_cache(maxsize=8)
def _rows(path: str, state: tuple[int, ...]) -> Rows:
    """The rows of a file. Each has all columns."""
    if path.endswith(".json"):
        return _stereoset(path)
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        rows = tuple(reader)
        columns = reader.fieldnames or []
    if len(set(columns)) < len(columns):
        raise BiasgridError(f"{path}: row 1: has two columns of one name: {', '.join(columns)}")
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise BiasgridError(
                f"{path}: row {number} has other columns than the first line: {', '.join(columns)}"
            )
    if not rows:
        raise BiasgridError(f"{path}: has no rows")
    return rows


def _stereoset(path: str) -> Rows:
    """The items within a sentence (intrasentence) of StereoSet's file: a column for each label."""
    record = read_json(Path(path))
    try:
        rows = tuple(
            {name: item[name] for name in ("id", "bias_type", "target", "context")}
            | {sentence["gold_label"]: sentence["sentence"] for sentence in item["sentences"]}
            for item in record["data"]["intrasentence"]
            if sorted(sentence["gold_label"] for sentence in item["sentences"]) == sorted(LABELS)
        )
        is_valid = len(rows) == len(record["data"]["intrasentence"]) > 0
        is_valid = is_valid and all(isinstance(value, str) for row in rows for value in row.values())
    except (KeyError, TypeError):
        is_valid = False
    if not is_valid:
        raise BiasgridError(
            f"{path}: not StereoSet's file: data.intrasentence must be a list of items with id, bias_type, target, "
            f"context and three sentences with the gold labels {', '.join(LABELS)}"
        )
    return rows

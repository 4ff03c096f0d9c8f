"""Files of sentences for language models: CSV, and StereoSet's JSON."""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...core.configs import files_read, read_json
from ...core.errors import BiasgridError, join_names, quote, unknown_name
from ...core.resources import find_file
from ...metrics.sentences import SEPARATOR
from ...queries.word_set import WordSet
from .criteria import Query

Rows = tuple[dict[str, str], ...]
# StereoSet's names of the sentences of an item.
LABELS = ("stereotype", "anti-stereotype", "unrelated")
# Its two tests, which have different items; the column contains the name of the test.
TEST, INTRASENTENCE, INTERSENTENCE = "test", "intrasentence", "intersentence"


def sentences(entry: Query, where: str, root: Path = Path(".")) -> dict[str, WordSet]:
    """Return the target sets of a query of sentences.

    Parameters
    ----------
    entry
        The query in a config: `file`, `sets`, `where`.
    where
        The beginning of messages.
    root
        The folder to which the file's path is relative.

    Returns
    -------
    dict
        Target set -> its sentences; sentences at the same position belong together.

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
    where_rows = dict(entry.where or {})
    if TEST in columns and path.suffix == ".json":
        where_rows.setdefault(TEST, INTRASENTENCE)
    for column, value in where_rows.items():
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


# The rows are cached, as several queries of a study use one file.
@lru_cache(maxsize=8)
def _rows(path: str, state: tuple[int, ...]) -> Rows:
    """Read the rows of a file. Each has all columns."""
    if path.endswith(".json"):
        return _stereoset(path)
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        rows = tuple(reader)
        columns = reader.fieldnames or []
    if len(set(columns)) < len(columns):
        raise BiasgridError(f"{path}: row 1: has two columns with the same name: {', '.join(columns)}")
    for number, row in enumerate(rows, 2):
        if None in row or None in row.values():
            raise BiasgridError(
                f"{path}: row {number} has different columns from the first line: {', '.join(columns)}"
            )
    if not rows:
        raise BiasgridError(f"{path}: has no rows")
    return rows


def _stereoset(path: str) -> Rows:
    """Read the items of both tests of StereoSet's file, with a column for each label.

    The text of an intersentence item is its context and the following sentence, with a separator between
    them.
    """
    record = read_json(Path(path))
    try:
        rows = tuple(
            {TEST: test}
            | {name: item[name] for name in ("id", "bias_type", "target", "context")}
            | {label: _text(test, item["context"], sentence) for label, sentence in _options(item).items()}
            for test in (INTRASENTENCE, INTERSENTENCE)
            for item in record["data"].get(test, [])
        )
        is_valid = bool(rows) and all(isinstance(value, str) for row in rows for value in row.values())
    except (AttributeError, KeyError, TypeError, ValueError):
        is_valid = False
    if not is_valid:
        raise BiasgridError(
            f"{path}: not StereoSet's file: data.{INTRASENTENCE} and data.{INTERSENTENCE} must be lists of items "
            f"with id, bias_type, target, context and three sentences with the gold labels {', '.join(LABELS)}"
        )
    return rows


def _options(item: Any) -> dict[str, str]:
    """Return the three sentences of an item, by their labels."""
    options = {sentence["gold_label"]: sentence["sentence"] for sentence in item["sentences"]}
    if len(item["sentences"]) != len(LABELS) or set(options) != set(LABELS):
        raise ValueError(f"an item has the labels {sorted(options)}")
    return options


def _text(test: str, context: str, sentence: str) -> str:
    return context.strip() + SEPARATOR + sentence.strip() if test == INTERSENTENCE else sentence

"""Word sets that a config names by a file and a set in it (`weat.career`).

A file of word sets has them under `sets`. If no licence allows biasgrid to include them, it has their
author's file under `source`, and set names for its lists under `names`. They are fetched when one is first
used.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.configs import canonical, read_json
from ...core.errors import BiasgridError, NetworkError, quote, unknown_name
from ...core.printable import check_texts
from ...core.resources import cache_folder, resource

REFERENCE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_]+")  # file.set of a word set
WORD_SETS = "data/word_sets"


class WordSets:
    """The word-set files of a folder and the shipped ones, each read once; the folder's files take precedence."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._folders = [folder, resource(WORD_SETS)]
        self._files: dict[str, dict[str, Any]] = {}

    @property
    def names(self) -> list[str]:
        """Return the files' names without .json: the folder's, or, if it is empty, the shipped ones."""
        stems = sorted(path.stem for path in self.folder.glob("*.json"))
        return stems or sorted(path.stem for path in self._folders[1].glob("*.json"))

    def file(self, stem: str) -> Path | None:
        """Return the file of that name without .json; None if it is missing."""
        paths = (folder / f"{stem}.json" for folder in self._folders)
        return next((path for path in paths if path.is_file()), None)

    def sets_of(self, stem: str) -> Mapping[str, Any]:
        """Return the sets of a file by name; each is None as long as the file's words are not fetched.

        Raise BiasgridError for a file that does not contain word sets.
        """
        record = self._record(stem)
        return record["sets"] if "sets" in record else dict.fromkeys(record["names"])

    def find(self, reference: str, where: str) -> Any:
        """Return the word set with the name `file.set`.

        Raise BiasgridError for a file or set that does not exist, and for one that cannot be fetched.
        """
        stem, _, name = reference.partition(".")
        if self.file(stem) is None:
            files = (path for folder in self._folders for path in sorted(folder.glob("*.json")))
            stems = dict.fromkeys(path.stem for path in files)
            raise BiasgridError(f"{where}: {quote(reference)}: {unknown_name('word-set file', stem, stems)}")
        record = self._record(stem)
        if "sets" not in record and name in record["names"]:
            try:
                record["sets"] = fetch_sets(stem, record)
            except BiasgridError as error:
                raise type(error)(f"{where}: {quote(reference)}: {error}") from None
        sets = self.sets_of(stem)
        if sets.get(name) is None:
            raise BiasgridError(
                f"{where}: {stem}.json: {unknown_name('word set', name, sets, 'biasgrid list word-sets')}"
            )
        return sets[name]

    def _record(self, stem: str) -> dict[str, Any]:
        """Return the content of a file, which is read once."""
        if stem not in self._files:
            path = self.file(stem) or self.folder / f"{stem}.json"
            record = read_json(path)
            check_record(record, path)
            check_texts(record, str(path))
            self._files[stem] = record
        return self._files[stem]

    def words(self, value: str | list[str], where: str) -> list[str]:
        """Return a list of words, given or by name. Raise BiasgridError for a set that is not a list of words."""
        if isinstance(value, list):
            return value
        words = self.find(value, where)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise BiasgridError(f"{where}: {quote(value)} is not a list of words; a query's sets are")
        return words

    def replace_names(self, value: Any, where: str) -> Any:
        """Return the value with every name of a word set (`weat.career`) in it replaced by the set's contents."""
        if isinstance(value, dict):
            return {key: self.replace_names(inner, f"{where}: {key}") for key, inner in value.items()}
        if isinstance(value, list):
            return [self.replace_names(inner, where) for inner in value]
        if isinstance(value, str) and REFERENCE.fullmatch(value):
            stem = value.partition(".")[0]
            if stem in self._files or self.file(stem):
                return self.find(value, where)
        return value


def check_record(record: Any, path: Path) -> None:
    """Raise BiasgridError for the content of a file that has neither `sets` nor both `source` and `names`."""
    if not isinstance(record, dict) or not (
        isinstance(record.get("sets"), dict)
        or all(isinstance(record.get(key), dict) for key in ("source", "names"))
    ):
        raise BiasgridError(
            f"{path}: not a word-set file: it has no mapping 'sets', and not both 'source' and 'names'"
        )


def fetch_sets(stem: str, record: Mapping[str, Any]) -> dict[str, list[str]]:
    """Fetch the sets of a word-set file whose words are elsewhere: in a JSON file of lists of words.

    Parameters
    ----------
    stem
        The word-set file's name without .json.
    record
        Its content: `source`, the source of the file of words, like a model's; `names`, set -> the name of
        its list there.

    Raises
    ------
    BiasgridError
        The file is unavailable, has another sha256, or lacks a list.
    """
    # Imported late, as most configs do not fetch words.
    from ...models.sources import fetch

    # Files of one name may have different sources.
    source = hashlib.sha256(canonical(record["source"]).encode()).hexdigest()[:12]
    raw = cache_folder() / "raw"
    try:
        path = fetch(f"word_sets.{stem}.{source}", record["source"], raw, shared=True, progress=False)
    except NetworkError as error:
        raise NetworkError(
            f"{error}; bring the file yourself: a folder of word_sets may have {stem}.json with its path as source"
        ) from None
    lists = read_json(path)
    check_texts(lists, str(path))
    for name in record["names"].values():
        words = lists.get(name) if isinstance(lists, dict) else None
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise BiasgridError(f"{path}: has no list of words {quote(name)}")
    return {name: lists[key] for name, key in record["names"].items()}

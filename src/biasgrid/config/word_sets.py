"""Word sets that a config gives by the names of a file and of a set in it (`weat.career`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..configs import read_json
from ..errors import BiasgridError, quote, unknown_name
from ..printable import check_texts
from ..resources import resource

REFERENCE = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_]+")  # file.set of a word set
WORD_SETS = "data/word_sets"


class WordSets:
    """The word-set files of a folder and those that come with biasgrid, each read once; of two of one name, the
    folder's."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._folders = [folder, resource(WORD_SETS)]
        self._files: dict[str, dict[str, Any]] = {}

    @property
    def names(self) -> list[str]:
        """The files' names without .json: those of the folder, or, if it has none, those that come with biasgrid."""
        stems = sorted(path.stem for path in self.folder.glob("*.json"))
        return stems or sorted(path.stem for path in self._folders[1].glob("*.json"))

    def file(self, stem: str) -> Path | None:
        """The file of that name without .json; None if there is none."""
        paths = (folder / f"{stem}.json" for folder in self._folders)
        return next((path for path in paths if path.is_file()), None)

    def sets_of(self, stem: str) -> dict[str, Any]:
        """The sets of a file by name. Raises BiasgridError for a file that is none of word sets."""
        if stem not in self._files:
            path = self.file(stem) or self.folder / f"{stem}.json"
            record = read_json(path)
            if not isinstance(record, dict) or not isinstance(record.get("sets"), dict):
                raise BiasgridError(f"{path}: not a word-set file: it has no mapping 'sets'")
            check_texts(record, str(path))
            self._files[stem] = record["sets"]
        return self._files[stem]

    def find(self, reference: str, where: str) -> Any:
        """What stands under the name `file.set`. Raises BiasgridError for a file or set that does not exist."""
        stem, _, name = reference.partition(".")
        if self.file(stem) is None:
            files = (path for folder in self._folders for path in sorted(folder.glob("*.json")))
            stems = dict.fromkeys(path.stem for path in files)
            raise BiasgridError(f"{where}: {quote(reference)}: {unknown_name('word-set file', stem, stems)}")
        sets = self.sets_of(stem)
        if sets.get(name) is None:
            raise BiasgridError(
                f"{where}: {stem}.json: {unknown_name('word set', name, sets, 'biasgrid list word-sets')}"
            )
        return sets[name]

    def words(self, value: str | list[str], where: str) -> list[str]:
        """A list of words, given or by name. Raises BiasgridError for a set that is no list of words."""
        if isinstance(value, list):
            return value
        words = self.find(value, where)
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise BiasgridError(f"{where}: {quote(value)} is not a list of words; a query's sets are")
        return words

    def replace_names(self, value: Any, where: str) -> Any:
        """The value with every name of a word set (`weat.career`) in it replaced by what the set holds."""
        if isinstance(value, dict):
            return {key: self.replace_names(inner, f"{where}: {key}") for key, inner in value.items()}
        if isinstance(value, list):
            return [self.replace_names(inner, where) for inner in value]
        if isinstance(value, str) and REFERENCE.fullmatch(value):
            stem = value.partition(".")[0]
            if stem in self._files or self.file(stem):
                return self.find(value, where)
        return value

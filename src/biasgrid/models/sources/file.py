"""Source: a file, or a store's folder, that the user has put in place; referenced, not copied."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.errors import BiasgridError
from ...core.resources import did_you_mean_file, find_file
from ..download import Limits
from ..readers.pins import check_pin, files_of, hash_files
from ..store import MODEL
from .source import SHA256, Key, Source


def look(source: Mapping[str, Any]) -> Path:
    """Return the file that a source names. Raise BiasgridError if it is missing or a folder."""
    path = find_file(Path(source["path"]).expanduser())
    # A model's folder is represented by its model.json, which has the checksums of its files.
    path = path / MODEL if (path / MODEL).is_file() else path
    if not path.is_file():
        hint = f": {' '.join(source['instructions'].split())}" if "instructions" in source else ""
        raise BiasgridError(
            f"{path} is not there{hint or did_you_mean_file(path)}"
            if not path.exists()
            else f"{path} is not a file, and no store"
        )
    return path


def fetch(source: Mapping[str, Any], folder: Path, *, progress: bool, limits: Limits) -> dict[str, str]:
    digests = hash_files(look(source))
    if "sha256" in source:
        check_pin(digests, source["sha256"])
    (_, digest), *others = digests.items()
    return {source["path"]: digest} | {str(file): other for file, other in others}


def read_files(source: Mapping[str, Any]) -> list[Path]:
    files = files_of(find_file(Path(source["path"]).expanduser()))
    return files if files[0].is_file() else []


SOURCES = (
    Source(
        name="file",
        meaning="a file or folder that you provide",
        keys={
            "path": Key("where it is"),
            "sha256": Key(
                "the file's sha256; of a file that is read with others, such as what gensim saves with its .npy, one "
                "of all: that of the lines that sha256sum writes of them",
                *SHA256,
                required=False,
            ),
            "instructions": Key("what to do where it is missing", required=False),
        },
        fetch=fetch,
        in_place=lambda source: True,
        read_files=read_files,
        look=look,
    ),
)

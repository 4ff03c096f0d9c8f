"""Checksums of models, which cover every file that is read with a model's file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from glob import escape
from pathlib import Path

from ...core.digests import digest
from ...core.errors import BiasgridError, join_names
from ..language.files import FILES
from ..store import MODEL
from .files import open_content
from .registry import REGISTRY


def files_of(path: Path) -> list[Path]:
    """Return the files that a source is read from: first the main file, then, by name, the others that exist.

    The main file is the source itself, or the model.json of a model's folder.
    """
    if (path / MODEL).is_file():
        path = path / MODEL
    if path.name == MODEL:
        names = set(_recorded(path))
    elif path.suffix == ".safetensors":
        names = set(FILES)
    else:
        names = _beside(path)
    return [path, *(file for name in sorted(names) if (file := path.with_name(name)).is_file())]


def hash_files(path: Path) -> dict[Path, str]:
    """Return the sha256 of each of the files of a source (`files_of`).

    Raise BiasgridError if the checksum of a file in a model's folder differs from the one in its model.json.
    """
    digests = {file: digest(file) for file in files_of(path)}
    folder_record = next(iter(digests))
    if folder_record.name == MODEL:
        recorded = _recorded(folder_record)
        for file, sha256 in digests.items():
            if recorded.get(file.name, sha256) != sha256:
                raise BiasgridError(
                    f"{file}: is not the file that {MODEL} names: expected sha256 {recorded[file.name]}, got {sha256}"
                )
    return digests


def pin_of(digests: Mapping[Path, str]) -> str:
    """Return the checksum that covers the files of a source.

    For one file it is its sha256; for several, the sha256 of the lines that `sha256sum` prints for them. For
    a model's folder it is the sha256 of its model.json, which contains the checksums of the other files.
    """
    first = next(iter(digests))
    if len(digests) == 1 or first.name == MODEL:
        return digests[first]
    lines = "".join(f"{sha256}  {file.name}\n" for file, sha256 in digests.items())
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def check_pin(digests: Mapping[Path, str], sha256: str) -> None:
    """Raise BiasgridError unless the files of a source (`hash_files`) together have this checksum."""
    first, *others = digests
    pin = pin_of(digests)
    if sha256.lower() == pin:
        return
    names = join_names(file.name for file in others)
    if sha256.lower() == digests[first]:
        raise BiasgridError(
            f"{first}: its sha256 covers {first.name} alone, and {names} is read with it: pin all, sha256: {pin} "
            f"(sha256sum {' '.join(file.name for file in digests)} | sha256sum)"
        )
    together = f" (of it and {names})" if others and first.name != MODEL else ""
    raise BiasgridError(f"{first}: expected sha256 {sha256}, got {pin}{together}")


def check_sha256(source: Path, sha256: str) -> None:
    """Raise BiasgridError unless a file, together with the files read with it, has this checksum."""
    if source.is_dir():
        raise BiasgridError(f"{source}: sha256 is for a file, and this is a folder")
    check_pin(hash_files(source), sha256)


def _recorded(path: Path) -> dict[str, str]:
    """Return the checksums of files in a model.json; {} if it is damaged, as its reader then refuses it."""
    try:
        recorded = json.loads(path.read_text(encoding="utf-8")).get("sha256")
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}
    entries = recorded.items() if isinstance(recorded, dict) else ()
    return {name: sha256 for name, sha256 in entries if Path(name).name == name and isinstance(sha256, str)}


def _beside(path: Path) -> set[str]:
    """Return the names of the files that the reader of a file opens in the same folder."""
    names = {
        reader: {file.name for file in path.parent.glob(reader.beside.format(escape(path.name)))}
        for reader in REGISTRY.values()
        if reader.beside
    }
    if not any(names.values()):
        return set()
    try:
        with open_content(path) as file:
            beginning = file.read(1 << 10)
    except (OSError, BiasgridError):  # its reader reports the error
        beginning = b""
    return set().union(*(names[reader] for reader in names if not beginning or reader.detect(beginning)))

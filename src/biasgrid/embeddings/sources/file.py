"""A file, or a store's folder, that the user has put in place: referenced, and not copied."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...errors import BiasgridError
from ...files import hash_file
from ..download import Limits
from ..store import MODEL
from .source import SHA256_KEY, Key, Source

BESIDE = ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt")


def fetch(source: Mapping[str, Any], folder: Path, *, progress: bool, limits: Limits) -> dict[str, str]:
    path = Path(source["path"]).expanduser()
    # a store is what its model.json says, which has the checksums of its files
    path = path / MODEL if (path / MODEL).is_file() else path
    if not path.is_file():
        hint = f": {' '.join(source['instructions'].split())}" if "instructions" in source else ""
        raise BiasgridError(
            f"{path} is not there{hint}" if not path.exists() else f"{path} is not a file, and no store"
        )
    digest = hash_file(path)
    if source.get("sha256", digest) != digest:
        raise BiasgridError(f"{path}: expected sha256 {source['sha256']}, got {digest}")
    return {source["path"]: digest} | {str(file): hash_file(file) for file in files_beside(path)}


def files_beside(path: Path) -> list[Path]:
    """The files that are read with a model's weights (.safetensors), as far as they are there."""
    paths = (path.with_name(name) for name in BESIDE if path.suffix == ".safetensors")
    return [file for file in paths if file.is_file()]


SOURCES = (
    Source(
        name="file",
        meaning="a file, or a store's folder, that you put in place, which is read where it is",
        keys={
            "path": Key("where it is"),
            "sha256": SHA256_KEY,
            "instructions": Key("what to do where it is missing", required=False),
        },
        fetch=fetch,
        in_place=True,
    ),
)

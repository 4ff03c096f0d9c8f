"""Source: a file at a web address, or in parts at several."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from ...core.errors import BiasgridError
from ..download import Limits
from .addresses import fetch_file
from .manifest import MANIFEST
from .members import unpack_member
from .source import ADDRESS, FILENAME, MD5, SHA256_KEY, Count, Key, Source, Switch

# Suffixes of compressed files, whose rows cannot be counted during the download.
PACKED = (".gz", ".bz2", ".xz", ".zip")


def fetch(source: Mapping[str, Any], folder: Path, *, progress: bool, limits: Limits) -> dict[str, str]:
    urls = _urls(source)
    digests = fetch_file(
        urls,
        folder,
        _filename(source),
        pins=[{}] * len(urls),
        file_pins={key: source[key] for key in ("sha256", "md5") if key in source},
        rows=source.get("rows"),
        progress=progress,
        limits=limits,
    )
    return unpack_member(folder / _filename(source), source["member"]) if "member" in source else digests


def pins(source: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    # The checksum of an archive is not the checksum of the member that is taken out of it.
    return {} if "md5" in source or "member" in source else {_filename(source): ("sha256",)}


def _urls(source: Mapping[str, Any]) -> list[str]:
    return source["url"] if isinstance(source["url"], list) else [source["url"]]


def _filename(source: Mapping[str, Any]) -> str:
    url = _urls(source)[0]
    try:
        return source.get("filename") or unquote(PurePosixPath(urlsplit(url).path).name)
    except ValueError:
        raise BiasgridError(f"source: {url}: not an http or https address") from None


def check(source: Mapping[str, Any]) -> None:
    if isinstance(source["url"], list) and "filename" not in source:
        raise BiasgridError("source: a file in parts needs a filename, which it has when it is joined")
    if "rows" in source and (isinstance(source["url"], list) or _filename(source).endswith(PACKED)):
        raise BiasgridError("source: rows are of one file of text that is not compressed")
    if "member" not in source:
        return
    name = PurePosixPath(source["member"]).name
    if not _filename(source).endswith(".zip"):
        raise BiasgridError(
            f"source: member is of a .zip archive, and the file is called {_filename(source)!r}"
        )
    if not re.fullmatch(FILENAME, name) or name in (MANIFEST, _filename(source)):
        raise BiasgridError(f"source: member {source['member']!r:.200} cannot be kept as {name!r:.200}")


SOURCES = (
    Source(
        name="url",
        meaning="a file at a web address, or parts of it at several",
        keys={
            "url": Key("the address, or those of the parts in order", *ADDRESS, parts=True),
            "sha256": SHA256_KEY,
            "md5": Key("the file's md5", *MD5, required=False),
            "filename": Key(
                "what to call the file, if the address does not end in a good name",
                FILENAME,
                "a file's name without folder",
                required=False,
            ),
            "rows": Count(
                "of vectors as text: how many rows to take from the beginning, without a header of word2vec; the "
                "download ends after them, and checksums are of these rows",
                required=False,
            ),
            "member": Key(
                "of a .zip archive: the path in it of the file to take out; checksums are of the archive",
                required=False,
            ),
            "keep": Switch(
                "false: of a model of vectors it is deleted when its store is made", required=False
            ),
        },
        fetch=fetch,
        check=check,
        pins=pins,
    ),
)

"""A file at an address, or in parts at several."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from ...errors import BiasgridError
from ..download import Limits
from .addresses import fetch_file
from .source import ADDRESS, FILENAME, MD5, SHA256_KEY, Key, Source, Switch


def fetch(source: Mapping[str, Any], folder: Path, *, progress: bool, limits: Limits) -> dict[str, str]:
    urls = _urls(source)
    return fetch_file(
        urls,
        folder,
        _filename(source),
        pins=[{}] * len(urls),
        file_pins={key: source[key] for key in ("sha256", "md5") if key in source},
        progress=progress,
        limits=limits,
    )


def pins(source: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {} if "md5" in source else {_filename(source): ("sha256",)}


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


SOURCES = (
    Source(
        name="url",
        meaning="a file at an address, or in parts at several",
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
            "keep": Switch(
                "false: of a model of vectors it is deleted when its store is made", required=False
            ),
        },
        fetch=fetch,
        check=check,
        pins=pins,
    ),
)

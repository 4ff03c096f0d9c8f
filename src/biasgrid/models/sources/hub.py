"""Source: files of a repository of a model hub with the API of huggingface.co."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from ...core.errors import BiasgridError
from ..download import Limits
from ..download.hub_address import HUB
from .addresses import fetch_file
from .members import Members, is_pattern
from .source import ADDRESS, Key, Source

# Keys that other sources on a hub also use.
NAME = r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", "of the form owner/name"
REVISION = r"[A-Za-z0-9][\w.-]*", "a commit, a tag or a branch"
BASE = Key("another hub's address", *ADDRESS, required=False)


def fetch(source: Mapping[str, Any], folder: Path, *, progress: bool, limits: Limits) -> dict[str, str]:
    address = f"{source.get('base', HUB).rstrip('/')}/{source['repository']}/resolve/{source['revision']}"
    digests: dict[str, str] = {}
    for file, sha256 in source["files"].items():
        digests |= fetch_file(
            [f"{address}/{quote(file)}"],
            folder,
            PurePosixPath(file).name,
            pins=[{}],
            file_pins={"sha256": sha256} if sha256 else {},
            progress=progress,
            limits=limits,
        )
    return digests


def pins(source: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {PurePosixPath(file).name: ("files", file) for file in source["files"]}


def check(source: Mapping[str, Any]) -> None:
    if patterns := [file for file in source["files"] if is_pattern(file)]:
        raise BiasgridError(
            f"source: file {patterns[0]!r:.200}: each file of a hub is named, without * and ?"
        )


SOURCES = (
    Source(
        name="hub",
        meaning="files of a repository of a model hub (huggingface.co)",
        keys={
            "repository": Key("owner and name", *NAME),
            "revision": Key("the commit, or a tag or branch", *REVISION),
            "files": Members(
                "the files: path in the repository -> sha256, or null to trust what is first seen"
            ),
            "base": BASE,
        },
        fetch=fetch,
        check=check,
        pins=pins,
    ),
)

"""Source: a data set of the gensim-data project, verified with the md5 that its list publishes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..download import Limits
from .addresses import fetch_file
from .source import ADDRESS, MD5, Key, Source

RELEASES = "https://github.com/RaRe-Technologies/gensim-data/releases/download"


def fetch(source: Mapping[str, Any], folder: Path, *, progress: bool, limits: Limits) -> dict[str, str]:
    filename, md5 = f"{source['dataset']}.gz", source["md5"]
    url = f"{source.get('base', RELEASES).rstrip('/')}/{source['dataset']}/{filename}"
    in_parts = isinstance(md5, list)
    return fetch_file(
        [f"{url}_{number:02}" for number in range(len(md5))] if in_parts else [url],
        folder,
        filename,
        pins=[{"md5": part} for part in md5] if in_parts else [{}],
        file_pins={} if in_parts else {"md5": md5},
        progress=progress,
        limits=limits,
    )


SOURCES = (
    Source(
        name="gensim-data",
        meaning="a data set of the gensim-data project",
        keys={
            "dataset": Key("the data set's name", r"[A-Za-z0-9][\w.-]*", "a data set's name"),
            "md5": Key("its md5, or that of each of its parts", *MD5, parts=True),
            "base": Key("another address than the project's, for a mirror", *ADDRESS, required=False),
        },
        fetch=fetch,
    ),
)

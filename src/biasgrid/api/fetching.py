"""What is fetched by its name goes into the user's folder of models, after saying so on standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..resources import cache_folder
from ..termination import tidy_termination


def fetch_archive(name: str, entry: Mapping[str, Any], key: str) -> Path:
    """The files of a model or an encoder, `key` in the folder of archives, downloaded after saying so if they are
    missing; `entry` has their `source` and perhaps `download_mb`."""
    # imported late, as below: to fetch takes an HTTP client
    from ..embeddings.sources import fetch

    raw = cache_folder() / "raw"
    if not is_fetched(key):
        say(name, downloading(entry), raw)
    with tidy_termination():
        return fetch(key, entry["source"], raw, shared=True)


def is_fetched(key: str) -> bool:
    """Whether an archive is there."""
    from ..embeddings.sources import read_manifest

    return bool(read_manifest(cache_folder() / "raw" / key))


def downloading(entry: Mapping[str, Any]) -> str:
    """What is said of a download: from where, and how large it is, where that is known."""
    if "download_mb" not in entry:
        return "downloading"
    return f"downloading ({entry['source']['type']}, {entry['download_mb']:,} MB)"


def say(name: str, what: str, folder: Path) -> None:
    """Print what is being done, and where its files go."""
    print(f"biasgrid: {name}: {what} into {folder}", file=sys.stderr, flush=True)

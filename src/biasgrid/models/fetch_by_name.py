"""Downloads by name into the user's folder of models, with a notice on standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.resources import cache_folder
from ..core.termination import tidy_termination


def fetch_archive(name: str, entry: Mapping[str, Any], key: str) -> Path:
    """Return the folder of a model's or an encoder's files, downloaded with a notice if they are missing.

    `key` is its name in the folder of archives; `entry` has its `source` and perhaps `download_mb`.
    """
    # Sources need an HTTP client, which is imported only when needed.
    from .sources import fetch

    raw = cache_folder() / "raw"
    if not is_fetched(key):
        say(name, downloading(entry), raw)
    with tidy_termination():
        return fetch(key, entry["source"], raw, shared=True)


def is_fetched(key: str) -> bool:
    """Return whether an archive has been downloaded."""
    from .sources import read_manifest

    return bool(read_manifest(cache_folder() / "raw" / key))


def downloading(entry: Mapping[str, Any]) -> str:
    """Return the notice of a download: its source and, if known, its size."""
    if "download_mb" not in entry:
        return "downloading"
    return f"downloading ({entry['source']['type']}, {entry['download_mb']:,} MB)"


def say(name: str, what: str, folder: Path) -> None:
    """Print the current action and the folder of its files to standard error."""
    print(f"biasgrid: {name}: {what} into {folder}", file=sys.stderr, flush=True)

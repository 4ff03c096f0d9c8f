"""Models by name: those whose sources come with biasgrid (config/models), fetched when they are missing."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

from ..configs import read_yaml
from ..embeddings.model import Model
from ..embeddings.store import MODEL, EmbeddingStore
from ..errors import BiasgridError, DiskError, InputError, unknown
from ..extras import require
from ..folders import PLACE
from ..resources import resource

# megabytes that are downloaded, where they are known
SIZES = {
    "word2vec-google-news-300-subset": 8,
    "glove-6b-50d": 76,
    "spacy-en-core-web-md-3.7.1": 43,
    "glove-840b-300d-filtered": 34,
    "fasttext-wiki-news-subwords-300": 1005,
    "conceptnet-numberbatch-17-06-300": 1225,
    "word2vec-ruscorpora-300": 208,
    "word2vec-google-news-300": 1744,
    "glove-wiki-gigaword-50": 69,
    "glove-wiki-gigaword-100": 134,
    "glove-wiki-gigaword-200": 264,
    "glove-wiki-gigaword-300": 394,
    "glove-twitter-25": 110,
    "glove-twitter-50": 209,
    "glove-twitter-100": 406,
    "glove-twitter-200": 795,
}


@cache
def shipped() -> dict[str, dict[str, Any]]:
    """The models that can be loaded by name, each with its source, format and licence."""
    entries: dict[str, dict[str, Any]] = {}
    for path in sorted(resource("config/models").glob("*.yaml")):
        entries |= read_yaml(path)
    return entries


def cache_folder() -> Path:
    """Where fetched models are kept: BIASGRID_EMBEDDINGS, a checkout's data/embeddings, or the user's cache."""
    if place := os.environ.get(PLACE):
        return Path(place).expanduser()
    checkout = resource("data")
    if (checkout.parent / "pyproject.toml").is_file():
        return checkout / "embeddings"
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    return base / "biasgrid" / "embeddings"


def by_name(name: str, label: str | None = None) -> Model:
    """The model of that name, from the cache, or fetched into it after saying so on standard error.

    Parameters
    ----------
    name
        A shipped model's, or that of any store in the cache.
    label
        What to call the model; None for its name.

    Raises
    ------
    InputError
        There is no such model.
    NetworkError, DiskError, BiasgridError
        It cannot be fetched, kept, or read.
    """
    folder, entry = cache_folder(), shipped().get(name)
    if entry is None:
        if Path(name).name == name and (folder / name / MODEL).is_file():
            return EmbeddingStore.open(folder / name, label)
        raise InputError(
            f"{name!r:.80}: no such file or folder, and {unknown('model', name, shipped(), 'docs/data.md')}"
        )
    # imported late: to fetch takes an HTTP client
    from ..embeddings.building import build_store, store_of

    try:
        return EmbeddingStore.open(store_of(folder, name, entry).open().path, label)
    except BiasgridError:
        pass  # not there, or another one, which is said below
    if entry.get("format") == "npy-parquet":
        require("pyarrow", f"{name}, a Parquet file,")
    fetched = (folder / "raw" / name / "manifest.json").is_file()
    size = f", {SIZES[name]:,} MB" if name in SIZES else ""
    what = "converting" if fetched else f"downloading ({entry['source']['type']}{size}) and converting"
    print(f"biasgrid: {name}: {what} into {folder}", file=sys.stderr, flush=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DiskError(f"{name}: {folder} cannot be the folder of models: {error.strerror}") from None
    # whatever else is in that folder may be another's: nothing there is replaced
    store = build_store(name, entry, folder, shared=True)
    return EmbeddingStore.open(store.path, label)

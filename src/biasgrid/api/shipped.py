"""Models by name: those whose sources come with biasgrid (config/models), fetched when they are missing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..config.shipped import plugins_of, shipped_models
from ..embeddings.kinds import kind_of
from ..embeddings.store import MODEL
from ..embeddings.store_of import open_folder
from ..errors import BiasgridError, DiskError, InputError, unknown_name
from ..registry import load_plugins
from ..resources import cache_folder, did_you_mean_file
from ..termination import tidy_termination
from .fetching import downloading, is_fetched, say


def shipped(name: str, kind: str | None = None) -> Mapping[str, Any] | None:
    """The entry of a shipped model; None for the name of any other store in the cache. Raises InputError, with the
    names of the models of a kind, where there is no model of that name."""
    entry = shipped_models().get(name)
    if entry is None and not (Path(name).name == name and (cache_folder() / name / MODEL).is_file()):
        entries = shipped_models()
        names = [key for key in entries if kind in (None, kind_of(entries[key]).name)] or list(entries)
        raise InputError(
            f"{name!r:.80}: no such file or folder, and "
            f"{unknown_name('model', name, names, 'biasgrid list models')}{did_you_mean_file(name)}"
        )
    return entry


def by_name(name: str, label: str | None = None) -> Any:
    """The model of that name, of whichever kind it is, from the cache, or fetched into it after saying so on standard
    error.

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
    folder, entry = cache_folder(), shipped(name)
    if entry is None:
        return open_folder(folder / name, label)
    load_plugins(plugins_of([entry]))
    # imported late: to fetch takes an HTTP client
    from ..embeddings.building import build_store, check_extra, store_of

    try:
        return open_folder(store_of(folder, name, entry).open().path, label)
    except BiasgridError:
        pass  # no store, or one of another source: it is made below
    check_extra(name, entry)
    say(name, "converting" if is_fetched(name) else f"{downloading(entry)} and converting", folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DiskError(f"{name}: {folder} cannot be the folder of models: {error.strerror}") from None
    # other files in that folder may belong to another study: none is replaced
    with tidy_termination():
        store = build_store(name, entry, folder, shared=True)
    return open_folder(store.path, label)

"""Models by name whose sources come with biasgrid (config/models), downloaded if they are missing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError, DiskError, InputError, unknown_name
from ..core.registry import load_plugins
from ..core.resources import cache_folder, did_you_mean_file
from ..core.termination import tidy_termination
from .fetch_by_name import downloading, is_fetched, say
from .kinds import kind_of
from .shipped_sources import plugins_of, shipped_models
from .store import MODEL
from .store_of import open_folder


def shipped(name: str, kind: str | None = None) -> Mapping[str, Any] | None:
    """Return the entry of a shipped model, or None for the name of another store in the cache.

    Raises InputError, with the names of the models of a type, if the name is unknown.
    """
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
    """Return the model of a name, of any type, from the cache; if missing, download it with a notice.

    Parameters
    ----------
    name
        The name of a shipped model, or of any store in the cache.
    label
        The model's name in tables; None for `name`.

    Raises
    ------
    InputError
        The name is unknown.
    NetworkError, DiskError, BiasgridError
        The model cannot be fetched, kept, or read.
    """
    folder, entry = cache_folder(), shipped(name)
    if entry is None:
        return open_folder(folder / name, label)
    load_plugins(plugins_of([entry]))
    # Sources need an HTTP client, which is imported only when needed.
    from .building import build_store, check_extra, store_of

    try:
        return open_folder(store_of(folder, name, entry).open().path, label)
    except BiasgridError:
        pass  # the store is missing, or has another source, and is built below
    check_extra(name, entry)
    say(name, "converting" if is_fetched(name) else f"{downloading(entry)} and converting", folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DiskError(f"{name}: {folder} cannot be the folder of models: {error.strerror}") from None
    # Other files in this folder may belong to another study, so they are never replaced.
    with tidy_termination():
        store = build_store(name, entry, folder, shared=True)
    return open_folder(store.path, label)

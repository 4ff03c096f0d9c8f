"""Building of a model's folder from its source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError, DiskError
from ..core.extras import OF_MODELS, require_for
from ..core.files import hold_lock, write_text
from ..core.web_addresses import public
from .algorithms import REGISTRY as ALGORITHMS
from .kinds import VECTORS, Kind, kind_of
from .readers.conversion import reading_options
from .store import MODEL, EmbeddingStore
from .store_of import StoreOf, is_made_of

# Raise this number if a change of the readers changes stores. Every model is then converted again.
STORE_VERSION = 1


def build_store(
    name: str, model: Mapping[str, Any], folder: Path | str, shared: bool = False, stores: Path | None = None
) -> EmbeddingStore:
    """Make the store `folder`/`name` of a model, or `stores`/`name` if `stores`, which no other study uses, is given.

    The store is made from the archive in `folder`/raw/`name`, which is fetched if it is missing. A model that
    is trained here is made from its corpus' archive, and an encoded one from its encoder's archive.

    A store that was made from the same entry is used unchanged, and nothing is written, so the folder may be
    read-only. Another store is replaced, except in a folder that studies share (`shared`), because another
    study may be using it. If the source of a model of vectors has `keep: false`, its archive is deleted
    afterwards, except for its manifest. Processes that need the same store wait for each other.

    Parameters
    ----------
    name
        The model's name.
    model
        The model's entry in `Study.models`. The contents of its folder depend on its kind.
    folder
        The folder of stores and archives.
    shared
        Whether several studies share the folder.
    stores
        A folder for stores that only this study uses.

    Raises
    ------
    BiasgridError
        A source cannot be fetched or does not match its checksum, a file is not a model, a shared folder
        holds a different model of this name, or a folder cannot be written.
    """
    # Imported late, because measuring a score imports this package but does not need an HTTP client.
    from .sources import discard, fetch, fits, read_manifest

    folder, kind = Path(folder), kind_of(model)
    raw = folder / "raw"
    is_kept = model["source"].get("keep", True) or kind.name != VECTORS
    description = {"licence": model.get("licence", "not stated")}
    if "sorted" in model:
        description["sorted"] = model["sorted"]
    place, of_study = stores or folder, not shared or stores not in (None, folder)
    if not is_kept and fits(manifest := read_manifest(raw / name), model["source"]):
        made_of = _origin(model) | {"archive": _digests(manifest)}
        if is_made_of(_record(kind, place / name), made_of):
            # The archive remains if `keep` was true before, or if a process was killed before it deleted the archive.
            discard(name, raw)
            return _described(kind, place / name, description, of_study)
    if not all(read_manifest(raw / archive) for archive in archives_of(name, model)):
        check_extra(name, model)
    archives = {
        archive: fetch(archive, source, raw, shared=shared)
        for archive, source in archives_of(name, model).items()
    }
    digests = [_digests(read_manifest(raw / archive)) for archive in archives]
    if place != folder:
        place.mkdir(parents=True, exist_ok=True)
    # The store depends on these entries only.
    origin = _origin(model)
    origin |= dict(zip(("archive", "start"), digests, strict=False))
    if is_made_of(_record(kind, place / name), origin):
        return _described(kind, place / name, description, of_study)
    try:
        with hold_lock(place / f".{name}.lock"):
            record = _record(kind, place / name)
            if is_made_of(record, origin):  # another process made the store while this one waited
                return kind.open(place / name)
            if not of_study and record:
                key = next(key for key in origin if not is_made_of(record, {key: origin[key]}))
                raise BiasgridError(
                    f"{name}: {place / name}, which studies share, holds a different model of this name (its {key} "
                    f"is {json.dumps(record.get(key)):.200}): rename one of them, or delete that folder"
                )
            parts = dict(zip(("archive", "start"), archives.values(), strict=False))
            store = _build(
                kind, **parts, folder=place / name, name=name, model=model, metadata=origin | description
            )
            if not is_kept:
                discard(name, raw)
            return store
    except OSError as error:
        raise DiskError(f"{name}: {error.filename or place / name}: {error.strerror or error}") from None


def _build(kind: Kind, *, folder: Path, model: Mapping[str, Any], **settings: Any) -> EmbeddingStore:
    """Make a model's folder by its algorithm if it is trained here, or else as its kind does, and open it."""
    if model["source"]["type"] != "trained":
        return kind.build(folder=folder, model=model, **settings)
    ALGORITHMS[model["source"]["algorithm"]].make(folder=folder, model=model, **settings)
    return kind.open(folder)


def _described(kind: Kind, store: Path, description: dict[str, Any], of_study: bool) -> EmbeddingStore:
    """Open an existing store; first update the description in a study's own store to match the study.

    The description contains only entries on which vectors do not depend.
    """
    record = _record(kind, store)
    if of_study and record | description != record:
        text = json.dumps(record | description, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        write_text(store / MODEL, text)
    return kind.open(store)


def made_store(name: str, model: Mapping[str, Any], stores: Path) -> EmbeddingStore | None:
    """Return the store that was made from this entry before, even if its archive is missing, or else None."""
    kind = kind_of(model)
    is_made = _record(kind, stores / name).items() >= _origin(model).items()
    return kind.open(stores / name) if is_made else None


def extra_of(model: Mapping[str, Any]) -> str:
    """Return the extra that a model needs, such as "language"; empty if it does not need one."""
    return OF_MODELS.get(_form(model), ("", "", ()))[1]


def check_extra(name: str, model: Mapping[str, Any]) -> None:
    """Raise BiasgridError if a package that a model needs is missing; called before the model is downloaded."""
    require_for(_form(model), name)


def _form(model: Mapping[str, Any]) -> str:
    source = model["source"]
    if source["type"] == "encoded":
        encoder = source["encoder"]["source"]["type"]
        return encoder if encoder in ("answers", "sentence-transformers") else "transformers"
    if source["type"] == "trained":
        return ALGORITHMS[source["algorithm"]].needs
    return str(model.get("format", ""))


def archives_of(name: str, model: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the archives that a model is made from, name -> source.

    These are its own archive, or the archive of its corpus or encoder, followed by the weights from which
    training starts.
    """
    source = model["source"]
    parts = [source[part] for part in ("corpus", "encoder", "start") if part in source]
    if source["type"] not in ("trained", "shuffled", "encoded"):
        return {name: source}
    return {part["name"]: part["source"] for part in parts}


def store_of(folder: Path | str, name: str, model: Mapping[str, Any]) -> StoreOf:
    """Return the store `folder`/`name` of a study's model; `model` is its entry in `Study.models`."""
    origin = json.dumps(_origin(model), sort_keys=True)
    return StoreOf(Path(folder) / name, origin, kind_of(model).name)


def _origin(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source and options that a store must have been made from, as entries of its model.json."""
    form = model.get("format")
    origin = {
        "source": public(model["source"]),
        "converted_as": {"format": form, **options} if (options := reading_options(model)) else form,
        "vocab_prefix": model.get("vocab_prefix", ""),
        "store_version": STORE_VERSION,
    }
    if "kind" in model:
        origin["kind"] = model["kind"]
        origin |= {key: model.get(key) for key in kind_of(model).keys}
    if model["source"]["type"] == "trained":
        origin["trained_by"] = ALGORITHMS[model["source"]["algorithm"]].version()
    if model["source"]["type"] == "encoded":
        from .language import encoding

        origin["encoded_by"] = encoding.VERSION
    return origin


def _digests(manifest: Mapping[str, Any]) -> dict[str, str]:
    return {file: facts["sha256"] for file, facts in manifest["files"].items()}


def maker_version(model: Mapping[str, Any]) -> str:
    """Return the version of the code that trains or encodes a model; empty for a model that is fetched."""
    origin = _origin(model)
    return str(origin.get("trained_by") or origin.get("encoded_by") or "")


def _record(kind: Kind, store: Path) -> dict[str, Any]:
    """Return a complete store's model.json, or {} if it is missing or cannot be opened and must be made again."""
    try:
        return kind.open(store).metadata
    except (OSError, BiasgridError):
        return {}

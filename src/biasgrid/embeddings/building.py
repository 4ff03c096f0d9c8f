"""A model's folder, made from its source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import BiasgridError, DiskError
from ..extras import OF_MODELS, require_for
from ..files import hold_lock, write_text
from ..web_addresses import public
from .kinds import VECTORS, Kind, kind_of
from .readers.conversion import reading_options
from .store import MODEL, EmbeddingStore
from .store_of import StoreOf, is_made_of

# raise it when a change of the readers changes stores: every model is converted anew
STORE_VERSION = 1


def build_store(
    name: str, model: Mapping[str, Any], folder: Path | str, shared: bool = False, stores: Path | None = None
) -> EmbeddingStore:
    """The store `folder`/`name` of a model, made from the archive in `folder`/raw/`name`, which is fetched if it is
    missing; a model that is trained here is made from its corpus' archive, an encoded one from its encoder's. With
    `stores` it is `stores`/`name`, which no other study uses.

    `model` is the model's entry in `Study.models`; what its folder holds depends on its kind. A store that was made
    from this entry is used as it is, and nothing is written, so that the folder may be read-only. The archive of a
    model of vectors whose source says `keep: false` is then deleted, but for its manifest. Another store is
    replaced; but not in a folder that studies share (`shared`), where another study may be using it. Processes that
    need the same store wait for each other.

    Raises BiasgridError for a source that cannot be fetched or does not match its checksum, for a file that is not a
    model, for a shared folder that holds a different model of this name, and for a folder that cannot be written.
    """
    # imported late: cells import this package and need no HTTP client
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
            discard(name, raw)  # kept so far, or by a process that was killed
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
    # all that the store depends on
    origin = _origin(model)
    origin |= dict(zip(("archive", "start"), digests, strict=False))
    if is_made_of(_record(kind, place / name), origin):
        return _described(kind, place / name, description, of_study)
    try:
        with hold_lock(place / f".{name}.lock"):
            record = _record(kind, place / name)
            if is_made_of(record, origin):  # another process has made it while this one waited
                return kind.open(place / name)
            if not of_study and record:
                key = next(key for key in origin if not is_made_of(record, {key: origin[key]}))
                raise BiasgridError(
                    f"{name}: {place / name}, which studies share, holds a different model of this name (its {key} "
                    f"is {json.dumps(record.get(key)):.200}): rename one of them, or delete that folder"
                )
            settings = dict(zip(("archive", "start"), archives.values(), strict=False))
            store = kind.build(
                folder=place / name, name=name, model=model, metadata=origin | description, **settings
            )
            if not is_kept:
                discard(name, raw)
            return store
    except OSError as error:
        raise DiskError(f"{name}: {error.filename or place / name}: {error.strerror or error}") from None


def _described(kind: Kind, store: Path, description: dict[str, Any], of_study: bool) -> EmbeddingStore:
    """A store that is there, opened; a study's own follows the study in what no vector depends on."""
    record = _record(kind, store)
    if of_study and record | description != record:
        text = json.dumps(record | description, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        write_text(store / MODEL, text)
    return kind.open(store)


def made_store(name: str, model: Mapping[str, Any], stores: Path) -> EmbeddingStore | None:
    """The store of a model that was made of this entry before, whatever has become of its archive; None where there
    is none."""
    kind = kind_of(model)
    is_made = _record(kind, stores / name).items() >= _origin(model).items()
    return kind.open(stores / name) if is_made else None


def extra_of(model: Mapping[str, Any]) -> str:
    """The extra that a model needs, such as "language"; empty where it needs none."""
    return OF_MODELS.get(_form(model), ("", "", ()))[1]


def check_extra(name: str, model: Mapping[str, Any]) -> None:
    """Check for the packages that a model needs, before it is downloaded. Raises BiasgridError."""
    require_for(_form(model), name)


def _form(model: Mapping[str, Any]) -> str:
    source = model["source"]
    if source["type"] == "encoded":
        encoder = source["encoder"]["source"]["type"]
        return encoder if encoder in ("answers", "sentence-transformers") else "transformers"
    if source["type"] == "trained":
        from . import training

        algorithm = source["algorithm"]
        return (
            "transformers"
            if algorithm in training.LANGUAGE_MODELS
            else ""
            if algorithm in training.MODULES
            else "gensim"
        )
    return str(model.get("format", ""))


def archives_of(name: str, model: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The archives that a model is made from, name -> source: its own, or that of its corpus or encoder, then that of
    the weights that its training starts from."""
    source = model["source"]
    parts = [source[part] for part in ("corpus", "encoder", "start") if part in source]
    if source["type"] not in ("trained", "shuffled", "encoded"):
        return {name: source}
    return {part["name"]: part["source"] for part in parts}


def store_of(folder: Path | str, name: str, model: Mapping[str, Any]) -> StoreOf:
    """The store `folder`/`name` of a study's model (`model` is its entry in `Study.models`)."""
    origin = json.dumps(_origin(model), sort_keys=True)
    return StoreOf(Path(folder) / name, origin, kind_of(model).name)


def _origin(model: Mapping[str, Any]) -> dict[str, Any]:
    """What a store must have been made from, and how, as entries of its model.json."""
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
        from . import training

        origin["trained_by"] = training.version(model["source"]["algorithm"])
    if model["source"]["type"] == "encoded":
        from .language import encoding

        origin["encoded_by"] = encoding.VERSION
    return origin


def _digests(manifest: Mapping[str, Any]) -> dict[str, str]:
    return {file: facts["sha256"] for file, facts in manifest["files"].items()}


def maker_version(model: Mapping[str, Any]) -> str:
    """The version of the code that trains or encodes a model; empty for one that is fetched."""
    origin = _origin(model)
    return str(origin.get("trained_by") or origin.get("encoded_by") or "")


def _record(kind: Kind, store: Path) -> dict[str, Any]:
    """A whole store's model.json; {} where there is none, or one that cannot be opened: it is made anew."""
    try:
        return kind.open(store).metadata
    except (OSError, BiasgridError):
        return {}

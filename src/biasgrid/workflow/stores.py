"""Models' stores as steps: made of an archive or trained, and recorded where the results are."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError, NetworkError
from ..core.files import write_text
from ..core.resources import PLACE
from ..core.web_addresses import with_secrets
from ..models import EmbeddingStore, build_store, not_downloaded
from ..models.building import STORE_VERSION, archives_of, check_extra, made_store, maker_version
from ..models.kinds import REGISTRY as KINDS
from ..models.kinds import kind_of
from ..models.readers.conversion import reading_options
from ..models.sources import REGISTRY as SOURCES
from ..models.sources import fetch, fits, verify, without_pins
from ..models.sources.manifest import MANIFEST
from ..study.checksums import digest_of
from ..study.paths import Folders
from ..study.step import Step, stat_of
from ..study.study import Study

# a store's size as a multiple of its archive's, by format: gzipped text, and gzipped binary numbers (measured on the
# full case study)
OF_TEXT, PACKED = 1.2, {"word2vec-binary": 2.1}


def make_folder(study: Folders) -> None:
    """The folder of archives and stores. Raises BiasgridError where it cannot be one."""
    try:
        study.embeddings.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        set_by = "embeddings" if study.own_embeddings else PLACE
        raise BiasgridError(
            f"{set_by}: {study.embeddings} is not a usable folder for embeddings: {error.strerror}"
        ) from None


def check_extras(study: Folders, downloads: Collection[str]) -> None:
    """Check for the packages that the models of these archives need. Raises BiasgridError."""
    # without models, what is fetched is what others are trained from
    models = study.models or study.sources
    for key, model in models.items():
        if not set(archives_of(key, model)).isdisjoint(downloads):
            check_extra(key, model)


def archive_step(study: Folders, name: str) -> Step:
    """Return the step that fetches an archive of a model, benchmark or corpus, and records it beside the results.

    A checksum that is added to a source changes nothing: the archive has that checksum, or is fetched again.
    """
    files = local_files(study, name)
    spec = {"archive": name, "source": without_pins(study.sources[name]["source"])}
    return Step(
        f"archive {name}",
        {"files": files, "study": study},
        study.paths.source_file(name),
        spec,
        f"{__name__}:fetch_archive",
        own=tuple(files),
        version="1",
    )


def fetch_archive(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Fetch an archive (`archive_step`).

    The record is a copy of the archive's manifest. If the archive of a study could not be downloaded, it says why.
    """
    study, name = inputs["study"], spec["archive"]
    source, raw = with_secrets(study.sources[name]["source"]), study.embeddings / "raw"
    make_folder(study)
    try:
        fetch(name, source, raw, shared=study.shares_embeddings)
    except NetworkError as error:
        if not isinstance(study, Study):
            raise
        text = not_downloaded.record_of({name: str(error).removeprefix(f"{name}: ")})
    else:
        text = (raw / name / MANIFEST).read_text(encoding="utf-8")
    write_text(output, text)


def absent_archives(study: Study) -> dict[str, str]:
    """Return the archives that could not be downloaded, with the reason, except those whose store exists."""
    reasons = {name: not_downloaded.reasons_in(study.paths.source_file(name)) for name in study.sources}
    made = {
        archive
        for model in study.models
        if study.paths.model_file(model).is_file()
        and not not_downloaded.reasons_in(study.paths.model_file(model))
        for archive in archives(study, model)
    }
    return {name: of_archive[name] for name, of_archive in reasons.items() if of_archive and name not in made}


def check_fetched(study: Study) -> None:
    """Raise BiasgridError if an archive could not be downloaded; the end of the run says which and why."""
    if any(not_downloaded.reasons_in(study.paths.source_file(name)) for name in study.sources):
        raise BiasgridError("not all archives are there")


def verify_archives(study: Study) -> None:
    """Read all fetched archives again and compare them with their checksums. Raise BiasgridError for the first one
    that differs."""
    for name in study.sources:
        verify(name, study.embeddings / "raw")


def drop_outdated_records(study: Folders) -> None:
    """Delete the records of archives and stores that are out of date, so that Snakemake makes them again.

    These are archives that could not be downloaded, archives with other checksums than the config has by now,
    archives and stores that were deleted, and stores that another study replaced. A store whose archive has no
    record loses its record, too: Snakemake does not make a missing file if what is made of it is there. A record is
    a small copy: what it is about stays.
    """
    for name, entry in study.sources.items():
        record = study.paths.source_file(name)
        is_made = fits(_read_record(record), entry["source"]) and not _is_gone(study, name)
        if record.is_file() and not is_made:
            record.unlink()
    for model in study.models:
        record = study.paths.model_file(model)
        has_archives = all(study.paths.source_file(name).is_file() for name in archives(study, model))
        is_made = has_archives and (
            bool(not_downloaded.reasons_in(record)) or _is_store_of(study, model, record)
        )
        if record.is_file() and not is_made:
            record.unlink()


def _is_gone(study: Folders, name: str) -> bool:
    """Return whether an archive was deleted that is still needed: a model that is made of it has no store."""
    if (study.embeddings / "raw" / name / "manifest.json").is_file() or local_files(study, name):
        return False
    models = [model for model in study.models if name in archives(study, model)]
    return not all(_is_store_of(study, model, study.paths.model_file(model)) for model in models)


def _read_record(record: Path) -> dict[str, Any]:
    """Return what a record of an archive contains; an empty mapping if it is damaged or says why there is none."""
    try:
        manifest = json.loads(record.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return manifest if isinstance(manifest, dict) and "files" in manifest else {}


def _is_store_of(study: Folders, model: str, record: Path) -> bool:
    """Return whether the model's store is whole and is the one that the record is a copy of."""
    folder = study.store_folder(model) / model
    try:
        kind_of(study.models[model]).open(folder)
        return (folder / "model.json").read_bytes() == record.read_bytes()
    except (BiasgridError, OSError):
        return False


def store_step(study: Folders, model: str) -> Step:
    """Return the step that makes a model's store, and records it beside the study's results.

    A store that is there already is used.
    """
    entry = study.models[model]
    spec = {"store": model, "source": without_pins(entry["source"]), "licence": entry.get("licence")}
    if model in study.trained_models:
        version = f"{STORE_VERSION} {maker_version(entry)}"
    else:
        of_kind = KINDS[entry["kind"]].keys if "kind" in entry else ()
        spec |= {key: entry.get(key) for key in ("format", "vocab_prefix", "kind", *of_kind) if key in entry}
        spec |= reading_options(entry)
        version = str(STORE_VERSION)
    return Step(
        f"store {model}",
        {"archives": list(map(study.paths.source_file, archives(study, model))), "study": study},
        study.paths.model_file(model),
        spec,
        f"{__name__}:make_store",
        version=version,
    )


def make_store(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> EmbeddingStore | None:
    """Make a model's store (`store_step`).

    Returns
    -------
    EmbeddingStore or None
        None if an archive that the model is made from could not be downloaded; the record says why.
    """
    study, model = inputs["study"], spec["store"]
    make_folder(study)
    folder = study.store_folder(model)
    reasons: dict[str, str] = {}
    for archive in inputs["archives"]:
        reasons |= not_downloaded.reasons_in(archive)
    entry = study.models[model]
    if reasons:
        store = made_store(model, entry, folder)
    else:
        store = build_store(model, entry, study.embeddings, study.shares_embeddings, folder)
    if store is None:
        write_text(output, not_downloaded.record_of(reasons))
        return None
    write_text(output, (folder / model / "model.json").read_text(encoding="utf-8"))
    return store


def archives(study: Folders, model: str) -> list[str]:
    """Return the names of the archives that a model is made from."""
    return list(archives_of(model, study.models[model]))


def local_files(study: Folders, name: str) -> list[str]:
    """Return the files of the user that an archive refers to; a missing one is reported by `fetch`."""
    source = study.sources[name]["source"]
    return [str(file) for file in SOURCES[source["type"]].read_files(source)]


def local_digests(study: Folders, name: str) -> dict[str, str]:
    """Return the SHA-256 of each file of the user that an archive refers to, by its path.

    The record of the archive has them, as the files were read when it was made.
    """
    recorded = _read_record(study.paths.source_file(name)).get("files", {})
    return {
        file: recorded[file]["sha256"] if file in recorded else digest_of(Path(file))
        for file in local_files(study, name)
    }


def megabytes(study: Folders, model: str, unknown: float = 4000) -> float:
    """Return the megabytes of a model's store.

    Before the store is made, they are estimated from its archive. If the size of the archive is not known, they are
    `unknown`, the size of a large model.
    """
    if state := stat_of(study.store_folder(model) / model / "vectors.npy"):
        return state[0] / 1e6
    packed = archive_megabytes(study, model)
    return unknown if packed is None else packed * PACKED.get(study.models[model].get("format", ""), OF_TEXT)


def archive_megabytes(study: Folders, model: str) -> float | None:
    """Of the archive that a model is made from, as it was fetched or as the config says; None: not known."""
    name, *_ = archives(study, model)
    try:
        manifest = json.loads((study.embeddings / "raw" / name / "manifest.json").read_text(encoding="utf-8"))
        return sum(file["bytes"] for file in manifest["files"].values()) / 1e6
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        # not there yet, or damaged, which the store's step reports
        return study.sources[name].get("download_mb")


def size_of(folder: Path) -> float:
    """Return the megabytes of an archive that are downloaded so far, without its extracted members."""
    states = (stat_of(file) for file in folder.rglob("*") if "members" not in file.parts)
    return sum(state[0] for state in states if state) / 1e6  # without files that are moved meanwhile


def memory(study: Folders, model: str, stores: float, attempt: int) -> int:
    """Megabytes for a step that holds so many times its model's store; more after each try that failed."""
    # 800: a process with its libraries (measured: docs/engine.md)
    return int(800 + stores * megabytes(study, model)) * attempt


def evaluation_memory(study: Study, model: str, attempt: int) -> int:
    """Megabytes for an evaluation: it maps the store; where words are not sorted, it searches all of them."""
    return memory(study, model, 0.25 if study.models[model].get("sorted", True) else 3, attempt)

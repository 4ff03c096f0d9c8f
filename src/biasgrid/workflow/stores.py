"""Models' stores as steps: made of an archive or trained, and recorded where the results are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from .. import absence
from ..digests import content
from ..embeddings import EmbeddingStore, build_store
from ..embeddings.building import archives_of, check_extra, made_store
from ..embeddings.kinds import REGISTRY as KINDS
from ..embeddings.kinds import kind_of
from ..embeddings.readers.conversion import reading_options
from ..embeddings.sources import REGISTRY as SOURCES
from ..embeddings.sources import fetch, fits, is_same, note_absence, read_manifest, without_pins
from ..errors import BiasgridError, NetworkError
from ..files import write_text
from ..plan.paths import Folders
from ..plan.study import Study
from ..resources import PLACE

# a store's size as a multiple of its archive's, by format: gzipped text, and gzipped binary numbers (measured on the
# full case study)
OF_TEXT, PACKED = 1.2, {"word2vec-binary": 2.1}

# time of what a failed job was to update; at 0 the engine would not compare it with its inputs
UNFINISHED = 1


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


# whether a download shows by itself how far it is; a run that shows it sets this to False. No argument of
# `fetch_archive`:
# the rule would have another text, and each study be out of date
show_downloads = True


def fetch_archive(study: Folders, name: str) -> None:
    """The archive of a model, a benchmark or a corpus."""
    source, raw, count = study.sources[name]["source"], study.embeddings / "raw", _other_files(study, name)
    try:
        fetch(name, source, raw, shared=study.shares_embeddings, progress=show_downloads)
        with suppress(OSError):  # of a folder that others keep
            if _manifest(study, name).stat().st_mtime <= UNFINISHED:  # it was right before
                _manifest(study, name).touch()
    except NetworkError as error:
        if not isinstance(study, Study):
            raise
        note_absence(name, source, raw, str(error).removeprefix(f"{name}: "))
    if count:
        write_text(_pins_note(study, name), f"{count}\n")


def absent_archives(study: Study, asked: Collection[str] = ()) -> dict[str, str]:
    """The archives of a study that could not be downloaded -> why; of those that were not asked for by themselves,
    less those of which there are stores."""
    reasons = {name: absence.reasons_in(_manifest(study, name)) for name in study.sources}
    made = {
        archive
        for model in study.models
        if study.paths.model_file(model).is_file() and not absence.reasons_in(study.paths.model_file(model))
        for archive in archives(study, model)
    }
    made.difference_update(asked)
    return {name: of_archive[name] for name, of_archive in reasons.items() if of_archive and name not in made}


def try_again(study: Folders) -> None:
    """Forget which archives could not be downloaded, so that this run tries them again."""
    for name in study.sources:
        if absence.reasons_in(manifest := _manifest(study, name)):
            with suppress(OSError):  # of a folder that others keep
                manifest.unlink(missing_ok=True)


def _manifest(study: Folders, name: str) -> Path:
    return study.embeddings / "raw" / name / "manifest.json"


def make_store(study: Folders, model: str) -> EmbeddingStore | None:
    """Make a model's store, and write what it is beside the study's results; None, and why, where what it is made of
    could not be downloaded. A store that was made of it before is used as it is.

    The store itself is no output of a rule: the engine would delete it before it makes it again, and another run may
    be reading it in the folder that both share.
    """
    count = store_changes(study, model)
    folder = study.store_folder(model)
    reasons: dict[str, str] = {}
    for archive in archives(study, model):
        reasons |= absence.reasons_in(_manifest(study, archive))
    store = made_store(model, study.models[model], folder) if reasons else None
    if reasons and store is None:
        # another text than that of any store: the step runs again as long as there is none
        write_text(_note(study, model), f"{count} {absence.STATUS}\n")
        write_text(study.paths.model_file(model), absence.record_of(reasons))
        return None
    store = store or build_store(
        model, study.models[model], study.embeddings, study.shares_embeddings, folder
    )
    record = study.store_folder(model) / model / "model.json"
    write_text(_note(study, model), f"{count} {_digest(record)}\n")
    write_text(study.paths.model_file(model), record.read_text(encoding="utf-8"))
    return store


def store_changes(study: Folders, model: str) -> int:
    """How often the store was found to be another than the one that the study was computed on, this time included.

    A parameter of the step, so it must stay as it was when the step was run: the count is noted then, beside the
    log, as the engine deletes outputs before it runs a step.
    """
    note, record = _note(study, model), study.paths.model_file(model)
    count, former_digest = note.read_text().split() if note.is_file() else (0, _digest(record))
    store = study.store_folder(model) / model
    present = _digest(store / "model.json") if _is_whole(study, model) else "damaged"
    return int(count) + (former_digest not in ("none", present))


def source_spec(study: Folders, name: str, *keys: str) -> str:
    """What a model's or a benchmark's store depends on. A checksum that is added to its source changes nothing: the
    archive has it, or is fetched again."""
    entry: Mapping[str, Any] = study.models.get(name) or study.sources[name]
    of_kind = ("kind", *KINDS[entry["kind"]].keys) if "kind" in entry and "format" in keys else ()
    values = {key: entry.get(key) for key in (*keys, *of_kind)}
    if "format" in keys:
        values |= reading_options(entry)
    return json.dumps(values | {"source": without_pins(entry["source"])}, sort_keys=True)


def archive_spec(study: Folders, name: str) -> str:
    """Return what an archive depends on as one text: its source, the content of the user's files that it is read
    from, and how often its files had other checksums than those of its manifest or source.
    """
    count, spec = _other_files(study, name), source_spec(study, name, "source")
    if files := local_file(study, name):
        spec += f" {json.dumps({file: content(file) for file in files}, ensure_ascii=False)}"
    return spec + (f" {count}" if count else "")


def is_read(study: Folders, name: str) -> bool:
    """Return whether the manifest of an archive is of the user's files as they are now. That of a step that failed is
    not: the engine has forgotten which params the step had, and set the manifest's time back."""
    manifest = read_manifest(study.embeddings / "raw" / name)
    if not manifest or _manifest(study, name).stat().st_mtime <= UNFINISHED:
        return False
    former_contents = [facts["sha256"] for facts in manifest["files"].values()]
    return sorted(former_contents) == sorted(map(content, local_file(study, name)))


def _other_files(study: Folders, name: str) -> int:
    """How often the files of an archive were found to be others than those of its manifest, or to have another
    checksum than its source, this time included. It is noted when the archive is fetched, as in `store_changes`."""
    note, folder = _pins_note(study, name), study.embeddings / "raw" / name
    source, manifest = study.sources[name]["source"], read_manifest(folder)
    is_other = bool(manifest) and is_same(manifest["source"], source) and not fits(manifest, source)
    if manifest and not SOURCES[source["type"]].in_place(source):
        files = {folder / file: facts["sha256"] for file, facts in manifest["files"].items()}
        # one that is not there was not to be kept, or is fetched when it is needed
        is_other |= any(file.is_file() and content(file) != sha for file, sha in files.items())
    return (int(note.read_text()) if note.is_file() else 0) + is_other


def _pins_note(study: Folders, name: str) -> Path:
    return Path("logs") / study.name / "archive" / f"{name}.pins"


def archives(study: Folders, model: str) -> list[str]:
    """The names of the archives that a model is made from."""
    return list(archives_of(model, study.models[model]))


def local_file(study: Folders, name: str) -> list[str]:
    """The files that the user put in place, of a source that is read from there: when one changes, so does the model.
    If one is missing, `fetch` reports it."""
    source = study.sources[name]["source"]
    return [str(file) for file in SOURCES[source["type"]].read_files(source)]


def megabytes(study: Folders, model: str, unknown: float = 4000) -> float:
    """Of a model's store; before it is made a guess from its archive, else `unknown`: a large model's."""
    try:
        return (study.store_folder(model) / model / "vectors.npy").stat().st_size / 1e6
    except OSError:
        pass
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
    """Megabytes of an archive that are downloaded so far, without the members taken out of it."""
    size = 0
    for file in folder.rglob("*"):
        if "members" not in file.parts:
            with suppress(OSError):  # moved to its place meanwhile
                size += file.stat().st_size
    return size / 1e6


def memory(study: Folders, model: str, stores: float, attempt: int) -> int:
    """Megabytes for a step that holds so many times its model's store; more after each try that failed."""
    # 800: a process with its libraries (measured: docs/cluster.md)
    return int(800 + stores * megabytes(study, model)) * attempt


def evaluation_memory(study: Study, model: str, attempt: int) -> int:
    """Megabytes for an evaluation: it maps the store; where words are not sorted, it searches all of them."""
    return memory(study, model, 0.25 if study.models[model].get("sorted", True) else 3, attempt)


def _note(study: Folders, model: str) -> Path:
    return Path("logs") / study.name / "store" / f"{model}.made"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"


def _is_whole(study: Folders, model: str) -> bool:
    try:
        kind_of(study.models[model]).open(study.store_folder(model) / model)
    except BiasgridError:
        return False
    return True

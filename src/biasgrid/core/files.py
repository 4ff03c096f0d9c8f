"""Atomic writing of files: readers and other writers find the old file or the new one, never a part.

A file is written next to its final path, under a name that no other writer uses, and renamed when it is
complete. A writer holds a lock (flock) on its temporary file. Temporary files without a lock were left by a
process that was killed; the next writer of that file removes them. Devices and pipes (such as /dev/null) are
never replaced by a file. No file is written through a link, because results from elsewhere may link to any
file.

The package filelock is not used: it leaves its lock files, and fails on file systems without locks.
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

LONGEST = 150  # bytes of a file's name that its temporary name repeats; file systems allow 255
# On some file systems of clusters, locks work only within one machine, so each removes only its own files.
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
    """Return a criterion's name as a part of file names: small letters, digits and hyphens."""
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
    """Open a binary file that appears at `path` when it is complete, and not at all after an error.

    A device, or a pipe that has a reader, is written to and not replaced.

    Parameters
    ----------
    path
        The path of the file; missing folders above it are created.
    sync
        Whether the bytes must be on the disk before the file appears.

    Raises
    ------
    BiasgridError
        `path` is a link, a folder, a disk, a socket, or a pipe without a reader.
    OSError
        The file cannot be written; `filename` is `path`.
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
        # Errors of writing do not name a file, and errors of opening name the temporary file.
        of_this = error.errno in FULL if error.filename is None else str(error.filename).endswith(".partial")
        if not of_this:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def replace_file(path: Path | str) -> Iterator[Path]:
    """Create a new, empty file next to `path`, for functions that need a file's name; at the end, it replaces `path`.

    Files whose names begin with its name and a dot also belong to this writer, and are removed with it if it
    is killed. After an error, `path` is unchanged. Raises BiasgridError if `path` exists and is not a regular
    file.
    """
    path = Path(path)
    if not _replaceable(path):
        raise BiasgridError(f"{path}: is {_describe_kind(path)}; an output must be a file here")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{_part_prefix(path)}{secrets.token_hex(6)}.partial")
    try:
        with hold_lock(part):
            yield part
            os.replace(part, path)
    except OSError as error:
        # Errors of writing do not name a file, or name one of this writer's files.
        if error.errno not in FULL:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        _sweep(path)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Create an empty folder next to `path`, which becomes `path` at the end and is removed after an error.

    Raises BiasgridError if `path` exists.
    """
    if os.path.lexists(path):
        raise BiasgridError(f"{path}: is there already; give a folder that is not")
    busy = f"{path}: another process is writing this folder"
    with scratch_folder(path.with_name(f".{path.name}.partial"), busy) as part:
        yield part
        part.rename(path)


@contextmanager
def scratch_folder(path: Path, busy: str) -> Iterator[Path]:
    """Create an empty folder for this process, which is removed at the end of the block or of the process.

    Raises BiasgridError with the message `busy` if another process uses it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_lock(path.with_name(f"{path.name}.lock"), wait=False))
        except BlockingIOError:
            raise BiasgridError(busy) from None
        shutil.rmtree(path, ignore_errors=True)  # left by a process that was killed
        path.mkdir()
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


def refuse_link(path: Path) -> None:
    """Raise BiasgridError if an output is a link to a file or a broken link, because it would be written elsewhere.

    A link to a device or a pipe (/dev/stdout) is allowed.
    """
    if not path.is_symlink() or (path.exists() and not (path.is_file() or path.is_dir())):
        return
    # If standard output is a file, replacing it through /dev/stdout would lose it, and writing to it would garble it.
    link = path
    while link.is_symlink():
        if link.parent.resolve().is_relative_to("/proc"):
            raise BiasgridError(f"{path}: is a file that this process has open; give the file's own name")
        link = link.parent / os.readlink(link)
    raise BiasgridError(
        f"{path}: is a link to {os.readlink(path)}; what is written here must stay here: remove the link"
    )


def refuse_links(folder: Path | str, but: Collection[str] = ()) -> None:
    """Raise BiasgridError if a folder for outputs contains a link; the folder itself may be a link.

    Folders in it with the names `but` are skipped.
    """
    with suppress(OSError):  # the folder is missing or cannot be read
        entries = list(os.scandir(folder))
        for entry in entries:
            if entry.is_symlink():
                refuse_link(Path(entry.path))
            elif entry.is_dir() and entry.name not in but:
                refuse_links(entry.path, but)


def refuse_other_folder(folder: Path, own: Collection[str], instead: str) -> None:
    """Raise BiasgridError if a folder contains files, but none of the `own` files, so as not to overwrite it.

    The message recommends `instead`. Hidden files do not count.
    """
    if folder.exists() and not folder.is_dir():
        raise BiasgridError(f"{folder}: is {_describe_kind(folder)}, and no folder; {instead}")
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    others = sorted(name for name in names if not name.startswith("."))
    if others and names.isdisjoint(own):
        rest = f" and {len(others) - 3} more" if len(others) > 3 else ""
        raise BiasgridError(f"{folder}: has other things in it ({', '.join(others[:3])}{rest}); {instead}")


def to_disk(file: IO[bytes]) -> None:
    """Force a file's content onto the disk, before the file is renamed."""
    file.flush()
    os.fsync(file.fileno())


def readable(name: str) -> str:
    """Return a file's name, which may have any bytes, as UTF-8 text."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def hash_file(path: Path | str, algorithm: str = "sha256") -> str:
    """Return the hex digest of a file's bytes; `algorithm` as in hashlib. Raise OSError if it cannot be read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.new(algorithm, usedforsecurity=False)).hexdigest()


@contextmanager
def hold_lock(path: Path, wait: bool = True) -> Iterator[None]:
    """Hold a lock, which ends with this process in any case.

    The file `path` exists while the lock is held, or after a process was killed; its existence alone means
    nothing. Raises BlockingIOError if another process holds the lock, unless `wait`.
    """
    with ExitStack() as stack:
        while True:
            refuse_link(path)
            lock = stack.enter_context(open(path, "ab"))
            _flock(lock.fileno(), wait)
            if _is_same_file(lock.fileno(), path):
                break
            lock.close()  # its holder removed it while this process waited
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()


def _part_prefix(path: Path) -> str:
    name = path.name
    if len(os.fsencode(name)) > LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return f".{name}.{MACHINE}-"


def _sweep(path: Path) -> None:
    """Remove temporary files of `path` whose writers were killed."""
    beginning = _part_prefix(path)
    if fcntl is None:  # without locks, it is unknown which writers are alive
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
            # In between, the temporary file may have become the file itself.
            if _is_same_file(lock, owner):
                left_over.unlink()
        finally:
            os.close(lock)


def _flock(file: int, wait: bool) -> None:
    """Lock a file; raise BlockingIOError if another process holds the lock, unless `wait`.

    Some file systems do not support locks. There, names of files are still unique; if two processes want the
    same scratch folder, the later one empties it.
    """
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
    """Return whether a new file may replace `path`: it does not exist, or is a regular file."""
    refuse_link(path)
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except FileNotFoundError:
        return True


def _open_device(path: Path) -> int:
    """Open a device or a pipe for writing."""
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
    raise BiasgridError(f"{path}: is {_describe_kind(path)}; an output must be a file")


def _describe_kind(path: Path) -> str:
    return KINDS.get(stat.S_IFMT(path.stat().st_mode), "no regular file")

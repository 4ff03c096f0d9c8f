"""Checksums of results: they tell what a run made from what has become of it since.

`checksums.sha256` in a folder of results has the digest of every file that a run made, in the form of `sha256sum`,
which can check them. A run deletes the record before it writes results, and writes it anew when it ends. So a killed
run leaves files without a record, and never one that differs from its record.

`INPUTS` (inputs.sha256) has, in the same form, the digests of the user's files that the results were made from:
vectors, word sets, files that the config includes and the like. A run of all writes it when it ends.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath

from .errors import BiasgridError
from .files import hash_file, hold_lock, open_to_write, write_text
from .resources import did_you_mean_file

NAME = "checksums.sha256"
INPUTS = "inputs.sha256"
# the last two say where the config and other input files lie, and are no results
LEFT_OUT = {NAME, "config_file.txt", INPUTS}
READ = (".csv", ".json", ".npy")  # files of results that commands and Python read
LINE = re.compile(r"([0-9a-f]{64})  ([^\n\\]+)")
REMEDY = "run the study again to write them anew"

CHANGED, GONE = "differs from the file that the results were made from", "is not there"

# what is known of a file's digest without reading it: name -> nanoseconds of its last change, size, digest
Known = dict[str, list]


def read(results: Path) -> dict[str, str]:
    """Name in the folder -> digest, of every file that has a record; of a folder without records none.

    Raises BiasgridError for a file that is damaged, and for names that lead out of the folder.
    """
    return _read(results / NAME)


def read_inputs(results: Path) -> dict[str, str]:
    """Return the digests of the files that results were made from, by their paths: absolute ones, and others as seen
    from the working directory. Of results without a record, nothing. Raises BiasgridError for a damaged record."""
    digests = _read(results / INPUTS, inside=False)
    return {
        name if os.path.isabs(name) else os.path.relpath(results / name): digest
        for name, digest in digests.items()
    }


def write_inputs(results: Path, digests: Mapping[str, str]) -> None:
    """Record the digests of the files that results were made from, by their paths."""
    names = {
        file if os.path.isabs(file) else os.path.relpath(file, results): digest
        for file, digest in digests.items()
    }
    lines = [f"{names[name]}  {name}\n" for name in sorted(names)]
    # sha256sum writes some of the others in another form, and `_read` refuses all of them
    text = "".join(line for line in lines if _parts_of(line[:-1]))
    with suppress(OSError):  # a finished study's folder may be read-only
        if text and (not (results / INPUTS).is_file() or (results / INPUTS).read_text() != text):
            write_text(results / INPUTS, text)


def input_differences(results: Path) -> dict[str, list[str]]:
    """Return which of the files that results were made from differ today, and which are not there: `CHANGED`, `GONE`
    -> their paths. Every file is read. Raises BiasgridError for a damaged record."""
    outcome: dict[str, list[str]] = {CHANGED: [], GONE: []}
    for name, digest in read_inputs(results).items():
        if not Path(name).is_file():
            outcome[GONE].append(name)
        elif digest_of(Path(name)) != digest:
            outcome[CHANGED].append(name)
    return {kind: names for kind, names in outcome.items() if names}


def _read(path: Path, inside: bool = True) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise BiasgridError(f"{path}: cannot read the checksums: {error}; {REMEDY}") from None
    *lines, rest = text.split("\n")
    records = {}
    for number, line in enumerate(lines, 1):
        match = _parts_of(line)
        if not match or (inside and not _is_inside(match[2])):
            in_folder = " in this folder" if inside else ""
            raise BiasgridError(f"{path}: line {number} is not a checksum and a file{in_folder}; {REMEDY}")
        records[match[2]] = match[1]
    if rest or not records:
        raise BiasgridError(f"{path}: the checksums are cut off; {REMEDY}")
    return records


def _parts_of(line: str) -> re.Match[str] | None:
    """Return the digest and the name in a line; None where it does not have them, or the name is not printable."""
    match = LINE.fullmatch(line)
    return match if match and match[2].isprintable() else None


def changes(results: Path, known_file: Path) -> tuple[list[str], list[str]]:
    """Names of files whose content is not as recorded, and of those that are missing.

    A file whose size and time of change are those in `known_file` is not read: damage that keeps both is found by
    `differences` alone.
    """
    known, changed, missing = _read_known(known_file), [], []
    news: Known = {}
    for name, digest in read(results).items():
        stat = _stat(f"{results}/{name}")
        if stat is None:
            missing.append(name)
        elif known.get(name) == [*stat, digest]:
            continue
        elif digest_of(results / name) == digest:
            news[name] = [*stat, digest]
        else:
            changed.append(name)
    if news:
        with suppress(OSError):
            _write_known(known_file, known | news)
    return changed, missing


def changed_records(results: Path) -> list[str]:
    """Return the names of recorded tables, records and arrays whose content is not as recorded.

    Unlike `changes`, read every such file. Those that are missing, and pictures and pages, are left out. Raises
    BiasgridError for checksums that are damaged.
    """
    return [
        name
        for name, digest in read(results).items()
        if name.endswith(READ) and (results / name).is_file() and digest_of(results / name) != digest
    ]


def forget(results: Path, names: Iterable[str]) -> None:
    """Take off the records of files that are about to be written."""
    if not (results / NAME).is_file():
        return
    with hold_lock(results / f".{NAME}.lock"):
        records, written = _read_what_is_whole(results), set(names)
        kept = {name: digest for name, digest in records.items() if name not in written}
        if kept != records or not records:
            _write(results, kept)


def record_all(
    results: Path, known_file: Path | None = None, is_result: Callable[[str], bool] | None = None
) -> None:
    """Record the files of a folder of results, except hidden ones.

    Parameters
    ----------
    results
        The folder.
    known_file
        Where the sizes and times of files are noted: one that has not changed since is not read again.
    is_result
        Function that says of a file's name in the folder whether it is a result; by default all are.
    """
    known = _read_known(known_file) if known_file else {}
    entries: Known = {}
    for file in results.rglob("*"):
        name = file.relative_to(results).as_posix()
        hidden = any(part.startswith(".") for part in name.split("/"))
        if hidden or name in LEFT_OUT or not file.is_file() or not (is_result is None or is_result(name)):
            continue
        if (stat := _stat(file)) is not None:
            former = known.get(name)
            entries[name] = former if former and former[:2] == stat else [*stat, digest_of(file)]
    with suppress(OSError):  # a finished study's folder may be read-only
        _write(results, {name: entry[2] for name, entry in entries.items() if entry[2]})
        if known_file:
            _write_known(known_file, entries)


@contextmanager
def renewing(output: Path | str) -> Iterator[None]:
    """While a step writes its output outside of a run: if the output, or a file that differs from it by its suffix
    alone, has a record, it gets a new one."""
    output = Path(output).absolute()
    results = next((folder for folder in output.parents if (folder / NAME).is_file()), None)
    names = _recorded_outputs(results, output) if results else []
    if results is None or not names:
        yield
        return
    records = _read_what_is_whole(results)
    forget(results, names)
    try:
        yield
    except BaseException:
        # a refused step has written nothing; what another has left half written differs from its record
        with hold_lock(results / f".{NAME}.lock"):
            former = {name: records[name] for name in names if name in records}
            _write(results, _read_what_is_whole(results) | former)
        raise
    _add(results, names)


def add(results: Path, files: Iterable[Path | str]) -> None:
    """Where results have records, record files that a command has written: no run does, as none plans them."""
    if (results / NAME).is_file():
        _add(results, [os.path.relpath(file, results) for file in files])


def _add(results: Path, names: Iterable[str]) -> None:
    with hold_lock(results / f".{NAME}.lock"):
        digests = {name: digest_of(results / name) for name in names}
        _write(results, _read_what_is_whole(results) | {name: d for name, d in digests.items() if d})


def differences(results: Path) -> tuple[int, dict[str, list[str]]]:
    """How many files are recorded, and which of the folder's differ: "differs", "is missing", "is not recorded" ->
    names. Every file is read. Raises BiasgridError for results without checksums."""
    records = read(results)
    if not records:
        what = "has no checksums" if results.is_dir() else "there is no such folder"
        raise BiasgridError(
            f"{results}: {what}; expected a folder of results, such as results/embedded, that a run has finished, "
            f"which writes {NAME}{'' if results.is_dir() else did_you_mean_file(results)}"
        )
    outcome: dict[str, list[str]] = {"differs": [], "is missing": [], "is not recorded": []}
    for name, digest in records.items():
        if not (results / name).is_file():
            outcome["is missing"].append(name)
        elif digest_of(results / name) != digest:
            outcome["differs"].append(name)
    for file in sorted(results.rglob("*")):
        place = file.relative_to(results)
        hidden = any(part.startswith(".") for part in place.parts)
        if not hidden and place.as_posix() not in records.keys() | LEFT_OUT and not file.is_dir():
            outcome["is not recorded"].append(place.as_posix())
    return len(records), {kind: names for kind, names in outcome.items() if names}


def _is_inside(name: str) -> bool:
    return not name.startswith("/") and ".." not in name.split("/")


def _recorded_outputs(results: Path, output: Path) -> list[str]:
    stem = output.relative_to(results).with_suffix("").as_posix()
    with suppress(OSError, UnicodeDecodeError):
        # a run's outputs have none: for thousands of steps the text is read once, and not taken apart
        if f"  {stem}." in _text(results / NAME, *_stat(results / NAME) or ()):
            records = _read_what_is_whole(results)
            return [name for name in records if PurePosixPath(name).with_suffix("").as_posix() == stem]
    return []


@lru_cache(maxsize=1)
def _text(path: Path, time: int = 0, size: int = 0) -> str:
    return path.read_text(encoding="utf-8")


def _read_what_is_whole(results: Path) -> dict[str, str]:
    """The records, none if their file is damaged: what has none is recorded when the run ends."""
    try:
        return read(results)
    except BiasgridError:
        return {}


def _write(results: Path, records: Mapping[str, str]) -> None:
    if not records:
        (results / NAME).unlink(missing_ok=True)
        return
    text = "".join(f"{records[name]}  {name}\n" for name in sorted(records))
    # on the disk before the files that have lost their records are written
    with open_to_write(results / NAME, sync=True) as file:
        file.write(text.encode())


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, or an empty text if it cannot be read."""
    try:
        return hash_file(path) if path.is_file() else ""
    except OSError:
        return ""


def _stat(path: Path | str) -> list[int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return [stat.st_mtime_ns, stat.st_size]


def _read_known(path: Path) -> Known:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        return {name: entry for name, entry in known.items() if len(entry) == 3}
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        return {}


def _write_known(path: Path, known: Known) -> None:
    write_text(path, json.dumps(known, separators=(",", ":"), sort_keys=True) + "\n")

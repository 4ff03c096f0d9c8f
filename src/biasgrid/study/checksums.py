"""Checksums of results, which show whether result files have changed since the run that made them.

`checksums.sha256` in a folder of results has the digest of every file that a run made, in the format of `sha256sum`,
which can check them. A run deletes the record before it writes results, and writes a new one when it ends. So a
killed run leaves files without a record, but never a file that differs from its record.

`INPUTS` (inputs.sha256) has, in the same format, the digests of the user's files from which the results were made:
vectors, word sets, files that the config includes and similar files. A complete run writes it when it ends.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath

from ..core.errors import BiasgridError
from ..core.files import hash_file, hold_lock, open_to_write, write_text
from ..core.resources import did_you_mean_file

NAME = "checksums.sha256"
INPUTS = "inputs.sha256"
# The last two files record the paths of the config and of other input files; they are not results.
LEFT_OUT = {NAME, "config_file.txt", INPUTS}
# Commands and Python code read result files with these extensions.
READ = (".csv", ".json", ".npy")
LINE = re.compile(r"([0-9a-f]{64})  ([^\n\\]+)")
REMEDY = "run the study again to write them anew"
# The description that `biasgrid publish` adds to a folder.
DESCRIPTION = "datapackage.json"

CHANGED, GONE = "differs from the file that the results were made from", "is not there"
NOT_RECORDED = "is not recorded"

# Digests that are known without reading the file: name -> nanoseconds of its last change, size, digest.
Known = dict[str, list]


def read(results: Path) -> dict[str, str]:
    """Read the recorded digests of a folder: name in the folder -> digest. Without a record, the result is empty.

    Raises BiasgridError for a damaged record, and for names that lead out of the folder.
    """
    return _read(results / NAME)


def read_inputs(results: Path) -> dict[str, str]:
    """Return the digests of the files from which results were made, by their paths.

    Relative paths are relative to the working directory. Without a record, the result is empty. Raises BiasgridError
    for a damaged record.
    """
    digests = _read(results / INPUTS, inside=False)
    return {
        name if os.path.isabs(name) else os.path.relpath(results / name): digest
        for name, digest in digests.items()
    }


def write_inputs(results: Path, digests: Mapping[str, str]) -> None:
    """Record the digests of the files from which results were made, by their paths."""
    names = {
        file if os.path.isabs(file) else os.path.relpath(file, results): digest
        for file, digest in digests.items()
    }
    lines = [f"{names[name]}  {name}\n" for name in sorted(names)]
    # Leave out names that `_read` would refuse; sha256sum escapes some of them.
    text = "".join(line for line in lines if _parts_of(line[:-1]))
    # Ignore errors, because the folder of a finished study may be read-only.
    with suppress(OSError):
        if text and (not (results / INPUTS).is_file() or (results / INPUTS).read_text() != text):
            write_text(results / INPUTS, text)


def input_differences(results: Path) -> dict[str, list[str]]:
    """Return the input files of results that have changed or are missing: `CHANGED`, `GONE` -> their paths.

    Every file is read. Raises BiasgridError for a damaged record.
    """
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
    """Return the digest and the name in a line; None if it does not have them, or the name is not printable."""
    match = LINE.fullmatch(line)
    return match if match and match[2].isprintable() else None


def changes(results: Path, known_file: Path) -> tuple[list[str], list[str]]:
    """Return the names of files whose content is not as recorded, and the names of missing files.

    A file is not read if its size and time of change are as in `known_file`. Damage that keeps both is found only by
    `differences`.
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

    Unlike `changes`, this function reads every such file. Missing files, pictures and reports are left out. Raises
    BiasgridError for a damaged record.
    """
    return [
        name
        for name, digest in read(results).items()
        if name.endswith(READ) and (results / name).is_file() and digest_of(results / name) != digest
    ]


def forget(results: Path, names: Iterable[str]) -> None:
    """Delete the records of files that are about to be written."""
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
        The file with the sizes and times of files. A file that has not changed since is not read again.
    is_result
        Function that returns whether a file is a result, by its name in the folder; by default all files are.
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
    # Ignore errors, because the folder of a finished study may be read-only.
    with suppress(OSError):
        _write(results, {name: entry[2] for name, entry in entries.items() if entry[2]})
        if known_file:
            _write_known(known_file, entries)


@contextmanager
def renewing(output: Path | str) -> Iterator[None]:
    """Renew the records of an output while a step writes it outside of a run.

    This covers the output and files that differ from it only by their suffix. Files without a record do not get one.
    """
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
        # Restore the former records: a refused step has not written anything, and a half-written file then differs
        # from its record.
        with hold_lock(results / f".{NAME}.lock"):
            former = {name: records[name] for name in names if name in records}
            _write(results, _read_what_is_whole(results) | former)
        raise
    _add(results, names)


def add(results: Path, files: Iterable[Path | str]) -> None:
    """Record files that a command has written, if the results have records. Runs do not plan these files."""
    if (results / NAME).is_file():
        _add(results, [os.path.relpath(file, results) for file in files])


def _add(results: Path, names: Iterable[str]) -> None:
    with hold_lock(results / f".{NAME}.lock"):
        digests = {name: digest_of(results / name) for name in names}
        _write(results, _read_what_is_whole(results) | {name: d for name, d in digests.items() if d})


def differences(results: Path) -> tuple[int, dict[str, list[str]]]:
    """Return the number of recorded files, and the differences: "differs", "is missing", "is not recorded" -> names.

    Every file is read. Raises BiasgridError for results without checksums.
    """
    records = read(results)
    if not records:
        what = "has no checksums" if results.is_dir() else "there is no such folder"
        raise BiasgridError(
            f"{results}: {what}; expected a folder of results, such as results/embedded, that a run has finished, "
            f"which writes {NAME}{'' if results.is_dir() else did_you_mean_file(results)}"
        )
    outcome: dict[str, list[str]] = {"differs": [], "is missing": [], NOT_RECORDED: []}
    for name, digest in records.items():
        if not (results / name).is_file():
            outcome["is missing"].append(name)
        elif digest_of(results / name) != digest:
            outcome["differs"].append(name)
    for file in sorted(results.rglob("*")):
        place = file.relative_to(results)
        hidden = any(part.startswith(".") for part in place.parts)
        if not hidden and place.as_posix() not in records.keys() | LEFT_OUT and not file.is_dir():
            outcome[NOT_RECORDED].append(place.as_posix())
    return len(records), {kind: names for kind, names in outcome.items() if names}


def is_published(results: Path) -> bool:
    """Return whether a folder was made to be published: those who receive it cannot run its study again."""
    return (results / DESCRIPTION).is_file() or DESCRIPTION in _read_what_is_whole(results)


def _is_inside(name: str) -> bool:
    return not name.startswith("/") and ".." not in name.split("/")


def _recorded_outputs(results: Path, output: Path) -> list[str]:
    stem = output.relative_to(results).with_suffix("").as_posix()
    with suppress(OSError, UnicodeDecodeError):
        # Outputs of a run do not have records: search the text, which is read once for thousands of steps, and do
        # not parse it.
        if f"  {stem}." in _text(results / NAME, *_stat(results / NAME) or ()):
            records = _read_what_is_whole(results)
            return [name for name in records if PurePosixPath(name).with_suffix("").as_posix() == stem]
    return []


@lru_cache(maxsize=1)
def _text(path: Path, time: int = 0, size: int = 0) -> str:
    return path.read_text(encoding="utf-8")


def _read_what_is_whole(results: Path) -> dict[str, str]:
    """Return the records, or nothing if their file is damaged; a run records such files again when it ends."""
    try:
        return read(results)
    except BiasgridError:
        return {}


def _write(results: Path, records: Mapping[str, str]) -> None:
    if not records:
        (results / NAME).unlink(missing_ok=True)
        return
    text = "".join(f"{records[name]}  {name}\n" for name in sorted(records))
    # Write to disk before the files without records are written.
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

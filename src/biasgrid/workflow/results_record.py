"""Checksums of a study's results: written when a run ends, and read when the next one begins.

While a run writes, there is no record. So a killed run leaves no file that differs from its record.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ..core.errors import BiasgridError, join_names
from ..core.files import write_text
from ..core.registry import plugin_files, plugin_path
from ..core.resources import resource
from ..study import checksums, steps
from ..study.paths import Folders
from ..study.study import Study
from ..tables import REGISTRY as TABLES
from . import command_line, explain_rerun, stores

OLD = 1  # seconds since 1970: a file of this time is older than all inputs of its step
KNOWN = ".checksums.json"  # in the folder of logs: sizes and times of files that were found as recorded
LOCK = ".lock"  # in the folder of logs: held by the run at work
# files of results that are in no folder, besides tables
OWN = ("study.json", "plugins.json", "report.html", "rank_samples.npy")
# results of steps that have no file as input, below the folder of results
WITHOUT_INPUTS = ("queries/", "sources/", "study.json", "plugins.json")


def mark_changed(results: Path, logs: Path) -> Iterator[str]:
    """Let Snakemake make again the results that are not as recorded, and yield a line that names them.

    Such a file gets an old time, so that it is older than the inputs of its step. A file whose step has no input file
    is deleted. Nothing is done while another run is at work.
    """
    if is_locked(logs):
        return
    record = results / checksums.NAME
    changed: list[str] = []
    try:
        changed, _ = checksums.changes(results, logs / KNOWN)
    except BiasgridError as error:
        yield f"{error}: it is made again"
        record.unlink(missing_ok=True)
    if not record.is_file():
        _let_end(results)
    for name in changed:
        if name.startswith(WITHOUT_INPUTS):
            (results / name).unlink()
        else:
            os.utime(results / name, (OLD, OLD))
    if changed:
        was, will = ("was", "it is") if len(changed) == 1 else ("were", "they are")
        files = join_names([str(results / name) for name in changed])
        yield f"{files} {was} damaged or changed by hand; {will} made again"


def _let_end(results: Path) -> None:
    """Let Snakemake make again the newest result, where the last run was killed before it could record the results.

    It may have been killed after its last step, and a run with nothing to do does not reach `end`.
    """
    files = [file for file in results.rglob("*") if file.is_file() and _is_made(file.relative_to(results))]
    if files:
        with suppress(OSError):  # a finished study's folder may be read-only
            os.utime(max(files, key=lambda file: file.stat().st_mtime), (OLD, OLD))


def _is_made(file: Path) -> bool:
    """Return whether a step that has input files made a file of the results."""
    name = file.as_posix()
    is_hidden = any(part.startswith(".") for part in file.parts)
    return not is_hidden and not name.startswith(WITHOUT_INPUTS) and ("/" in name or _is_of_study(name))


def check_origin(results: Path, logs: Path, config: str) -> None:
    """Check that results of another config or other inputs were made here: Snakemake knows what is out of date.

    Raises
    ------
    BiasgridError
        They were copied without the folders `logs` and `.snakemake`: all that is there would pass for up to date.
    """
    study = results / "study.json"
    notes, cells = logs / explain_rerun.NOTES / "cell", results / "cells"
    if not study.is_file() or (
        _marker(logs).is_file()
        and all((notes / cell.relative_to(cells)).is_file() for cell in cells.rglob("*.json"))
    ):
        return
    if study.read_text(encoding="utf-8") != config:
        other = "config"
    elif changed := checksums.input_differences(results).get(checksums.CHANGED):
        other = join_names(changed)
    else:
        return
    raise BiasgridError(
        f"{results} is of another {other}, and was made in another folder: Snakemake cannot tell which results are "
        "out of date. Copy .snakemake and logs of that folder, too, or delete the results"
    )


def drop_old_notes(logs: Path) -> None:
    """Delete the notes of steps that Snakemake does not know, because its own folder is another one since."""
    marker = _marker(logs)
    if not marker.is_file():
        shutil.rmtree(logs / explain_rerun.NOTES, ignore_errors=True)
        write_text(marker, "")


def _marker(logs: Path) -> Path:
    """Return a file in Snakemake's own folder, which says that notes of a study's steps belong to that folder."""
    return command_line.STATE / f"biasgrid-{logs.name}"


def is_locked(logs: Path) -> bool:
    """Return whether a run of the study is at work."""
    try:
        with (logs / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # there was no run yet, or the file system has no locks
        return False
    return False


def begin(results: Path) -> None:
    """Delete the record: a run is about to write results."""
    (results / checksums.NAME).unlink(missing_ok=True)


def end(study: Folders, logs: Path, config_files: Iterable[str]) -> None:
    """Write the checksums of all results, and of the user's files that they were made from.

    Parameters
    ----------
    study
        A study or an experiment.
    logs
        The folder of its logs.
    config_files
        The files that its config includes or names, such as word sets.
    """
    if study.results.is_dir():
        checksums.record_all(study.results, logs / KNOWN, _is_of_study if isinstance(study, Study) else None)
        if isinstance(study, Study):
            checksums.write_inputs(study.results, input_digests(study, config_files))


def _is_of_study(name: str) -> bool:
    """Return whether a step may have made a file of the results, and not the user."""
    return "/" in name or name in OWN or name.removesuffix(".csv") in TABLES


def input_digests(study: Study, config_files: Iterable[str]) -> dict[str, str]:
    """Return the SHA-256 of each file of the user that a study was made from, by its path."""
    evaluations = (study.grid.evaluations | study.grid.quality).values()
    # all evaluations of a criterion read the same files
    of_criteria = {evaluation.criterion: evaluation for evaluation in evaluations}
    files = [
        *config_files,
        *(str(file) for path in study.config.plugins or () for file in plugin_files(plugin_path(path))),
        *(file for inputs in study.tables.values() for file in steps.own_files(study, inputs)),
        *(
            file
            for evaluation in of_criteria.values()
            for file in steps.evaluation_step(study, evaluation).own
        ),
    ]
    digests = {file: checksums.digest_of(Path(file)) for file in dict.fromkeys(files)}
    for name in study.sources:
        digests |= stores.local_digests(study, name)
    # leave out files that come with biasgrid; their paths are absolute, unlike those of a study in the checkout
    shipped = resource("")
    return {
        file: digest for file, digest in digests.items() if digest and not Path(file).is_relative_to(shipped)
    }

"""What a Snakefile begins with: a process in which cells are reproducible, and the checked study of a config."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from snakemake.utils import update_config
from threadpoolctl import threadpool_limits

from ..core import configs, processes, resources
from ..core.errors import BiasgridError
from ..core.files import refuse_links, write_text
from ..core.user_warnings import warn_in_a_line
from ..core.web_addresses import share_secrets
from ..evaluation import ratings
from ..study import code
from ..study.config import load, overlay
from ..study.paths import Folders
from ..study.study import Study
from ..tables import published
from . import command_line, config_file, results_record, stores

# the files that the config of this process' study includes or names, such as word sets
input_files: list[str] = []
BLAS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def prepare_process(*sources: Path) -> None:
    """Let this process and those that it starts use one BLAS thread, so that a cell has the same bytes everywhere.

    The processes run the code in `sources`, by default that of biasgrid alone, and end when this process ends.
    """
    os.environ |= dict.fromkeys(BLAS, "1")
    threadpool_limits(1)  # NumPy, which Snakemake has loaded, has read the variables before
    os.environ |= processes.environment(*(sources or [resources.PACKAGE.parent]))
    threading.Thread(target=_cancel_timers, daemon=True).start()


def _cancel_timers() -> None:
    """Cancel the timers of this process once its main thread has ended, however it ended. It would wait for them.

    Snakemake starts one for each look for jobs that finds none, with the time span of `max-jobs-per-timespan`.
    """
    threading.main_thread().join()
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()


def is_job() -> bool:
    """Return whether a running workflow started this process, as it does for a job of a cluster.

    `prepare_process` sets the variable, so ask before.
    """
    return processes.STARTED_BY in os.environ


def check_place(folder: Path | str) -> None:
    """End the process if the Snakefile in a folder is a checkout's, and the installed biasgrid is another one."""
    source = Path(folder).resolve() / "src" / "biasgrid"
    if source.is_dir() and not source.samefile(resources.PACKAGE):
        stop(
            f"this Snakefile is that of {source.parents[1]}, but Python imports biasgrid from {resources.PACKAGE}: "
            f"install the checkout (cd {source.parents[1]}; pip install --editable .), or use its own command"
        )


def read_config(files: Sequence[str], options: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the config that files and options of the command line make together (`study.config.overlay`).

    Parameters
    ----------
    files
        The config files, in order.
    options
        Snakemake's `config`, in which it has merged the files and then the options of `--config`. Its merge cannot
        leave a key out, so the files are joined here, and only the options are taken from it.

    Returns
    -------
    config, replaces
        The config, and whether `--config replace=true` allows to replace the results of another config file.
    """
    warn_in_a_line()
    merged: dict[str, Any] = {}
    try:
        command_line.check_no_target(files)
        records = [(os.path.relpath(file), load.read(file)) for file in files]
        configs.files_read.clear()  # from now on, files that the config names
        for file, record in records:
            command_line.check_config(file, record)
            update_config(merged, record)
        given = {key: value for key, value in options.items() if key not in merged or merged[key] != value}
        replaces = bool(given.pop(config_file.REPLACE, False))
        if given:
            records.append(("--config", given))
        return overlay.join(records), replaces
    except BiasgridError as error:
        stop(error)


def read_study(files: Sequence[str], options: Mapping[str, Any]) -> Study:
    """Return the checked study of a config. End the process, with one line and exit code 2, if anything is wrong.

    Parameters
    ----------
    files, options
        As in `read_config`.
    """
    config, replaces = read_config(files, options)
    where = ", ".join(os.path.relpath(file) for file in files) or "config"
    try:
        overlay.check_has_key(config, Study.KEY, where)
        study = Study.of(config, where=where)
        published.rows_of(study.config.published, study.config.computed)
        for entry in study.config.criteria.values():
            if entry.ratings:
                ratings.read(entry.ratings.file)
    except BiasgridError as error:
        stop(error)
    input_files[:] = configs.files_read
    code.recall(logs_of(study))
    check_folders(study, files, replaces, study.to_json())
    return study


def check_folders(study: Folders, files: Sequence[str], replaces: bool, config: str = "") -> None:
    """Check that this run may write the folders of a study's results and logs.

    In a run itself, not in its jobs, let Snakemake make again what was changed by hand (`results_record`), and what
    could not be downloaded.

    Parameters
    ----------
    study
        A study or an experiment.
    files
        Its config files.
    replaces
        Whether it may replace the results of another config file.
    config
        The resolved config of a study as text.
    """
    results, logs = study.results, logs_of(study)
    share_secrets(study.sources)
    try:
        for folder in (results, logs):
            for place in (folder, *folder.parents):
                if os.path.lexists(place) and not place.is_dir():
                    raise BiasgridError(f"{place}: must be a folder, not a file or a link that leads nowhere")
            refuse_links(folder)
        if is_job():
            return
        command_line.check_state()
        if files and not replaces:
            config_file.check(results, os.path.relpath(files[0]), config)
        if config and not replaces:
            results_record.check_origin(results, logs, config)
    except BiasgridError as error:
        stop(error)
    for line in results_record.mark_changed(results, logs):
        print(f"biasgrid: {line}", file=sys.stderr)
    stores.drop_outdated_records(study)
    if config and not results_record.is_locked(logs):  # else the run at work reads the file
        write_text(study_file(study), config)
        results_record.drop_old_notes(logs)


def logs_of(study: Folders) -> Path:
    """Return the folder of the logs of a study's runs."""
    return Path("logs") / study.name


def study_file(study: Folders) -> Path:
    """Return the file from which the processes of a run's steps read the study."""
    return logs_of(study) / "study.json"


def stop(message: object) -> NoReturn:
    """End the process, which has not begun to make anything, for a reason that the user can mend."""
    print(f"biasgrid: {message}", file=sys.stderr)
    sys.exit(2)

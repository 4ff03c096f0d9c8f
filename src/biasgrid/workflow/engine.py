"""What the workflows use of Snakemake beyond its language, in one place.

These names are Snakemake's own and may change: pyproject.toml bounds the versions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any

from snakemake.logging import logger

from ..configs import read_yaml
from ..errors import BiasgridError, quote
from . import config_file
from .progress import Progress

NO_LIMIT = 100_000  # jobs in any time span
STOPPED = "biasgrid: stopped; run the same command to go on"


def config_files(workflow: Any) -> list[str]:
    """The config files of this run, relative to the working directory."""
    return [os.path.relpath(path) for path in workflow.configfiles]


def has_config(workflow: Any) -> bool:
    """Whether the command line names a config file."""
    return bool(workflow.config_settings.configfiles)


def check_configs(workflow: Any, default: str) -> None:
    """End the run for a config file that is none, before Snakemake reads the default one.

    Those of the command line it has read already: it says itself, and with exit code 1, what is wrong with YAML that
    it cannot read. Duplicate keys, and aliases that stand for too much, it lets pass.
    """
    try:
        for path in config_files(workflow) or [default]:
            if not isinstance(record := read_yaml(path), dict):
                raise BiasgridError(f"{path}: {quote(record)} is not a mapping")
    except BiasgridError as error:
        stop(error)


def check_results(workflow: Any, results: Path, replaces: bool, config: str = "") -> None:
    """End the run whose config file is another one than that of the results that it would write over."""
    if files := [] if replaces or workflow.remote_exec else config_files(workflow):
        try:
            config_file.check(results, files[0], config)
        except BiasgridError as error:
            stop(error)


def record_config_file(workflow: Any, results: Path, replaces: bool) -> None:
    """Write down which config file the results are of (`config_file.record`), unless the run only downloads."""
    outputs = (Path(path).absolute() for job in workflow.dag.jobs for path in job.output)
    if any(path.is_relative_to(results.absolute()) for path in outputs):
        for file in config_files(workflow)[:1]:
            config_file.record(results, file, replaces)


def cores(workflow: Any) -> int | None:
    """How many cores this process has for its steps, on a cluster those of its job; None where it runs none."""
    return workflow.resource_settings.cores


def run_steps_here(workflow: Any) -> None:
    """In the process that a cluster's job starts on its node, run the job's steps as threads: Snakemake's default, a
    Snakemake for each step, costs seconds per cell."""
    if workflow.remote_exec:
        workflow.localrules(*(rule.name for rule in workflow.rules))
        workflow.global_resources["_nodes"] = None  # as in a local run: it is cores that are counted


def show_progress(workflow: Any, downloads: Path | str = "") -> Progress | None:
    """Show a run's progress in place of Snakemake's messages, unless options ask for these; then None.

    They do in a dry run, with --printshellcmds, --verbose, --logger, --quiet all, and in the jobs of a cluster.
    """
    settings = workflow.output_settings
    wants_messages = settings.dryrun or settings.printshellcmds or settings.verbose or settings.debug_dag
    quiet = "all" in map(str, settings.quiet or ())
    if wants_messages or quiet or settings.log_handler_settings or workflow.remote_exec:
        return None
    for handler in list(logger.handlers):
        if handler.name == "DefaultStreamHandler":
            progress = Progress(Path(downloads), handler.formatter)
            logger.removeHandler(handler)
            logger.addHandler(progress)
            return progress
    return None


def jobs(workflow: Any, rule: str) -> list[Any]:
    """The wildcards of the jobs of a rule that this run is about to do."""
    return [job.wildcards for job in workflow.dag.needrun_jobs() if job.rule.name == rule]


def keeps(workflow: Any, log: str) -> bool:
    """Whether a log of a former run is of a job that there still is, and that this run does not do again."""
    if log in (str(log) for job in workflow.dag.needrun_jobs() for log in job.log):
        return False
    return not makes_all(workflow) or log in (str(log) for job in workflow.dag.jobs for log in job.log)


def makes_all(workflow: Any) -> bool:
    """Whether this run was asked for all there is."""
    return workflow.default_target in {job.rule.name for job in workflow.dag.targetjobs}


def before_planning(workflow: Any, function: Callable[[], object]) -> None:
    """Have a function called before a run is planned, dry runs included; not where nothing is to run (--summary,
    --lint) and not in jobs of a cluster."""
    execute = workflow.execute

    def execute_then(*arguments: Any, **options: Any) -> Any:
        function()
        return execute(*arguments, **options)

    if workflow.is_main_process:
        workflow.execute = execute_then


def force(workflow: Any, files: Iterable[str]) -> None:
    """Have files made that a step makes, whatever the run, which is not planned yet, is asked for: a file that is
    only a step's input would not be made again while what is made of it is there."""
    workflow.dag_settings.forcerun = {*workflow.dag_settings.forcerun, *files}


def asks_for_all(workflow: Any) -> bool:
    """Whether a run that is not planned yet names no target."""
    return not workflow.dag_settings.targets and not workflow.dag_settings.target_jobs


def start_at_once(workflow: Any) -> None:
    """Take off a limit of jobs a second that limits nothing, as profiles/default has it.

    Under a limit, each look at the jobs that are ready makes another one a second later, and each end of a job one
    more: after 900 cells the scheduler may look 900 times a second.
    """
    limiter = workflow.scheduler.job_rate_limiter
    if limiter is not None and limiter.max_jobs >= NO_LIMIT:
        workflow.scheduler.job_rate_limiter = None


def interrupt_in_a_line() -> None:
    """An interrupt before the steps begin ends this process in a line; Snakemake would show where it was."""
    former_hook = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            print(STOPPED, file=sys.stderr)
        else:
            former_hook(kind, error, trace)

    sys.excepthook = show


def stop(message: object) -> None:
    """End the run, which has not begun, for a reason that is the user's to mend."""
    print(f"biasgrid: {message}", file=sys.stderr)
    sys.exit(2)

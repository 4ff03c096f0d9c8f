"""What the workflows use of Snakemake beyond its language, in one place.

These names are Snakemake's own and may change: pyproject.toml bounds the versions, and tests/workflow/test_engine.py
says which one did. There is no public way:

- a logger plug-in is called in another thread, some time after the event, and cannot end the run; it would have to be
  installed, where a checkout runs as it is;
- --max-jobs-per-timespan has no value for "no limit".
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
from base64 import urlsafe_b64encode
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from snakemake.io import is_flagged
from snakemake.logging import logger
from snakemake.scheduling.job_scheduler import JobScheduler

try:
    from snakemake.persistence import PersistenceBase as Persistence
except ImportError:  # older versions
    from snakemake.persistence import Persistence

from .. import configs, termination
from ..config import load, overlay
from ..errors import BiasgridError
from ..files import refuse_links, unfinished
from . import command_line, config_file
from .progress import Progress
from .stores import UNFINISHED

NO_LIMIT = 100_000  # jobs in any time span
RECORDS = command_line.STATE / "metadata"
LONGEST_NAME = 255  # of a file: longer ones are parted, and not looked for


def config_files(workflow: Any) -> list[str]:
    """The config files of this run, relative to the working directory."""
    return [os.path.relpath(path) for path in workflow.configfiles]


def stands_in_its_folder(workflow: Any) -> bool:
    """Return whether the working directory is the folder of the workflow: that of the Snakefile, or the one above
    workflow/Snakefile."""
    above = Path(workflow.main_snakefile).resolve().parents[:2]
    return Path.cwd() == next((folder for folder in above if (folder / "workflow" / "rules").is_dir()), None)


def has_config(workflow: Any) -> bool:
    """Whether the command line names a config file."""
    return bool(workflow.config_settings.configfiles)


def check_configs(workflow: Any, default: str) -> None:
    """End the run for a config file that is none, before Snakemake reads the default one.

    Those of the command line it has read already (`command_line.check`), unless another profile than the default one
    is at work.
    """
    try:
        for path in config_files(workflow) or [default]:
            command_line.check_config(path)
    except BiasgridError as error:
        stop(error)


def read_config(workflow: Any) -> dict[str, Any]:
    """Return the config that files and the command line make together (`config.overlay`), or end the run.

    Snakemake's own `config` has no way to leave a key out. What the config includes is in `configs.files_read`
    afterwards: not the config files, which study.json has, nor a profile.
    """
    try:
        records = [(path, load.read(path)) for path in config_files(workflow)]
        configs.files_read.clear()
        if options := workflow.config_settings.config:
            records.append(("--config", dict(options)))
        return overlay.join(records)
    except BiasgridError as error:
        stop(error)


def check_results(workflow: Any, results: Path, logs: Path, replaces: bool, config: str = "") -> None:
    """End the run that would write over what is not its own: results of another config file, another folder, or what
    a link leads to."""
    if workflow.remote_exec:
        return
    try:
        for folder in (results, logs):
            for place in (folder, *folder.parents):
                if os.path.lexists(place) and not place.is_dir():
                    raise BiasgridError(f"{place}: must be a folder, not a file or a link that leads nowhere")
            refuse_links(folder)
        if files := [] if replaces else config_files(workflow):
            config_file.check(results, files[0], config)
    except BiasgridError as error:
        stop(error)


def record_config_file(workflow: Any, results: Path, replaces: bool) -> None:
    """Write down which config file the results are of (`config_file.record`), unless the run only downloads."""
    if any(Path(file).absolute().is_relative_to(results.absolute()) for file in outputs(workflow)):
        for file in config_files(workflow)[:1]:
            config_file.record(results, file, replaces)


def cores(workflow: Any) -> int | None:
    """How many cores this process has for its steps, on a cluster those of its job; None where it runs none."""
    return workflow.resource_settings.cores


def processors(workflow: Any, steps: int) -> Callable[[Any], int]:
    """A function for threads: how many processors a job of so many steps asks for. Here one: all jobs share the run's
    workers. Who runs jobs is known when the rules have been read."""
    return lambda wildcards: (
        min(steps, cores(workflow) or 1) if workflow.non_local_exec or workflow.remote_exec else 1
    )


def each_try(workflow: Any, amount: int) -> Any:
    """What a job of a cluster asks for, as much again in each further try. In a run that submits none the amount
    itself: the engine takes its time over the functions of each of thousands of jobs."""
    submits = workflow.resource_settings.nodes is not None
    return (lambda wildcards, attempt: amount * attempt) if submits else amount


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
        if isinstance(handler, logging.StreamHandler) and not isinstance(handler, logging.FileHandler):
            progress = Progress(Path(downloads), handler.formatter)
            progress.cores = cores(workflow) or 1
            logger.removeHandler(handler)
            logger.addHandler(progress)
            return progress
    return None


def jobs(workflow: Any, *rules: str) -> list[Any]:
    """Return the wildcards of the jobs of some rules that this run is about to do, or that a dry run has planned."""
    return [job.wildcards for job in _jobs(workflow) if job.rule.name in rules]


def _jobs(workflow: Any) -> Iterator[Any]:
    """Return the jobs that a run does; `needrun_jobs` leaves out those that are done, in a dry run all of them."""
    return filter(workflow.dag.needrun, workflow.dag.jobs)


def is_brief(workflow: Any) -> bool:
    """Return whether the options ask for no message of single jobs: those of `biasgrid run`, and of the profiles of
    clusters."""
    return [str(what) for what in workflow.output_settings.quiet or ()] == ["rules"]


def planned_rules(workflow: Any) -> tuple[dict[str, tuple[int, int]], int]:
    """Return what a run would do, when its dry run has ended.

    Returns
    -------
    rules, jobs
        Rule -> how many steps it has, and how many jobs of a cluster have any of them; and how many jobs there are.
        They are 0 where the process of the run itself does the steps.
    """
    steps, jobs = Counter[str](), defaultdict[str, set[int]](set)
    submits = workflow.resource_settings.nodes is not None
    for job in _jobs(workflow):
        steps[job.rule.name] += 1
        # `workflow.is_local` holds of every rule in a dry run
        is_local = job.group is None and (job.rule.name in workflow._localrules or job.rule.norun)
        if submits and not is_local:
            jobs[job.rule.name].add(id(workflow.dag.get_job_group(job) or job))
    return {rule: (count, len(jobs[rule])) for rule, count in steps.items()}, len(set().union(*jobs.values()))


def outputs(workflow: Any) -> list[str]:
    """The files that the steps of this run make, those included that are there."""
    return [str(file) for job in workflow.dag.jobs for file in job.output]


def outputs_to_make(workflow: Any) -> list[str]:
    """Those of them that this run is about to make."""
    return [str(file) for job in workflow.dag.needrun_jobs() for file in job.output]


def has_rule_for(workflow: Any, file: str) -> bool:
    """Whether some rule makes a file."""
    return any(rule.is_producer(file) for rule in workflow.rules)


def has_record(workflow: Any, file: str) -> bool:
    """Whether the engine knows what a file was made of: only then it sees what an edit makes out of date."""
    if "db" in str(getattr(workflow.workflow_settings, "persistence_backend", "")).lower():
        return True  # not in files, and not looked for
    name = urlsafe_b64encode(file.encode()).decode()
    return len(name) > LONGEST_NAME or (RECORDS / name).is_file()


def only_plans(workflow: Any) -> bool:
    """Whether this is a dry run."""
    return workflow.output_settings.dryrun


def is_job(workflow: Any) -> bool:
    """Whether this process is one that a run started for a step, or a cluster for a job of steps."""
    return not workflow.is_main_process


def cache_folder(workflow: Any) -> Path:
    """A folder of this run alone, which ends with it."""
    return Path(workflow.sourcecache.runtime_cache_path)


def keeps(workflow: Any, log: str) -> bool:
    """Whether a log of a former run is of a job that there still is, and that this run does not do again."""
    if log in (str(log) for job in workflow.dag.needrun_jobs() for log in job.log):
        return False
    return not makes_all(workflow) or log in (str(log) for job in workflow.dag.jobs for log in job.log)


def makes_all(workflow: Any) -> bool:
    """Whether this run was asked for all there is."""
    return workflow.default_target in asked_rules(workflow)


def asked_rules(workflow: Any) -> set[str]:
    """The rules that this run was asked for, by name or by their files."""
    return {job.rule.name for job in workflow.dag.targetjobs}


def before_planning(workflow: Any, function: Callable[[], object]) -> None:
    """Have a function called before a run is planned, dry runs included; not where nothing is to run (--summary,
    --lint) and not in jobs of a cluster."""
    execute = workflow.execute

    def execute_then(*arguments: Any, **options: Any) -> Any:
        function()
        return execute(*arguments, **options)

    if workflow.is_main_process:
        workflow.execute = execute_then


def after_planning(workflow: Any, function: Callable[[], object], silent: bool = True) -> None:
    """Have a function called when a dry run has planned, of which only warnings and errors are shown if `silent`."""
    execute = workflow.execute
    if silent:
        logging.disable(logging.INFO)

    def execute_then(*arguments: Any, **options: Any) -> Any:
        result = execute(*arguments, **options)
        function()
        return result

    workflow.execute = execute_then


@dataclass(frozen=True)
class Reason:
    """Why the engine makes a job.

    rule     the job's rule
    missing  outputs that are not there
    updated  inputs that are newer than the outputs
    made     inputs that other jobs are about to make
    before   what the job's params were, as they are written in Python, where they are others now
    other    further reasons, as the engine calls them
    """

    rule: str
    missing: list[str]
    updated: list[str]
    made: list[str]
    before: list[str]
    other: list[str]


def reasons(workflow: Any) -> dict[str, Reason]:
    """File that a planned run makes -> why."""
    of_files: dict[str, Reason] = {}
    for job in _jobs(workflow):
        of_files |= dict.fromkeys(map(str, job.output), _reason(job.rule.name, workflow.dag.reason(job)))
    return of_files


def _reason(rule: str, reason: Any) -> Reason:
    flags = {
        "its rule changed": "code_changed",
        "it reads other files": "input_changed",
        "it is forced": "forced",
    }
    return Reason(
        rule,
        sorted(map(str, reason.missing_output)),
        sorted(map(str, reason.updated_input)),
        sorted(map(str, reason.updated_input_run)),
        sorted(reason.params_changed.only_old) if reason.params_changed else [],
        [text for text, flag in flags.items() if getattr(reason, flag)],
    )


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


def forced_logs(workflow: Any, but: Collection[str]) -> list[str]:
    """The logs of jobs that the command line wants to run in any case (on a cluster, all do in a job's process), but
    not of those that make these files, as `force` wants it."""
    dag = workflow.dag
    jobs = [] if workflow.remote_exec else [job for job in dag.needrun_jobs() if dag.reason(job).forced]
    jobs = [job for job in jobs if not any(str(file) in but for file in job.output)]
    return [str(log) for job in jobs for log in job.log]


def keep_outputs(workflow: Any, files: Iterable[str]) -> None:
    """Let the files that a failed job was to update be as they are: the engine would bring back the former ones, but
    for Snakemake 9.12, which keeps none."""
    if cleanup := getattr(workflow.persistence, "cleanup_backup", None):
        for file in files:
            cleanup(Path(file))


def mark_unfinished(workflow: Any) -> None:
    """After a failure, have the engine make again what it would take for up to date: a file that a failed job was to
    update is there, is newer than its inputs, and has the job's parameters in its record."""
    dag = workflow.dag
    for job in dag.needrun_jobs():
        for file in [] if dag.finished(job) else job.output:
            if is_flagged(file, "update"):
                workflow.persistence.cleanup_metadata(file)
                with contextlib.suppress(OSError):  # it is not there, or another user's
                    os.utime(file, (UNFINISHED, UNFINISHED))


def same_group(workflow: Any, rule: str, other: str) -> str:
    """The name of a rule that a profile groups as it does another."""

    def group() -> None:  # groups are known when the rules have been read
        groups = workflow.group_settings.overwrite_groups
        if other in groups:
            groups[rule] = groups[other]

    before_planning(workflow, group)
    return rule


def compare_params_as_text() -> None:
    """All params of these rules are texts and numbers. To ask of each whether it is a table, the engine would load
    pandas: a fifth of what a run of 700 cells takes that has nothing to do."""
    Persistence._serialize_param_pandas = Persistence._serialize_param_builtin


def stop_on_signals(workflow: Any, progress: Progress | None = None) -> None:
    """From now on Ctrl-C and SIGTERM end the run, or a cluster's job, within two seconds. Snakemake's own handler
    waits for the steps at work.

    Nothing is lost: what is written is in its place when it is whole, and downloads go on from their bytes. A run
    on a cluster has Snakemake cancel its jobs first.
    """
    if workflow.subprocess_exec or threading.current_thread() is not threading.main_thread():
        return
    unfinished.add(workflow.snakemake_tmp_dir)
    if workflow.is_main_process:  # its jobs on a cluster share it
        unfinished.add(workflow.sourcecache.runtime_cache_path)

    def stop(number: int) -> None:
        global _signal
        _signal = number
        scheduler = workflow.scheduler
        submits = workflow.is_main_process and workflow.non_local_exec and scheduler is not None
        if not submits:
            termination.end_in(termination.LONGEST, 128 + number)
        if progress is not None:
            progress.finish()
        if submits and scheduler.running:
            scheduler._user_kill = "graceful"  # it submits no more jobs
            # when it has cancelled those that it has, it would wait until it asks for their state again
            scheduler._executor.shutdown = leave
            scheduler._executor.cancel()
        leave()

    termination.answer_signals(stop)
    # becomes the process' handler of SIGTERM when the steps begin
    JobScheduler.exit_gracefully = lambda *arguments: None
    # `biasgrid run` let them wait for this
    signal.pthread_sigmask(signal.SIG_UNBLOCK, termination.SIGNALS)


_signal = signal.SIGINT  # by which the run was stopped


def leave() -> None:
    """End this process, of a run that was stopped."""
    termination.leave(128 + _signal)


def stop(message: object) -> NoReturn:
    """End the run, which has not begun, for a reason that is the user's to mend."""
    print(f"biasgrid: {message}", file=sys.stderr)
    sys.exit(2)

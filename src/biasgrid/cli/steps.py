"""`biasgrid step`: single steps of a study, which write their files where the workflow does."""

from __future__ import annotations

import argparse
import json
import logging
import os
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from functools import cached_property
from graphlib import TopologicalSorter
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import BiasgridError, not_allowed, unknown_name
from ..core.processes import end_with_starter, environment
from ..core.registry import load_plugins
from ..core.user_warnings import warn_in_a_line
from ..study import checksums, code
from .arguments import STUDY, Commands, read_study

if TYPE_CHECKING:
    from ..study.step import Step
    from ..study.study import Study

# Kinds of steps that measure nothing.
READING = ("query", "table", "figure", "rank_samples")
# Kinds of steps whose missing inputs are not made first: a store fetches its archives, the others read a whole study.
WITHOUT_PREPARATION = (*READING, "report", "store")
# Keys of a step's file that are printed.
RESULTS = ("results", "aggregates")
# Commands of former versions -> the kind of step that replaces them.
FORMER = {
    "query": "query",
    "train": "store",
    "fit": "debias",
    "sentence-scores": "sentence scores",
    "cell": "cell",
    "infer": "inference",
    "infer-aggregates": "aggregates",
    "null": "null",
    "evaluate": "evaluation",
    "table": "table",
    "figure": "figure",
}


def step(args: argparse.Namespace) -> dict[str, Any] | None:
    """Run steps of a study, even if their inputs have not changed. A step is named by its kind and what it makes. A
    step that measures first makes the missing files that it reads: it downloads its model, for example.

    biasgrid step "query gender_1" --study config/embedded.yaml
    biasgrid step "cell glove-6b-50d/none/weat/career" --study my-study.yaml
    biasgrid step "inference glove-6b-50d/none/weat/career" --study my-study.yaml
    biasgrid step "table scores" "figure bias" --study my-study.yaml
    """
    # Print log messages of the package, such as a repeated download, in the form of other warnings.
    logging.basicConfig(format="biasgrid: warning: %(message)s", level=logging.WARNING)
    if args.jobs < 1:
        raise BiasgridError(not_allowed("--jobs", args.jobs, "1 or more"))
    study = _study_to_write(args)
    runner = _Runner(study, args.notes)
    if args.notes:
        code.recall(args.notes)
    for name in args.names:
        runner.check(name, str(args.study))
    reasons = runner.run(args.names, min(args.jobs, len(args.names)))
    if failed := {name: reason for name in args.names if (reason := reasons[name])}:
        # Say which one failed if a job has several.
        is_plain = {
            name: name in reason or name.partition(" ")[0] not in READING for name, reason in failed.items()
        }
        raise BiasgridError(
            "; ".join(reason if is_plain[name] else f"{name}: {reason}" for name, reason in failed.items())
        )
    if args.notes:
        return None
    outputs = [file for name in args.names for file in runner.outputs(name)]
    checksums.add(study.results, outputs)
    record = {"steps": args.names, "files": list(map(os.path.relpath, outputs))}
    return record | (_results(Path(outputs[0])) if len(args.names) == 1 else {})


class _Runner:
    """Steps of a study by name.

    Parameters
    ----------
    study
        The study.
    notes
        In a run of the workflow, the folder of the study's logs, in which the inputs of each step are recorded.
    """

    def __init__(self, study: Study, notes: Path | None):
        self._study, self._notes = study, notes

    def check(self, name: str, where: str) -> None:
        """Raise BiasgridError if the study does not have a step of this name."""
        from ..tables import REGISTRY as TABLES

        try:
            self._step(name)
        except KeyError:
            kind, _, key = name.partition(" ")
            if kind == "table" and key not in TABLES:
                raise BiasgridError(f"{where}: {TABLES.unknown(key, self._study.tables)}") from None
            kinds = dict.fromkeys(other.rpartition(" ")[0] or other for other in self._plan)
            of_kind = [other for other in self._plan if other.startswith(f"{kind} ")]
            hint = f"of the kinds {', '.join((*kinds, 'null'))}"
            raise BiasgridError(
                f"{where}: {unknown_name('step', name, of_kind or self._plan, hint)}"
            ) from None

    def run(self, names: Sequence[str], jobs: int) -> dict[str, str | None]:
        """Run steps, up to `jobs` at a time. Each begins when those that make its files have ended.

        Return for each step why it failed, or an empty text; None for a step that was left out, because a step that
        makes its files failed.
        """
        makers = {file: name for name in names for file in self.outputs(name)}
        before = {name: self._steps_before(name, makers) for name in names}
        order = TopologicalSorter(before)
        reasons: dict[str, str | None] = {}

        def has_inputs(name: str) -> bool:
            return all(reasons[other] == "" for other in before[name])

        if jobs == 1:
            for name in order.static_order():
                reasons[name] = self.reason(name) if has_inputs(name) else None
            return reasons
        order.prepare()
        runner = _Runner(self._study, self._notes)  # without the plan, which each process makes for itself
        os.environ |= environment()
        with ProcessPoolExecutor(
            jobs,
            # Do not fork, because threads do not survive it.
            get_context("spawn"),
            initializer=_begin_process,
            initargs=(self._study.config.plugins or (), self._notes),
        ) as processes:
            running: dict[Future[str], str] = {}
            while order.is_active():
                for name in order.get_ready():
                    if has_inputs(name):
                        running[processes.submit(runner.reason, name)] = name
                    else:
                        reasons[name] = None
                        order.done(name)
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    name = running.pop(done)
                    reasons[name] = done.result()
                    order.done(name)
        return reasons

    def _steps_before(self, name: str, makers: Mapping[str, str]) -> set[str]:
        """Return the steps that make what a step reads, of those that make the files in `makers`."""
        return {makers[file] for file in self._step(name).files if file in makers} - {name}

    def reason(self, name: str) -> str:
        """Run a step. Return why it failed, or an empty text.

        A step that fails by a mistake in code does not stop the others; where it lies is printed.
        """
        try:
            self._run(name)
        except BiasgridError as error:
            return str(error)
        except OSError as error:
            return f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}"
        except Exception as error:
            traceback.print_exc()
            return f"{type(error).__name__}: {error}"
        return ""

    def outputs(self, name: str) -> list[str]:
        """Return the files that a step writes."""
        return [file for other in (*self._steps_first(name), name) for file in self._step(other).outputs]

    @cached_property
    def _plan(self) -> Any:
        from ..workflow.plan import Plan

        return Plan(self._study)

    def _steps_first(self, name: str) -> list[str]:
        """Return the steps that run first. The inference of a cell by hand begins with the cell."""
        kind, _, cell = name.partition(" ")
        return [f"cell {cell}"] if kind == "inference" and cell in self._study.grid.inferences else []

    def _step(self, name: str) -> Step:
        """Return a step of the plan. The inference of a cell is that of its group, with this cell inferred again."""
        kind, _, cell = name.partition(" ")
        if kind != "inference" or cell not in self._study.grid.inferences:
            return self._plan[name]
        inference = self._study.grid.inferences[cell]
        step = self._plan[f"inference {inference.group}"]
        number = self._study.grid.inference_groups[inference.group].index(inference)
        return replace(step, spec={**step.spec, "again": [number]})

    def _run(self, name: str) -> None:
        from ..workflow import explain_rerun

        for other in self._steps_first(name):
            self._run(other)
        step = self._step(name)
        self._write_queries(step)
        # In a run, the workflow has made the inputs.
        if not self._notes:
            for other in self._missing_steps(step):
                self._run(other)
                checksums.add(self._study.results, self._step(other).outputs)
        step.run()
        if self._notes:
            explain_rerun.note(self._notes, name, step.settings, step.code)

    def _missing_steps(self, step: Step) -> list[str]:
        """Return the steps that make the missing files and the missing store that a step reads."""
        if step.name.partition(" ")[0] in WITHOUT_PREPARATION:
            return []
        stores = {
            str(self._study.paths.model_file(model)): self._study.store_folder(model) / model / "model.json"
            for model in self._study.models
        }
        missing = [
            file for file in step.files if not (Path(file).exists() and stores.get(file, Path(file)).exists())
        ]
        makers = self._plan.makers
        return list(dict.fromkeys(makers[file] for file in missing if file in makers))

    def _write_queries(self, step: Step) -> None:
        """Write the queries that a step reads, if they are missing or out of date."""
        keys = {str(self._study.paths.query_file(key)): key for key in self._study.queries}
        for file in keys.keys() & set(step.files):
            self._plan[f"query {keys[file]}"].run()


def _begin_process(plugins: Sequence[str], notes: Path | None) -> None:
    """Prepare a process that runs steps: let it end with the process that started it, and load the plugins."""
    end_with_starter()
    warn_in_a_line()
    load_plugins(plugins)
    if notes:
        code.recall(notes)


def _study_to_write(args: argparse.Namespace) -> Study:
    """Return the study, whose results are about to be written.

    Raises BiasgridError for a folder of results that contains other files, and for links that lead out of it.
    """
    from ..core.files import refuse_links, refuse_other_folder
    from ..workflow.config_file import OWN

    # Tables and figures of finished results are made without the code of their plugins.
    measures = bool(args.notes) or any(name.partition(" ")[0] not in READING for name in args.names)
    study = read_study(args.study, measures)
    # In a run, the Snakefile has already checked the folder.
    if not args.notes:
        refuse_other_folder(study.paths.results, OWN, "give the study another name")
        refuse_links(study.paths.results)
    return study


def _results(output: Path) -> dict[str, Any]:
    """Return the results in a step's file, or an empty mapping if there are none."""
    if output.suffix != ".json":
        return {}
    record = json.loads(output.read_text(encoding="utf-8"))
    return {key: record[key] for key in RESULTS if key in record}


def add(commands: Commands) -> None:
    """Add `step` to the commands of biasgrid."""
    command = commands.add(step, study=STUDY)
    command.add_argument(
        "names",
        nargs="+",
        metavar="STEP",
        help='such as "table scores" or "cell MODEL/DEBIAS/METRIC/QUERY"',
    )
    command.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="number of steps to run at a time (default: 1)"
    )
    command.add_argument("--notes", type=Path, help=argparse.SUPPRESS)

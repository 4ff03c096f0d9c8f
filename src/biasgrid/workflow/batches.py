"""Steps that are one job of the engine, which takes longer over a job than most of them do over their work."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..plan import steps
from ..plan.step import Step
from ..plan.study import Study

# folders of results -> of their files' paths, the parts that name the state of a model that they need
OF_STATES = {"cells": 2, "inference": 2, "aggregates": 2, "debias": 2, "models": 1}


@dataclass(frozen=True)
class Batch:
    """Steps that are one job: they need the same states of models and the same evaluations."""

    steps: tuple[Step, ...]

    @cached_property
    def outputs(self) -> list[str]:
        """The files that the steps write."""
        return [file for step in self.steps for file in step.outputs]

    @cached_property
    def by_role(self) -> dict[str, list[str]]:
        """The files that the steps read and none of them writes, each by the first role that it has."""
        by_role: dict[str, list[str]] = {}
        known = set(self.outputs)
        for step in self.steps:
            for role, files in step.by_role.items():
                new = [file for file in dict.fromkeys(files) if file not in known]
                known.update(new)
                by_role.setdefault(role, []).extend(new)
        return {role: files for role, files in by_role.items() if files}

    @property
    def own(self) -> tuple[str, ...]:
        """The files of the user that the steps read."""
        return tuple(file for step in self.steps for file in step.own)

    @cached_property
    def depends_on(self) -> str:
        """A digest of what the steps depend on besides their files."""
        return hashlib.sha256("\n".join(step.depends_on for step in self.steps).encode()).hexdigest()

    def logs(self, folder: Path | str) -> list[str]:
        """The steps' logs."""
        return [log_of(step, folder) for step in self.steps]


def log_of(step: Step, folder: Path | str) -> str:
    """A step's log."""
    return f"{folder}/{step.name.replace(' ', '/')}.txt"


def batches(study: Study, members: Iterable[Step], others: Iterable[Step] = ()) -> list[Batch]:
    """Steps by what they need, the most in a batch first: where a model or an evaluation fails, nothing is lost that
    does not need it. `others` make what the steps read."""
    members = list(members)
    made = {file: step for step in (*members, *others) for file in step.outputs}
    needs: dict[str, frozenset[str]] = {}
    groups: dict[frozenset[str], list[Step]] = {}
    for step in members:
        groups.setdefault(_needs(study, step, made, needs), []).append(step)
    return [Batch(tuple(group)) for group in sorted(groups.values(), key=len, reverse=True)]


def _needs(
    study: Study, step: Step, made: Mapping[str, Step], known: dict[str, frozenset[str]]
) -> frozenset[str]:
    """The states of models, evaluations and other files that a step needs, or a step that it reads from."""
    if step.name not in known:
        needs: set[str] = set()
        for file in step.files:
            needs |= _needs(study, made[file], made, known) if file in made else _needed(study, file)
        models = {name.partition("/")[0] for name in needs if "/" in name}
        known[step.name] = frozenset(needs - models)
    return known[step.name]


def _needed(study: Study, file: str) -> set[str]:
    path = file.removeprefix(f"{study.results}/")
    folder, *parts = path.split("/")
    if folder == "queries" or path == file:
        return set()  # they are there
    if folder in OF_STATES:
        parts = parts[: OF_STATES[folder]]
        return {"/".join(parts).removesuffix(".npz").removesuffix(".json")}
    return {f"{folder}/{'/'.join(parts)}"}


def inference_batch(study: Study, model: str, debias: str) -> Batch:
    """The inference of all metrics of a state of a model, and what is tested of it as a whole."""
    groups = [name for name in study.grid.inference_groups if name.rpartition("/")[0] == f"{model}/{debias}"]
    made = [steps.inference_step(study, study.grid.inference_groups[name]) for name in groups]
    tested = [name for name in groups if name in study.grid.aggregate_criteria]
    made += [steps.aggregates_step(study, study.grid.inference_groups[name]) for name in tested]
    return Batch(tuple(made))


def inference_files(study: Study) -> list[str]:
    """What the batches of all states of models write."""
    return [file for state in _states(study) for file in inference_batch(study, *state).outputs]


def inference_rules(study: Study) -> list[tuple[list[str], str]]:
    """Outputs of `inference_batch` below the results, with wildcards, and the states that have all of them, as the
    constraint of the wildcard `model` before `/{debias}/`."""
    states: dict[tuple[str, ...], list[str]] = {}
    for model, debias in _states(study):
        files = (
            file.removeprefix(f"{study.results}/") for file in inference_batch(study, model, debias).outputs
        )
        patterns = tuple(file.replace(f"/{model}/{debias}/", "/{model}/{debias}/", 1) for file in files)
        states.setdefault(patterns, []).append(f"{re.escape(model)}(?=/{re.escape(debias)}/)")
    return [(list(patterns), "|".join(constraint)) for patterns, constraint in states.items()]


def _states(study: Study) -> Iterable[tuple[str, str]]:
    """Models and debias methods of which something is inferred."""
    firsts = (group[0].cell for group in study.grid.inference_groups.values())
    return dict.fromkeys((cell.model, cell.debias) for cell in firsts)

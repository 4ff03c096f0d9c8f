"""What a change makes stale, derived from the plan: steps' files, specs and digests of code, before and after."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from conftest import ROOT

from biasgrid.plan import steps
from biasgrid.plan.step import Step
from biasgrid.study import Study


@dataclass(frozen=True)
class Node:
    """A step as the engine sees it."""

    files: frozenset[str]
    depends_on: str


def steps_of(study: Study) -> Iterable[Step]:
    """The steps of a study's plan."""
    for cell in study.cells.values():
        yield steps.cell_step(study, cell)
    if "random_groups" in study.config["inference"]:
        for model in study.models:
            yield steps.pool_step(study, model)
    for group in study.inference_groups.values():
        yield steps.inference_step(study, group)
    if "bootstrap" in study.config["inference"]:
        yield steps.rank_samples_step(study)
    for name in study.tables:
        yield steps.table_step(study, name)


def plan_of(study: Study) -> dict[str, Node]:
    """What there is to make, by the output's path below the study's results.

    Steps that the plan has not yet are in it by hand: queries and records of models.
    """
    inner = {str(step.output): Node(frozenset(step.files), step.depends_on) for step in steps_of(study)}
    inner |= {str(study.query_file(key)): Node(frozenset(), study.query_digest(key)) for key in study.queries}
    kept = ("source", "format", "vocab_prefix", "licence")
    inner |= {
        str(study.model_file(key)): Node(frozenset(), repr([model.get(name) for name in kept]))
        for key, model in study.models.items()
    }
    return {str(Path(output).relative_to(study.results)): node for output, node in inner.items()}


def stale(before: Study, after: Study, edited: Collection[str] = ()) -> set[str]:
    """What is made again (or first) after an edit, of everything in the plan, by its path below the results."""
    return stale_of(plan_of(before), plan_of(after), str(after.results), edited)


def stale_of(
    before: dict[str, Node], after: dict[str, Node], results: str, edited: Collection[str] = ()
) -> set[str]:
    """The same of two plans: what is new, or depends on other files, another spec, other code, or on what is made
    again; `edited` are files that changed in place."""
    again = {
        output for output, node in after.items() if before.get(output) != node or node.files & set(edited)
    }
    while True:
        made = {f"{results}/{output}" for output in again}
        more = {output for output, node in after.items() if node.files & made} - again
        if not more:
            return again
        again |= more


SHIPPED = ("embedded", "caliskan", "wefe_documentation", "same", "debias", "thesis")


@cache
def shipped(name: str) -> Study:
    """A study of the project."""
    return Study.read(ROOT / "config" / f"{name}.yaml", ROOT)

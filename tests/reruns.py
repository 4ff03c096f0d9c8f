"""What a change makes stale, derived from the plan: steps' files, specs and digests of code, before and after."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from conftest import ROOT

from biasgrid import tables
from biasgrid.study import code
from biasgrid.study.study import Study
from biasgrid.workflow.plan import Plan

# the tables that tests say of when they are made; a newer one has tests of its own
KNOWN_TABLES = """
agreement_widths aggregates analogies analogy_summary comparison contrasts corpus_correlations correlations
covariates directions frequency influence intervals lost_words mitigation order pair_means pairs phenomena
phenomenon_correlations quality query_agreement query_correlations query_ranks rank_intervals rankings ratings
scalars score_fits scores seed_lists seed_pairs sensitivity shuffled shuffled_words subsamples tests trainings words
"""
NEWER_TABLES = set(tables.REGISTRY) - set(KNOWN_TABLES.split())


@dataclass(frozen=True)
class Node:
    """A step as Snakemake sees it."""

    files: frozenset[str]
    depends_on: str


def plan_of(study: Study) -> dict[str, Node]:
    """Return what there is to make, by the output's path below the study's results.

    The study's own file is not a step of the plan.
    """
    nodes = {step.output: Node(frozenset(step.files), step.depends_on) for step in Plan(study).values()}
    nodes[study.results / "study.json"] = Node(frozenset(), study.digest)
    return {str(output.relative_to(study.results)): node for output, node in nodes.items()}


def stale(before: Study, after: Study, edited: Collection[str] = ()) -> set[str]:
    """What is made again (or first) after an edit of the config, by its path below the results; `edited` are files
    that changed in place."""
    return stale_of(plan_of(before), plan_of(after), after.results, edited)


def stale_of(
    before: Mapping[str, Node], after: Mapping[str, Node], results: Path, edited: Collection[str] = ()
) -> set[str]:
    """The same of two plans: what is new, or depends on other files, another spec or other code than before, or is
    made from what is made again."""
    again = {
        output for output, node in after.items() if before.get(output) != node or node.files & set(edited)
    }
    while True:
        made = {str(results / output) for output in again}
        more = {output for output, node in after.items() if node.files & made} - again
        if not more:
            return {output for output in again if Path(output).stem not in NEWER_TABLES}
        again |= more


SHIPPED = ("embedded", "caliskan", "wefe_documentation", "same", "debias", "thesis")


@cache
def shipped(name: str) -> Study:
    """A study of the project."""
    return Study.read(ROOT / "config" / f"{name}.yaml", ROOT)


def again(before, after, edited=()):
    """Kind of step, or table -> what is made again after an edit."""
    jobs = {}
    for path in stale(before, after, edited):
        kind, _, name = path.rpartition(".")[0].partition("/")
        jobs.setdefault(kind, set()).add(name)
    return jobs


def made_with(study, module):
    """The outputs of steps whose code a module of biasgrid is."""
    return {
        str(step.output.relative_to(study.results))
        for step in Plan(study).values()
        if not step.version
        and f"biasgrid.{module}" in code.closure(step.function.partition(":")[0], *step.modules)
    }


def planned(project, *arguments) -> dict[str, set[str]]:
    """Rule -> what its jobs of a dry run make, by path below results/small (or data)."""
    return jobs_of(project.run("--dry-run", *arguments))


def made(project, *arguments) -> set[str]:
    """The steps that a run makes, such as "cell/one/none/weat/q1", "table/scores" and "report".

    Steps that Snakemake makes itself, such as queries, are not among them.
    """
    folder = project.folder / "logs" / "small" / "made_of"
    before = {note: note.stat().st_mtime_ns for note in folder.rglob("*.json")}
    project.run(*arguments)
    return {
        str(note.relative_to(folder).with_suffix(""))
        for note in folder.rglob("*.json")
        if before.get(note) != note.stat().st_mtime_ns and note.stem not in NEWER_TABLES
    }


def jobs_of(done) -> dict[str, set[str]]:
    """Return the same of a dry run that is over."""
    jobs: dict[str, set[str]] = {}
    for block in re.split(r"\n(?=\[)", done.stdout + done.stderr):
        rule = re.search(r"^(?:local)?rule (\w+):", block, re.M)
        output = re.search(r"^ {4}output: (.+)$", block, re.M)
        if not (rule and output):
            continue
        paths = [path.split(" (")[0].removeprefix("results/small/") for path in output[1].split(", ")]
        # a figure is its PDF, and inference its JSON
        known = {path for path in paths if not path.endswith((".svg", ".png", ".npy"))}
        jobs.setdefault(rule[1], set()).update(path for path in known if Path(path).stem not in NEWER_TABLES)
    return jobs


def cells(jobs) -> set[str]:
    return {path.removeprefix("cells/").removesuffix(".json") for path in jobs.get("cell", ())}


def every(pattern) -> set[str]:
    names = [
        f"{m}/none/{metric}/{q}"
        for m in ("one", "two")
        for metric in ("weat", "weat_es", "rnd", "rnsb")
        for q in ("q1", "q2", "q3")
    ]
    return {name for name in names if re.search(pattern, name)}


def append(path, text="\nEDITED = 1\n"):
    path.write_text(path.read_text() + text)

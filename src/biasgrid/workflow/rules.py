"""What the rules of all workflows are written with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from snakemake.io import ancient

from ..plan.step import Step
from .batches import Batch


def inputs_of(step: Callable[[Any], Step | Batch]) -> Callable[[Any], dict[str, list[str]]]:
    """An input function for `unpack`: what a job's step reads, by role, from a function of the job's wildcards."""
    return lambda wildcards: roles_of(step(wildcards))


def roles_of(step: Step | Batch) -> dict[str, list[str]]:
    """What a job reads, by role. The user's files count by their content, which is in `depends_on`: one that was
    replaced may be older than the results, and one that was touched has not changed."""
    own = set(step.own)
    return {
        role: [ancient(file) if file in own else file for file in files]
        for role, files in step.by_role.items()
    }


def dependence_of(step: Callable[[Any], Step | Batch]) -> Callable[[Any], str]:
    """A function for params: what a job's step depends on besides its files. One text, as Snakemake compares params
    as a set of values."""
    return lambda wildcards: step(wildcards).depends_on


def minutes_of(steps: int) -> Callable[..., int]:
    """A function for resources: the time limit of a job of so many steps, in minutes; more after each try."""
    return lambda wildcards, threads, attempt: 5 * -(-steps // threads) * attempt


def memory_of(wildcards: Any, threads: int, attempt: int) -> int:
    """A function for resources: megabytes of a job whose steps run side by side."""
    return 1000 * threads * attempt


def one_of(names: Iterable[str]) -> str:
    """A wildcard's constraint: what the study has no name for is no target."""
    return "|".join(map(re.escape, names)) or "(?!)"

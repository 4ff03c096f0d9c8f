"""What the rules of all workflows are written with."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from ..plan.step import Step


def files_of(step: Callable[[Any], Step]) -> Callable[[Any], list[str]]:
    """An input function: the files of a job's step, from a function of the job's wildcards."""
    return lambda wildcards: step(wildcards).files


def dependence_of(step: Callable[[Any], Step]) -> Callable[[Any], str]:
    """A function for params: what a job's step depends on besides its files. One text, as Snakemake compares params
    as a set of values."""
    return lambda wildcards: step(wildcards).depends_on


def one_of(names: Iterable[str]) -> str:
    """A wildcard's constraint: what the study has no name for is no target."""
    return "|".join(map(re.escape, names)) or "(?!)"

"""A finished study without some of its queries: all that rests on the others, made of its files in memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import BiasgridError, is_among, unknown_name
from ..in_memory import InMemory
from ..plan.study import Study
from ..planned import Inference
from ..records import read_aggregates
from ..results import cells_in
from ..statistics.aggregation import OVERALL
from ..untrusted import read_npy
from .made_paths import MadePaths
from .measured_study import MeasuredStudy
from .study import FinishedStudy


@dataclass(frozen=True)
class PartialStudy(FinishedStudy):
    """What a finished study would be without some queries. Nothing is measured: cells, inference and the values of
    resamples are those of the study's files, and tables are made of them in memory.

    Every number is that of a study whose config lacks these queries, as words are drawn by set, and queries among
    those of their criterion. `published` and `computed` numbers are of all queries, so none is compared. Aggregates
    of the criteria that lose queries, `changed_criteria`, have no tests, which the models would be needed for.
    """

    changed_criteria: frozenset[str]

    @cached_property
    def paths(self) -> PartialPaths:
        return PartialPaths(self.results, self)


@dataclass(frozen=True)
class PartialPaths(MadePaths):
    """The files of a study, less what is of queries that are left out."""

    study: PartialStudy

    def aggregates_file(self, inference: Inference) -> Any:
        path = super().aggregates_file(inference)
        records = unchanged(read_aggregates(path), self.study.changed_criteria)
        return InMemory(tuple(inference.group.split("/")), {"aggregates": records})

    def inference_file(self, inference: Inference) -> Any:
        return self._files_of(inference)[0]

    def samples_file(self, inference: Inference) -> Any:
        return self._files_of(inference)[1]

    def _files_of(self, inference: Inference) -> tuple[Any, Any]:
        """The inference and the resamples of a cell and its metric's other queries, less those of queries that are
        left out; the files themselves where there are none."""
        group = inference.group
        if group not in self._inference_in_memory:
            path, samples_path = super().inference_file(inference), super().samples_file(inference)
            files: tuple[Any, Any] = path, samples_path
            cells = cells_in(path)
            mask = [cell["query"] in self.study.queries for cell in cells]
            if not all(mask):
                rows = np.repeat(mask, [len(cell["results"]) for cell in cells])
                cells = [cell for cell, keep in zip(cells, mask, strict=True) if keep]
                parts = tuple(group.split("/"))
                files = InMemory(parts, {"cells": cells}), samples_path
                if samples_path.is_file():
                    samples = read_npy(samples_path)
                    if len(samples) != len(rows):
                        raise BiasgridError(
                            f"{samples_path}: has {len(samples)} rows, not {len(rows)}; make it again: biasgrid "
                            f"infer --cell {inference.cell.name}"
                        )
                    files = files[0], InMemory(parts, samples[rows])
            self._inference_in_memory[group] = files
        return self._inference_in_memory[group]

    @cached_property
    def _inference_in_memory(self) -> dict[str, tuple[Any, Any]]:
        return {}


def without(study: Study, queries: Iterable[str]) -> Study:
    """A finished study, or a grid in memory, without some queries, named by key or name. A criterion without queries
    goes with them.

    Raises
    ------
    BiasgridError
        For a query that the study does not have, and where none would be left.
    """
    absent = {key for query in queries for key in _keys(study, query)}
    if absent >= set(study.queries):
        raise BiasgridError(f"{study.name}: without all of its {len(study.queries)} queries nothing is left")
    whole = study.config
    queries_left = {
        name: {key: query for key, query in entry.queries.items() if key not in absent}
        for name, entry in whole.criteria.items()
    }
    config = whole.model_copy(
        update={
            "criteria": {
                name: whole.criteria[name].model_copy(update={"queries": queries})
                for name, queries in queries_left.items()
                if queries
            },
            "evaluation": {
                name: entry for name, entry in whole.evaluation.items() if queries_left.get(name, True)
            },
            # a debias method may be named under a criterion that is gone: its models are still debiased
            "debias": {
                name: {
                    key: entry.model_copy(
                        update={"models": [model for model, fit in study.grid.fits if fit == key]}
                    )
                    for key, entry in entries.items()
                }
                for name, entries in whole.debias.items()
            },
            "published": [],
            "computed": [],
        }
    )
    changed_criteria = frozenset(
        name for name, entry in whole.criteria.items() if absent.intersection(entry.queries)
    )
    rest = {key: query for key, query in study.queries.items() if key not in absent}
    if isinstance(study, FinishedStudy):
        lost = changed_criteria | (study.changed_criteria if isinstance(study, PartialStudy) else frozenset())
        return PartialStudy(config, rest, study.folder, lost, plugins=study.plugins)
    part = replace(study, config=config, queries=rest)
    if isinstance(part, MeasuredStudy):
        tests = {
            group: unchanged(records, changed_criteria) for group, records in part.aggregate_tests.items()
        }
        part = replace(part, aggregate_tests=tests)
    return part


def unchanged(records: Iterable[dict[str, Any]], changed_criteria: frozenset[str]) -> list[dict[str, Any]]:
    """The tests of aggregates that have all their queries still."""
    lost = {*changed_criteria, OVERALL} if changed_criteria else set()
    return [record for record in records if record["criterion"] not in lost]


def _keys(study: Study, query: str) -> list[str]:
    """The keys of the queries that have this key or name."""
    if is_among(query, study.queries):
        return [query]
    keys = [key for key, of_key in study.queries.items() if is_among(query, [of_key.name])]
    if not keys:
        names = [*study.queries, *(of_key.name for of_key in study.queries.values())]
        raise BiasgridError(f"{study.name}: {unknown_name('query', query, names)}")
    return keys


def absent_queries(study: Study, part: Study) -> dict[str, list[str]]:
    """Criterion -> the names of its queries that a part of a study lacks."""
    return {
        name: names
        for name, entry in study.config.criteria.items()
        if (names := [study.queries[key].name for key in entry.queries if key not in part.queries])
    }

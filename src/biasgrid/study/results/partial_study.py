"""A finished study without some of its queries, with results of the others computed in memory from its files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...core.errors import BiasgridError, is_among, unknown_name
from ...core.in_memory import InMemory
from ...core.untrusted import read_npy
from ...measure.aggregation import OVERALL
from ...measure.records import read_aggregates
from ...measure.results import cells_in
from ...tables.planned import Inference
from ..in_memory.made_paths import MadePaths
from ..in_memory.measured_study import MeasuredStudy
from ..study import Study
from .finished_study import FinishedStudy


@dataclass(frozen=True)
class PartialStudy(FinishedStudy):
    """A finished study without some queries.

    Nothing is measured: cells, inference and values of resamples come from the study's files, and tables are
    computed from them in memory. Every number equals the number in a study without these queries in its
    config, because words are drawn by set, and queries within their criterion. `published` and `computed`
    numbers refer to all queries, so they are not compared. Aggregates of the criteria that lose queries
    (`changed_criteria`) are not tested, because this would need the models.
    """

    changed_criteria: frozenset[str]

    @cached_property
    def paths(self) -> PartialPaths:
        return PartialPaths(self.results, self)


@dataclass(frozen=True)
class PartialPaths(MadePaths):
    """The files of a study without the queries that are left out."""

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
        """Return inference and resamples of a cell's metric without the queries that are left out.

        The files themselves are returned if no query is left out.
        """
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
                            f'step "inference {inference.cell.name}"'
                        )
                    files = files[0], InMemory(parts, samples[rows])
            self._inference_in_memory[group] = files
        return self._inference_in_memory[group]

    @cached_property
    def _inference_in_memory(self) -> dict[str, tuple[Any, Any]]:
        return {}


def without(study: Study, queries: Iterable[str]) -> Study:
    """Return a finished study, or a grid in memory, without some queries, which are named by key or name.

    A criterion that loses all its queries is also left out.

    Raises
    ------
    BiasgridError
        The study does not have a query, or none would be left.
    """
    absent = {key for query in queries for key in _query_keys(study, query)}
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
            # A debias method may belong to a criterion that is left out; its models are still debiased.
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
    """Return the tests of aggregates that keep all their queries."""
    lost = {*changed_criteria, OVERALL} if changed_criteria else set()
    return [record for record in records if record["criterion"] not in lost]


def _query_keys(study: Study, query: str) -> list[str]:
    """Return the keys of the queries with this key or name."""
    if is_among(query, study.queries):
        return [query]
    keys = [key for key, of_key in study.queries.items() if is_among(query, [of_key.name])]
    if not keys:
        names = [*study.queries, *(of_key.name for of_key in study.queries.values())]
        raise BiasgridError(f"{study.name}: {unknown_name('query', query, names)}")
    return keys


def absent_queries(study: Study, part: Study) -> dict[str, list[str]]:
    """Return the names of the queries that a part of a study lacks, by criterion."""
    return {
        name: names
        for name, entry in study.config.criteria.items()
        if (names := [study.queries[key].name for key in entry.queries if key not in part.queries])
    }

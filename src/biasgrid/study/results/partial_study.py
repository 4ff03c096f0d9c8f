"""A study that is finished, or a grid in memory, without some of its queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np

from ...core.errors import BiasgridError, is_among, unknown_name
from ...core.in_memory import InMemory
from ...measure.aggregation import OVERALL
from ...measure.records import read_aggregates
from ...measure.results import cells_in
from ...tables.rank_samples import read_samples
from ..study import Study


def without(study: Study, queries: Iterable[str]) -> Study:
    """Return a finished study, or a grid in memory, without some queries, which are named by key or name.

    A criterion that loses all its queries is also left out.

    Raises
    ------
    BiasgridError
        The study does not have a query, or none would be left.
    """
    # Tables in files are of all queries.
    study = getattr(study, "plain", study)
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
    changed = {name for name, entry in whole.criteria.items() if absent.intersection(entry.queries)}
    rest = {key: query for key, query in study.queries.items() if key not in absent}
    return replace(study, config=config, queries=rest, memory=_results_without(study, absent, changed))


def _results_without(
    study: Study, absent: set[str], changed_criteria: set[str]
) -> dict[tuple[str, ...], Any]:
    """Return a study's results in memory, with inference and aggregates of fewer queries."""
    contents = dict(study.memory or {})
    for members in study.grid.inference_groups.values():
        first = members[0]
        if all(member.cell.query not in absent for member in members):
            continue
        cells = cells_in(study.paths.inference_file(first))
        is_left = [cell["query"] not in absent for cell in cells]
        contents["inference", *first.place, ".json"] = {"cells": list(compress(cells, is_left))}
        file = study.paths.samples_file(first)
        if study.config.inference.bootstrap and (isinstance(file, InMemory) or file.is_file()):
            rows = np.repeat(is_left, [len(cell["results"]) for cell in cells])
            samples = read_samples(file, first.group, (len(rows), study.config.inference.resamples))
            contents["inference", *first.place, ".npy"] = samples[rows]
    for name in study.grid.aggregate_criteria:
        first = study.grid.inference_groups[name][0]
        tests = [
            test
            for test in read_aggregates(study.paths.aggregates_file(first))
            if test["criterion"] not in (*changed_criteria, OVERALL)
        ]
        contents["aggregates", *first.place, ".json"] = {"aggregates": tests}
    return contents


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

"""Measurement of a grid's cells in memory, and tests of their aggregates, in one process or several."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import BiasgridError, not_allowed
from ...core.schema import as_finite
from ...measure import significance
from ...measure.candidate_words import pool_of
from ...measure.measurement_spec import MeasurementSpec
from ...measure.metric_input import look_up
from ...measure.result import as_json
from ...measure.results import cells as cells_of
from ...queries.query import Query
from ...tables.planned import Cell
from ..study import Study
from .processes import run

if TYPE_CHECKING:
    from ...measure.null_distributions import Null

CHUNKS = 8  # per process, which keeps all processes busy to the end
Work = tuple[Cell, Query, "Mapping[str, Any] | None"]  # a cell, its query, its options of inference


@dataclass(frozen=True)
class Outcome:
    """The results of a cell.

    Attributes
    ----------
    record
        The content of its file.
    inference
        Its part of the inference file, or None.
    samples
        Its values in bootstrap resamples (sub-queries, draws), or None.
    null
        Its null distributions if they are kept, or None.
    """

    record: Mapping[str, Any]
    inference: Mapping[str, Any] | None = None
    samples: np.ndarray | None = None
    null: Null | None = None


def measure_cells(
    study: Study,
    models: Mapping[tuple[str, str], Any],
    *,
    n_jobs: int,
    shared: str,
    progress: bool,
    keep_null: bool,
) -> dict[str, Outcome]:
    """Measure every cell of the study; return the results by the cells' names.

    `models` are given by model and debias key. `n_jobs` and `shared` are as in `processes.run`.
    """
    from tqdm import tqdm  # tqdm.auto would warn in notebooks without ipywidgets

    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise BiasgridError(
            not_allowed("n_jobs", n_jobs, "whole numbers of processes; -1: one for each processor")
        )
    outcomes: dict[str, Outcome] = {}
    with tqdm(total=len(study.grid.cells), desc="measuring", unit="cell", disable=not progress) as bar:
        for part in run(_measure_cells_of_model, _tasks(study, models, n_jobs, keep_null), n_jobs, shared):
            outcomes |= part
            bar.update(len(part))
    return {name: outcomes[name] for name in study.grid.cells}


def _tasks(
    study: Study, models: Mapping[tuple[str, str], Any], n_jobs: int, keep_null: bool
) -> Iterator[tuple[Any, ...]]:
    """Yield arguments of `_measure_cells_of_model`: of one cell each, or CHUNKS for each of several processes."""
    by_model: dict[tuple[str, str], list[Work]] = {}
    for name, cell in study.grid.cells.items():
        inference = study.grid.inferences.get(name)
        work = cell, study.queries[cell.query], inference.spec["inference"] if inference else None
        by_model.setdefault((cell.model, cell.debias), []).append(work)
    for state, cells in by_model.items():
        chunks = len(cells)
        if n_jobs != 1:
            import joblib

            chunks = min(chunks, math.ceil(CHUNKS * joblib.effective_n_jobs(n_jobs) / len(by_model)))
        # Make the pool here, because each process would make it again.
        needs_pool = any(significance.needs_pool(inference or {}) for _, _, inference in cells)
        pool = pool_of(models[state]) if needs_pool else None
        # Take every n-th cell, because consecutive cells have the same metric and take equally long.
        yield from ((models[state], cells[first::chunks], pool, keep_null) for first in range(chunks))


def results_of_cells(study: Study, outcomes: Mapping[str, Outcome]) -> dict[tuple[str, ...], Any]:
    """Return the results of a study's queries and cells, as `Study.memory` has them."""
    contents: dict[tuple[str, ...], Any] = {
        ("queries", key, ".json"): query for key, query in study.queries.items()
    }
    for name, cell in study.grid.cells.items():
        contents["cells", *cell.place, ".json"] = outcomes[name].record
        if (null := outcomes[name].null) is not None:
            contents["null", *cell.place, ".npz"] = null
    for group in study.grid.inference_groups.values():
        place, of_group = group[0].place, [outcomes[inference.cell.name] for inference in group]
        contents["inference", *place, ".json"] = {"cells": [outcome.inference for outcome in of_group]}
        samples = [outcome.samples for outcome in of_group if outcome.samples is not None]
        if samples:
            contents["inference", *place, ".npy"] = np.concatenate(samples)
    return contents


def infer_aggregates(
    study: Study,
    models: Mapping[tuple[str, str], Any],
    *,
    n_jobs: int,
    shared: str,
    progress: bool,
) -> dict[tuple[str, ...], Any]:
    """Test the means over queries of each group of inference; return the results as `Study.memory` has them.

    The study's cells are measured. An aggregation by a function is in no table, and is not tested.
    """
    groups = {name: study.grid.inference_groups[name][0] for name in study.grid.aggregate_criteria}
    tests: dict[str, list[dict[str, Any]]] = {}
    if groups and isinstance(study.config.aggregation, str):
        from tqdm import tqdm

        tasks = []
        for name, first in groups.items():
            cells = [
                (cell, study.queries[cell["query"]], results)
                for cell, results in cells_of([study.paths.inference_file(first)])
                if cell["criterion"] in study.averaged_criteria
            ]
            options = {
                "criteria": study.grid.aggregate_criteria[name],
                "ranked": sorted(study.ranked_criteria),
                "aggregation": study.config.aggregation,
            }
            model = models[first.cell.model, first.cell.debias]
            tasks.append((name, cells, model, pool_of(model), options))
        found = run(_infer_aggregates_of_group, tasks, n_jobs, shared)
        tests |= tqdm(found, total=len(tasks), desc="aggregates", unit="test", disable=not progress)
    return {
        ("aggregates", *first.place, ".json"): {"aggregates": tests.get(name, [])}
        for name, first in groups.items()
    }


def _infer_aggregates_of_group(
    name: str,
    cells: Sequence[tuple[Mapping[str, Any], Query, Sequence[Mapping[str, Any]]]],
    model: Any,
    pool: Any,
    options: Mapping[str, Any],
) -> tuple[str, list[dict[str, Any]]]:
    from ...measure import aggregates

    return name, as_finite(aggregates.infer_aggregates(cells, model, pool, **options))


def _measure_cells_of_model(
    model: Any, cells: Sequence[Work], pool: Any, keep_null: bool
) -> dict[str, Outcome]:
    return {
        cell.name: measure_cell(model, cell, query, inference, pool, keep_null)
        for cell, query, inference in cells
    }


def measure_cell(
    model: Any,
    cell: Cell,
    query: Query,
    inference: Mapping[str, Any] | None = None,
    pool: Any = None,
    keep_null: bool = False,
) -> Outcome:
    """Measure a cell, as `cell.compute_cell` and `measure.write_inference.infer_cells` do with files."""
    spec = cell.spec
    samples = look_up(MeasurementSpec.of_cell(spec, inference), query, model)
    record = {**spec, "results": [as_json(sample.result()) for sample in samples]}
    if inference is None:
        return Outcome(record)
    # The import of scipy.stats takes a second.
    from ...measure.infer import infer
    from ...measure.null_distributions import Null

    nulls: dict[str, Any] = {}
    results, resamples = infer(samples, nulls=nulls if keep_null else None, pool=pool)
    inference_record = {**spec, "inference": dict(inference), "results": results}
    null = None
    if nulls:
        parts = ("influence", "halves")
        null = Null.of([{k: v for k, v in r.items() if k not in parts} for r in results], nulls, resamples)
    return Outcome(record, inference_record, resamples, null)

"""Measurement of a grid's cells in memory, and tests of their aggregates, in one process or several."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ... import metrics
from ...core.errors import BiasgridError, not_allowed
from ...core.processes import RANDOM_GROUPS
from ...core.registry import load_plugins, loaded_plugins
from ...core.schema import as_finite
from ...core.user_warnings import stacklevel
from ...measure import significance
from ...measure.measurement_spec import MeasurementSpec
from ...measure.metric_input import look_up
from ...measure.result import as_json
from ...queries.query import Query
from ...tables.planned import Cell
from .measured_study import MeasuredStudy, Outcome

CHUNKS = 8  # per process, which keeps all processes busy to the end
Work = tuple[Cell, Query, "Mapping[str, Any] | None"]  # a cell, its query, its options of inference
Session = tuple[list[Path], list[metrics.Metric], str]


def measure_cells(
    study: MeasuredStudy,
    models: Mapping[tuple[str, str], Any],
    *,
    n_jobs: int,
    shared: str,
    progress: bool,
    keep_null: bool,
) -> dict[str, Outcome]:
    """Measure every cell of the study; return the results by the cells' names.

    `models` are given by model and debias key. `shared` is a folder in which several processes share the random
    groups that one of them drew.
    """
    from tqdm import tqdm  # tqdm.auto would warn in notebooks without ipywidgets

    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise BiasgridError(
            not_allowed("n_jobs", n_jobs, "whole numbers of processes; -1: one for each processor")
        )
    by_model: dict[tuple[str, str], list[Work]] = {}
    for name, cell in study.grid.cells.items():
        inference = study.grid.inferences.get(name)
        work = cell, study.queries[cell.query], inference.spec["inference"] if inference else None
        by_model.setdefault((cell.model, cell.debias), []).append(work)
    outcomes: dict[str, Outcome] = {}
    with tqdm(total=len(study.grid.cells), desc="measuring", unit="cell", disable=not progress) as bar:
        for part in (
            _measure_in_parallel(models, by_model, n_jobs, shared, keep_null)
            if n_jobs != 1
            else _measure_in_turn(models, by_model, keep_null)
        ):
            outcomes |= part
            bar.update(len(part))
    return {name: outcomes[name] for name in study.grid.cells}


def infer_aggregates(
    study: MeasuredStudy,
    models: Mapping[tuple[str, str], Any],
    *,
    n_jobs: int,
    shared: str,
    progress: bool,
) -> dict[str, list[dict[str, Any]]]:
    """Test the means over queries, by group of inference; return the records of `measure.aggregates`.

    The study's cells are measured. An aggregation by a function is in no table, and is not tested.
    """
    groups = study.grid.aggregate_criteria if isinstance(study.config.aggregation, str) else {}
    if not groups:
        return {}
    import joblib
    from tqdm import tqdm

    from ...measure.candidate_words import pool_of

    tasks = []
    for name, criteria in groups.items():
        members = [
            m.cell for m in study.grid.inference_groups[name] if m.cell.criterion in study.averaged_criteria
        ]
        cells = [(study.outcomes[cell.name].inference, study.queries[cell.query]) for cell in members]
        model = models[members[0].model, members[0].debias]
        pool = pool_of(model)
        work = (
            name,
            cells,
            model,
            pool,
            criteria,
            sorted(study.ranked_criteria),
            study.config.aggregation,
            _session(shared if n_jobs != 1 else ""),
        )
        tasks.append(joblib.delayed(_infer_aggregates_of_group)(*work))
    parallel = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    bar = tqdm(parallel(tasks), total=len(tasks), desc="aggregates", unit="test", disable=not progress)
    tests = dict(bar)
    return {name: tests[name] for name in groups}


def _infer_aggregates_of_group(
    name: str,
    cells: Sequence[tuple[Mapping[str, Any], Query]],
    model: Any,
    pool: Any,
    criteria: Sequence[str],
    ranked: Sequence[str],
    aggregation: str,
    session: Session,
) -> tuple[str, list[dict[str, Any]]]:
    from ...measure import aggregates

    _restore_session(session)
    of_cells = [(cell, query, cell["results"]) for cell, query in cells]
    return name, as_finite(
        aggregates.infer_aggregates(
            of_cells, model, pool, criteria=criteria, ranked=ranked, aggregation=aggregation
        )
    )


def _session(shared: str) -> Session:
    """Return the session's plugins, the metrics defined in it, and the folder of random groups, if any."""
    return loaded_plugins(), metrics.REGISTRY.session_entries, shared


def _restore_session(session: Session) -> None:
    """Load plugins and metrics of the session that started this process."""
    plugins, session_metrics, shared = session
    load_plugins(plugins)
    if shared:
        os.environ[RANDOM_GROUPS] = shared
    for metric in session_metrics:
        metrics.REGISTRY.add(metric)


def _measure_in_turn(
    models: Mapping[tuple[str, str], Any], by_model: Mapping[tuple[str, str], list[Work]], keep_null: bool
) -> Iterator[dict[str, Outcome]]:
    for state, cells in by_model.items():
        for cell, query, inference in cells:
            yield {cell.name: measure_cell(models[state], cell, query, inference, keep_null=keep_null)}


def _measure_in_parallel(
    models: Mapping[tuple[str, str], Any],
    by_model: Mapping[tuple[str, str], list[Work]],
    n_jobs: int,
    shared: str,
    keep_null: bool,
) -> Iterator[dict[str, Outcome]]:
    import joblib

    processes = joblib.effective_n_jobs(n_jobs)
    chunks = max(1, math.ceil(CHUNKS * processes / len(by_model)))
    tasks, session = [], _session(shared)
    for state, cells in by_model.items():
        pool = None
        if any(significance.needs_pool(inference or {}) for _, _, inference in cells):
            from ...measure.candidate_words import pool_of

            pool = pool_of(models[state])
        # Take every n-th cell, because consecutive cells have the same metric and take equally long.
        parts = [cells[first::chunks] for first in range(min(chunks, len(cells)))]
        tasks += [
            joblib.delayed(_measure_cells_of_model)(models[state], part, pool, keep_null, session)
            for part in parts
        ]
    shown_messages: set[tuple[type[Warning], str]] = set()
    for outcomes, messages in joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(tasks):
        for category, message in messages:
            # Each process warns by itself; show every message once.
            if (category, message) not in shown_messages:
                shown_messages.add((category, message))
                warnings.warn(message, category, stacklevel=stacklevel())
        yield outcomes


def _measure_cells_of_model(
    model: Any, cells: Sequence[Work], pool: Any, keep_null: bool, session: Session
) -> tuple[dict[str, Outcome], list[tuple[type[Warning], str]]]:
    """Measure cells of one model; return the results, and the warnings, which a worker process cannot show."""
    _restore_session(session)
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")
        outcomes = {
            cell.name: measure_cell(model, cell, query, inference, pool, keep_null)
            for cell, query, inference in cells
        }
    return outcomes, [(warning.category, str(warning.message)) for warning in records]


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

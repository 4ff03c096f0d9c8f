"""A study in memory: the same scores, seeds and tables as a study on disk, without files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ... import tables
from ...core.errors import BiasgridError
from ...core.in_memory import InMemory
from ...debias import UNTOUCHED
from ...tables.planned import Cell, Evaluation, Fit, Inference
from ..planned_grid import StudyGrid
from ..study import Study
from .made_paths import MadePaths

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from ...measure.null_distributions import Null


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


@dataclass(frozen=True)
class MeasuredStudy(Study):
    """A study whose results are in memory and replace the content of its files.

    Its config does not have sources and was not read from a file; its models and criteria may have any names.
    """

    states: tuple[tuple[str, str], ...] = ()  # model and debias key of each debiased model
    outcomes: dict[str, Outcome] = field(default_factory=dict)  # by the cells' names
    records: dict[str, dict[str, Any]] = field(default_factory=dict)  # by the names of evaluations
    # Tests of aggregates by group of inference; a user's own aggregation function is not tested.
    aggregate_tests: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @cached_property
    def grid(self) -> MeasuredGrid:
        return MeasuredGrid(self)

    @cached_property
    def paths(self) -> MeasuredPaths:
        return MeasuredPaths(self.results, self)


@dataclass(frozen=True)
class MeasuredGrid(StudyGrid):
    """The grid of models in memory, and of transforms that were fitted elsewhere."""

    study: MeasuredStudy

    @cached_property
    def fits(self) -> dict[tuple[str, str], Fit]:
        debias = self.study.debias
        return {(model, key): Fit(debias[key][0], key, model, {}) for model, key in self.study.states}

    @property
    def models_with_frequencies(self) -> list[str]:
        """Return an empty list, because word frequencies of models in memory are unknown."""
        return []


@dataclass(frozen=True)
class MeasuredPaths(MadePaths):
    """The results in memory instead of files."""

    study: MeasuredStudy

    def query_file(self, key: str) -> Any:
        return InMemory((key,), self.study.queries[key])

    def cell_file(self, cell: Cell) -> Any:
        return InMemory(_parts(cell), self.study.outcomes[cell.name].record)

    def null_file(self, cell: Cell) -> Any:
        return InMemory(_parts(cell), self.study.outcomes[cell.name].null)

    def inference_file(self, inference: Inference) -> Any:
        records = [outcome.inference for outcome in self._outcomes(inference)]
        return InMemory(_parts(inference.cell)[:-1], {"cells": records})

    def samples_file(self, inference: Inference) -> Any:
        import numpy as np

        samples = np.concatenate([outcome.samples for outcome in self._outcomes(inference)])
        return InMemory(_parts(inference.cell)[:-1], samples)

    def aggregates_file(self, inference: Inference) -> Any:
        records = self.study.aggregate_tests.get(inference.group, [])
        return InMemory(_parts(inference.cell)[:-1], {"aggregates": records})

    def evaluation_file(self, evaluation: Evaluation) -> Any:
        parts = evaluation.model, evaluation.debias, str(evaluation.criterion)
        return InMemory(parts, self.study.records[evaluation.name])

    def _outcomes(self, inference: Inference) -> list[Outcome]:
        group = self.study.grid.inference_groups[inference.group]
        return [self.study.outcomes[member.cell.name] for member in group]


def _parts(cell: Cell) -> tuple[str, ...]:
    return cell.model, cell.debias, cell.metric, cell.query


def frame_of(study: Study, name: str, absent: bool = False) -> pd.DataFrame:
    """Return a table of a study, from its file or from memory, as `Table.read` does.

    Raises BiasgridError if the study does not have it.
    """
    table = tables.REGISTRY.find(name)
    # A table's inputs are computed only if it does not have a file.
    planned = getattr(study, "plain", study)
    if not isinstance(study, MeasuredStudy) and not table.inputs_of(planned):
        raise BiasgridError(f"study {study.name} has no table {name}: {table.meaning}")
    file = study.paths.table_file(table.name)
    if isinstance(study.paths, MadePaths) and table.name in study.paths.missing:
        raise BiasgridError(
            f"study {study.name} has no {table.name}.csv, and it cannot be made: {study.paths.missing[table.name]}"
        )
    return tables.read(file, absent)


def left_out(study: Study) -> Iterable[tuple[str, str, str, str]]:
    """Yield criterion, query, metric, and the reason for each query that does not fit a metric's template."""
    for criterion, entry in study.config.criteria.items():
        for key in study.metrics(criterion):
            metric = study.metric(criterion, key)
            for model in study.models:
                if (kind := study.kind(model).name) != metric.needs:
                    yield criterion, "", key, f"{model} is a model of {kind}; it needs {metric.needs}"
            for query in (study.queries[name] for name in entry.queries):
                if not query.fits(metric.template):
                    try:
                        query.subqueries(metric.template)
                    except BiasgridError as error:
                        yield criterion, query.name, key, str(error)


def states_of(study: Study) -> list[tuple[str, str]]:
    """Return model and debias key of each measured model, in the order of the study."""
    measured_states = {(cell.model, cell.debias) for cell in study.grid.cells.values()}
    states = [(model, key) for model in study.models for key in (UNTOUCHED, *study.debias)]
    return [state for state in states if state in measured_states]

"""Parts of a study, and the protocols by which tables and figures see a study (`Planned`).

The parts are the cells of its grid, their inference, fitted debias methods and evaluations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ..core.files import slug

if TYPE_CHECKING:
    from ..core.in_memory import File
    from ..debias import Method
    from ..metrics import Metric
    from ..models.kinds import Kind
    from ..queries.query import Query

QUALITY = "quality"  # part of file names of evaluations without a criterion


def phenomenon_id(criterion: str, phenomenon: str) -> str:
    """Return the id of the query for a criterion's phenomenon."""
    return f"{slug(criterion)}_{slug(phenomenon)}"


@dataclass(frozen=True)
class Cell:
    """A point of the grid: one metric, query, model and debias method.

    `spec` contains everything that its value depends on except the store and the query; it is the first part
    of the cell's file (`cell.compute_cell`).
    """

    criterion: str
    query: str
    metric: str
    model: str
    debias: str
    spec: Mapping[str, Any] = field(hash=False)

    @property
    def name(self) -> str:
        """Return model/debias/metric/query, the cell's path below the study's cells."""
        return f"{self.model}/{self.debias}/{self.metric}/{self.query}"


@dataclass(frozen=True)
class Fit:
    """A debias method fitted on a model.

    `spec` contains everything that its transform depends on except the store.
    """

    criterion: str
    debias: str
    model: str
    spec: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Evaluation:
    """An evaluation of recoverable bias and quality of a model, original or debiased.

    Without a criterion, it measures quality on the benchmarks that the study uses for all its models.
    """

    criterion: str | None
    debias: str
    model: str
    spec: Mapping[str, Any] = field(hash=False)

    @property
    def name(self) -> str:
        """Return model/debias/criterion or model/debias/quality, the path below the study's evaluations."""
        return f"{self.model}/{self.debias}/{slug(self.criterion) if self.criterion else QUALITY}"


@dataclass(frozen=True)
class Inference:
    """The uncertainty of a cell's value.

    `spec` contains everything that it depends on except the store and the query.
    """

    cell: Cell
    spec: Mapping[str, Any] = field(hash=False)

    @property
    def group(self) -> str:
        """Return model/debias/metric; inference for all its queries is one step with one file."""
        return f"{self.cell.model}/{self.cell.debias}/{self.cell.metric}"


class PlannedGrid(Protocol):
    """Everything that is measured, inferred, fitted and evaluated for a study: see `study.planned_grid.StudyGrid`."""

    @property
    def cells(self) -> dict[str, Cell]: ...
    @property
    def fits(self) -> dict[tuple[str, str], Fit]: ...
    @property
    def inferences(self) -> dict[str, Inference]: ...
    @property
    def inference_groups(self) -> dict[str, list[Inference]]: ...
    @property
    def aggregate_criteria(self) -> dict[str, list[str]]: ...
    @property
    def evaluations(self) -> dict[str, Evaluation]: ...
    @property
    def quality(self) -> dict[str, Evaluation]: ...
    @property
    def models_with_frequencies(self) -> list[str]: ...
    def suitable_models(self, criterion: str, key: str) -> list[str]: ...


class PlannedPaths(Protocol):
    """The files that tables and figures are made from, or their contents for a grid in memory: see
    `study.paths.Paths`."""

    @property
    def ranks_file(self) -> File: ...
    def table_file(self, name: str) -> File: ...
    def query_file(self, key: str) -> File: ...
    def transform_file(self, model: str, debias: str) -> File: ...
    def cell_file(self, cell: Cell) -> File: ...
    def null_file(self, cell: Cell) -> File: ...
    def inference_file(self, inference: Inference) -> File: ...
    def samples_file(self, inference: Inference) -> File: ...
    def aggregates_file(self, inference: Inference) -> File: ...
    def evaluation_file(self, evaluation: Evaluation) -> File: ...
    def frequency_file(self, model: str) -> File: ...


class Asked(Protocol):
    """The request of a study's config: see `study.study.Study`."""

    @property
    def config(
        self,
    ) -> Any: ...  # a StudyConfig, whose module imports the kinds of figures, and they this module
    @property
    def queries(self) -> dict[str, Query]: ...
    @property
    def models(self) -> dict[str, dict[str, Any]]: ...
    @property
    def absent(self) -> dict[str, str]: ...
    @property
    def ranked_criteria(self) -> list[str]: ...
    @property
    def averaged_criteria(self) -> list[str]: ...
    @property
    def debias(self) -> dict[str, tuple[str, Any]]: ...
    @property
    def evaluation_specs(self) -> dict[str | None, Any]: ...  # a Spec with the additions of each evaluation
    def kind(self, model: str) -> Kind: ...
    def metrics(self, criterion: str) -> dict[str, Any]: ...
    def metric(self, criterion: str, key: str) -> Metric: ...
    def method(self, name: str) -> Method[...]: ...
    def word_options(self, criterion: str, key: str | None, model: str) -> dict[str, Any]: ...
    def frequency_source(self, model: str) -> str | None: ...


class Planned(Asked, Protocol):
    """The request and plan of a study: all that tables and figures may see of it."""

    @property
    def planned(self) -> Planned: ...
    @property
    def title(self) -> str: ...
    @property
    def labels(self) -> dict[str, str]: ...
    @property
    def tables(self) -> Mapping[str, Mapping[str, Any]]: ...
    @property
    def grid(self) -> PlannedGrid: ...
    @property
    def paths(self) -> PlannedPaths: ...

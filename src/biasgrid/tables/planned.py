"""Parts of a study, the files of its results, and the protocols by which tables and figures see it (`Planned`).

The parts are the cells of its grid, their inference, fitted debias methods and evaluations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..core.files import slug

if TYPE_CHECKING:
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

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Return the parts of the name."""
        return self.model, self.debias, self.metric, self.query


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

    Without a criterion, it measures quality on the benchmarks that the study uses for all its models. `spec` contains
    what its record names and everything that the record depends on except the store and the transform.
    """

    criterion: str | None
    debias: str
    model: str
    spec: Mapping[str, Any] = field(hash=False)

    @property
    def name(self) -> str:
        """Return model/debias/criterion or model/debias/quality, the path below the study's evaluations."""
        return "/".join(self.place)

    @property
    def place(self) -> tuple[str, str, str]:
        """Return the parts of the name."""
        return self.model, self.debias, slug(self.criterion) if self.criterion else QUALITY


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
        return "/".join(self.place)

    @property
    def place(self) -> tuple[str, str, str]:
        """Return the parts of the group's name."""
        return self.cell.place[:3]


@dataclass(frozen=True)
class Paths:
    """Paths of result files, inside the folder `results`."""

    results: Path

    def file(self, folder: str, *place: str, suffix: str = ".json") -> Path:
        """Return the path of a file in a folder of results; `place` are the parts of its name there."""
        return self.results.joinpath(folder, *place[:-1], f"{place[-1]}{suffix}")

    def query_file(self, key: str) -> Path:
        """Return the path of a query's file."""
        return self.file("queries", key)

    def model_file(self, model: str) -> Path:
        """Return the path of the record of a model's store, a copy of the model.json of the measured model."""
        return self.file("models", model)

    def source_file(self, name: str) -> Path:
        """Return the path of the record of a fetched archive: a copy of its manifest.json, or the download error."""
        return self.file("sources", name)

    def pool_file(self, model: str) -> Path:
        """Return the path of the words from which a model's random groups are drawn."""
        return self.file("pools", model, suffix=".npz")

    def frequency_file(self, model: str) -> Path:
        """Return the path of the frequencies of the words of a model's queries."""
        return self.file("frequency", model)

    def transform_file(self, model: str, debias: str) -> Path:
        """Return the path of a fitted debias method."""
        return self.file("debias", model, debias, suffix=".npz")

    def sentence_scores_file(self, model: str, sentences: str) -> Path:
        """Return the path of a language model's scores of the sentences of a query or of a file."""
        return self.file("sentence_scores", model, sentences)

    def cell_file(self, cell: Cell) -> Path:
        """Return the path of a cell's results."""
        name = cell.name
        if name not in self._cell_files:
            self._cell_files[name] = self.file("cells", *cell.place)
        return self._cell_files[name]

    @cached_property
    def _cell_files(self) -> dict[str, Path]:
        """Cache the paths, because a plan of thousands of cells needs each path dozens of times."""
        return {}

    def null_file(self, cell: Cell) -> Path:
        """Return the path of a cell's null distributions."""
        return self.file("null", *cell.place, suffix=".npz")

    def inference_file(self, inference: Inference) -> Path:
        """Return the path of the p-values, intervals and sensitivity of a cell and of its metric's other queries."""
        return self.file("inference", *inference.place)

    def samples_file(self, inference: Inference) -> Path:
        """Return the path of the bootstrap resamples of a group, an array (sub-queries of all queries, draws)."""
        return self.file("inference", *inference.place, suffix=".npy")

    def aggregates_file(self, inference: Inference) -> Path:
        """Return the path of the tests of a metric's aggregates on one original or debiased model."""
        return self.file("aggregates", *inference.place)

    def evaluation_file(self, evaluation: Evaluation) -> Path:
        """Return the path of an evaluation's results."""
        return self.file("evaluation", *evaluation.place)

    @property
    def ranks_file(self) -> Path:
        """Return the path of the ranks in bootstrap resamples (`tables.rank_samples`)."""
        return self.results / "rank_samples.npy"

    def table_file(self, name: str) -> Path:
        """Return the path of a table."""
        return self.results / f"{name}.csv"

    @property
    def report_file(self) -> Path:
        """Return the path of the report."""
        return self.results / "report.html"


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
    def paths(self) -> Paths: ...

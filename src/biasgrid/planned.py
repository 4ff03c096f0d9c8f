"""What a study is made of: the cells of its grid, what is inferred of them, fitted debias methods, evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .files import slug

QUALITY = "quality"  # stands in file names for the evaluations that are of no criterion


@dataclass(frozen=True)
class Cell:
    """A point of the grid. `spec` is everything its value depends on besides the store and the query, and what its
    file says before its results; see `cell.compute_cell`."""

    criterion: str
    query: str
    metric: str
    model: str
    debias: str
    spec: Mapping[str, Any] = field(hash=False)

    @property
    def name(self) -> str:
        """Model/debias/metric/query, its path below the study's cells."""
        return f"{self.model}/{self.debias}/{self.metric}/{self.query}"


@dataclass(frozen=True)
class Fit:
    """A debias method fitted on a model. `spec` is everything its transform depends on besides the store."""

    criterion: str
    debias: str
    model: str
    spec: Mapping[str, Any] = field(hash=False)


@dataclass(frozen=True)
class Evaluation:
    """Bias that is still recoverable and quality lost, measured on a model that is untouched or under one transform;
    without a criterion its quality, on the benchmarks that the study has for all its models."""

    criterion: str | None
    debias: str
    model: str
    spec: Mapping[str, Any] = field(hash=False)

    @property
    def name(self) -> str:
        """Model/debias/criterion, or model/debias/quality, its path below the study's evaluations."""
        return f"{self.model}/{self.debias}/{slug(self.criterion) if self.criterion else QUALITY}"


@dataclass(frozen=True)
class Inference:
    """How sure a cell's value is. `spec` is everything that depends on besides the store and the query."""

    cell: Cell
    spec: Mapping[str, Any] = field(hash=False)

    @property
    def group(self) -> str:
        """Model/debias/metric: what is inferred of all its queries is one step, and one file."""
        return f"{self.cell.model}/{self.cell.debias}/{self.cell.metric}"

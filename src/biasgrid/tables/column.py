"""Columns of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from ..core.errors import join_names

# The range of a column without limits.
ANY = (-inf, inf)


@dataclass(frozen=True)
class Column:
    """Column of a table: its name, meaning and type.

    Attributes
    ----------
    dtype
        "text"; "number", empty if missing; "count", a whole number; "optional count", empty if missing.
    unit
        Unit of numbers; empty for numbers without a unit.
    range
        Smallest and largest possible number, both included. ANY if the range differs between rows, such as for a
        metric's values. Counts need no range: they start at 0.
    values
        All possible texts, "" for an empty field; () if any text is allowed.
    is_quotient
        Whether the divisor of a number may be a small difference. The rounding errors of a large number x then differ
        between processors, so that tests/same.py compares x / (1 + |x|) instead.
    key
        For text that names a part of a score's key: its name in `results.KEYS`. The study's config lists the values.
    """

    name: str
    meaning: str
    dtype: Literal["text", "number", "count", "optional count"] = "text"
    unit: str = ""
    range: tuple[float, float] | None = None
    values: tuple[str, ...] = ()
    is_quotient: bool = False
    key: str = ""

    def __post_init__(self) -> None:
        if self.range is None and "count" in self.dtype:
            object.__setattr__(self, "range", (0, inf))

    @property
    def allowed(self) -> str:
        """Describe the values that the column allows, in words."""
        if self.values:
            return join_names(value or '""' for value in self.values)
        low, high = self.range or ANY
        kind = "whole numbers" if "count" in self.dtype else "finite numbers"
        if (low, high) == ANY:
            return "any text" if self.dtype == "text" else kind
        ends = [f"from {low:g}"] * (low > -inf) + [f"to {high:g}"] * (high < inf)
        return f"{kind} {' '.join(ends)}"

    @classmethod
    def count(cls, name: str, meaning: str) -> Column:
        """Create a column of whole numbers from 0."""
        return cls(name, meaning, "count")

    @classmethod
    def value(cls, name: str, meaning: str, unit: str = "the metric's", least: float = -inf) -> Column:
        """Create a column of numbers in a unit, by default the unit of the row's metric."""
        return cls(name, meaning, "number", unit, (least, inf))

    @classmethod
    def share(cls, name: str, meaning: str) -> Column:
        """Create a column of numbers from 0 to 1, such as shares or p-values."""
        return cls(name, meaning, "number", range=(0, 1))

    @classmethod
    def correlation(cls, name: str, meaning: str) -> Column:
        """Create a column of correlations, or of ends of their intervals."""
        return cls(name, meaning, "number", range=(-1, 1))

    @classmethod
    def rank(cls, name: str, meaning: str) -> Column:
        """Create a column of ranks from 1; equal values may share a mean rank."""
        return cls(name, meaning, "number", range=(1, inf))


class Columns(Sequence[Column]):
    """Columns that are computed when they are read, such as columns that depend on the tests of plugins."""

    def __init__(self, columns: Callable[[], Sequence[Column]]):
        self._columns = columns

    def __getitem__(self, place):
        return self._columns()[place]

    def __len__(self) -> int:
        return len(self._columns())

    def __iter__(self) -> Iterator[Column]:
        return iter(self._columns())

"""What a column of a table is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from ..errors import join_names

ANY = (-inf, inf)  # a column's range


@dataclass(frozen=True)
class Column:
    """A column: its name, what stands in it, and of which type.

    dtype   "text"; "number", empty where there is none; "count", a whole number; "optional count", empty where there
            is none
    unit    of numbers; empty for those without one
    range   of numbers: the lowest and the highest that there can be, both included; ANY where it is another in each
            row, as of a metric's values. Counts have no need to say theirs: from 0
    values  of text: all that there can be, "" for an empty field; () where it may be any text
    is_quotient  of numbers: whether the divisor may be a small difference. Its rounding errors, which differ between
                 processors, are then large in the number x: tests/same.py compares x / (1 + |x|) instead
    key     of text that names a part of a score's place: which of `results.KEYS`. A study's places are in its config
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
        """What may stand in the column, in words."""
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
        """A whole number, from 0."""
        return cls(name, meaning, "count")

    @classmethod
    def value(cls, name: str, meaning: str, unit: str = "the metric's", least: float = -inf) -> Column:
        """A number in a unit, left out that of the metric of the row."""
        return cls(name, meaning, "number", unit, (least, inf))

    @classmethod
    def share(cls, name: str, meaning: str) -> Column:
        """A number from 0 to 1, such as a share or a p-value."""
        return cls(name, meaning, "number", range=(0, 1))

    @classmethod
    def correlation(cls, name: str, meaning: str) -> Column:
        """A correlation, or an end of its interval."""
        return cls(name, meaning, "number", range=(-1, 1))

    @classmethod
    def rank(cls, name: str, meaning: str) -> Column:
        """A rank, from 1; equal ones may share a mean rank."""
        return cls(name, meaning, "number", range=(1, inf))


class Columns(Sequence[Column]):
    """Columns that depend on what there is when they are asked for, such as tests of plugins."""

    def __init__(self, columns: Callable[[], Sequence[Column]]):
        self._columns = columns

    def __getitem__(self, place):
        return self._columns()[place]

    def __len__(self) -> int:
        return len(self._columns())

    def __iter__(self) -> Iterator[Column]:
        return iter(self._columns())

"""What a column of a table is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

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
    """

    name: str
    meaning: str
    dtype: Literal["text", "number", "count", "optional count"] = "text"
    unit: str = ""
    range: tuple[float, float] | None = None
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.range is None and "count" in self.dtype:
            object.__setattr__(self, "range", (0, inf))


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

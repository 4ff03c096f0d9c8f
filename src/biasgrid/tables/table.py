"""What a table of a study is: its columns, what it is made from, how."""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..absence import STATUS
from ..errors import BiasgridError, join_names, quote
from ..files import write_text
from ..in_memory import File, InMemory
from ..results import without_collection
from . import ends
from .column import ANY, Column
from .inputs import When, cell_files, facts_of, files_of, holds

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from ..planned import Cell, Planned

ROUNDING = 1e-9  # how far a number may lie outside of its range
# a text that a spreadsheet would compute, or one with ' before it
FORMULA = re.compile(r"'*[=+@\t\r-]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

__all__ = ["ANY", "Column", "Files", "Table"]

# a role -> a file (`files.File`), or a list of files
Files = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A table of a study: one file of this package, or of a plugin.

    name     the table's; its file is results/<study>/<name>.csv
    meaning  what it says, in a sentence that begins with what a row is
    columns  those that `make` makes, in their order; `ends` follow by themselves
    make     (inputs, spec) -> the table, with its columns, sorted
    reads    what it is made from: names of tables, and of what `inputs.SOURCES` has. `make` gets the files by name
    when     what a study must have for it: names of `inputs.WHEN`, joined by " and ", or study -> whether it does
    inputs   study -> files that it alone reads, by role: a path, or a list of paths. Nothing: the study has no such
             table
    facts    what of `inputs.FACTS` it depends on
    spec     study -> whatever else it depends on, as JSON has it
    key      the columns that no two rows have alike
    cells    study -> the cells that it is of, if not of all: those read, and those whose queries its rows have.
             Nothing: the study has no such table
    absent   study -> the rows of what could not be downloaded, by column, with those that the table ends with; their
             numbers are empty, and their `status` says so
    remedy   what is said of a file that is no such table; left out, which command of biasgrid makes it
    gone     column that tables of former versions have -> what has taken its place
    """

    name: str
    meaning: str
    columns: Sequence[Column]
    make: Callable[[Files, Mapping[str, Any]], pd.DataFrame]
    reads: tuple[str, ...] = ()
    when: When = ""
    inputs: Callable[[Planned], Files] | None = None
    facts: tuple[str, ...] = ()
    spec: Callable[[Planned], dict[str, Any]] = lambda study: {}
    key: tuple[str, ...] = ()
    cells: Callable[[Planned], Iterable[Cell]] | None = None
    absent: Callable[[Planned], list[dict[str, str]]] = lambda study: []
    remedy: str = ""
    gone: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the columns that `make` makes."""
        return [column.name for column in self.columns]

    @property
    def ends(self) -> tuple[Column, ...]:
        """The columns that follow those that `make` makes: see `tables.ends`."""
        return ends.ends_of(self.columns)

    @property
    def lead(self) -> list[str]:
        """The names of the texts that lead the table: what a row is of."""
        return [column.name for column in takewhile(lambda column: column.dtype == "text", self.columns)]

    def finish(self, rows: Iterable[Any], first: bool = False) -> pd.DataFrame:
        """The table of its rows, each a sequence or a mapping: sorted by the texts that lead it, with the types that
        its columns declare. `first`: of rows in which these are equal, the first alone counts."""
        # imported late: a plan makes no table
        import pandas as pd

        table = pd.DataFrame(rows, columns=self.names)
        if first:
            table = table.drop_duplicates(self.lead)
        return self.typed(table.sort_values(self.lead, ignore_index=True))

    def typed(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table with the types that its columns declare."""
        types = {"number": "float64", "count": "int64"}
        return table.astype({c.name: types[c.dtype] for c in self.columns if c.dtype in types})

    def inputs_of(self, study: Planned) -> dict[str, Any]:
        """The files that it is made from, by role; nothing where the study has no such table."""
        if not holds(study, self.when):
            return {}
        cells = list(self.cells(study)) if self.cells else None
        own = self.inputs(study) if self.inputs else {}
        if cells == [] or (self.inputs and not any(own.values())):
            return {}
        files = files_of(study, self.reads) | {**own}
        return files | {"cells": cell_files(study, cells)} if "cells" in self.reads else files

    def spec_of(self, study: Planned) -> dict[str, Any]:
        """Whatever the table depends on besides its files: `write` and `frame` take it."""
        cells = self.cells(study) if self.cells else study.grid.cells.values()
        spec = facts_of(study, self.facts) | self.spec(study) | ends.spec_of(self.ends, study, cells)
        return spec | self.absent_spec(study)

    def absent_spec(self, study: Planned) -> dict[str, Any]:
        """The part of the spec that says which rows could not be downloaded."""
        rows = self.absent(study) if study.absent else []
        return {STATUS: rows} if rows else {}

    def write(self, inputs: Files, spec: Mapping[str, Any], output: Path | str) -> int:
        """Make the table and write it; returns its number of rows.

        CSV: UTF-8, floats in the shortest form that reads back the same, NaN empty. A text that a spreadsheet would
        compute has a ' before it, which `read` takes off. Raises BiasgridError for an input that is missing, damaged
        or of something else.
        """
        table = _in_texts(self._make_with_ends(inputs, spec), "=+-@\t\r'", _as_text)
        write_text(output, table.to_csv(index=False, lineterminator="\n"))
        return len(table)

    def frame(self, inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
        """The table as `read` gives it from the file that `write` writes of the same inputs, without the file."""
        table = self._make_with_ends(inputs, spec)
        for column in (*self.columns, *self.ends):
            values = table[column.name]
            if column.dtype == "text":
                table[column.name] = values.astype(object).where(values.notna(), "").astype("str")
            else:
                table[column.name] = values.astype("int64" if column.dtype == "count" else "float64")
        return table

    def _make_with_ends(self, inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
        if not inputs and STATUS in spec:  # all that it would be of could not be downloaded
            return self._absent_rows(spec[STATUS])
        with without_collection():
            table = self.make(inputs, spec)
        if list(table.columns) != self.names:
            raise TypeError(f"table {self.name}: made {list(table.columns)}, declared are {self.names}")
        table = ends.with_ends(table, self.ends, spec)
        if not (rows := spec.get(STATUS)):
            return table
        import pandas as pd

        return pd.concat([table, self._absent_rows(rows)]).sort_values(
            [name for name in self.names if name in rows[0]], ignore_index=True
        )

    def _absent_rows(self, rows: list[dict[str, str]]) -> pd.DataFrame:
        import pandas as pd

        empty = {"text": ("", "object"), "count": (0, "int64")}
        columns = {}
        for column in (*self.columns, *self.ends):
            value, dtype = empty.get(column.dtype, (math.nan, "float64"))
            value = STATUS if column.name == "status" else value
            columns[column.name] = pd.Series([row.get(column.name, value) for row in rows], dtype=dtype)
        return pd.DataFrame(columns)

    def is_whole(self, path: File) -> bool:
        """Whether a file has all columns that `make` makes, which one of older code may lack; any other error is
        reported when it is read."""
        return isinstance(path, InMemory) or set(self.names) <= _header(path)

    def has_ends(self, path: File) -> bool:
        """Whether a file has the columns that follow those."""
        return isinstance(path, InMemory) or {end.name for end in self.ends} <= _header(path)

    def read(self, path: File, absent: bool = False) -> pd.DataFrame:
        """The table from its file: text stays text, an empty number is NaN; columns of later versions stay text.

        Rows of what could not be downloaded are left out, unless `absent` asks for them. Raises BiasgridError, naming
        column and line, for a file that is no such table.
        """
        if isinstance(path, InMemory):
            return path.content.copy() if absent else _present(path.content.copy())
        # imported late: a plan reads no table
        import pandas as pd

        remedy = self.remedy or f'make it again: biasgrid step "table {self.name}" --study CONFIG'
        try:
            table = pd.read_csv(path, keep_default_na=False, dtype="str", encoding="utf-8")
        except OSError as error:
            raise BiasgridError(f"{path}: cannot read it: {error.strerror or error}; {remedy}") from None
        except ValueError as error:  # pandas' own errors, and bytes that are no UTF-8
            raise BiasgridError(
                f"{path}: not a table ({' '.join(str(error).split())[:100]}); {remedy}"
            ) from None
        missing = [name for name in self.names if name not in table.columns]
        if missing:
            former = "".join(f" ({self.gone[name]})" for name in self.gone if name in table.columns)
            raise BiasgridError(f"{path}: has no column {join_names(missing)}{former}; {remedy}")
        # pandas takes what stands before the first column for an index
        if not isinstance(table.index, pd.RangeIndex):
            raise BiasgridError(f"{path}: line 2: more fields than columns; {remedy}")
        with open(path, "rb") as file:
            file.seek(-1, os.SEEK_END)
            if file.read() not in (b"\n", b"\r"):  # pandas takes what is missing for empty
                raise BiasgridError(f"{path}: line {len(table) + 1}: the file is cut off in it; {remedy}")
        table = _in_texts(table, "'", _as_was)
        # nothing but its place is known of a row that could not be downloaded
        is_present = ~_is_absent(table)
        for column in self.columns:
            texts = table[column.name]
            if column.dtype == "text":
                place = _first_unknown(texts, column, is_present)
            else:
                table[column.name] = _numbers(texts, column, path, remedy)
                place = _first_outside(table[column.name], column)
            if place is not None:
                raise BiasgridError(
                    f"{path}: line {place + 2}: {column.name}: {quote(texts.iloc[place])} is not allowed; allowed: "
                    f"{column.allowed}; {remedy}"
                )
        if self.key and (duplicates := table.duplicated(list(self.key))).any():
            row = table.index[duplicates][0]
            key = ", ".join(map(str, table.loc[row, list(self.key)]))
            raise BiasgridError(f"{path}: line {row + 2}: duplicate key ({key:.100}); {remedy}")
        return table if absent else _present(table)


def _in_texts(table: pd.DataFrame, first: str, change: Callable[[Any], Any]) -> pd.DataFrame:
    """The table with its texts changed, in columns that have one with such a first character."""
    import pandas as pd

    for name, values in table.items():
        if not pd.api.types.is_numeric_dtype(values):
            distinct = pd.unique(values)
            if any(isinstance(text, str) and text[:1] and text[0] in first for text in distinct):
                changed = values.map({text: change(text) for text in distinct})
                table = table.assign(**{str(name): changed.astype(values.dtype)})
    return table


def _as_text(value: Any) -> Any:
    """A text with a ' before it where a spreadsheet would compute it, or where `_as_was` would take one off."""
    if not isinstance(value, str) or not FORMULA.match(value) or NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def _as_was(text: str) -> str:
    """What `_as_text` made a text of."""
    return text[1:] if text[:1] == "'" and FORMULA.match(text) else text


def _present(table: pd.DataFrame) -> pd.DataFrame:
    """The table without the rows of what could not be downloaded."""
    is_absent = _is_absent(table)
    return table[~is_absent].reset_index(drop=True) if is_absent.any() else table


def _is_absent(table: pd.DataFrame) -> np.ndarray:
    """Return which rows are of what could not be downloaded."""
    import numpy as np

    if "status" not in table:
        return np.zeros(len(table), dtype=bool)
    return (table["status"] == STATUS).to_numpy(dtype=bool)


def _first_unknown(texts: pd.Series, column: Column, is_present: np.ndarray) -> int | None:
    """Return the first row with a text that the column does not declare; None if there is none.

    A column that is empty in all rows is read, too: the data of a picture have only what it shows.
    """
    there = {*texts.unique()}
    if not column.values or there <= {*column.values} or there == {""}:
        return None
    is_unknown = ~texts.isin(column.values).to_numpy() & is_present
    return int(is_unknown.argmax()) if is_unknown.any() else None


def _first_outside(numbers: pd.Series, column: Column) -> int | None:
    """Return the first row with a number that is not finite, or out of the column's range; None if there is none."""
    import numpy as np

    values = numbers.to_numpy()
    low, high = column.range or ANY
    with np.errstate(invalid="ignore"):
        is_outside = (values < low - ROUNDING) | (values > high + ROUNDING)
    if column.dtype == "number":  # a count may be larger than a float can tell
        is_outside |= np.isinf(values)
    return int(is_outside.argmax()) if is_outside.any() else None


def _header(path: Path | str) -> set[str]:
    """The columns of a file; none where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as lines:
            return set(next(csv.reader(lines), []))
    except (OSError, csv.Error):
        return set()


def _numbers(values: pd.Series, column: Column, path: Path | str, remedy: str) -> np.ndarray:
    import numpy as np
    import pandas as pd

    # a tenth of the time that pandas takes for a column of strings
    texts = values.to_numpy(object)
    empty = texts == ""
    numbers = pd.to_numeric(np.where(empty, None, texts), errors="coerce")
    wrong = np.isnan(numbers) & ~(empty & (column.dtype != "count"))
    if "count" in column.dtype:
        wrong |= numbers > np.floor(numbers)
    if column.dtype == "count":  # an optional one that is more than a float can tell is infinite
        wrong |= ~(np.abs(numbers) < 2**63)
    if wrong.any():
        line = int(wrong.argmax())
        expected = "a whole number" if "count" in column.dtype else "a number"
        raise BiasgridError(
            f"{path}: line {line + 2}: {column.name}: {str(texts[line])[:80]!r} is not {expected}; {remedy}"
        )
    if column.dtype == "count":
        return numbers.astype("int64")
    # to_numeric of pandas 2 misses the last bit of some
    return np.where(np.isnan(numbers), "nan", texts).astype("float64")

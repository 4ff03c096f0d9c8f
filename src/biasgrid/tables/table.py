"""Table of a study: its columns, its inputs, and how it is computed."""

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

from ..core.errors import BiasgridError, join_names, quote
from ..core.files import write_text
from ..core.in_memory import File, InMemory
from ..measure.results import without_collection
from ..models.not_downloaded import STATUS
from . import derived_columns
from .column import ANY, Column
from .inputs import When, cell_files, facts_of, files_of, holds

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from .planned import Cell, Planned

# Tolerance for numbers outside of their range.
ROUNDING = 1e-9
# A text that a spreadsheet would compute, also after apostrophes.
FORMULA = re.compile(r"'*[=+@\t\r-]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

__all__ = ["ANY", "Column", "Files", "Table"]

# Map a role to a file (`core.in_memory.File`), or to a list of files.
Files = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """Table of a study: one file of this package, or of a plugin.

    Attributes
    ----------
    name
        The table's name; its file is results/<study>/<name>.csv.
    meaning
        Description of the table.
    columns
        The columns that `make` computes, in their order; `ends` are added automatically.
    make
        (inputs, spec) -> the table, with its columns, sorted.
    reads
        Inputs: names of tables, and of `inputs.SOURCES`. `make` gets the files by name.
    when
        Condition on the study: names of `inputs.WHEN`, joined by " and ", or study -> whether the condition holds.
    inputs
        study -> files that only this table reads, by role: a path, or a list of paths. If empty, the study does not
        have the table.
    facts
        Names of `inputs.FACTS` on which the table depends.
    spec
        study -> all other values on which the table depends, JSON-compatible.
    key
        The columns that identify a row.
    cells
        study -> the cells of the table, if not all: the cells that are read, and whose queries the rows have. If
        empty, the study does not have the table.
    absent
        study -> the rows of models or data that could not be downloaded, by column, with the last columns. Their
        numbers are empty, and their `status` gives the reason.
    remedy
        Advice in the message about a file that is not such a table; by default, the biasgrid command that makes it.
    gone
        Column of tables of former versions -> its replacement.
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
        """Return the names of the columns that `make` computes."""
        return [column.name for column in self.columns]

    @property
    def ends(self) -> tuple[Column, ...]:
        """Return the last columns, after the columns that `make` computes: see `tables.derived_columns`."""
        return derived_columns.ends_of(self.columns)

    @property
    def lead(self) -> list[str]:
        """Return the names of the leading columns of text, which identify a row."""
        return [column.name for column in takewhile(lambda column: column.dtype == "text", self.columns)]

    def finish(self, rows: Iterable[Any], first: bool = False) -> pd.DataFrame:
        """Build the table from its rows, each a sequence or a mapping.

        The table is sorted by its leading columns of text, and has the types that its columns declare. With `first`,
        only the first of rows with equal leading columns counts.
        """
        # Import late: a plan does not compute tables.
        import pandas as pd

        table = pd.DataFrame(rows, columns=self.names)
        if first:
            table = table.drop_duplicates(self.lead)
        return self.typed(table.sort_values(self.lead, ignore_index=True))

    def typed(self, table: pd.DataFrame) -> pd.DataFrame:
        """Convert the columns to the types that they declare."""
        types = {"number": "float64", "count": "int64"}
        return table.astype({c.name: types[c.dtype] for c in self.columns if c.dtype in types})

    def inputs_of(self, study: Planned) -> dict[str, Any]:
        """Return the files from which the table is computed, by role; empty if the study does not have the table."""
        if not holds(study, self.when):
            return {}
        cells = list(self.cells(study)) if self.cells else None
        own = self.inputs(study) if self.inputs else {}
        if cells == [] or (self.inputs and not any(own.values())):
            return {}
        files = files_of(study, self.reads) | {**own}
        return files | {"cells": cell_files(study, cells)} if "cells" in self.reads else files

    def spec_of(self, study: Planned) -> dict[str, Any]:
        """Return all values on which the table depends apart from its files: the argument of `write` and `frame`."""
        cells = self.cells(study) if self.cells else study.grid.cells.values()
        spec = (
            facts_of(study, self.facts) | self.spec(study) | derived_columns.spec_of(self.ends, study, cells)
        )
        return spec | self.absent_spec(study)

    def absent_spec(self, study: Planned) -> dict[str, Any]:
        """Return the part of the spec that lists the rows that could not be downloaded."""
        rows = self.absent(study) if study.absent else []
        return {STATUS: rows} if rows else {}

    def write(self, inputs: Files, spec: Mapping[str, Any], output: Path | str) -> int:
        """Compute the table, write it, and return its number of rows.

        CSV: UTF-8, floats in the shortest form that reads back the same, NaN empty. A text that a spreadsheet would
        compute gets a leading ', which `read` removes. Raises BiasgridError for an input that is missing, damaged or
        of the wrong kind.
        """
        table = _in_texts(self._make_with_ends(inputs, spec), "=+-@\t\r'", _as_text)
        write_text(output, table.to_csv(index=False, lineterminator="\n"))
        return len(table)

    def frame(self, inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
        """Compute the table without a file, equal to the table that `read` reads from the file of `write`."""
        table = self._make_with_ends(inputs, spec)
        for column in (*self.columns, *self.ends):
            values = table[column.name]
            if column.dtype == "text":
                table[column.name] = values.astype(object).where(values.notna(), "").astype("str")
            else:
                table[column.name] = values.astype("int64" if column.dtype == "count" else "float64")
        return table

    def _make_with_ends(self, inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
        # If nothing could be downloaded, the table has only absent rows.
        if not inputs and STATUS in spec:
            return self._absent_rows(spec[STATUS])
        with without_collection():
            table = self.make(inputs, spec)
        if list(table.columns) != self.names:
            raise TypeError(f"table {self.name}: made {list(table.columns)}, declared are {self.names}")
        table = derived_columns.with_ends(table, self.ends, spec)
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
        """Return whether a file has all columns that `make` computes; files of older code may lack some.

        Any other error is reported when the file is read.
        """
        return isinstance(path, InMemory) or set(self.names) <= _header(path)

    def has_ends(self, path: File) -> bool:
        """Return whether a file has the last columns, `ends`."""
        return isinstance(path, InMemory) or {end.name for end in self.ends} <= _header(path)

    def read(self, path: File, absent: bool = False) -> pd.DataFrame:
        """Read the table from its file: text stays text, an empty number is NaN; columns of later versions stay text.

        Rows that could not be downloaded are left out, unless `absent` is true. Raises BiasgridError with column and
        line for a file that is not such a table.
        """
        if isinstance(path, InMemory):
            return path.content.copy() if absent else _present(path.content.copy())
        # Import late: a plan does not read tables.
        import pandas as pd

        remedy = self.remedy or f'make it again: biasgrid step "table {self.name}" --study CONFIG'
        try:
            table = pd.read_csv(path, keep_default_na=False, dtype="str", encoding="utf-8")
        except OSError as error:
            raise BiasgridError(f"{path}: cannot read it: {error.strerror or error}; {remedy}") from None
        # Catch pandas' own errors, and bytes that are not UTF-8.
        except ValueError as error:
            raise BiasgridError(
                f"{path}: not a table ({' '.join(str(error).split())[:100]}); {remedy}"
            ) from None
        missing = [name for name in self.names if name not in table.columns]
        if missing:
            former = "".join(f" ({self.gone[name]})" for name in self.gone if name in table.columns)
            raise BiasgridError(f"{path}: has no column {join_names(missing)}{former}; {remedy}")
        # If lines have more fields than columns, pandas uses the first fields as an index.
        if not isinstance(table.index, pd.RangeIndex):
            raise BiasgridError(f"{path}: line 2: more fields than columns; {remedy}")
        with open(path, "rb") as file:
            file.seek(-1, os.SEEK_END)
            # Check for a cut-off last line: pandas reads its missing fields as empty.
            if file.read() not in (b"\n", b"\r"):
                raise BiasgridError(f"{path}: line {len(table) + 1}: the file is cut off in it; {remedy}")
        table = _in_texts(table, "'", _as_was)
        # Rows that could not be downloaded have only their keys.
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
    """Change the texts of the columns in which one text starts with such a character."""
    import pandas as pd

    for name, values in table.items():
        if not pd.api.types.is_numeric_dtype(values):
            distinct = pd.unique(values)
            if any(isinstance(text, str) and text[:1] and text[0] in first for text in distinct):
                changed = values.map({text: change(text) for text in distinct})
                table = table.assign(**{str(name): changed.astype(values.dtype)})
    return table


def _as_text(value: Any) -> Any:
    """Put a ' before a text that a spreadsheet would compute, or from which `_as_was` would remove one."""
    if not isinstance(value, str) or not FORMULA.match(value) or NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def _as_was(text: str) -> str:
    """Undo `_as_text`."""
    return text[1:] if text[:1] == "'" and FORMULA.match(text) else text


def _present(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table without the rows that could not be downloaded."""
    is_absent = _is_absent(table)
    return table[~is_absent].reset_index(drop=True) if is_absent.any() else table


def _is_absent(table: pd.DataFrame) -> np.ndarray:
    """Return the mask of the rows that could not be downloaded."""
    import numpy as np

    if "status" not in table:
        return np.zeros(len(table), dtype=bool)
    return (table["status"] == STATUS).to_numpy(dtype=bool)


def _first_unknown(texts: pd.Series, column: Column, is_present: np.ndarray) -> int | None:
    """Return the first row with a text that the column does not declare; None if there is none.

    A column that is empty in all rows is allowed: the data of a picture have only the columns that it shows.
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
    # Skip counts: they may be too large for a float.
    if column.dtype == "number":
        is_outside |= np.isinf(values)
    return int(is_outside.argmax()) if is_outside.any() else None


def _header(path: Path | str) -> set[str]:
    """Return the columns of a file; empty if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as lines:
            return set(next(csv.reader(lines), []))
    except (OSError, csv.Error):
        return set()


def _numbers(values: pd.Series, column: Column, path: Path | str, remedy: str) -> np.ndarray:
    import numpy as np
    import pandas as pd

    # Convert from objects: this takes a tenth of the time that pandas takes for a column of strings.
    texts = values.to_numpy(object)
    empty = texts == ""
    numbers = pd.to_numeric(np.where(empty, None, texts), errors="coerce")
    wrong = np.isnan(numbers) & ~(empty & (column.dtype != "count"))
    if "count" in column.dtype:
        wrong |= numbers > np.floor(numbers)
    # Optional counts may be infinite, if they are too large for a float.
    if column.dtype == "count":
        wrong |= ~(np.abs(numbers) < 2**63)
    if wrong.any():
        line = int(wrong.argmax())
        expected = "a whole number" if "count" in column.dtype else "a number"
        raise BiasgridError(
            f"{path}: line {line + 2}: {column.name}: {str(texts[line])[:80]!r} is not {expected}; {remedy}"
        )
    if column.dtype == "count":
        return numbers.astype("int64")
    # Let numpy convert the texts: to_numeric of pandas 2 loses the last bit of some numbers.
    return np.where(np.isnan(numbers), "nan", texts).astype("float64")

"""Results in files of cells and of their inference."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..core.errors import BiasgridError, quote
from ..core.in_memory import File, InMemory
from ..core.schema import not_whole, read
from .records import check_cell

if TYPE_CHECKING:
    import pandas as pd

    from ..queries.query import Query

KEYS = ["criterion", "query", "metric", "model", "debias"]  # keys of a cell
ASKED = ["function", "params", "words"]  # further settings of the measurement in a cell's file
ACROSS_MODELS = [key for key in KEYS if key != "model"]  # keys of a group of cells with different models
ACROSS_QUERIES = [key for key in KEYS if key != "query"]
A_CELL = "a cell file"
PLACE = ("model", "debias", "metric", "query")  # the keys that end the path of a cell's file


@contextmanager
def without_collection() -> Iterator[None]:
    """Turn off garbage collection, which takes longer than everything else while thousands of files are decoded."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def results(files: Iterable[File]) -> Iterable[tuple[tuple, str, dict]]:
    """Yield the results in files of a cell, or of the inference of several.

    Yields
    ------
    tuple
        (criterion, (sub-)query, metric, model, debias), the id of the cell's query, and the result.

    Raises
    ------
    BiasgridError
        A file is missing or has another form.
    """
    yield from results_of(cells(files))


def results_of(read_cells: Iterable[tuple[dict, list[dict]]]) -> Iterable[tuple[tuple, str, dict]]:
    """Yield the results of cells that `cells` has read, in the form of `results`."""
    for cell, part in read_cells:
        for result in part:
            yield key_of(cell, result), cell["query"], result


def cells(files: Iterable[File]) -> Iterable[tuple[dict, list[dict]]]:
    """Yield the cells in files of a cell, or of the inference of several, each with its results."""
    for path in files:
        yield from ((cell, cell["results"]) for cell in cells_in(path))


def cells_in(path: File) -> list[dict]:
    """Return the cells in a file of a cell, or of the inference of several."""
    record = read(path, A_CELL)
    cells = record.get("cells", [record])
    if isinstance(path, InMemory):
        return cells
    try:
        if not isinstance(cells, list) or not cells:
            raise ValueError("it has no cells")
        for cell in cells:
            check_cell(cell)
            _check_place(cell, str(path))
    except (ValueError, RecursionError) as error:
        raise not_whole(path, A_CELL, error) from None
    return cells


def _check_place(cell: Mapping[str, Any], path: str) -> None:
    """Raise ValueError if a file contains another cell, or the inference of another one, than its path names."""
    parts = path.removesuffix(".json").replace(os.sep, "/").split("/")
    for folder, keys in (("cells", PLACE), ("inference", PLACE[:-1])):
        names = parts[-len(keys) :]
        if folder in parts[-len(keys) - 1 : -len(keys)] and names != (theirs := [cell[key] for key in keys]):
            raise ValueError(f"it is of {'/'.join(theirs)}")


def part_of(
    query: Query, template: tuple[Any, Any], cell: Mapping[str, Any], result: Mapping[str, Any]
) -> Query:
    """Return the sub-query, or the query, that a cell's result belongs to.

    Raises
    ------
    BiasgridError
        The result belongs to another query, or its words belong to other sets.
    """
    for part in query.subqueries(template):
        if part.name == result["query"]:
            sets = {s.name for s in (*part.target_sets, *part.attribute_sets)}
            if all(sets <= {*result.get(key, sets)} for key in ("found", "lost")):
                return part
    where = "/".join(cell[key] for key in PLACE)
    raise BiasgridError(
        f"cells/{where}.json: {quote(result['query'])} is not what queries/{cell['query']}.json "
        "asks; run the study again"
    )


def key_of(cell: Mapping, result: Mapping) -> tuple:
    """Return the values of `KEYS` for a result of a cell."""
    return cell["criterion"], result["query"], cell["metric"], cell["model"], cell["debias"]


def scalars(files: Iterable[File]) -> pd.DataFrame:
    """Return the auxiliary statistics of cells: one row per number, with `KEYS`, quantity and value, sorted."""
    import pandas as pd  # not needed by plans, which import this module through figures

    rows = [
        (*key, quantity, value)
        for key, _, result in results(files)
        for quantity, value in result["scalars"].items()
    ]
    keys = [*KEYS, "quantity"]
    table = pd.DataFrame(rows, columns=[*keys, "value"]).drop_duplicates(keys)
    return table.sort_values(keys, ignore_index=True).astype({"value": "float64"})

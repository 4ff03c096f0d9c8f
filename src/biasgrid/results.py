"""The results in files of cells and of their inference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .errors import BiasgridError
from .in_memory import File
from .schema import read

if TYPE_CHECKING:
    import pandas as pd

KEYS = ["criterion", "query", "metric", "model", "debias"]


def results(files: Iterable[File]) -> Iterable[tuple[tuple, str, dict]]:
    """The results in files of a cell, or of the inference of several.

    Yields
    ------
    tuple
        (criterion, (sub-)query, metric, model, debias), the id of the cell's query, and the result.

    Raises
    ------
    BiasgridError
        For a file that is missing or no such file.
    """
    yield from results_of(cells(files))


def results_of(read_cells: Iterable[tuple[dict, list[dict]]]) -> Iterable[tuple[tuple, str, dict]]:
    """The results of cells that `cells` has read, as `results` yields them."""
    for cell, part in read_cells:
        for result in part:
            yield _place(cell, result), cell["query"], result


def cells(files: Iterable[File]) -> Iterable[tuple[dict, list[dict]]]:
    """The cells in files of a cell, or of the inference of several: what each is of, and its results."""
    for path in files:
        record = read(path, "a cell file")
        try:
            cell_results = [(cell, cell["results"]) for cell in record.get("cells", [record])]
            for cell, part in cell_results:
                for result in part:
                    _place(cell, result)
        except (KeyError, TypeError, AttributeError) as error:
            raise BiasgridError(f"{path}: not a cell file: {error!r}") from None
        yield from cell_results


def _place(cell: Mapping, result: Mapping) -> tuple:
    return cell["criterion"], result["query"], cell["metric"], cell["model"], cell["debias"]


def scalars(files: Iterable[File]) -> pd.DataFrame:
    """The auxiliary statistics in files of cells: one row per number, with `KEYS`, quantity and value, sorted."""
    import pandas as pd  # a plan, which imports figures, needs none

    rows = [
        (*key, quantity, value)
        for key, _, result in results(files)
        for quantity, value in result["scalars"].items()
    ]
    keys = [*KEYS, "quantity"]
    table = pd.DataFrame(rows, columns=[*keys, "value"]).drop_duplicates(keys)
    return table.sort_values(keys, ignore_index=True).astype({"value": "float64"})

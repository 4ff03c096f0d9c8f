"""The results in files of cells and of their inference, and the columns that lead the tables made of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..errors import BiasgridError
from .table import Column

CRITERION = Column("criterion", "the criterion's name in the config")
QUERY = Column("query", "the (sub-)query's name")
METRIC = Column("metric", "the metric's key in the config")
MODEL = Column("model", "the model's key in the config")
DEBIAS = Column("debias", 'the debias method\'s key in the config; "none" is the model as it is')
CELL = (CRITERION, QUERY, METRIC, MODEL, DEBIAS)
KEYS = [column.name for column in CELL]


def results(files: Iterable[Path | str]) -> Iterable[tuple[tuple, str, dict]]:
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
    for cell, part in cells(files):
        for result in part:
            yield _place(cell, result), cell["query"], result


def cells(files: Iterable[Path | str]) -> Iterable[tuple[dict, list[dict]]]:
    """The cells in files of a cell, or of the inference of several: what each is of, and its results."""
    for path in files:
        try:
            record = json.loads(Path(path).read_text(encoding="utf-8"))
            whole = [(cell, cell["results"]) for cell in record.get("cells", [record])]
            for cell, part in whole:
                for result in part:
                    _place(cell, result)
        except (OSError, ValueError) as error:
            raise BiasgridError(f"{path}: not a cell file: {error}") from None
        except (KeyError, TypeError, AttributeError) as error:
            raise BiasgridError(f"{path}: not a cell file: {error!r}") from None
        yield from whole


def _place(cell: Mapping, result: Mapping) -> tuple:
    return cell["criterion"], result["query"], cell["metric"], cell["model"], cell["debias"]

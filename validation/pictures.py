"""Pictures of the docs that show an experiment: each experiment declares its own (`PICTURES` of its pictures.py)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Picture:
    """A picture of an experiment, which is drawn from one table in the same folder.

    Parameters
    ----------
    command
        The command that makes the results from which the table is taken.
    table
        The name of the table.
    take
        Function that returns the table from the folder of all results.
    draw
        Function that draws the figure from the table.
    """

    command: str
    table: str
    take: Callable[[Path], pd.DataFrame]
    draw: Callable[[pd.DataFrame], Figure]


def read(file: Path) -> pd.DataFrame:
    """Read a table, with empty texts instead of missing ones."""
    table = pd.read_csv(file, keep_default_na=False, na_values=[""])
    texts: list[Any] = [column for column in table if not pd.api.types.is_numeric_dtype(table[column])]
    return table.fillna(dict.fromkeys(texts, ""))


def table_of(path: str) -> Callable[[Path], pd.DataFrame]:
    """Return a `Picture.take` that reads a whole table at a path inside the folder of all results."""
    return lambda results: read(results / path)

"""Table of auxiliary statistics: numbers that metrics compute in addition to their value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..measure.results import scalars
from .keys import CELL
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    return scalars(inputs["cells"])


SCALARS = Table(
    "scalars",
    "Auxiliary statistics of scores. One row per score and statistic, such as what random directions give under "
    "Direct Bias.",
    (
        *CELL,
        Column("quantity", "name of the statistic"),
        Column.value("value", "value of the statistic", "the statistic's"),
    ),
    reads=("cells",),
    make=make,
)
TABLES = (SCALARS,)

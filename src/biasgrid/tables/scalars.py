"""The table of auxiliary statistics: what metrics give besides their value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..results import scalars
from .inputs import cell_files
from .keys import CELL
from .table import ANY, Column, Files, Table


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    return scalars(inputs["cells"])


SCALARS = Table(
    "scalars",
    "One row per score and auxiliary statistic, such as what random directions give under Direct Bias.",
    (
        *CELL,
        Column("quantity", "the statistic's name"),
        Column("value", "its value", "number", "the statistic's", ANY),
    ),
    inputs=lambda study: {"cells": cell_files(study)},
    make=make,
)
TABLES = (SCALARS,)

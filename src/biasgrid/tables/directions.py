"""Table of directions: angles between the bias directions of two groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..measure.results import results
from ..models.directions import COMPARED as KINDS
from .cells import direction_cells
from .keys import CRITERION, DEBIAS, MODEL, QUERY
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

# Prefix of the auxiliary statistics of cells that are angles between two directions.
ANGLE = "angle_"


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return the angles from cells of Direct Bias; they are the same for each direction of the cell."""
    rows = [
        (criterion, query, model, debias, *name.removeprefix(ANGLE).split("_"), angle)
        for (criterion, query, _, model, debias), _, result in results(inputs["cells"])
        for name, angle in result["scalars"].items()
        if name.startswith(ANGLE)
    ]
    return DIRECTIONS.finish(rows, first=True)


DIRECTIONS = Table(
    "directions",
    "How similar two bias directions of a query are. One row per query, model, debias method and two "
    "directions, in studies with Direct Bias of pairs.",
    (
        CRITERION,
        QUERY,
        MODEL,
        DEBIAS,
        Column("direction_a", "how the first direction is computed", values=KINDS),
        Column("direction_b", "how the second direction is computed", values=KINDS),
        Column("angle", "angle between the two directions", "number", "degrees", (0, 180)),
    ),
    reads=("cells",),
    make=make,
    cells=direction_cells,
)
TABLES = (DIRECTIONS,)

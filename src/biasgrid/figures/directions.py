"""Figure of the angles between bias directions of two groups of words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import BiasgridError, unknown_name
from ..core.numbers import decimal
from ..tables.cells import direction_cells
from .figure import Drawing, Example, Figure, of_criteria
from .frame import Frame, empty_page, styled
from .palette import AMOUNT, in_order
from .questions import WORDS
from .rows import from_tables, rows_where
from .text import topic, unit_label
from .types.heat import heat

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

HEADING = "Angles between definitions of the bias direction"
# Name in Direct Bias -> label of its row, and text in the note.
DIRECTIONS = {
    "pca": ("PCA", "first principal component of the pairs"),
    "pair": ("one pair", "difference of the first pair"),
    "mean": ("means", "difference of the groups' means"),
    "sum": ("sums", "difference of the groups' sums, each at unit length"),
}
# Inches of a cell, and of the names of rows.
CELL, LABELS = (0.5, 0.3), 0.55


@styled
def directions(table: pd.DataFrame, labels: Mapping[str, str], criterion: str) -> figure.Figure:
    """Draw angles in degrees: one triangle per query and model, from white (0°) to dark (90°).

    `table` has the columns criterion, query, model, debias, direction_a, direction_b and angle. A NaN angle, for
    which a direction is missing, is a hatched cell. Without rows of the criterion, because no model has its words,
    the figure has a sentence instead. Raises BiasgridError for an unknown direction.
    """
    rows = rows_where(table, criterion=criterion)
    if rows.empty:
        return empty_page(HEADING, "no model has the groups' words.")
    for direction in sorted({*rows["direction_a"], *rows["direction_b"]} - DIRECTIONS.keys()):
        raise BiasgridError(f"directions: {unknown_name('direction', direction, DIRECTIONS)}")
    made = "; ".join(f"{name}: {how}" for name, how in DIRECTIONS.values())
    largest = rows.loc[rows["direction_a"] != rows["direction_b"], "angle"].max()
    page = Frame(
        HEADING
        if np.isnan(largest)
        else f"Definitions of the bias direction differ by up to {decimal(largest, 0)}°",
        f"{topic(criterion)}: angles between the directions in which two groups of words differ",
        [
            "0° is the same direction, 90° has nothing in common with it; a hatched cell has no value.",
            f"{made[0].upper()}{made[1:]}.",
            "Each is one direction of one model: there is no interval.",
        ],
    )
    of_units = dict(list(rows.groupby(["model", "debias"])))
    parts = {
        (unit, query): part for unit in in_order(of_units) for query, part in of_units[unit].groupby("query")
    }
    heads = {(unit, query): f"{unit_label(unit, labels)}: {query}" for unit, query in parts}
    names, last = [name for name, _ in DIRECTIONS.values()], len(DIRECTIONS) - 1
    panels = page.panels(heads, last * CELL[1], labels=LABELS, least=last * CELL[0] + LABELS)
    for key, axes in panels.items():
        matrix = parts[key].pivot(index="direction_a", columns="direction_b", values="angle")
        # Leave out the first row and the last column of a triangle, which are empty.
        angles = (
            matrix.combine_first(matrix.T).reindex(index=[*DIRECTIONS], columns=[*DIRECTIONS]).iloc[1:, :-1]
        )
        texts = angles.map(lambda angle: "no angle" if np.isnan(angle) else f"{decimal(angle, 1)}°")
        heat(
            axes,
            angles,
            texts,
            ends=(0, 90),
            shades=AMOUNT,
            names=(names[1:], names[:-1]),
            is_triangle=True,
        )
    return page.done()


def _drawings(study: Planned) -> Iterator[Drawing]:
    return of_criteria("directions", dict.fromkeys(cell.criterion for cell in direction_cells(study)))


FIGURES = (
    Figure(
        "directions",
        "Distances between different bias directions of two groups.",
        from_tables(directions),
        question=WORDS,
        heading=HEADING,
        asks="Does the definition of the bias direction matter?",
        learn="You learn how much Direct Bias depends on how the direction is defined.",
        drawings=_drawings,
        reads=("directions",),
        facts=("labels",),
        needs="a criterion with Direct Bias of pairs",
        reading="A cell is the angle in degrees: the darker, the less two definitions have in common. "
        "A hatched cell has no value.",
        example=Example("same", "directions-occupations"),
    ),
)

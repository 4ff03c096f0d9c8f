"""Figure of the angles between directions in which two groups of words can be said to differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import BiasgridError, unknown_name
from ..files import slug
from ..numbers import decimal
from ..tables.cells import direction_cells
from .figure import Drawing, Example, Figure, group_by_size, labels, pages
from .frame import MARGIN, PAGE, blank, empty_page, styled
from .layout import add_axes
from .questions import WORDS
from .rows import from_tables
from .text import BOLD, NORMAL, SMALL, fit_text, line_count, text_width, unit_label
from .visuals import heading

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

# what Direct Bias calls them -> above a column, and beside a row
DIRECTIONS = {
    "pca": ("PCA", "PCA: first principal component of the pairs"),
    "pair": ("one pair", "one pair: difference of the first pair"),
    "mean": ("means", "means: difference of the groups' means"),
    "sum": ("sums", "sums: difference of the groups' sums, each at unit length"),
}
NOTE = (
    "Angles between the directions in which two groups of words can be said to differ: 0° is the same direction, 90° "
    "has nothing in common with it."
)
CELL = (0.75, 0.34)  # inches


@styled
def directions(
    table: pd.DataFrame, labels: Mapping[str, str], criterion: str, units: Sequence[tuple[str, str]] = ()
) -> figure.Figure:
    """Angles in degrees: one heatmap per query and model, from white (0°) to orange (90°).

    `table` has the columns criterion, query, model, debias, direction_a, direction_b and angle. An angle that is
    NaN, as one of its directions is missing, is a grey cell. `units`: models and debias methods of this figure, where
    there are others.
    Without rows of the criterion, as of words that no model has, the figure says so. Raises BiasgridError for a
    direction that is not known.
    """
    import seaborn

    title = f"{criterion}: angles between directions"
    rows = table[table["criterion"] == criterion]
    if units:
        selection = set(map(tuple, units))
        rows = rows[[unit in selection for unit in zip(rows["model"], rows["debias"], strict=True)]]
    if rows.empty:
        return empty_page(title, "no model has the groups' words.")
    for direction in sorted({*rows["direction_a"], *rows["direction_b"]} - DIRECTIONS.keys()):
        raise BiasgridError(f"directions: {unknown_name('direction', direction, DIRECTIONS)}")
    panels = list(rows.groupby(["query", "model", "debias"], sort=True))
    names = [meaning for _, meaning in DIRECTIONS.values()]
    left = MARGIN + max(text_width(name, SMALL) for name in names) + 0.08
    width, height = (size * len(DIRECTIONS) for size in CELL)
    page_width = max(left + width + MARGIN, PAGE[0])
    note = fit_text(
        NOTE,
        page_width - 2 * MARGIN,
        SMALL,
    )
    heads = [
        fit_text(f"{unit_label(unit, labels)}: {query}", (page_width - 2 * MARGIN) / BOLD, NORMAL)
        for (query, *unit), _ in panels
    ]
    top = 0.3 + 0.125 * line_count(note) + 0.05
    block_heights = [0.15 + 0.14 * line_count(head) + 0.25 + height for head in heads]
    figure = blank(page_width, top + sum(block_heights) + MARGIN)
    inches = figure.get_figheight()
    figure.text(MARGIN / page_width, 1 - MARGIN / inches, title, **heading())
    figure.text(MARGIN / page_width, 1 - 0.3 / inches, note, va="top", size=SMALL, color="#333333")
    for (_, part), head, block_height in zip(panels, heads, block_heights, strict=True):
        figure.text(MARGIN / page_width, 1 - (top + 0.12) / inches, head, va="top", weight="bold")
        axes = add_axes(figure, left, top + block_height - height, width, height)
        matrix = part.pivot(index="direction_a", columns="direction_b", values="angle").reindex(
            index=DIRECTIONS, columns=DIRECTIONS
        )
        angles = matrix.combine_first(matrix.T).reindex(index=DIRECTIONS, columns=DIRECTIONS).to_numpy()
        cell_angles = np.where(np.eye(len(angles), dtype=bool), 0.0, angles)
        axes.set_facecolor("#DDDDDD")
        seaborn.heatmap(
            cell_angles,
            vmin=0,
            vmax=90,
            cmap="Oranges",
            cbar=False,
            linewidths=0.6,
            linecolor="#BBBBBB",
            ax=axes,
        )
        for (row, column), angle in np.ndenumerate(cell_angles):
            text = "" if row == column else "no angle" if np.isnan(angle) else f"{decimal(angle, 1)}°"
            axes.text(
                column + 0.5,
                row + 0.5,
                text,
                ha="center",
                va="center",
                size=SMALL,
                color="white" if angle > 60 else "black",
            )
        axes.set_xticks(np.arange(len(angles)) + 0.5, [label for label, _ in DIRECTIONS.values()], rotation=0)
        axes.set_yticks(np.arange(len(angles)) + 0.5, names, rotation=0)
        axes.tick_params(length=0, labeltop=True, labelbottom=False)
        top += block_height
    return figure


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in dict.fromkeys(cell.criterion for cell in direction_cells(study)):
        cells = [cell for cell in direction_cells(study) if cell.criterion == criterion]
        queries: dict[tuple[str, str], set[str]] = {}
        for cell in cells:
            queries.setdefault((cell.model, cell.debias), set()).add(cell.query)
        spec = {"labels": labels(study, cells), "criterion": criterion}
        name = f"directions-{slug(criterion)}"
        heights = {unit: 2.2 * len(of_unit) for unit, of_unit in queries.items()}
        groups = group_by_size(sorted(queries), 8.8, heights.__getitem__)
        for drawing_name, (units,) in pages(name, groups, 1):
            part = {"units": [list(unit) for unit in units]} if len(groups) > 1 else {}
            yield Drawing(drawing_name, spec=spec | part)


FIGURES = (
    Figure(
        "directions",
        "How far apart the directions lie in which two groups of words can be said to differ.",
        from_tables(directions),
        question=WORDS,
        drawings=_drawings,
        reads=("directions",),
        needs="a criterion with Direct Bias of pairs",
        reading="A cell is the angle between two definitions of the direction in which the groups differ, in "
        "degrees: white is the same direction, full orange (90) has nothing in common with it. The "
        "larger the angle, the more a Direct Bias depends on which definition one takes. A grey cell "
        "has no value.",
        example=Example("same", "directions-occupations"),
    ),
)

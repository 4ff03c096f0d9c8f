"""Marks in two dimensions: the ranges of the values behind them, and names next to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..palette import GREY, Look
from ..text import BOLD, SMALL, line_count, text_width

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# Inches of a mark's radius, with room around it.
MARK = 0.05
# Extra distance in inches for which a text avoids a place nearer to another mark than to its own.
DETOUR = 0.15
# Inches from line to line of a text.
LINE = 0.136
REACH: Look = {"color": "#BBBBBB", "linewidth": 0.8, "zorder": 3}


def spans(axes: Axes, table: pd.DataFrame) -> None:
    """Draw lines through marks at x and y: from x_low to x_high, and from y_low to y_high."""
    axes.hlines(table["y"], table["x_low"], table["x_high"], **REACH)
    axes.vlines(table["x"], table["y_low"], table["y_high"], **REACH)


def label_marks(
    axes: Axes,
    points: Any,
    texts: Sequence[str],
    *,
    room: np.ndarray | None = None,
    reach: float = np.inf,
) -> None:
    """Write texts next to their marks, each joined to its own by a line; a text without room is left out.

    The arguments are as in `free_places`, for a panel that is laid out and has its limits. `points` are the marks'
    (x, y), marks with a text first. `room` is the part of the panel for texts, from its lower left corner on, in
    inches.
    """
    box = axes.get_window_extent()
    size = np.array([box.width, box.height]) / axes.figure.dpi
    marks = axes.transAxes.inverted().transform(axes.transData.transform(points)) * size
    boxed = {"boxstyle": "square,pad=0.05", "facecolor": "white", "linewidth": 0}
    look: Look = {"ha": "center", "va": "center", "size": SMALL, "zorder": 6, "bbox": boxed}
    places = free_places(marks, texts, size if room is None else room, reach)
    for text, mark, place in zip(texts, marks, places, strict=False):
        if place is None:
            continue
        line = np.stack([mark, place]) / size
        axes.plot(*line.T, color=GREY, linewidth=0.5, zorder=4, transform=axes.transAxes)
        axes.text(line[1, 0], line[1, 1], text, transform=axes.transAxes, **look)


def free_places(
    marks: np.ndarray, texts: Sequence[str], size: np.ndarray, reach: float | np.ndarray = np.inf
) -> list[np.ndarray | None]:
    """Find places for texts next to their marks in a panel.

    Texts with the largest reach and with the most crowded marks come first. Each goes to the nearest place that is
    free of texts and marks, and preferably nearer to its own mark than to another.

    Parameters
    ----------
    marks
        (marks, 2) inches; marks after the last text lack a text.
    texts
        Texts of the first marks.
    size
        (2,) inches of the panel.
    reach
        Largest distance of a text from its mark, in inches; one for all, or one per text.

    Returns
    -------
    list
        The texts' centres, in inches; None for a text without room.
    """
    distances = np.hypot(*(marks[:, None] - marks).transpose(2, 0, 1)) + 1e9 * np.eye(len(marks))
    boxes = [(*(mark - MARK), *(mark + MARK)) for mark in marks]
    places: list[np.ndarray | None] = [None] * len(texts)
    reach = np.broadcast_to(reach, len(texts))
    for i in np.lexsort((distances.min(axis=1)[: len(texts)], -reach)):
        lines = LINE * (line_count(texts[i]) - 1) + 0.12
        half = np.array([text_width(texts[i], SMALL) * BOLD + 0.02, lines]) / 2
        study = [np.arange(part + 0.02, end - part, 0.02) for part, end in zip(half, size, strict=True)]
        study = [
            x[np.abs(x - centre) < reach[i] + part]
            for x, centre, part in zip(study, marks[i], half, strict=True)
        ]
        centres = np.stack(np.meshgrid(*study), axis=-1).reshape(-1, 2)
        lengths = np.linalg.norm(centres - marks[i], axis=1)
        # Search the whole panel last: most texts have room nearby.
        for radius in (0.3, 0.6, 1.2, np.inf):
            near = lengths <= radius
            other_marks = np.delete(marks, i, axis=0)
            place, shortest = _nearest(centres[near], lengths[near], half, other_marks, np.array(boxes))
            if place is not None and (radius == np.inf or shortest <= radius - DETOUR):
                places[i] = place
                boxes.append((*(place - half), *(place + half)))
                break
    return places


def _nearest(
    centres: np.ndarray, lengths: np.ndarray, half: np.ndarray, other_marks: np.ndarray, all_boxes: np.ndarray
) -> tuple[np.ndarray | None, float]:
    """Return the best free place for a text, or None, and the smallest distance of a free place to its mark."""
    if not len(centres):
        return None, np.inf
    low, high = centres.min(axis=0) - half, centres.max(axis=0) + half
    boxes = all_boxes[((all_boxes[:, :2] < high) & (all_boxes[:, 2:] > low)).all(axis=1)]
    overlaps = (centres[:, None] + half > boxes[:, :2]) & (centres[:, None] - half < boxes[:, 2:])
    free = ~overlaps.all(axis=2).any(axis=1)
    if not free.any():
        return None, np.inf
    centres, lengths = centres[free], lengths[free]
    # Places further away are worse than the nearest one, for any other marks.
    close = lengths <= lengths.min() + DETOUR
    centres, lengths = centres[close], lengths[close]
    other_distances = np.linalg.norm(centres[:, None] - other_marks, axis=2).min(axis=1, initial=np.inf)
    return centres[np.argmin(lengths + DETOUR * (other_distances < lengths + 0.02))], lengths.min()

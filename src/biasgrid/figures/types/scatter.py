"""Marks in two dimensions: how far what they are a mean of reaches, and their names beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..palette import GREY, Look
from ..text import BOLD, SMALL, line_count, text_width

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MARK = 0.05  # inches of a mark's radius, with room around it
DETOUR = 0.15  # inches that a text goes further, rather than to be nearer to another mark than to its own
LINE = 0.136  # inches from line to line of a text
REACH: Look = {"color": "#BBBBBB", "linewidth": 0.8, "zorder": 3}


def spans(axes: Axes, table: pd.DataFrame) -> None:
    """Lines through marks at x and y: from x_low to x_high, and from y_low to y_high."""
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
    """Write texts beside their marks, each joined to its own by a line; a text without room is left out.

    As `free_places`, in a panel that is laid out and has its limits: `points` are the marks' (x, y), those that have
    a text first, and `room` is the part of the panel that may have texts, from its lower left corner on, in inches.
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
    """Where texts have room beside their marks in a panel.

    One after the other, those that reach furthest first, and of the most crowded marks first, they go to the nearest
    place that is free of texts and marks, and preferably nearer to their own mark than to another.

    Parameters
    ----------
    marks
        (marks, 2) inches; marks beyond the texts have none.
    texts
        Of the first marks.
    size
        (2,) inches of the panel.
    reach
        How far from its mark a text may be, in inches; one for all, or one per text.

    Returns
    -------
    list
        The texts' centres, in inches; None where a text has no room.
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
        # most texts have room near by: the whole panel is searched last
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
    """The best of some places for a text, if one is free, and how near to its mark a free one is."""
    if not len(centres):
        return None, np.inf
    low, high = centres.min(axis=0) - half, centres.max(axis=0) + half
    boxes = all_boxes[((all_boxes[:, :2] < high) & (all_boxes[:, 2:] > low)).all(axis=1)]
    overlaps = (centres[:, None] + half > boxes[:, :2]) & (centres[:, None] - half < boxes[:, 2:])
    free = ~overlaps.all(axis=2).any(axis=1)
    if not free.any():
        return None, np.inf
    centres, lengths = centres[free], lengths[free]
    # what is further than that is worse than the nearest, wherever the other marks are
    close = lengths <= lengths.min() + DETOUR
    centres, lengths = centres[close], lengths[close]
    other_distances = np.linalg.norm(centres[:, None] - other_marks, axis=2).min(axis=1, initial=np.inf)
    return centres[np.argmin(lengths + DETOUR * (other_distances < lengths + 0.02))], lengths.min()

"""Figures as pages: their style, panels placed in inches, legends, texts that find room, files.

Sizes are inches at which text is 7 to 9 points high. They grow with the content and are laid out from the measured
width of the text, so that nothing is clipped or overlaps. Figures are matplotlib's, and pyplot does not know of them;
matplotlib is imported when the first one is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .frame import MARGIN, Legend, blank
from .palette import GREY, Look
from .text import BOLD, LARGE, NORMAL, SMALL, fit_text, line_count, text_width
from .visuals import heading

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARK = 0.05  # inches of a mark's radius, with room around it
DETOUR = 0.15  # inches that a text goes further, rather than to be nearer to another mark than to its own


def add_axes(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Axes placed in inches from the figure's upper left corner."""
    w, h = figure.get_size_inches()
    return figure.add_axes((left / w, 1 - (top + height) / h, width / w, height / h))


def page(
    title: str, note: str, legend: Sequence[tuple[str, Artist]], content_width: float, content_height: float
) -> tuple[Figure, float]:
    """A figure with a title, a note, room for its content (inches) and a legend; and the top of that room."""
    texts, handles = zip(*legend, strict=True)
    entries = Legend(handles, texts, max(content_width, 5.0) - 2 * MARGIN)
    title = fit_text(title, entries.width / BOLD, LARGE)
    # at few dots per inch, hinted letters take up to 3 % more than their outlines
    note = fit_text(note, entries.width * 0.97, SMALL)
    note_top = MARGIN + line_count(title) * 0.17 + 0.03
    top = note_top + line_count(note) * 0.125 + 0.1
    figure = blank(entries.width + 2 * MARGIN, top + content_height + entries.height + MARGIN)
    width, height = figure.get_size_inches()
    figure.text(MARGIN / width, 1 - MARGIN / height, title, **heading())
    figure.text(MARGIN / width, 1 - note_top / height, note, va="top", size=SMALL, color="#333333")
    entries.draw(figure, top + content_height)
    return figure, top


def add_box(axes: Axes, corner: tuple[float, float], width: float, height: float, **look) -> None:
    """A rectangle in the axes' units, from its first corner on."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle(corner, width, height, **look))


def add_panels(
    title: str,
    note: str,
    heads: Mapping[str, tuple[str, str]],
    columns: int,
    size: np.ndarray,
    legend: Sequence[tuple[str, Artist]],
    *,
    gap: float,
    label_width: float = 0.0,
    foot: float = 0.0,
    space_below: float = 0.0,
) -> tuple[Figure, dict[str, Axes], float]:
    """A figure of panels of one size, each with a bold head and a note; its axes; and the top of the space below."""
    texts = {
        key: (fit_text(head, size[0] / BOLD, NORMAL), fit_text(text, size[0], SMALL) if text else "")
        for key, (head, text) in heads.items()
    }
    head_heights = [line_count(head) * 0.14 + line_count(text) * 0.13 + 0.12 for head, text in texts.values()]
    rows = np.cumsum(
        [max(head_heights[i : i + columns]) + size[1] + foot for i in range(0, len(heads), columns)]
    )
    content_width = MARGIN + label_width + columns * (size[0] + gap) - gap + MARGIN
    figure, top = page(title, note, legend, content_width, rows[-1] + 0.1 + space_below)
    panels = {}
    for i, (key, (head, text)) in enumerate(texts.items()):
        left = MARGIN + label_width + i % columns * (size[0] + gap)
        panels[key] = axes = add_axes(figure, left, top + rows[i // columns] - foot - size[1], *size)
        axes.set_title(head, loc="left", weight="bold", pad=4 + line_count(text) * 9)
        axes.annotate(text, (0, 1), (0, 4), "axes fraction", "offset points", size=SMALL)
    return figure, panels, top + rows[-1] + 0.1


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
        half = np.array([text_width(texts[i], SMALL) * BOLD + 0.02, 0.12]) / 2
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


def label_marks(
    axes: Axes,
    marks: np.ndarray,
    texts: Sequence[str],
    size: np.ndarray,
    *,
    room: np.ndarray | None = None,
    reach: float = np.inf,
    weight: str = "normal",
) -> None:
    """Write texts beside their marks, each joined to its own by a line; a text without room is left out.

    As `free_places`, where `size` is that of the axes and `room` the part of them that may have texts.
    """
    places = free_places(marks, texts, size if room is None else room, reach)
    box = {"boxstyle": "square,pad=0.05", "facecolor": "white", "linewidth": 0}
    look: Look = {"ha": "center", "va": "center", "size": SMALL, "weight": weight, "zorder": 6, "bbox": box}
    for text, mark, place in zip(texts, marks, places, strict=False):
        if place is None:
            continue
        line = np.stack([mark, place]) / size
        axes.plot(*line.T, color=GREY, linewidth=0.5, zorder=4, transform=axes.transAxes)
        axes.text(line[1, 0], line[1, 1], text, transform=axes.transAxes, **look)


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

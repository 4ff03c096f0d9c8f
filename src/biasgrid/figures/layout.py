"""Pages with panels that are placed in inches: those of `properties` and of validation/."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .frame import MARGIN, Legend, blank
from .text import BOLD, LARGE, NORMAL, SMALL, fit_text, line_count
from .visuals import heading

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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

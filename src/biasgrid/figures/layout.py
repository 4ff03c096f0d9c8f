"""Figures as pages: their style, panels placed in inches, legends, texts that find room, files.

Sizes are inches at which text is 7 to 9 points high. They grow with the content and are laid out from the measured
width of the text, so that nothing is clipped or overlaps. Figures are matplotlib's, and pyplot does not know of them;
matplotlib is imported when the first one is drawn.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BiasgridError
from ..extras import require
from ..files import write_bytes
from .palette import GREY, Look
from .text import BOLD, LARGE, NORMAL, SMALL, fit_text, line_count, text_width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

PAGE = (7.0, 9.5)  # the text block of a journal's page in inches: what layouts try to fit
MARGIN = 0.1
MARK = 0.05  # inches of a mark's radius, with room around it
DETOUR = 0.15  # inches that a text goes further, rather than to be nearer to another mark than to its own
EXTENSIONS = ("pdf", "svg", "png")
STYLE = {
    # named, not "sans-serif": generic families are looked up again when a figure is saved
    "font.family": "DejaVu Sans",
    "font.size": NORMAL,
    "axes.titlesize": NORMAL,
    "axes.labelsize": NORMAL,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "xtick.major.pad": 2.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "hatch.linewidth": 0.6,
    # a label is text, whatever dollar signs it has
    "text.parse_math": False,
    # text of a PDF stays text; an SVG looks the same where the font is missing
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "biasgrid",
}


@contextmanager
def style() -> Iterator[None]:
    """matplotlib's settings of all figures."""
    require("matplotlib", "drawing figures")
    import matplotlib.style

    # from matplotlib's defaults, so that a user's matplotlibrc does not change a study's figures
    with matplotlib.style.context(["default", STYLE]):
        yield


def styled(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """A function that draws, in the style of all figures."""

    @wraps(draw)
    def in_style(*args, **kwargs):
        with style():
            return draw(*args, **kwargs)

    return in_style


def save(figure: Figure, stem: Path | str, extensions: Collection[str] = EXTENSIONS) -> list[str]:
    """Write stem.pdf, stem.svg and stem.png (220 dpi), each whole or not at all, and the same bytes every time.

    Returns their paths.
    """
    stem = Path(stem)
    if not stem.name:
        raise BiasgridError(f"{str(stem)!r} names no file; give a path such as results/figure")
    metadata = {
        "pdf": {"Creator": "biasgrid", "CreationDate": None},
        "svg": {"Creator": "biasgrid", "Date": None},
        "png": {"Software": "biasgrid"},
    }
    # not with_suffix: a stem may have a dot in it
    paths = [stem.with_name(f"{stem.name}.{extension}") for extension in extensions]
    for path, extension in zip(paths, extensions, strict=True):
        content = io.BytesIO()
        with style():
            figure.savefig(content, format=extension, dpi=220, metadata=metadata[extension])
        write_bytes(path, content.getvalue())
    return list(map(str, paths))


def blank(width: float, height: float) -> Figure:
    """An empty figure of so many inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


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


def empty_page(title: str, why: str) -> Figure:
    """A page that says why there is no figure. What one model lacks must not end a study of several."""
    figure, _ = page(title, f"Nothing to draw: {why}", [("", no_mark())], PAGE[0], 0.0)
    return figure


def heading() -> dict[str, Any]:
    """How a figure's title looks."""
    return {"size": LARGE, "weight": "bold", "va": "top"}


class Legend:
    """A legend in as few rows as fit into a width; no box, as wide as the width or its widest entry."""

    def __init__(self, handles: Sequence[Artist], labels: Sequence[str], width: float):
        self.handles, self.labels = handles, labels
        widths = [text_width(label, NORMAL) + 0.27 for label in labels]
        for rows in range(1, len(labels) + 1):
            self.columns = ceil(len(labels) / rows)
            # as matplotlib deals entries out to columns
            total_width = sum(max(column) + 0.15 for column in np.array_split(widths, self.columns))
            if total_width <= width:
                break
        self.width, self.height = max(width, total_width), rows * 0.165 + 0.06

    def draw(self, figure: Figure, top: float) -> None:
        """Place it, its upper edge `top` inches below the figure's."""
        width, height = figure.get_size_inches()
        figure.legend(
            self.handles,
            self.labels,
            ncols=self.columns,
            loc="upper left",
            bbox_to_anchor=(MARGIN / width, 1 - top / height),
            frameon=False,
            borderpad=0,
            borderaxespad=0,
            handlelength=1.6,
            handletextpad=0.6,
            columnspacing=1.2,
            labelspacing=0.45,
        )


def legend_line(**look) -> Artist:
    """A line or a mark for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], **look)


def legend_mark(**look) -> Artist:
    """A mark for a legend."""
    return legend_line(linestyle="", **look)


def legend_area(**look) -> Artist:
    """An area for a legend."""
    from matplotlib.patches import Patch

    return Patch(**look)


def no_mark() -> Artist:
    """For a legend's entry that has text alone."""
    return legend_area(fill=False, linewidth=0)


def add_box(axes: Axes, corner: tuple[float, float], width: float, height: float, **look) -> None:
    """A rectangle in the axes' units, from its first corner on."""
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle(corner, width, height, **look))


def few_ticks(
    axis: Axis, most: int, steps: Sequence[float] | None = (1, 2, 5, 10), integer: bool = False
) -> None:
    """At most so many intervals between the ticks of an axis, at multiples of `steps` times a power of ten."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(most, steps=steps, integer=integer))


def best_columns(panels: int, size: Callable[[int], tuple[float, float]]) -> int:
    """How many columns let `size(columns)`, (width, height), go onto a page with the least shrinking."""

    def merit(columns: int):
        width, height = size(columns)
        shrink = min(1.0, PAGE[0] / width, PAGE[1] / height)
        return round(shrink, 2), -(-panels % columns), columns

    return max(range(1, panels + 1), key=merit)


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

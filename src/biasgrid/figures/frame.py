"""Pages of figures: their style, a title, panels, a legend, how to read them, and the files that they are written to.

A figure sets the heights of its panels, in inches, and their content. matplotlib's constrained layout places all
parts: a page is as wide as a journal's text block, or as one of its columns, and as tall as necessary. Its caption
has the full text; at most two lines of it are below the plot. The files' metadata contain the caption, which screen
readers read instead of the picture. Figures are matplotlib's, but not registered with pyplot; matplotlib is imported
when the first one is drawn.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import BiasgridError, is_among, join_names, not_allowed
from ..core.extras import require
from ..core.files import write_bytes
from ..measure.results import without_collection
from .fonts import OWN, families
from .palette import Look, languages
from .text import BOLD, LARGE, NORMAL, SMALL, fit_text, line_count, text_width

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.transforms import Bbox

# The text block of a journal's page in inches.
PAGE = (7.0, 9.0)
# A page narrower than this lacks room next to its panels, such as for a scale.
NARROW = 5.0
# Widths of figures in inches, by the space that they fill.
WIDTHS = {"page": PAGE[0], "column": 3.4}
MARGIN = 0.1
# Lines below a plot; twice as many in a column.
READING = 2
# The colour of the text below a title and below a plot.
SOFT = "#333333"
EXTENSIONS = ("pdf", "svg", "png")
STYLE = {
    # Name the font, not "sans-serif": generic families are looked up again when a figure is saved.
    "font.family": OWN,
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
    # A label is plain text, even if it contains dollar signs.
    "text.parse_math": False,
    # Text of a PDF stays text; an SVG looks the same without the font.
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "biasgrid",
}
_WIDTH: ContextVar[float] = ContextVar("width", default=PAGE[0])


@contextmanager
def style(fonts: Sequence[str] = (OWN,)) -> Iterator[None]:
    """Apply matplotlib's settings of all figures, with these fonts."""
    require("matplotlib", "drawing figures")
    import matplotlib.style

    # Start from matplotlib's defaults, so that a user's matplotlibrc does not change a study's figures.
    with (
        matplotlib.style.context(["default", STYLE | {"font.family": [*fonts]}]),
        warnings.catch_warnings(),
    ):
        # Ignore matplotlib's warnings about each character; `families` has warned of the script.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        yield


@contextmanager
def as_wide_as(width: str) -> Iterator[None]:
    """Draw figures in this context with one of the WIDTHS. Raises BiasgridError for another name."""
    if not is_among(width, WIDTHS):
        raise BiasgridError(not_allowed("width", width, join_names(WIDTHS)))
    token = _WIDTH.set(WIDTHS[width])
    try:
        yield
    finally:
        _WIDTH.reset(token)


def styled(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Wrap a function that draws, so that it uses the style of all figures."""

    @wraps(draw)
    def in_style(*args, **kwargs):
        require("matplotlib", "drawing figures")
        with style(families([args, kwargs], languages())):
            return draw(*args, **kwargs)

    return in_style


@dataclass
class Frame:
    """Figure in progress: create `panels`, draw into them, then call `done`.

    Parameters
    ----------
    title
        The finding of this drawing, in ten words or fewer, or the subject, if no rule can state a finding. The
        kind's name in the gallery is `Figure.heading`.
    subtitle
        The content, with its topic, metric and model.
    notes
        Sentences, the most important ones first, beginning with how to read the figure. As many of the first ones as
        fit into `READING` lines are below the plot; all of them are in the figure's `caption`.
    """

    title: str
    subtitle: str = ""
    notes: Sequence[str] = ()
    width: float = field(default_factory=_WIDTH.get)
    figure: Figure = field(init=False)
    # Heights of the rows of panels.
    heights: list[float] = field(init=False, default_factory=list)

    def __post_init__(self):
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        self.figure = blank(self.width, PAGE[1])
        # Keep the gaps in inches constant, for any size of the page.
        self.figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.04, wspace=0, hspace=0))

    @property
    def inside(self) -> float:
        """Return the width between the margins in inches."""
        return self.width - 2 * MARGIN

    def panels(
        self,
        heads: Mapping[Any, str],
        heights: float | Mapping[Any, float],
        *,
        labels: float = 0.0,
        least: float = 1.3,
        line: int = 0,
        bold: bool = True,
    ) -> dict[Any, Axes]:
        """Create panels by key, each with its head.

        Parameters
        ----------
        heads
            Key -> text above the panel.
        heights
            Height in inches of all panels, or of each.
        labels
            Width in inches of the labels to the left of each row of panels.
        least
            Smallest width of a panel in inches: as many panels are side by side as fit.
        line
            Number of panels after which a new row begins; 0 if only the room counts.
        bold
            Whether the heads are bold.
        """
        room = self.inside - labels
        together = line or len(heads)
        fit = max(1, int(room / (least + 0.08)))
        # Distribute the panels evenly over lines.
        of_line = ceil(together / fit)
        columns = ceil(together / of_line)
        places = [
            (i // together * of_line + i % together // columns, i % together % columns)
            for i in range(len(heads))
        ]
        self.heights = [0.0] * (places[-1][0] + 1)
        for key, (row, _) in zip(heads, places, strict=True):
            height = heights[key] if isinstance(heights, Mapping) else heights
            self.heights[row] = max(self.heights[row], height)
        # Start with a guess that is tall enough for a layout.
        self.figure.set_size_inches(self.width, sum(self.heights) + 1.5 * len(self.heights) + 2)
        grid = self.figure.add_gridspec(len(self.heights), columns, height_ratios=self.heights)
        look: Look = {"size": NORMAL, "weight": "bold"} if bold else {"size": SMALL}
        panels = {}
        for (key, head), place in zip(heads.items(), places, strict=True):
            panels[key] = axes = self.figure.add_subplot(grid[place])
            # Leave 3 %, as for notes in `done`: hinted letters are wider.
            inches = 0.97 * (room / columns - 0.1) / (BOLD if bold else 1)
            head = "\n".join(fit_text(part, inches, look["size"]) for part in head.split("\n"))
            axes.set_title(head, loc="left", pad=4, **look)
        return panels

    def panel(self, height: float) -> Axes:
        """Create the only panel, with a height in inches."""
        return self.panels({"": ""}, height)[""]

    def done(self, legend: Sequence[tuple[str, Artist]] = ()) -> Figure:
        """Lay the figure out: title and subtitle above the panels, the legend and how to read it below them."""
        title = fit_text(self.title, self.inside / BOLD, LARGE)
        # At few dots per inch, hinted letters are up to 3 % wider than their outlines.
        subtitle = fit_text(self.subtitle, self.inside * 0.97, NORMAL)
        reading = self._reading()
        below = line_count(reading) * 0.125 + 0.05 * bool(reading)
        key, key_height = self._legend(legend) if legend else (None, 0.0)
        top = MARGIN + line_count(title) * 0.18 + line_count(subtitle) * 0.145 + 0.1
        self._grow(top, key_height + below + MARGIN)
        width, height = self.figure.get_size_inches()
        left = MARGIN / width
        self.figure.text(left, 1 - MARGIN / height, title, size=LARGE, weight="bold", va="top")
        subtitle_top = 1 - (MARGIN + line_count(title) * 0.18 + 0.02) / height
        self.figure.text(left, subtitle_top, subtitle, va="top", size=NORMAL, color=SOFT)
        if key:
            key.set_bbox_to_anchor((left, (MARGIN + below + 0.08) / height), self.figure.transFigure)
        self.figure.text(left, (MARGIN + below - 0.05) / height, reading, va="top", size=SMALL, color=SOFT)
        sentences = [f"{text}." if text else "" for text in (self.title, self.subtitle)]
        self.figure.set_label(" ".join(filter(None, [*sentences, *self.notes])))
        return self.figure

    def _legend(self, entries: Sequence[tuple[str, Artist]]) -> tuple[Legend, float]:
        """Add a legend with as few rows as fit into the page, and return it with its height in inches."""
        labels = [fit_text(text, self.inside - 0.4, NORMAL) for text, _ in entries]
        for rows in range(1, len(entries) + 1):
            legend = self.figure.legend(
                [mark for _, mark in entries],
                labels,
                ncols=ceil(len(entries) / rows),
                loc="lower left",
                frameon=False,
                borderpad=0,
                borderaxespad=0,
                handlelength=1.6,
                handletextpad=0.6,
                columnspacing=1.2,
                labelspacing=0.45,
            )
            box = legend.get_window_extent()
            if box.width <= self.inside * self.figure.dpi or rows == len(entries):
                break
            legend.remove()
        return legend, box.height / self.figure.dpi + 0.1

    def _reading(self) -> str:
        """Return as many of the first notes as fit into the lines below a plot."""
        most = READING * (1 if self.width >= NARROW else 2)
        inches = self.inside * 0.97
        count = len(self.notes)
        while count:
            text = " ".join(self.notes[:count]).strip()
            # Measure the text first, because breaking it into lines takes time.
            if text_width(text, SMALL) <= most * inches:
                lines = fit_text(text, inches, SMALL)
                if line_count(lines) <= most:
                    return lines
            count -= 1
        return ""

    def _grow(self, top: float, bottom: float) -> None:
        """Lay the panels out, and make the page tall enough for their heights."""
        engine: Any = self.figure.get_layout_engine()
        panels = [(axes, place) for axes in self.figure.axes if (place := axes.get_subplotspec()) is not None]
        width, height = self.width, top + bottom + (self.figure.get_figheight() if panels else 0)
        self.figure.set_size_inches(width, height)
        for _ in range(4 * bool(panels)):
            inside = 1 - 2 * MARGIN / width, 1 - (top + bottom) / height
            engine.set(rect=(MARGIN / width, bottom / height, *inside))
            engine.execute(self.figure)
            found = {place.rowspan.start: axes.get_position(original=True).height for axes, place in panels}
            missing = sum(self.heights) - sum(found.values()) * height
            if abs(missing) < 0.005:
                break
            # Round heights and positions: the solver's last digits differ between runs.
            height = round(height + missing, 9)
            self.figure.set_size_inches(width, height)
        # Later changes to the figure do not move its parts.
        self.figure.set_layout_engine(None)
        for axes in self.figure.axes:
            axes.set_position(tuple(round(part, 6) for part in axes.get_position(original=True).bounds))
            axes.set_in_layout(True)


def empty_page(title: str, why: str) -> Figure:
    """Draw a page with the reason for a missing figure, because a gap of one model must not stop a whole study."""
    return Frame(title, f"Nothing to draw: {why}").done()


def caption(figure: Figure) -> str:
    """Return a figure's full text: its title, its content, how to read it, and what is left out."""
    return str(figure.get_label())


def add_to_caption(figure: Figure, text: str) -> None:
    """Add a sentence to a figure's caption."""
    figure.set_label(f"{caption(figure)} {text}".strip())


def blank(width: float, height: float) -> Figure:
    """Create an empty figure with a size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def save(figure: Figure, stem: Path | str, extensions: Collection[str] = EXTENSIONS) -> list[str]:
    """Write stem.pdf, stem.svg and stem.png (220 dpi), each completely or not at all; return the files' paths.

    The bytes are the same every time. A figure that is taller than a page becomes several pages of the PDF.
    """
    stem = Path(stem)
    if not stem.name:
        raise BiasgridError(f"{str(stem)!r} names no file; give a path such as results/figure")
    # Avoid with_suffix: a stem may contain a dot.
    paths = [stem.with_name(f"{stem.name}.{extension}") for extension in extensions]
    for path, extension in zip(paths, extensions, strict=True):
        with style(), without_collection():
            write_bytes(path, _content(figure, extension))
    return list(map(str, paths))


def _content(figure: Figure, extension: str) -> bytes:
    from matplotlib.backends.backend_pdf import PdfPages

    content = io.BytesIO()
    if extension == "pdf":
        of_pdf = {"Creator": "biasgrid", "CreationDate": None, "Subject": caption(figure) or None}
        with PdfPages(content, metadata=of_pdf) as pages:
            for part, others in _pages(figure):
                # Hide the panels of other pages, which would take time.
                for axes in others:
                    axes.set_visible(False)
                pages.savefig(figure, bbox_inches=part)
                for axes in others:
                    axes.set_visible(True)
    else:
        description = {"Description": caption(figure)} if caption(figure) else {}
        metadata = {
            "svg": {"Creator": "biasgrid", "Date": None, **description},
            "png": {"Software": "biasgrid", **description},
        }
        # A higher compression of PNG takes longer, but does not save space.
        options: dict[str, Any] = {"pil_kwargs": {"compress_level": 3}} if extension == "png" else {}
        figure.savefig(content, format=extension, dpi=220, metadata=metadata[extension], **options)
    return content.getvalue()


def _pages(figure: Figure) -> list[tuple[Bbox | None, list[Axes]]]:
    """Return the parts of a figure, one per page, cut between rows of panels, and the panels of other pages."""
    from matplotlib.transforms import Bbox

    width, height = figure.get_size_inches()
    if height <= PAGE[1] * 1.2:
        return [(None, [])]
    shown = [axes for axes in figure.axes if axes.get_visible()]
    boxes = {axes: axes.get_tightbbox() or axes.get_window_extent() for axes in shown}
    ends = sorted(((box.y1 / figure.dpi, box.y0 / figure.dpi) for box in boxes.values()), reverse=True)
    cuts, bottom = [height], height
    for (_, before), (upper, lower) in pairwise(ends):
        bottom = min(bottom, before)
        # Cut at a gap if the part below it does not fit on this page.
        if upper < bottom and cuts[-1] - lower > PAGE[1]:
            cuts.append((upper + bottom) / 2)
    return [
        (
            Bbox([[0, low], [width, high]]),
            [axes for axes, box in boxes.items() if not low < (box.y0 + box.y1) / 2 / figure.dpi < high],
        )
        for high, low in pairwise([*cuts, 0.0])
    ]

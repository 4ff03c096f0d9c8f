"""docs/gallery.md from the declarations of the figures: `make pictures` writes it, a test compares it.

How to read each figure is a page of the reference (generated.py).
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from plugin_notes import code_of, plugin_note

from biasgrid import figures
from biasgrid.figures import Figure, questions

OTHERS = "Others"
COLUMNS = 4
PAGE = Path(__file__).with_name("gallery.md")
HEAD = """# Which figure answers my question?

Click a picture to open it in full size, or the question below it to learn how to read it. A figure's title is its
finding.

In a config, list figures under `figures:`; the list replaces the default. In Python, `grid.plot("scores")` draws one,
and `page=2` the second page of a long one. A study's figures are PDF, SVG and PNG files in `results/<study>/figures`.
`biasgrid list figures` names all figures, also those of plugins.

"""
REFERENCE = """# How to read each figure

[All figures, with pictures](../gallery.md). A figure has at most 7 by 9 inches. Its file's description has what does
not fit into the two lines below the plot.

"""
# kinds whose pictures other pages show, too, and larger
LARGE = (
    "rankings",
    "correlations",
    "rank-intervals",
    "shuffled",
    "quality-ranks",
    "query-ranks",
    "trade-off",
    "hidden-bias",
    "models",
)


def stem(kind: str) -> str:
    """A kind's picture below images/, without extension."""
    return kind if kind in LARGE else f"gallery-{kind}"


def page() -> str:
    """Return the page: a grid of pictures for each question."""
    grids = [f"## {question}\n\n{grid(of_question)}" for question, of_question in by_question().items()]
    return HEAD + "\n".join(grids)


def reference() -> str:
    """Return the page of the reference: how to read each figure."""
    return REFERENCE + "\n".join(section(kind) for kinds in by_question().values() for kind in kinds)


def by_question() -> dict[str, list[Figure]]:
    """Return the figures of each question, in the order in which questions are declared."""
    found: dict[str, list[Figure]] = {
        getattr(questions, name): [] for name in vars(questions) if name.isupper()
    }
    for kind in dict(sorted(figures.REGISTRY.items())).values():
        found.setdefault(kind.question or OTHERS, []).append(kind)
    return {question: kinds for question, kinds in found.items() if kinds}


def grid(kinds: Sequence[Figure]) -> str:
    """Return a table of pictures, each above its question, which leads to how to read it."""
    rows = ["| " * COLUMNS + "|", "| --- " * COLUMNS + "|"]
    cells = []
    for kind in kinds:
        file, question = f"images/{stem(kind.name)}.png", kind.asks or kind.meaning
        picture = f"[![{heading(kind)}]({file})]({file})"
        cells.append(f"{picture}<br>[{question}](../{code_of(figures, kind.name)})")
    cells += [""] * (-len(cells) % COLUMNS)
    for start in range(0, len(cells), COLUMNS):
        rows.append(f"| {' | '.join(cells[start : start + COLUMNS])} |")
    return "\n".join(rows) + "\n"


def heading(kind: Figure) -> str:
    """Return what a kind is called in words."""
    return kind.heading or kind.name


def anchor(text: str) -> str:
    """Return the anchor that code hosts and the site give a heading."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def wrapped(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def section(kind: Figure) -> str:
    """Return what a reader learns from a kind, how to read it, how it is drawn, and what a config needs for it."""
    listed = (
        f"`figures: [{kind.config_name}]`" if kind.config_name else "`null_distributions:` lists the scores"
    )
    needs = f" It needs {kind.needs}." if kind.needs else ""
    drawn = f'`grid.plot("{kind.name}")`; in a config, {listed}.{needs}{plugin_note(figures, kind.name)}'
    return f"""## {heading(kind)}

{wrapped(f"**{kind.learn or kind.meaning}** {kind.reading}")}

{wrapped(drawn)}
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

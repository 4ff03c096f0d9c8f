"""docs/gallery.md from the declarations of the figures: `make pictures` writes it, a test compares it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path

from plugin_notes import plugin_note

from biasgrid import figures
from biasgrid.figures import Figure, questions

OTHERS = "Others"
COLUMNS = 4
PAGE = Path(__file__).with_name("gallery.md")
HEAD = """# Gallery: every kind of figure, and how to read it

A picture opens in full size; the question below it leads to how to read it. The title of a figure is its finding.
The file's description has what does not fit into the two lines below a plot (`biasgrid.figures.frame.caption`).

`grid.plot("...")` draws a figure in Python. A figure has at most 7 by 9 inches; `page=2` draws the second page of one
with more rows. In a config, list the kinds under `figures:`. Each figure is saved as PDF, SVG and PNG in
`results/<study>/figures`. The list replaces the default; a kind without its data is an error. `biasgrid list figures`
names the installed kinds, plugins included. The default leaves out `rankings`, because sums of ranks do not show
which models differ.

"""
READING = "How to read each figure"
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
    """Return the page: a grid of pictures for each question, then how to read each figure."""
    # in the order in which questions are declared
    by_question: dict[str, list[Figure]] = {
        getattr(questions, name): [] for name in vars(questions) if name.isupper()
    }
    for kind in dict(sorted(figures.REGISTRY.items())).values():
        by_question.setdefault(kind.question or OTHERS, []).append(kind)
    asked = {question: of_question for question, of_question in by_question.items() if of_question}
    grids = [f"## {question}\n\n{grid(of_question)}" for question, of_question in asked.items()]
    sections = [section(kind) for of_question in asked.values() for kind in of_question]
    return HEAD + "\n".join([*grids, f"## {READING}\n", *sections])


def grid(kinds: Sequence[Figure]) -> str:
    """Return a table of pictures, each with its question."""
    rows = ["| " * COLUMNS + "|", "| --- " * COLUMNS + "|"]
    for start in range(0, len(kinds), COLUMNS):
        of_row = kinds[start : start + COLUMNS]
        file = [f"images/{stem(kind.name)}.png" for kind in of_row]
        pictures = [f"[![{heading(kind)}]({path})]({path})" for kind, path in zip(of_row, file, strict=True)]
        captions = [f"[{kind.asks or kind.meaning}](#{anchor(heading(kind))})" for kind in of_row]
        empty = [""] * (COLUMNS - len(of_row))
        rows += [f"| {' | '.join([*cells, *empty])} |" for cells in (pictures, captions)]
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
    return f"""### {heading(kind)}

{wrapped(f"**{kind.learn or kind.meaning}** {kind.reading}")}

{wrapped(drawn)}
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

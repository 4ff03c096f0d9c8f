"""docs/gallery.md from the declarations of the figures: `make pictures` writes it, a test compares it."""

from __future__ import annotations

import textwrap
from pathlib import Path

from plugin_notes import plugin_note

from biasgrid import figures
from biasgrid.figures import Figure, questions

OTHERS = "Others"
PAGE = Path(__file__).with_name("gallery.md")
HEAD = """# Gallery: every kind of figure, and how to read it

List the kinds under `figures:` in a config: each is written as PDF, SVG and PNG to `results/<study>/figures`. The
list replaces the default; a kind whose data are missing is an error. `biasgrid list figures` names the installed
kinds, plugins included.

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
    """The page's text: the kinds by the question that they answer."""
    kinds = dict(sorted(figures.REGISTRY.items()))
    # in the order in which questions are declared
    by_question: dict[str, list[Figure]] = {
        getattr(questions, name): [] for name in vars(questions) if name.isupper()
    }
    for kind in kinds.values():
        by_question.setdefault(kind.question or OTHERS, []).append(kind)
    asked = {question: of_question for question, of_question in by_question.items() if of_question}
    index = ["| question | figures |", "| --- | --- |"]
    parts = []
    for question, of_question in asked.items():
        index.append(f"| {question} | {', '.join(f'[{kind.name}](#{kind.name})' for kind in of_question)} |")
        parts += [f"## {question}\n", *map(section, of_question)]
    return HEAD + "\n".join(index) + "\n\n" + "\n".join(parts)


def wrapped(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def section(kind: Figure) -> str:
    """A kind: its picture, what it shows, how to read it, and what a config needs for it."""
    listed = (
        f"`figures: [{kind.config_name}]`" if kind.config_name else "`null_distributions:` lists the cells"
    )
    needs = f" It needs {kind.needs}." if kind.needs else ""
    picture = f"![{kind.name}](images/{stem(kind.name)}.png)\n\n" if kind.example else ""
    return f"""### {kind.name}

{picture}{wrapped(f"**{kind.meaning}** {kind.reading}")}

{wrapped(f"{listed}.{needs}{plugin_note(figures, kind.name)}")}
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

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

A study draws the figures that its config lists under `figures:`, each as PDF, SVG and PNG. The list replaces the
default. A figure whose data are missing is an error that says what is missing. `biasgrid list figures` prints the
kinds that are installed, plugins included. This page is generated (`make pictures`).

```yaml
figures: [rankings, correlations, scores, rank-intervals]
```

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
)


def stem(kind: str) -> str:
    """A kind's picture below images/, without extension."""
    return kind if kind in LARGE else f"gallery-{kind}"


def page() -> str:
    """The page's text: what answers a question together, at first as thumbnails."""
    kinds = dict(sorted(figures.REGISTRY.items()))
    # in the order in which questions are declared
    by_question: dict[str, list[Figure]] = {
        getattr(questions, name): [] for name in vars(questions) if name.isupper()
    }
    for kind in kinds.values():
        by_question.setdefault(kind.question or OTHERS, []).append(kind)
    asked = {question: of_question for question, of_question in by_question.items() if of_question}
    parts = [thumbnails(question, of_question) for question, of_question in asked.items()]
    return HEAD + "\n".join(
        [*parts, *(section(kind) for of_question in asked.values() for kind in of_question)]
    )


def thumbnails(question: str, kinds: list[Figure]) -> str:
    """The pictures that answer a question, three beside each other, each with a sentence."""
    lines = [f"## {question}", ""]
    for start in range(0, len(kinds), 3):
        row = kinds[start : start + 3]
        pictures = [
            f"[![{kind.name}](images/{stem(kind.name)}.png)](#{kind.name})" if kind.example else ""
            for kind in row
        ]
        lines += [
            "| " + " | ".join(pictures) + " |",
            "| " + " | ".join(["---"] * len(row)) + " |",
            "| " + " | ".join(f"[{kind.name}](#{kind.name}): {kind.meaning}" for kind in row) + " |",
            "",
        ]
    return "\n".join(lines)


def wrapped(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def section(kind: Figure) -> str:
    """What the page says of a kind; the sentence that says what it shows stands with its thumbnail."""
    listed = "" if kind.config_name else "In a config, `null_distributions:` lists the cells."
    if kind.config_name not in (None, kind.name):
        listed = f"In a config: `figures: [{kind.config_name}]`."
    needs = f" It needs {kind.needs}." if kind.needs else ""
    notes = f"{listed}{needs}{plugin_note(figures, kind.name)}".strip()
    picture = f"![{kind.name}](images/{stem(kind.name)}.png)\n\n" if kind.example else ""
    return f"""### {kind.name}

{picture}{wrapped(kind.reading)}
""" + (f"\n{wrapped(notes)}\n" if notes else "")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

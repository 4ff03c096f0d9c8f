"""docs/gallery.md from the declarations of the figures: `make pictures` writes it, a test compares it."""

from __future__ import annotations

import textwrap
from pathlib import Path

from plugin_notes import plugin_note

from biasgrid import figures
from biasgrid.figures import Figure

PAGE = Path(__file__).with_name("gallery.md")
HEAD = """# Gallery: every kind of figure, and how to read it

A study draws the figures that its config lists under `figures:`, each as PDF, SVG and PNG. Here is every kind, with a
picture, the name to list, and how to read it. `biasgrid list figures` prints the kinds that are installed, plugins
included. This page is generated (`make pictures`).

```yaml
figures: [rankings, correlations, scores, rank-intervals]
```

A list replaces the default, so name all that you want. Some kinds need something in the study, as said below.
Listing a figure whose data are missing is an error that says what is missing.

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
    """The page's text."""
    kinds = dict(sorted(figures.REGISTRY.items()))
    links = ", ".join(f"[{name}](#{name})" for name in kinds)
    return HEAD + wrapped(f"Contents: {links}.") + "\n\n" + "\n".join(map(section, kinds.values()))


def wrapped(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def section(kind: Figure) -> str:
    """What the page says of a kind."""
    listed = (
        f"`figures: [{kind.config_name}]`" if kind.config_name else "`null_distributions:` lists the cells"
    )
    picture = f"![{kind.meaning.removesuffix('.')}](images/{stem(kind.name)}.png)\n\n" if kind.example else ""
    needs = f" It needs {kind.needs}." if kind.needs else ""
    return f"""## {kind.name}

{kind.meaning}

{picture}{wrapped(f"**How to read it.** {kind.reading}")}

{wrapped(f"In a config: {listed}.{needs}{plugin_note(figures, kind.name)}")}
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

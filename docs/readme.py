"""The block of README.md that says what the embedded study says: `make readme` writes it, after `make study`.

`make notebooks-test` compares it with the study.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import biasgrid as bg

ROOT = Path(__file__).parents[1]
README, STUDY = ROOT / "README.md", ROOT / "results" / "embedded"
START, END = "<!-- make readme: what results/embedded says -->", "<!-- end -->"
WIDTH = 120


def with_summary(text: str, summary: str) -> str:
    """A text with a study's summary between its markers; raises ValueError where it does not have one of each."""
    (head, rest) = text.split(START)
    (_, tail) = rest.split(END)
    lines = textwrap.fill(
        " ".join(summary.split()),
        WIDTH,
        initial_indent="> ",
        subsequent_indent="> ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{head}{START}\n{lines}\n{END}{tail}"


def written() -> dict[Path, str]:
    """The file, and what is in it."""
    text = README.read_text(encoding="utf-8")
    return {README: with_summary(text, bg.open_study(STUDY).summary())}


if __name__ == "__main__":
    for path, content in written().items():
        path.write_text(content, encoding="utf-8")

"""The blocks of code in Markdown; and README's Python held against the types of the door by mypy (`make lint`).

Blocks marked `python` run, in order, in one namespace per page, and `pycon` is compared with what it prints
(tests/docs/test_docs_code.py). What is only to be read is `text`.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "*.md",
    "docs/**/*.md",
    "config/*.md",
    "data/*/*.md",
    "benchmarks/*.md",
    "notebooks/*.md",
    "plugins/*/*.md",
    "validation/**/*.md",
)
GENERATED = tuple(ROOT.glob("docs/reference/*/")) + tuple(
    ROOT / "docs" / folder for folder in ("metrics", "debias")
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page that it begins in."""

    language: str
    text: str
    line: int


@cache
def pages() -> dict[str, str]:
    """The text of every page in Markdown, by its path; of notebooks, the cells that are Markdown."""
    # imported late: `make lint` needs the rest alone
    import generated

    files = {path for pattern in PAGES for path in ROOT.glob(pattern)}
    # what was made of code is made anew
    files -= {path for path in files if path.parent in GENERATED}
    found = {path: path.read_text(encoding="utf-8") for path in files} | generated.texts()
    for path in ROOT.glob("notebooks/*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        found[path] = "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return {path.relative_to(ROOT).as_posix(): found[path] for path in sorted(found)}


@cache
def tokens(text: str) -> list[Token]:
    """The Markdown of a page, parsed."""
    return MarkdownIt("commonmark").enable("table").parse(text)


def blocks(text: str) -> Iterator[Block]:
    """The fenced blocks of a page."""
    for token in tokens(text):
        if token.type == "fence":
            yield Block(token.info.partition(" ")[0], token.content, token.map[0] + 1)


def main() -> int:
    """Check README's blocks that start with `import biasgrid as bg`; returns the exit code."""
    # imported late: tests need the rest alone
    from mypy import api

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [
        b.text
        for b in blocks(readme)
        if b.language == "python" and re.match("import biasgrid as bg\n", b.text)
    ]
    if not found:
        sys.exit("README.md has no Python that starts with `import biasgrid as bg`")
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"snippet_{number}.py") for number in range(len(found))]
        for file, block in zip(files, found, strict=True):
            file.write_text(block)
        said, wrong, code = api.run(["--strict", "--follow-imports=silent", *map(str, files)])
    print(said or wrong, end="")
    return code


if __name__ == "__main__":
    sys.exit(main())

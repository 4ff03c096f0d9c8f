"""Texts that people read of the finished study and of the commands: a diff of tests/golden/texts is the review.

    python tests/golden_texts.py        # writes them anew

Fractions and dates are left out: numbers are compared by test_finished_study.py.
"""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import finished_study
from conftest import ROOT

from biasgrid import open_study

GOLDEN = ROOT / "tests" / "golden" / "texts"
# a process of its own: its registries have no plugin of other tests
COMMANDS = """
from contextlib import suppress
from biasgrid.cli import commands, main
from biasgrid.cli.listing import TOPICS
if {lists}:
    for topic in ("", *sorted({{*TOPICS}} - {{"word-sets"}})):
        print("$ biasgrid list", topic, flush=True)
        main(["list", *filter(None, [topic]), "--table"])
else:
    for name in ("", "words", *commands().by_name):
        print("$ biasgrid", name, "--help", flush=True)
        with suppress(SystemExit):
            main([*name.split(), "--help"])
"""


class Sentences(HTMLParser):
    """The text of a page outside tables, drawings, code and the cards of single scores, a line for each element."""

    LEFT_OUT = frozenset({"table", "svg", "pre", "script", "style", "select"})
    INLINE = frozenset({"b", "i", "a", "small", "code", "span", "em", "strong", "sub", "sup", "abbr", "kbd"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.depth, self.lines = 0, [""]
        self.feed(re.sub(r"<dl id=c\d+>.*?</dl>", "", page, flags=re.DOTALL))

    def handle_starttag(self, tag, attributes):
        self.depth += tag in self.LEFT_OUT
        self.lines += [] if tag in self.INLINE else [""]

    def handle_endtag(self, tag):
        self.depth -= tag in self.LEFT_OUT
        self.lines += [] if tag in self.INLINE else [""]

    def handle_data(self, data):
        self.lines[-1] += "" if self.depth else data


def command_texts(*, lists: bool) -> str:
    """Return what the lists, or the helps, of all commands print."""
    code = [sys.executable, "-c", COMMANDS.format(lists=lists)]
    environment = {"COLUMNS": "80", "PYTHONPATH": str(ROOT / "src"), "PATH": ""}
    return subprocess.run(code, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout


def page_text(results: Path) -> str:
    """Return the sentences of the page."""
    lines = Sentences((results / "report.html").read_text(encoding="utf-8")).lines
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


def without_numbers(text: str) -> str:
    """Return a text without what differs between machines and days."""
    text = re.sub(r"measured \d+ \w+ \d{4}", "measured DAY", text)
    return re.sub(r"[0-9a-f]{16,64}|\d*\.\d+(\.\d+)*", "#", text)


def texts() -> dict[str, str]:
    """Return all of them, by the name of their file."""
    results = finished_study.finished().folder / "results" / "small"
    found = {
        "page": page_text(results),
        "summary": open_study(results).summary(),
        "lists": command_texts(lists=True),
        "help": command_texts(lists=False),
    }
    return {name: without_numbers(text).rstrip() + "\n" for name, text in found.items()}


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name, text in texts().items():
        (GOLDEN / f"{name}.txt").write_text(text, encoding="utf-8")

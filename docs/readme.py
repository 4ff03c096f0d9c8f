"""The parts of README.md that are computed: the embedded study's summary, and the output of the code. `make readme`
writes them, after `make study`; `make notebooks-test` compares the summary with the study.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import biasgrid as bg
from biasgrid.tables.conclusions.summary import Conclusion, lines
from biasgrid.tables.read_conclusions import conclusion_of

ROOT = Path(__file__).parents[1]
README, STUDY = ROOT / "README.md", ROOT / "results" / "embedded"
START, END = "<!-- make readme: what results/embedded says -->", "<!-- end -->"
WIDTH = 116
CODE = re.compile(r"(?s)(```python\n(.*?)```\n\n```text\n)(.*?)(```)")


def with_summary(text: str, conclusion: Conclusion) -> str:
    """Return a text with what a study says between its markers. Raises ValueError without one of each."""
    (head, rest) = text.split(START)
    (_, tail) = rest.split(END)
    return "\n".join([head + START, "```text", *lines(conclusion, WIDTH), "```", END + tail])


def with_output(text: str) -> str:
    """A text whose first block of Python is followed by its output; the code runs here, in the working directory."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(CODE.search(text)[2], {})
    return CODE.sub(lambda match: match[1] + output.getvalue() + match[4], text, count=1)


def written() -> dict[Path, str]:
    """The file, and its content."""
    text = README.read_text(encoding="utf-8")
    return {README: with_output(with_summary(text, conclusion_of(bg.open_study(STUDY).study)))}


if __name__ == "__main__":
    for path, content in written().items():
        path.write_text(content, encoding="utf-8")

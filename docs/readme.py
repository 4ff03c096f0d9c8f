"""The parts of README.md that are computed: the embedded study's summary, and the output of the code. `make readme`
writes them, after `make study`; `make notebooks-test` compares the summary with the study.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping
from pathlib import Path

import biasgrid as bg
from biasgrid.tables.answers import summary_of
from biasgrid.verdicts.summary import lines

ROOT = Path(__file__).parents[1]
README, STUDY = ROOT / "README.md", ROOT / "results" / "embedded"
START, END = "<!-- make readme: what results/embedded says -->", "<!-- end -->"
WIDTH = 120
CODE = re.compile(r"(?s)(```python\n(.*?)```\n\n```text\n)(.*?)(```)")


def with_summary(text: str, summary: Mapping[str, str]) -> str:
    """A text with a study's summary, topic -> sentence, between its markers, as a list. Raises ValueError where it
    does not have one of each.
    """
    (head, rest) = text.split(START)
    (_, tail) = rest.split(END)
    items = lines({f"- **{topic}**": sentence for topic, sentence in summary.items()}, WIDTH)
    return "\n".join([head + START, *items, END + tail])


def with_output(text: str) -> str:
    """A text whose first block of Python is followed by its output; the code runs here, in the working directory."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(CODE.search(text)[2], {})
    return CODE.sub(lambda match: match[1] + output.getvalue() + match[4], text, count=1)


def written() -> dict[Path, str]:
    """The file, and its content."""
    text = README.read_text(encoding="utf-8")
    return {README: with_output(with_summary(text, summary_of(bg.open_study(STUDY).study)))}


if __name__ == "__main__":
    for path, content in written().items():
        path.write_text(content, encoding="utf-8")

"""Files of the property matrix: tables, counterexamples, figures."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from biasgrid.core.files import write_text
from biasgrid.core.schema import dumps
from biasgrid.figures.frame import save
from biasgrid.tables.table import Column

from .figures import counterexamples, matrix, ranges
from .questions import NO, NOT_EXAMINED, NOT_REFUTED, SET, UNDEFINED, WORD, YES
from .tables import coordinates, examples, markdown, table
from .verdicts import Verdict

# Name of a figure -> the function that draws it from verdicts.
DRAWINGS = {"properties": matrix, "counterexamples": counterexamples, "ranges": ranges}
COLUMNS = (
    Column("metric", "the metric's name"),
    Column("label", "what figures call it, with options that matter"),
    Column("level", "whether it is asked of one word, or of sets of words", values=(WORD, SET, "")),
    Column("property", "which property: plugins/properties/README.md has all"),
    Column("condition", "what must hold besides; empty where nothing must"),
    Column("holds", "the answer", values=(YES, NO, NOT_REFUTED, UNDEFINED, NOT_EXAMINED)),
    Column("paper", "the answer of Schroeder et al., where they give one", values=(YES, NO, "")),
    Column("construction", "the setting that is the counterexample"),
    Column("tried", "how many settings were measured", "count"),
    Column("note", "the proof or the counterexample, in a sentence"),
)


def write(verdicts: Sequence[Verdict], folder: Path) -> list[str]:
    """Write the answers, the counterexamples and the figures, and return their paths."""
    files = {
        "properties.csv": _csv(table(verdicts), [column.name for column in COLUMNS]),
        "counterexamples.csv": _csv(rows := coordinates(verdicts), list(rows[0]) if rows else []),
        "counterexamples.json": dumps(examples(verdicts), indent=1) + "\n",
        "properties.md": markdown(verdicts),
    }
    for name, content in files.items():
        write_text(folder / name, content)
    figure_paths = [path for name, draw in DRAWINGS.items() for path in save(draw(verdicts), folder / name)]
    return [str(folder / name) for name in files] + figure_paths


def _csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()

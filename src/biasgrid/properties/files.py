"""The property matrix as files: tables, counterexamples, figures."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from ..figures.layout import save
from ..files import write_text
from ..measure import dumps
from .figures import counterexamples, matrix
from .tables import examples, markdown, table
from .verdicts import Verdict


def write(verdicts: Sequence[Verdict], folder: Path) -> list[str]:
    """Write properties.csv, counterexamples.json, properties.md and the figures; returns their paths."""
    rows, text = table(verdicts), io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    files = {
        "properties.csv": text.getvalue(),
        "counterexamples.json": dumps(examples(verdicts), indent=1) + "\n",
        "properties.md": markdown(verdicts),
    }
    for name, content in files.items():
        write_text(folder / name, content)
    figures = {"properties": matrix(verdicts), "counterexamples": counterexamples(verdicts)}
    drawn = [path for name, figure in figures.items() for path in save(figure, folder / name)]
    return [str(folder / name) for name in files] + drawn

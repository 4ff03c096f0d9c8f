"""Tables as CSV files that lose nothing: numbers come back to the last bit, text stays text."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pandas as pd

from .files import write_text


def write_frame(frame: pd.DataFrame, path: Path, digits: str | None = None) -> None:
    """Write a table; `digits` is the numbers' format, left out all that they have."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n", float_format=digits))


def read_frame(path: Path, texts: Collection[str]) -> pd.DataFrame:
    """A table from its file; columns named in `texts` are text, "" where they are empty, and all others numbers."""
    frame = pd.read_csv(
        path,
        dtype=dict.fromkeys(texts, str),
        keep_default_na=False,
        na_values=[""],
        float_precision="round_trip",
    )
    return frame.fillna(dict.fromkeys(texts, ""))

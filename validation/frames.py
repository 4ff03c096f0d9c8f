"""Tables as CSV files that lose nothing: numbers come back to the last bit, text stays text."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pandas as pd

from biasgrid.errors import BiasgridError
from biasgrid.files import write_text


def write_frame(frame: pd.DataFrame, path: Path, digits: str | None = None) -> None:
    """Write a table; `digits` is the numbers' format, left out all that they have."""
    write_text(path, frame.to_csv(index=False, lineterminator="\n", float_format=digits))


def read_frame(path: Path, texts: Collection[str]) -> pd.DataFrame:
    """A table from its file; columns named in `texts` are text, "" where they are empty, and all others numbers.

    Raises BiasgridError for a file that is no such table.
    """
    try:
        frame = pd.read_csv(
            path,
            dtype=dict.fromkeys(texts, str),
            keep_default_na=False,
            na_values=[""],
            float_precision="round_trip",
        )
    except (OSError, ValueError) as error:  # pandas' own errors are ValueErrors
        raise BiasgridError(
            f"{path}: not a table ({' '.join(str(error).split()):.100}); make it again"
        ) from None
    if words := [name for name in frame.columns if name not in texts and frame[name].dtype.kind not in "ifb"]:
        raise BiasgridError(f"{path}: {words[0]}: not numbers; make it again")
    return frame.fillna(dict.fromkeys(texts, ""))

"""Files that come with biasgrid: word sets, query files, study configs, the workflow."""

from __future__ import annotations

from pathlib import Path


def resource(relative: str | Path) -> Path:
    """Where a file or folder lies that comes with biasgrid, by its path in a checkout."""
    return Path(__file__).parents[2] / relative

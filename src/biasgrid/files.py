"""Writing files so that a killed process leaves the old one or the new one, never half of it."""

import os
from pathlib import Path


def aside(path: Path) -> Path:
    """Where a file is written before it is moved in. One name a file: what a killed run left is written over."""
    return path.with_name(f".{path.name}.partial")


def write_text(path: Path | str, text: str) -> None:
    """Write UTF-8 text beside `path` and move it in."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside(path).write_text(text, encoding="utf-8", newline="\n")
    os.replace(aside(path), path)

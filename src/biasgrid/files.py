"""Writing files so that a killed process leaves the old one or the new one, never half of it."""

import os
from pathlib import Path


def aside(path: Path) -> Path:
    """Where a file is written before it is moved in. One name a file: what a killed run left is written over."""
    return path.with_name(f".{path.name}.partial")


def write_text(path: Path | str, text: str) -> None:
    """Write UTF-8 text beside `path` and move it in."""
    write_bytes(path, text.encode())


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write bytes beside `path` and move them in."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    aside(path).write_bytes(content)
    os.replace(aside(path), path)

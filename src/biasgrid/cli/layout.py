"""Layout of the text that commands print on a terminal, at most 80 characters a line; scripts read JSON instead."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.numbers import count, number

WIDTH = 80
# A list with one line per entry may have this width, if the terminal is wide enough.
TABLE = 100
GAP = "  "


def add_forms(command: argparse.ArgumentParser) -> None:
    """Add the options --table and --json, of which `wants_table` reads one."""
    form = command.add_mutually_exclusive_group()
    form.add_argument("--table", action="store_true", help="print a short table (default on a terminal)")
    form.add_argument("--json", action="store_true", help="print JSON (default where output is no terminal)")


def wants_table(args: argparse.Namespace) -> bool:
    """Return whether the command should print a table for people instead of JSON."""
    return args.table or (not args.json and sys.stdout.isatty())


def table_width() -> int:
    """Return the width of a list on this terminal. Without a terminal, it is the largest."""
    return min(TABLE, shutil.get_terminal_size((TABLE, 24)).columns)


def columns(rows: Sequence[Sequence[str]], width: int = WIDTH) -> list[str]:
    """Return rows of texts as lines, in columns. The last column is wrapped if it is too long for the line."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    indent = min(sum(widths) + len(GAP) * len(widths), width // 2)
    lines = []
    for row in rows:
        lines += paragraph(GAP.join([*map(str.ljust, row[:-1], widths), ""]), row[-1], indent, width)
    return lines


def paragraph(head: str, text: str, indent: int = 2, width: int = WIDTH) -> list[str]:
    """Return a text after its head as lines, all but the first indented. No word is broken."""
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=head,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [head.rstrip()]


def text_of(record: Mapping[str, Any]) -> str | None:
    """Return a record as text with one line per entry, or None if an entry has more than one level."""
    try:
        return "\n".join(columns([(f"{name}:", _entry(value)) for name, value in record.items()]))
    except TypeError:
        return None


def _entry(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_scalar(inner)}" for name, inner in value.items()) or "none"
    return (", ".join(map(_scalar, value)) or "none") if isinstance(value, list) else _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float | None):
        return number(value)
    raise TypeError

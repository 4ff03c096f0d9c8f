"""Frames of a grid as text for papers and pages."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def markdown(frame: pd.DataFrame, digits: int) -> str:
    """Return a frame as a table in GitHub's Markdown."""
    head, rows, labels = _cells(frame, digits)
    rows = [[_on_one_line(text).replace("|", "\\|") for text in row] for row in [head, *rows]]
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    rules = ["-" * width if place < labels else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
    lines = [
        [
            text.ljust(w) if place < labels else text.rjust(w)
            for place, (text, w) in enumerate(zip(row, widths, strict=True))
        ]
        for row in [rows[0], rules, *rows[1:]]
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def latex(frame: pd.DataFrame, digits: int) -> str:
    """Return a frame as a LaTeX tabular."""
    head, rows, labels = _cells(frame, digits)
    lines = [" & ".join(map(_escape, row)) + r" \\" for row in [head, *rows]]
    columns = "l" * labels + "r" * (len(head) - labels)
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _cells(frame: pd.DataFrame, digits: int) -> tuple[list[str], list[list[str]], int]:
    """Return head and rows as texts, and the number of columns with labels."""
    names = [str(name or "") for name in frame.index.names]
    head = [*names, *(": ".join(map(str, c)) if isinstance(c, tuple) else str(c) for c in frame.columns)]
    labels = [key if isinstance(key, tuple) else (key,) for key in frame.index]
    places = [_decimals(frame.iloc[:, place], digits) for place in range(frame.shape[1])]
    values = (zip(row, places, strict=True) for row in frame.itertuples(index=False, name=None))
    rows = [
        [*map(str, key), *(_format_value(*value) for value in row)]
        for key, row in zip(labels, values, strict=True)
    ]
    return head, rows, len(names)


def _decimals(column: pd.Series, digits: int) -> int:
    """Return the number of decimals of a column: ranks need one or none."""
    if column.dtype.kind == "f":
        values = column.dropna()
        for decimals in range(min(2, digits)):
            if (values.round(decimals) == values).all():
                return decimals
    return digits


def _format_value(value: Any, digits: int) -> str:
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "NaN"
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _escape(text: str) -> str:
    return re.sub(r"[\\~^<>|&%$#_{}]", lambda match: SPECIAL[match[0]], _on_one_line(text))

"""Views of a single result in Python and notebooks."""

from __future__ import annotations

import math
from html import escape

from ..core.notebook_html import BLUE, CELL, LINE, MUTED, block, isolate, svg_text
from ..core.numbers import number, plain, typographic
from .evidence import ALL, GROUPS, MARKS, NONE, OUT_OF_REACH, PERMUTATION, UNTESTED
from .result import Result
from .result_text import Reading, one_line, read, text

__all__ = ["card", "one_line", "text"]

WIDTH, LEFT, RIGHT, Y = 580, 40, 540, 30  # size of the drawing, ends and height of its axis
RADIUS = 7  # radius of a value's mark
CLOSE = 62  # shorter intervals have one label for both ends
GREY = "background: rgba(128, 128, 128, .18);"
ORANGE = "background: rgba(230, 145, 20, .25);"
PILLS = {
    ALL: "background: rgba(47, 134, 193, .28);",
    PERMUTATION: ORANGE,
    GROUPS: ORANGE,
    NONE: GREY,
    OUT_OF_REACH: GREY,
    UNTESTED: GREY,
}


def card(result: Result) -> str:
    """Return a result as HTML for a notebook: the finding, the value on an axis, and the tests.

    Parameters
    ----------
    result
        A result of any metric, with or without a value.

    Returns
    -------
    str
        HTML with its own styles, for light and dark pages. Texts of the user are escaped.
    """
    reading = read(result)
    names = " · ".join(isolate(name) for name in (reading.label, result.model, result.query) if name)
    parts = [
        f'<div style="{MUTED} font-size: 12.5px;">{names}</div>',
        f'<div dir="auto" style="font-size: 17px; font-weight: 700; margin: 2px 0 6px;">'
        f"{escape(reading.finding.removesuffix('.'))}{_pill(result, reading)}</div>",
    ]
    if not math.isnan(result.value):
        parts.append(_axis(result, reading))
    parts.append(_table(result, reading))
    parts += [f'<div dir="auto" style="{MUTED} font-size: 12.5px;">{escape(n)}</div>' for n in reading.notes]
    return block("".join(parts))


def _pill(result: Result, reading: Reading) -> str:
    if not reading.evidence:
        return ""
    style = "border-radius: 9px; padding: 1px 9px; font-size: 12.5px; font-weight: 600;"
    return f' <span style="display: inline-block; {style} {PILLS[result.evidence]}">{reading.evidence}</span>'


def _table(result: Result, reading: Reading) -> str:
    interval = escape(reading.interval) if math.isnan(result.ci_low) else typographic(reading.interval)
    rows = [("Value", typographic(reading.value), interval)]
    rows += [(escape(row.long_name), row.p, escape(row.comment)) for row in reading.tests]
    if reading.standardized:
        standardized, comment = map(typographic, reading.standardized)
        rows.append(("Standardised bias", standardized, comment))
    rows.append(("Words used / missing", f"{result.words_used} / {result.words_lost}", ""))
    cells = "".join(
        f'<tr style="background: none;"><th scope="row" dir="auto" style="{CELL} font-weight: 400;">{name}</th>'
        f'<td style="{CELL} text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums;">'
        f'{cell}</td><td style="{CELL}">{comment}</td></tr>'
        for name, cell, comment in rows
    )
    return (
        '<table style="border-collapse: collapse; border: 0; font-size: 13px; margin: 6px 0 2px;">'
        f"{cells}</table>"
    )


def _axis(result: Result, reading: Reading) -> str:
    """Return a drawing of the value on an axis, with its interval and the no-bias value."""
    neutral = result.wording.neutral
    marks = [x for x in (result.value, neutral, result.ci_low, result.ci_high) if math.isfinite(x)]
    low, high = min(marks), max(marks)
    span = high - low or abs(high) or 1.0

    def place(value: float) -> float:
        share = 0.1 + 0.8 * (value - low) / span if high > low else 0.5
        return LEFT + (RIGHT - LEFT) * min(max(share, 0.0), 1.0)

    def label(x: float, y: float, value: str, style: str = MUTED) -> str:
        return svg_text(x, y, typographic(value), style)

    x = place(result.value)
    parts = [_line(LEFT, RIGHT, x, LINE)]
    if math.isfinite(neutral):
        zero = place(neutral)
        parts.append(f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="14" y2="62" {LINE} stroke-dasharray="3 3"/>')
        parts.append(label(zero, 75, f"{plain(neutral)} = no bias"))
    if math.isfinite(result.ci_low) and math.isfinite(result.ci_high):
        start, end = place(result.ci_low), place(result.ci_high)
        texts = [number(value, reading.digits) for value in (result.ci_low, result.ci_high)]
        parts.append(_line(start, end, x, f'stroke="{BLUE}" stroke-width="4"'))
        if end - start < CLOSE:
            parts.append(label((start + end) / 2, 54, " to ".join(texts)))
        else:
            parts += [label(start, 54, texts[0]), label(end, 54, texts[1])]
    parts.append(_mark(x, MARKS[result.evidence]))
    parts.append(label(x, 14, reading.value, "font-weight: 600;"))
    title = f"{reading.label} {reading.value}, {reading.interval or 'no interval'}; {plain(neutral)} means no bias"
    drawing = (
        f'<svg viewBox="0 0 {WIDTH} 80" role="img" aria-label="{escape(title)}" '
        f'style="width: 100%; max-width: {WIDTH}px; height: auto; display: block;">{"".join(parts)}</svg>'
    )
    return f"{drawing}{_ends(result)}"


def _line(start: float, end: float, gap: float, style: str) -> str:
    """Return a horizontal line with a gap for the mark."""
    pieces = ((start, min(end, gap - RADIUS)), (max(start, gap + RADIUS), end))
    return "".join(
        f'<line x1="{first:.1f}" x2="{last:.1f}" y1="{Y}" y2="{Y}" {style}/>'
        for first, last in pieces
        if first < last
    )


def _mark(x: float, mark: str) -> str:
    """Return a disc whose filling shows the strength of evidence."""
    fill = BLUE if mark == "full" else "none"
    disc = f'<circle cx="{x:.1f}" cy="{Y}" r="{RADIUS}" fill="{fill}" stroke="{BLUE}" stroke-width="2"/>'
    if mark == "half":
        disc += f'<path d="M{x:.1f} {Y - RADIUS} a{RADIUS} {RADIUS} 0 0 0 0 {2 * RADIUS} z" fill="{BLUE}"/>'
    return disc


def _ends(result: Result) -> str:
    """Return the names that low and high values are closer to, as the ends of the axis."""
    if not result.wording.ends:
        return ""
    low, high = (isolate(name) for name in result.wording.ends)
    return (
        f'<div dir="ltr" style="display: flex; justify-content: space-between; gap: 24px; max-width: {WIDTH}px; '
        f'{MUTED} font-size: 12.5px;"><span>\N{LEFTWARDS ARROW} {low}</span>'
        f"<span>{high} \N{RIGHTWARDS ARROW}</span></div>"
    )

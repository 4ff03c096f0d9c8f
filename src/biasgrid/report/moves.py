"""Picture of changed values: one row each, from the first study's value to the second's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import NamedTuple

from markupsafe import escape

from ..core.numbers import typeset

WIDTH, HEIGHT, MARGIN = 300, 18, 8


class Scale(NamedTuple):
    """Axis of one metric: its name, the ends, and the no-bias value, which may be NaN."""

    name: str
    low: float
    high: float
    neutral: float

    def place(self, value: float) -> float:
        """Return the horizontal position of a value."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return MARGIN + share * (WIDTH - 2 * MARGIN)


class Move(NamedTuple):
    """Change of a value: the name of its scale, its label, both values, and the first one's interval (or NaN)."""

    scale: str
    label: str
    before: float
    after: float
    low: float
    high: float


def draw(scales: Sequence[Scale], moves: Sequence[Move]) -> str:
    """Return the picture as HTML; empty without a change."""
    return "".join(part for scale in scales for part in _group(scale, moves))


def _group(scale: Scale, moves: Sequence[Move]) -> Iterator[str]:
    neutral = f", dashed line: no bias ({typeset(scale.neutral, 3)})" if isfinite(scale.neutral) else ""
    axis = f"axis from {typeset(scale.low, 3)} to {typeset(scale.high, 3)}{neutral}"
    yield f'<h3>{escape(scale.name)} <small>{axis}</small></h3><ul class="moves">'
    for move in moves:
        if move.scale == scale.name:
            text = f"{typeset(move.before, 3)} → {typeset(move.after, 3)}"
            yield f"<li><span>{escape(move.label)}</span>{_svg(scale, move, text)}<b>{text}</b></li>"
    yield "</ul>"


def _svg(scale: Scale, move: Move, text: str) -> str:
    middle = HEIGHT / 2
    before, after = scale.place(move.before), scale.place(move.after)
    parts = [f'<path class="axis" d="M0 {middle:g}H{WIDTH}"/>']
    if isfinite(scale.neutral):
        parts.append(f'<path class="neutral" d="M{scale.place(scale.neutral):.1f} 0V{HEIGHT}"/>')
    if isfinite(move.low) and isfinite(move.high):
        low, high = scale.place(move.low), scale.place(move.high)
        parts.append(f'<path class="interval" d="M{low:.1f} {middle:g}H{high:.1f}"/>')
    parts.append(f'<path class="way" d="M{before:.1f} {middle:g}H{after:.1f}"/>')
    parts.append(f'<circle class="before" cx="{before:.1f}" cy="{middle:g}" r="4"/>')
    parts.append(f'<circle class="after" cx="{after:.1f}" cy="{middle:g}" r="5"/>')
    inside = "".join(parts)
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(text)}">{inside}</svg>'

"""Marks of models on an axis in the report: inline SVG whose positions are percentages of any width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, isnan, log10

from ..core.numbers import number, plain
from ..figures.palette import model_looks, ordered
from ..tables.conclusions.overview import BASELINE, Mark

# Per cent of the width that are free at each end.
SIDE = 2.5
FEW_TICKS = 6
# A marker of matplotlib -> its path around (0, 0).
SHAPES = {
    "o": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    "s": "M-4.5-4.5h9v9h-9z",
    "D": "M0-6l6 6l-6 6l-6-6z",
    "^": "M0-6l6 10.5h-12z",
    "v": "M0 6l6-10.5h-12z",
    "P": "M-2-6h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
    "X": "M-6-3.5L-3.5-6L0-2.5L3.5-6L6-3.5L2.5 0L6 3.5L3.5 6L0 2.5L-3.5 6L-6 3.5L-2.5 0z",
    "<": "M-6 0l10.5-6v12z",
    ">": "M6 0l-10.5-6v12z",
    "*": "M0-6.5L1.6-2.2L6.2-2L2.5.7L3.8 5.3L0 2.6L-3.8 5.3L-2.5.7L-6.2-2L-1.6-2.2z",
    "d": "M0-6l3.6 6l-3.6 6l-3.6-6z",
}


@dataclass(frozen=True)
class Look:
    """Look of a model's marks: its colour on white and on black, and the path of its shape."""

    model: str
    light: str
    dark: str
    path: str


def looks(models: Iterable[str], order: Sequence[str]) -> list[Look]:
    """Return the looks of models' marks, as in the study's figures.

    Parameters
    ----------
    models
        Their keys.
    order
        The keys of all models of the study.
    """
    with ordered({"models": order}):
        found = model_looks(order)
    return [
        Look(key, found[key]["color"], _on_black(found[key]["color"]), SHAPES[found[key]["marker"]])
        for key in models
    ]


def _on_black(colour: str) -> str:
    """Return a colour of the same hue that is visible on black."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    brightness = (299 * red + 587 * green + 114 * blue) / 255_000
    white = max(0.0, 0.68 - brightness) / max(1 - brightness, 0.01)
    return "#" + "".join(f"{round(part + (255 - part) * white):02x}" for part in (red, green, blue))


@dataclass(frozen=True)
class Axis:
    """Axis from `low` to `high` with ticks.

    Parameters
    ----------
    low, high
        Its ends.
    ticks
        Value and label of each.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    @classmethod
    def of(cls, values: Sequence[float], ticks: int = FEW_TICKS) -> Axis:
        """Return an axis that contains all of these values and 0, with about `ticks` ticks."""
        numbers = [value for value in values if isfinite(value)]
        low, high = min([0.0, *numbers]), max([0.0, *numbers])
        if low == high:
            high = 1.0
        unit = 10.0 ** floor(log10((high - low) / ticks))
        step = next(unit * factor for factor in (1, 2, 5, 10) if (high - low) / (unit * factor) <= ticks)
        places = [i * step for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]
        return cls(low, high, tuple((place, plain(place)) for place in places))

    def at(self, value: float) -> str:
        """Return the position of a value as a percentage of the width; values beyond an end are moved to it."""
        inside = min(max(value, self.low), self.high)
        share = (inside - self.low) / ((self.high - self.low) or 1)
        return f"{SIDE + (100 - 2 * SIDE) * share:.1f}%"


def row_height(models: int) -> int:
    """Return the height in pixels of a row with marks of this number of models."""
    return max(21, 11 + 4 * models) if models > 4 else 21


def offset(place: int, models: int) -> float:
    """Return the distance of a model's mark below the middle of its row, so that equal values are visible."""
    return round((place - (models - 1) / 2) * (4 if models > 4 else 2.5), 1)


def value_text(mark: Mark, axis: str) -> str:
    """Return a mark's value in words: "6.6 SD (interval 4.1 to 9.0)"."""
    unit = " SD" if axis == BASELINE else ""
    interval = "" if isnan(mark.low) else f" (interval {number(mark.low, 2)} to {number(mark.high, 2)})"
    return f"{number(mark.value, 2)}{unit}{interval}"

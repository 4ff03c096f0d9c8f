"""Formats of numbers for people: report, terminal, figures, README. Tables and JSON have full precision."""

from __future__ import annotations

import math
from collections.abc import Callable

NO_VALUE = "no value"
DIGITS = 3
NOISE = 1e-15  # smaller values are rounding noise
LONGEST_COUNT = 10**12  # larger counts are written as powers of ten


def number(value: float | None, digits: int = DIGITS) -> str:
    """Return a value in significant digits: "0.934", "-12.3", "1,234", "2.7e-8".

    Values below .0001 and from a million on are written as powers of ten; in between, digits before the point
    are never rounded. Rounding noise (below 1e-15) is 0, and 0 has no sign. None and NaN are "no value".
    """
    if value is None or math.isnan(value):
        return NO_VALUE
    if math.isinf(value):
        return "-inf" if value < 0 else "inf"
    if abs(value) < NOISE:
        return "0"
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    exponent = int(power)
    if -4 <= exponent < 6:
        return f"{value:,.{max(digits - 1 - exponent, 0)}f}"
    return f"{_without_zeros(mantissa)}e{exponent}"


def plain(value: float | None, digits: int = 6) -> str:
    """Return an exact number, such as a rank, a level or a no-bias value: "1", "2.5", "0.05"."""
    return _without_zeros(number(value, digits))


def decimal(value: float, places: int = 2) -> str:
    """Return a number for a column of similar numbers: "0.93", "12.30"."""
    return NO_VALUE if math.isnan(value) else f"{value:z,.{places}f}"


def coefficient(value: float) -> str:
    """Return a `decimal` of at most 1, such as a correlation, without the zero before the point: ".93", "-.40"."""
    text = decimal(value)
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def interval(low: float, high: float, *digits: int, form: Callable[..., str] = number) -> str:
    """Return a confidence interval: "[0.410, 3.79]"."""
    return NO_VALUE if math.isnan(low) else f"[{form(low, *digits)}, {form(high, *digits)}]"


def p_number(p: float | None, at_most: bool = False) -> str:
    """Return a p-value in two significant digits without the zero before the point: ".012", "< .001", "1".

    `at_most` adds "≤", as in "≤ .012" (`caveats.is_at_floor`).
    """
    if p is None or math.isnan(p):
        return NO_VALUE
    if p < 0.001:
        return "< .001"
    text = number(p, 2)
    return "≤ " * at_most + text.removeprefix("0") if p < 0.995 else "1" if p == 1 else "> .99"


def p_value(p: float | None, name: str = "p", at_most: bool = False) -> str:
    """Return a p-value with its sign: "p = .012", "p < .001", "p ≤ .012"."""
    text = p_number(p, at_most)
    return f"{name} {text}" if text[0] in "<>≤" else f"{name} = {text}"


def share(value: float | None) -> str:
    """Return a share of 1 as a percentage: "94 %", "6 %", "0.4 %"; 100 % is all, and 0 % is nothing."""
    if value is None or math.isnan(value):
        return NO_VALUE
    if 0.995 <= value < 1:
        return "> 99 %"
    return f"{plain(100 * value, 1)} %" if value < 0.01 else f"{100 * value:.0f} %"


def count(value: int) -> str:
    """Return a whole number: "13,013"."""
    return f"{value:,}" if abs(value) < LONGEST_COUNT else number(value)


def typographic(text: str) -> str:
    """Return a number's text with typographic minus and infinity signs, for pages and figures."""
    return text.replace("-", "\N{MINUS SIGN}").replace("inf", "\N{INFINITY}")


def typeset(value: float | None, *digits: int, form: Callable[..., str] = number) -> str:
    """Return a number for pages and figures: `typographic`, and empty without a value."""
    return "" if value is None or math.isnan(value) else typographic(form(value, *digits))


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text

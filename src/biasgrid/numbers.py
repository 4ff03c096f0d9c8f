"""How a number is written where people read it: page, terminal, figures, README. Tables and JSON have it in full."""

from __future__ import annotations

import math
from collections.abc import Callable

NO_VALUE = "no value"
DIGITS = 3
NOISE = 1e-15  # rounding noise is below
LONGEST_COUNT = 10**12  # a count from here on is a power of ten


def number(value: float | None, digits: int = DIGITS) -> str:
    """A value in significant digits: "0.934", "-12.3", "1,234", "2.7e-8".

    Below .0001 and from a million on, it is a power of ten; between, no digit before the point is rounded. Rounding
    noise (below 1e-15) is 0, and 0 has no sign. None and NaN are "no value".
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
    """A number that is exact, such as a rank, a level or a neutral value: "1", "2.5", "0.05"."""
    return _without_zeros(number(value, digits))


def decimal(value: float, places: int = 2) -> str:
    """A number in a cell or column of its like, which are read beside each other: "0.93", "12.30"."""
    return NO_VALUE if math.isnan(value) else f"{value:z,.{places}f}"


def coefficient(value: float) -> str:
    """A `decimal` that is at most 1, such as a correlation, without the zero before the point: ".93", "-.40"."""
    text = decimal(value)
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def interval(low: float, high: float, *digits: int, form: Callable[..., str] = number) -> str:
    """A confidence interval: "[0.410, 3.79]"."""
    return NO_VALUE if math.isnan(low) else f"[{form(low, *digits)}, {form(high, *digits)}]"


def p_number(p: float | None, at_most: bool = False) -> str:
    """A p-value in two significant digits without the zero before the point: ".012", "< .001", "1"; "≤ .012" where
    it is `at_most` so large (`caveats.is_at_floor`)."""
    if p is None or math.isnan(p):
        return NO_VALUE
    if p < 0.001:
        return "< .001"
    text = number(p, 2)
    return "≤ " * at_most + text.removeprefix("0") if p < 0.995 else "1" if p == 1 else "> .99"


def p_value(p: float | None, name: str = "p", at_most: bool = False) -> str:
    """A p-value with its sign: "p = .012", "p < .001", "p ≤ .012"."""
    text = p_number(p, at_most)
    return f"{name} {text}" if text[0] in "<>≤" else f"{name} = {text}"


def share(value: float | None) -> str:
    """A share of 1 as a percentage: "94 %", "6 %", "0.4 %"; 100 % is all, and 0 % is nothing."""
    if value is None or math.isnan(value):
        return NO_VALUE
    if 0.995 <= value < 1:
        return "> 99 %"
    return f"{plain(100 * value, 1)} %" if value < 0.01 else f"{100 * value:.0f} %"


def count(value: int) -> str:
    """A whole number: "13,013"."""
    return f"{value:,}" if abs(value) < LONGEST_COUNT else number(value)


def typographic(text: str) -> str:
    """A number's text with the signs of minus and infinity, for pages and figures; not every terminal shows them."""
    return text.replace("-", "\N{MINUS SIGN}").replace("inf", "\N{INFINITY}")


def typeset(value: float | None, *digits: int, form: Callable[..., str] = number) -> str:
    """A number for pages and figures: `typographic`, and empty where there is no value."""
    return "" if value is None or math.isnan(value) else typographic(form(value, *digits))


def _without_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text

"""How a number is written where people read it: page, terminal, figures, README. Tables and JSON have it in full."""

from __future__ import annotations

import math

NO_VALUE = "no value"
DIGITS = 3


def number(value: float | None, digits: int = DIGITS) -> str:
    """A value in significant digits: "0.934", "-12.3", "1,234", "2.7e-8".

    Below .001 and from a million on, it is a power of ten; between, no digit before the point is rounded. Rounding
    noise (below 1e-15) is 0, and 0 has no sign. None and NaN are "no value".
    """
    if value is None or math.isnan(value):
        return NO_VALUE
    if math.isinf(value):
        return "-inf" if value < 0 else "inf"
    if abs(value) < 1e-15:
        return "0"
    text = f"{value:.{digits - 1}e}"
    mantissa, _, power = text.partition("e")
    exponent = int(power)
    if exponent < -3 or exponent >= 6:
        return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{exponent}"
    return f"{value:,.{max(digits - 1 - exponent, 0)}f}"


def interval(low: float, high: float) -> str:
    """A confidence interval: "[0.41, 3.79]"."""
    return f"[{number(low)}, {number(high)}]"


def p_number(p: float) -> str:
    """A p-value in two significant digits without the zero before the point: ".012", "< .001", "1"."""
    if math.isnan(p):
        return NO_VALUE
    if p < 0.001:
        return "< .001"
    text = f"{p:.{max(2, 1 - math.floor(math.log10(p)))}f}"
    return "1" if p == 1 else "> .99" if text == "1.00" else text.removeprefix("0")


def p_value(p: float) -> str:
    """A p-value with its sign: "p = .012", "p < .001"."""
    text = p_number(p)
    return f"p {text}" if text[0] in "<>" else f"p = {text}"


def share(value: float) -> str:
    """A share of 1 as a percentage: "94 %", "0.4 %"."""
    return f"{number(100 * value, 2)} %"


def count(value: int) -> str:
    """A whole number: "13,013"."""
    return f"{value:,}"


def typographic(text: str) -> str:
    """A number's text with the minus sign, for pages and figures; terminals have the hyphen, which all of them show."""
    return text.replace("-", "\N{MINUS SIGN}")

"""Numbers as sentences and tables show them."""

import math


def number(value: float) -> str:
    if math.isnan(value):
        return "no value"
    # rounding noise is 0, and 0 has no sign
    return f"{value if abs(value) > 1e-12 else 0.0:.3g}".replace("-", "−")

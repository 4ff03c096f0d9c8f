"""Numbers as sentences and tables show them."""

from ..numbers import plain, typographic


def number(value: float) -> str:
    """Constructions are of round numbers, and so are most values; what rounding leaves of 0 is 0."""
    return typographic(plain(round(value, 12), 3))

"""Format of numbers in sentences and tables."""

from biasgrid.core.numbers import plain, typographic


def number(value: float) -> str:
    """Format a number without rounding noise: constructions, and most values, are round numbers."""
    return typographic(plain(round(value, 12), 3))

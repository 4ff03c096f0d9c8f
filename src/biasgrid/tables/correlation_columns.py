"""Columns that all tables of correlations have."""

from __future__ import annotations

from ..measure.statistics.correlation import METHODS
from .column import Column


def correlation_columns(
    variables: str, n: str, units: str, empty: str = "", draws: int = 2000
) -> tuple[Column, ...]:
    """Return columns for the method, n, the correlation and the ends of its interval.

    Parameters
    ----------
    variables
        The two variables, such as "values and quantity".
    n
        Description of the number n.
    units
        Units that the bootstrap resamples.
    empty
        When the correlation is empty; by default, with fewer than three units.
    draws
        Number of resamples of the bootstrap.
    """
    return (
        Column(
            "method",
            f"type of correlation between {variables}. pearson: of the values; spearman: of their ranks",
            values=METHODS,
        ),
        Column.count("n", n),
        Column.correlation(
            "correlation",
            f"the correlation; 0 means no relation. Empty {empty or f'with fewer than three {units}'}",
        ),
        Column.correlation(
            "ci_low", f"lower end of its 95 % interval (percentiles of {draws:,} resamples of {units})"
        ),
        Column.correlation("ci_high", "upper end of the same interval"),
    )

"""Which units are compared, and on which rows: like with like.

Where units lost values of different rows, their aggregates are of different questions. So units that have values on
most rows are ranked on the rows that all of them have, and the others are not ranked. Means over the rows that only
two units share would order more units, but they go in a circle: a before b, b before c, c before a.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

COVERAGE = 2 / 3  # the share of rows on which a unit needs values to be ranked
FEWEST_QUERIES = 5  # two units are not compared on fewer queries
FEW_QUERIES = "too few queries"  # of a unit: values on less than `coverage` of the rows
FEW_UNITS = "too few models"  # fewer than two units have values on so many
FEW_SHARED = "too few shared queries"  # of those that are to be ranked, or of a pair
NO_VALUE = "no value"


@dataclass(frozen=True)
class Shared:
    """Which units are ranked, and on which rows.

    units   (units,) which are ranked; none, or at least two
    rows    (rows,) on which: those that all of these have
    reason  why no unit is ranked; empty where some are
    """

    units: np.ndarray
    rows: np.ndarray
    reason: str = ""


def shared_rows(has_value: np.ndarray, coverage: float = COVERAGE) -> Shared:
    """The units that have values on enough rows, and the rows that all of them have.

    Parameters
    ----------
    has_value
        Which unit has a value on which row, (rows, units).
    coverage
        The share of rows on which a unit needs values, from 0 to 1. Shares are compared to three decimals: 6 of 9
        rows are 2/3, however the share was written.

    Returns
    -------
    Shared
        No units and no rows where fewer than two units have so many values, or where those that do share fewer than
        half of the rows.
    """
    rows, units = has_value.shape
    shares = has_value.sum(axis=0) / max(rows, 1)
    ranked_units = (np.round(shares, 3) >= round(coverage, 3)) & (shares > 0)
    common_rows = np.all(has_value[:, ranked_units], axis=1)
    if ranked_units.sum() < 2:
        reason = FEW_UNITS
    elif 2 * common_rows.sum() < rows:
        reason = FEW_SHARED
    else:
        return Shared(ranked_units, common_rows)
    return Shared(np.zeros(units, dtype=bool), np.zeros(rows, dtype=bool), reason)


def count_complete(rows: np.ndarray, queries: np.ndarray) -> int:
    """How many queries have all of their rows among some.

    Parameters
    ----------
    rows
        Which rows, (rows,) of bool.
    queries
        Which rows a query has, (queries, rows) of bool. A row may be of several: queries share sub-queries.
    """
    return int((~(queries & ~rows).any(axis=1)).sum())


def is_comparable(shared_queries: int, queries: int) -> bool:
    """Whether two units that share so many of a criterion's queries can be compared: on `FEWEST_QUERIES`, or on all
    of the criterion's where it has fewer."""
    return shared_queries >= min(FEWEST_QUERIES, queries)

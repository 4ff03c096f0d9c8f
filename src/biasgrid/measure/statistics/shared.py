"""Units and rows for fair comparisons: units are compared on the same rows only.

If units lack values on different rows, their aggregates cover different queries. Units with values on most rows are
therefore ranked on the rows that all of them have, and the other units are not ranked. Means over the rows that
only two units share would order more units, but in a circle: a before b, b before c, c before a.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Share of rows on which a unit needs values to be ranked.
COVERAGE = 2 / 3
# Two units are not compared on fewer queries.
FEWEST_QUERIES = 5
# Reasons of units that are not ranked. The unit has values on less than `coverage` of the rows:
FEW_QUERIES = "too few queries"
# Fewer than two units have values on enough rows:
FEW_UNITS = "too few models"
# The units to rank, or the two units of a pair, share too few queries:
FEW_SHARED = "too few shared queries"
NO_VALUE = "no value"


@dataclass(frozen=True)
class Shared:
    """Ranked units, and the rows on which they are ranked.

    Attributes
    ----------
    units
        (units,) true for ranked units: none, or at least two.
    rows
        (rows,) true for the rows that all ranked units have.
    reason
        Reason why no unit is ranked; empty if some are.
    """

    units: np.ndarray
    rows: np.ndarray
    reason: str = ""


def shared_rows(has_value: np.ndarray, coverage: float = COVERAGE) -> Shared:
    """Find the units with values on enough rows, and the rows that all of them have.

    Parameters
    ----------
    has_value
        (rows, units) true if the unit has a value on the row.
    coverage
        Share of rows on which a unit needs values, from 0 to 1. Shares are compared to three decimals: 6 of 9 rows
        are 2/3, however the share was written.

    Returns
    -------
    Shared
        Without units and rows if fewer than two units have values on enough rows, or if these units share fewer
        than half of the rows.
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
    """Count the queries whose rows are all among the given rows.

    Parameters
    ----------
    rows
        (rows,) true for the given rows.
    queries
        (queries, rows) true for the rows of each query. A row may belong to several queries, which then share
        sub-queries.
    """
    return int((~(queries & ~rows).any(axis=1)).sum())


def is_comparable(shared_queries: int, queries: int) -> bool:
    """Return whether two units share enough of a criterion's queries to be compared.

    They need `FEWEST_QUERIES`, or all of the criterion's queries if it has fewer.
    """
    return shared_queries >= min(FEWEST_QUERIES, queries)

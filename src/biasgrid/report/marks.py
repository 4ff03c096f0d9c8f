"""Marks of significance: characters next to scores, and the phrases that they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..measure import significance
from ..measure.evidence import ALL, GROUPS, MARKS, NONE, PERMUTATION, PHRASES

if TYPE_CHECKING:
    import pandas as pd

CHARACTERS = {"full": "●", "half": "◐", "open": "○", "dot": "", "": ""}
SIGNIFICANT = (ALL, PERMUTATION, GROUPS)


def mark_of(verdict: str) -> str:
    """Return the character next to a score: filled for every test, half for one of two, open for none."""
    return CHARACTERS[MARKS[verdict]]


def legend() -> list[tuple[str, str]]:
    """Return the marks with their meanings, the strongest first."""
    return [
        (mark_of(ALL), PHRASES[ALL]),
        (mark_of(PERMUTATION), PHRASES[PERMUTATION].partition(":")[0]),
        (mark_of(NONE), PHRASES[NONE]),
    ]


def explained_by_frequency(scores: pd.DataFrame, level: float) -> list[tuple[int, int, str]]:
    """Count significant scores that are not significant once word frequency is controlled for.

    Returns
    -------
    list of tuple
        For each test that does not reject for some of these scores: their number, the number of scores with the test,
        and its name.
    """
    is_marked = scores["evidence"].isin(SIGNIFICANT)
    counts = []
    for test in significance.tests():
        if not test.by_frequency:
            continue
        p_values = scores.loc[is_marked, test.adjusted].dropna()
        if count := int((p_values > 1 - level + 1e-12).sum()):
            counts.append((count, len(p_values), f"the {test.noun}"))
    return counts

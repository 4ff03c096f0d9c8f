"""Marks of what scores are evidence for: characters beside their values, and the legend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..inference import significance
from ..verdicts.evidence import ALL, GROUPS, MARKS, MEANINGS, PERMUTATION
from ..verdicts.reliability import ORDER, SIGN

if TYPE_CHECKING:
    import pandas as pd

# of scores that another list of words may turn
TURNS = {SIGN: "±", ORDER: "≷"}
WORDS = "↕"  # of scores whose words other items would order otherwise
CHARACTERS = {"full": "●", "half": "◐", "open": "○", "dot": "·", "": ""}


def mark_of(verdict: str) -> str:
    """The character beside a score; of the two halves the right one is that of random groups."""
    return "◑" if verdict == GROUPS else CHARACTERS[MARKS[verdict]]


def legend() -> list[tuple[str, str]]:
    """The marks with what they mean, the strongest first."""
    marks = list(CHARACTERS)
    verdicts = sorted(MARKS, key=lambda verdict: marks.index(MARKS[verdict]))
    return [(mark_of(verdict) or "no mark", MEANINGS[verdict]) for verdict in verdicts]


def explained_by_frequency(scores: pd.DataFrame, level: float) -> list[tuple[int, int, str]]:
    """Where tests by frequency disagree with full and half marks.

    Returns
    -------
    list of tuple
        Of each test that does not reject for some of these scores: for how many, of how many that have it, and its
        name.
    """
    is_marked = scores["evidence"].isin([ALL, PERMUTATION, GROUPS])
    counts = []
    for test in significance.tests():
        if not test.by_frequency:
            continue
        p_values = scores.loc[is_marked, test.adjusted].dropna()
        if count := int((p_values > 1 - level + 1e-12).sum()):
            counts.append((count, len(p_values), f"the {test.noun}"))
    return counts

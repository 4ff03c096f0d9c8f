"""How many scores and aggregates have full marks, and what could have none: a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, isclose
from typing import TYPE_CHECKING, Any

from ..debias import UNTOUCHED
from .evidence import ALL, MARKS, OUT_OF_REACH, UNTESTED
from .text import join_names, pluralize

if TYPE_CHECKING:
    import pandas as pd


def of_full_marks(tables: Mapping[str, pd.DataFrame], spec: Mapping[str, Any]) -> str:
    """How many scores and aggregates all their tests are significant of, and how many could not be."""
    marked = {}
    for name in ("scores", "aggregates"):
        table = tables.get(name)
        if table is None or not {"evidence", "tests", "p_lowest"} <= {*table.columns}:
            continue
        # of aggregates, the one that ranks has a test; debiased states are a family of their own
        rows = table if name == "scores" else table[(table["tests"] > 0) & (table["debias"] == UNTOUCHED)]
        if rows["evidence"].isin(MARKS.keys() - {UNTESTED}).any():
            marked[name] = rows
    if not marked:
        return ""
    full = {name: rows[rows["evidence"] == ALL] for name, rows in marked.items()}
    counts = [f"{len(full[name]):,} of {len(rows):,} {name}" for name, rows in marked.items()]
    by_one = {name: int((rows["tests"] == 1).sum()) for name, rows in full.items()}
    if sum(by_one.values()) == sum(map(len, full.values())):
        note = ", all by one test" if sum(by_one.values()) else ""
    else:
        note = (
            f", {join_names(f'{n:,}' for n in by_one.values())} of them by one test"
            if any(by_one.values())
            else ""
        )
    verb = "has" if len(counts) == 1 and len(*full.values()) == 1 else "have"
    marks = f"{verb} full marks (all tests of words are significant)"
    return f"{join_names(counts)} {marks}{note}{_untested(marked)}{_out_of_reach(marked, spec)}."


def _untested(marked: Mapping[str, pd.DataFrame]) -> str:
    """Why no score of two tests can have a full mark, where the study asks for one of them alone."""
    scores = marked.get("scores")
    if scores is None or not (scores["tests"] > 1).any():
        return ""
    lacks = "p_groups" in scores and scores["p_groups"].isna().all()
    return "; without the test against random groups (random_groups) half a mark is the most" if lacks else ""


def _out_of_reach(marked: Mapping[str, pd.DataFrame], spec: Mapping[str, Any]) -> str:
    """How many scores and aggregates could have no full mark, whatever their values, and what would do."""
    words: dict[str, int] = {}
    draws: dict[str, int] = {}
    needed_draws = 0
    for name, rows in marked.items():
        for _, family in rows.groupby("criterion"):
            out = family[family["evidence"] == OUT_OF_REACH]
            numbers = [_draws_needed(p, family, spec) for p in out["p_lowest"]]
            needed_draws = max([needed_draws, *numbers])
            for counts, n in ((words, numbers.count(0)), (draws, len(numbers) - numbers.count(0))):
                counts[name] = counts.get(name, 0) + n
    parts: list[str] = []
    for counts, what, remedy in (
        (words, "words", ""),
        (draws, "draws", f" (about {needed_draws:,} would do)"),
    ):
        things = [pluralize(n, name.removesuffix("s")) for name, n in counts.items() if n]
        if things:
            verb, purpose = (
                ("", "") if parts else (" has" if sum(counts.values()) == 1 else " have", " for any mark")
            )
            parts.append(f"{join_names(things)}{verb} too few {what}{purpose}{remedy}")
    return f"; {', '.join(parts)}" if parts else ""


def _draws_needed(p_lowest: float, family: pd.DataFrame, spec: Mapping[str, Any]) -> int:
    """How many draws would let a test that is out of reach be significant; 0 where none would: its permutations are
    enumerated, or there are too few topics.

    A p-value of k / (n + 1), the smallest of n draws, k the tails, is significant among m tests of which R are if it
    is at most (1 - level) (R + 1) / m (Benjamini and Hochberg), or (1 - level) / (m - R) (Holm).
    """
    limited = [(k, n) for n in spec["draws"] for k in (1, 2) if isclose(p_lowest, k / (n + 1), rel_tol=1e-9)]
    if not limited:
        return 0
    tails, draws = limited[0]
    tests, significant = int((family["evidence"] != UNTESTED).sum()), int((family["evidence"] == ALL).sum())
    share = tests - significant if spec["adjust"] == "holm" else tests / (significant + 1)
    # to two digits
    number = max(tails * share / (1 - spec["level"]), draws + 1)
    unit = 10 ** max(0, len(str(int(number))) - 2)
    return ceil(number / unit) * unit

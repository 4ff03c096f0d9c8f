"""On which queries there is evidence of bias, in how many of the models: a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, isclose
from typing import TYPE_CHECKING, Any

from ..debias import UNTOUCHED
from ..statistics.scale import NO_BASELINE
from .evidence import ALL, OUT_OF_REACH, UNTESTED
from .text import join_names, pluralize

if TYPE_CHECKING:
    import pandas as pd

MOST_NAMED = 3  # queries of a criterion
NO_GROUPS = (
    "Nothing is evidence of bias without the test against random groups, which was not made (random_groups)"
)
NO_TEST = "Nothing is evidence of bias without the test against random groups, which no score has"


def of_findings(tables: Mapping[str, pd.DataFrame], spec: Mapping[str, Any]) -> str:
    """Say on which queries of each criterion original models have a score with evidence by every test, and what could
    have no evidence.

    A query counts once for a model, by whichever metrics. Metrics that can have one test alone, as MAC, do not count
    beside those that have two.
    """
    scores = tables.get("scores")
    if scores is None or not {"evidence", "tests", "p_lowest"} <= {*scores.columns}:
        return ""
    scores = scores[(scores["debias"] == UNTOUCHED) & (scores["evidence"] != UNTESTED)]
    if scores.empty:
        return ""
    is_of_two = scores["tests"] > 1
    without_groups = bool(is_of_two.any() and "p_groups" in scores and scores["p_groups"].isna().all())
    has_two = bool(is_of_two.any()) and not without_groups
    rows = scores[is_of_two] if has_two else scores[~is_of_two]
    no_baseline = _no_baseline(tables["scores"])
    why_none = NO_TEST if no_baseline else NO_GROUPS
    rest = f"{_out_of_reach(scores, spec)}{no_baseline}"
    if rows.empty:
        return f"{why_none}{rest}."
    found, nothing = [], []
    for criterion, of_criterion in rows.groupby("criterion", sort=False):
        if queries := _queries(of_criterion):
            found.append(f"on {criterion} in {join_names(queries)}")
        else:
            nothing.append(str(criterion))
    by = "both tests" if has_two else "the one test that the metrics have"
    none = f"none on {join_names(nothing, 'or')}" if nothing else ""
    if not found:
        text = f"By {by} there is evidence of bias on no query, which does not prove that there is none"
    else:
        text = f"By {by} there is evidence of bias {'; '.join(filter(None, [*found, none]))}"
    return f"{text}{f'. {why_none}' if without_groups else ''}{rest}."


def _queries(rows: pd.DataFrame) -> list[str]:
    """Return the queries with evidence, those of most models first: "A wrt B (2 of 4 models)"."""
    counts = []
    for query, of_query in rows.groupby("query", sort=False):
        models = of_query.loc[of_query["evidence"] == ALL, "model"].nunique()
        if models:
            counts.append((models, of_query["model"].nunique(), str(query)))
    counts.sort(key=lambda entry: -entry[0])
    named = [f"{query} ({found} of {pluralize(of, 'model')})" for found, of, query in counts[:MOST_NAMED]]
    rest = len(counts) - len(named)
    return [*named, pluralize(rest, "more query", "more queries")] if rest else named


def _out_of_reach(scores: pd.DataFrame, spec: Mapping[str, Any]) -> str:
    """Say how many scores could not be significant, whatever their values, and what would do."""
    needed = [
        _draws_needed(p_lowest, family, spec)
        for _, family in scores.groupby("criterion")
        for p_lowest in family.loc[family["evidence"] == OUT_OF_REACH, "p_lowest"]
    ]
    parts: list[str] = []
    for number, what in (
        (needed.count(0), "too few words"),
        (len(needed) - needed.count(0), f"too few draws (about {max(needed, default=0):,} would do)"),
    ):
        if number:
            verb = "" if parts else " has" if number == 1 else " have"
            parts.append(f"{pluralize(number, 'score')}{verb} {what}")
    return f"; {', '.join(parts)} to be significant" if parts else ""


def _no_baseline(scores: pd.DataFrame) -> str:
    """Say how many scores of original models have no baseline, of which criteria, and why."""
    if "no_baseline" not in scores:
        return ""
    without = scores[(scores["debias"] == UNTOUCHED) & (scores["no_baseline"] != "")]
    if without.empty:
        return ""
    verb = "has" if len(without) == 1 else "have"
    criteria = join_names([*dict.fromkeys(without["criterion"].astype(str))])
    reasons = [*dict.fromkeys(without["no_baseline"].astype(str))]
    # records of older code have a sentence of its own for each score
    why = f" ({join_names(reasons, 'or')})" if len(reasons) <= MOST_NAMED else ""
    return f"; {pluralize(len(without), 'score')} on {criteria} {verb} {NO_BASELINE}{why}"


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

"""Queries on which a metric finds two models biased in opposite directions, with evidence on both sides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...core.phrases import pluralize
from ...debias import UNTOUCHED
from ...measure.evidence import ALL, UNTESTED

if TYPE_CHECKING:
    import pandas as pd

PLACE = ["criterion", "metric", "query", "query_id"]
READ = {*PLACE, "model", "debias", "value", "evidence"}


def directions(scores: pd.DataFrame | None, sides: Iterable[tuple[str, str, float]]) -> pd.DataFrame:
    """Return the (sub-)queries on which a metric shows directions, and whether models differ in direction.

    Two models differ in direction if one score is above the no-bias value and one below, and if all tests of the
    metric are significant for both. Signs of other scores may be noise around the no-bias value, and do not count.

    Parameters
    ----------
    scores
        scores.csv. None, or a table of older code, has an empty result.
    sides
        (criterion, metric, no-bias value) of each metric whose sign is a direction of bias.

    Returns
    -------
    DataFrame
        One row for each metric and (sub-)query for which two or more models without debiasing have a tested score:
        the columns of `PLACE`, and `is_opposed`.
    """
    import pandas as pd

    if scores is None or not set(scores) >= READ:
        return pd.DataFrame(columns=[*PLACE, "is_opposed"])
    neutral = pd.DataFrame(list(sides), columns=["criterion", "metric", "neutral"])
    rows = scores[scores["value"].notna() & (scores["debias"] == UNTOUCHED)]
    rows = rows[rows["evidence"] != UNTESTED].merge(neutral)
    has_evidence = rows["evidence"] == ALL
    rows["above"] = (rows["value"] > rows["neutral"]) & has_evidence
    rows["below"] = (rows["value"] < rows["neutral"]) & has_evidence
    places = rows.groupby(PLACE, sort=False).agg({"model": "size", "above": "any", "below": "any"})
    places = places[places["model"] > 1].reset_index()
    return places.assign(is_opposed=places["above"] & places["below"])[[*PLACE, "is_opposed"]]


def of_directions(table: pd.DataFrame) -> str:
    """Say on how many queries models differ in direction by any metric; empty if the table is empty."""
    by_query = table.groupby(["criterion", "query_id"])["is_opposed"].any()
    if by_query.empty:
        return ""
    queries = pluralize(len(by_query), "query", "queries")
    finding = "two models biased in opposite directions"
    if not by_query.any():
        return f"No metric finds {finding} on any of {queries}."
    return f"On {by_query.sum():,} of {queries}, a metric finds {finding}."

"""Section on the study's words that are most strongly associated with either of two groups, by metric."""

from __future__ import annotations

from typing import Any

from ...tables.words import cell_words
from .section import ReportData, Section

# Number of words of each group.
SHOWN = 5


def make(material: ReportData) -> dict[str, Any]:
    """Return the words by criterion, query and metric: each model's words furthest towards both groups, in order.

    Values are not shown: metrics differ in their units, and the table lacks random words for comparison.
    """
    if "words" not in material.tables:
        return {"groups": []}
    table = material.tables["words"]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for place in material.spec["words"]:
        values = cell_words(table, place).dropna(subset="value").set_index("word")["value"]
        if values.empty:
            continue
        order = values.sort_values(ascending=False, kind="stable")
        key = (place["criterion"], " / ".join(place["queries"]), place["metric"], tuple(place["poles"]))
        groups.setdefault(key, []).append(
            {
                "state": (place["model"], place["debias"]),
                "number": len(values),
                "first": order[order > 0].index[:SHOWN].tolist(),
                "second": order[order < 0].index[::-1][:SHOWN].tolist(),
            }
        )
    return {
        "groups": [
            {"criterion": criterion, "query": query, "metric": metric, "poles": poles, "rows": rows}
            for (criterion, query, metric, poles), rows in groups.items()
        ]
    }


SECTIONS = (
    Section(
        "group-words",
        "Words most associated with each group",
        ("words",),
        make,
        "group_words.html",
        place=47,
        lead="words of the study's own sets, by metric and model",
        nav="Words",
    ),
)

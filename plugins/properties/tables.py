"""Tables of the property matrix and its counterexamples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from biasgrid.core.schema import as_finite

from .numbers import number
from .questions import NOT_EXAMINED, ORDERED, PROPERTIES, SHORT
from .settings import Sets
from .verdicts import Verdict, by_row


def table(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """Return the rows of properties.csv."""
    return [
        {
            "metric": v.metric,
            "label": v.label,
            "level": v.level,
            "property": v.property,
            "condition": v.condition,
            "holds": v.holds,
            "paper": v.paper,
            "construction": v.example.settings[0].name if v.example else "",
            "tried": v.tried,
            "note": v.note,
        }
        for v in verdicts
    ]


def examples(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return the counterexamples, vectors and values: one setting, or two whose values contradict each other.

    `nearness` is s(w, A), one row per word, in the order of the sets of words. For "comparable", the two sets of
    words give the smallest and the largest value.
    """
    return {
        v.key: {
            "metric": v.metric,
            "statement": v.note,
            "settings": [
                as_finite(
                    {
                        "name": setting.name,
                        "groups": _rows_of(setting.groups),
                        "words": _rows_of(setting.words),
                        "nearness": setting.truth.leanings.round(12).tolist(),
                        "values": [round(value, 12) + 0.0 for value in values],
                    }
                )
                for setting, values in zip(v.example.settings, v.example.values, strict=True)
            ],
        }
        for v in verdicts
        if v.example
    }


def markdown(verdicts: Sequence[Verdict]) -> str:
    """Format the matrix as Markdown: docs/property-matrix.md."""
    lines = ["# The property matrix", ""]
    lines += [
        "Made by `biasgrid properties`. [What is asked, and what an answer is",
        "worth](../plugins/properties/README.md#what-is-asked). The [counterexamples of",
        "vectors](property-counterexamples.csv); those of texts and scores are on the [metrics' pages](metrics.md).",
        "",
    ]
    lines += [
        "| metric | of | " + " | ".join(SHORT.values()) + " |",
        "|" + " --- |" * (len(SHORT) + 2),
    ]
    for (label, level), row in by_row(verdicts).items():
        cells = [cell(row.get((name, "")), row.get((name, ORDERED))) for name in PROPERTIES]
        lines.append(f"| {label} | {level} | {' | '.join(cells)} |")
    left_out: dict[str, list[str]] = {}
    for v in verdicts:
        if v.holds == NOT_EXAMINED:
            left_out.setdefault(v.note, []).append(v.label)
    lines += [f"\nNot examined: {', '.join(labels)}: {note}." for note, labels in left_out.items()]
    return "\n".join(lines) + "\n"


def coordinates(verdicts: Sequence[Verdict]) -> list[dict[str, str]]:
    """Return every counterexample of vectors, one row per setting: docs/property-counterexamples.csv."""
    rows = []
    for v in verdicts:
        for setting, values in zip(v.example.settings, v.example.values, strict=True) if v.example else ():
            groups, words = (_format_sets(sets) for sets in (setting.groups, setting.words))
            rows.append(
                {
                    "metric": v.label,
                    "of": v.level,
                    "property": SHORT[v.property] + (", sets ordered" if v.condition else ""),
                    "where": setting.name,
                    "groups": " and ".join(groups),
                    "words": "; ".join(words),
                    # For "comparable", show the smallest value and the largest.
                    "value": " to ".join(
                        map(number, values[:2] if v.property == "comparable" else values[:1])
                    ),
                }
            )
    return rows


def cell(verdict: Verdict | None, ordered_verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    text = f"**{verdict.holds}**" if verdict.paper else verdict.holds
    if ordered_verdict and ordered_verdict.holds != verdict.holds:
        text += (
            f"; if ordered **{ordered_verdict.holds}**"
            if ordered_verdict.paper
            else f"; if ordered {ordered_verdict.holds}"
        )
    return text


def _rows_of(sets: Sets) -> list[list[list[float]]]:
    return [(rows.round(12) + 0.0).tolist() for rows in sets]


def _format_sets(sets: Sets) -> list[str]:
    return [" ".join("(" + ", ".join(map(number, row)) + ")" for row in rows) for rows in sets]

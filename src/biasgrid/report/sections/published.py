"""Section on published numbers next to the study's numbers, each with the result of the check."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ...core.phrases import join_names
from ...tables.published.quantities import name_of
from ...tables.published.verdict import AGREEING, MEANINGS, UNJUDGED
from ...tables.published.wholes import counted
from .section import ReportData, Section

if TYPE_CHECKING:
    import pandas as pd

# Short meanings of some results of the check.
SHORT = {
    "reproduced": "our value rounds to the published one, or lies within chance of it",
    "compatible": "one random run was published, and our value is within two standard deviations",
    "explained": "a test recomputes the published number from the cause of the difference",
    "differs": "none of the above",
}


def make(material: ReportData) -> dict[str, Any]:
    spec, names = material.spec, material.names
    without = spec.get("without", [])
    if (table := material.tables.get("comparison")) is None or table.empty:
        return {"table": None, "without": without}
    counts = table["verdict"].value_counts()
    metrics = set(table["metric"].str.split("~").explode())
    models = set(table["model"].str.partition(" under ")[0])
    missing = [
        join_names(map(name, keys))
        for name, keys in (
            (names.label, [key for key in spec["metrics"] if key not in metrics]),
            (names.label, [key for key in spec["models"] if key not in models]),
        )
        if keys
    ]
    notes: dict[str, int] = {}
    return {
        "table": table,
        "strip": [_strip(verdicts, *nouns) for nouns, verdicts in counted(table).items()],
        "sources": [
            {"name": source, "tables": _tables(rows, notes, material)}
            for source, rows in table.groupby("source", sort=False)
        ],
        "notes": notes,
        "missing": " or of ".join(missing),
        "verdicts": [
            (name, counts[name], SHORT.get(name, meaning).replace("`", ""))
            for name, meaning in MEANINGS.items()
            if name in counts
        ],
    }


def _strip(verdicts: pd.Series, noun: str, plural: str) -> dict[str, Any]:
    """Count the reproduced published numbers of a kind, and the other results."""
    judged = verdicts[~verdicts.isin(UNJUDGED)]
    others = verdicts[verdicts != "reproduced"].value_counts()
    return {
        "same": int((judged == "reproduced").sum()),
        "of": len(judged),
        "noun": f"published {noun if len(judged) == 1 else plural}",
        "others": [(name, int(number)) for name, number in others.items()],
        "agrees": bool(judged.isin(AGREEING).all()),
    }


def _tables(
    rows: pd.DataFrame, notes: dict[str, int], material: ReportData
) -> dict[str, list[dict[str, Any]]]:
    """Return the numbers of a source by its tables; notes are numbered in the order of their first use."""
    return {
        str(table): [_row(row, notes, material) for row in part.itertuples()]
        for table, part in rows.groupby("table", sort=False)
    }


def _row(row: Any, notes: dict[str, int], material: ReportData) -> dict[str, Any]:
    names = material.names
    query, _, quantity = row.quantity.rpartition(": ")
    said = material.queries[query].name if query in material.queries else query
    return {
        "verdict": row.verdict,
        "of": said or row.criterion,
        "metric": " and ".join(map(names.label, row.metric.split("~"))) if row.metric else "",
        "model": _model(row.model, material),
        "quantity": name_of(quantity) or "score",
        "published": row.published,
        "ours": row.ours,
        "notes": [notes.setdefault(text, len(notes) + 1) for text in _parts(row.note)],
    }


def _model(unit: str, material: ReportData) -> str:
    """Return a model with its debias method, in short."""
    model, _, debias = unit.partition(" under ")
    return material.names.state(model, debias) if debias else material.names.label(model)


def _parts(note: str) -> Iterable[str]:
    """Return the parts of a note: several numbers share some of them."""
    return filter(None, (part.strip() for part in str(note or "").split("; ")))


SECTIONS = (
    Section(
        "published",
        "Published numbers",
        ("comparison",),
        make,
        "published.html",
        place=80,
        lead="numbers from the literature beside the numbers of this study",
        nav="Published",
    ),
)

"""Published numbers beside the study's, with their verdicts."""

from __future__ import annotations

from typing import Any

from ...comparison.verdict import MEANINGS
from ...verdicts.text import join_names
from .section import Material, Section


def make(material: Material) -> dict[str, Any]:
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
    return {
        "table": table,
        "missing": " or of ".join(missing),
        "verdicts": [(name, counts[name], meaning) for name, meaning in MEANINGS.items() if name in counts],
    }


SECTIONS = (
    Section(
        "published",
        "Published numbers",
        ("comparison",),
        make,
        "published.html",
        place=80,
        lead="each printed number beside this study's",
    ),
)

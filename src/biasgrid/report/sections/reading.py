"""How to read the page: why values are missing, what the numbers mean, and what they do not say."""

from __future__ import annotations

from typing import Any

from ...numbers import plain
from ...words import WordOptions
from .section import Material, Section


def make(material: Material) -> dict[str, Any]:
    scores = material.tables["scores"]
    words = material.config.get("words", {})
    missing = scores.loc[scores["status"] != "ok", "status"].str.split(":").str[0].str.replace("_", " ")
    return {
        "reasons": [*missing.value_counts().items()],
        "scores_missing": int(scores["value"].isna().sum()),
        "scores_total": len(scores),
        "threshold": words.get("lost_vocabulary_threshold", WordOptions.lost_vocabulary_threshold),
        "alpha": plain(1 - material.spec["level"]),
    }


SECTIONS = (Section("reading", "How to read this", ("scores",), make, "reading.html", place=95),)

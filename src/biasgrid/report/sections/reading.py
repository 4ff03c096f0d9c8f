"""Section on how to read the report: limits, meaning of the numbers, and reasons for missing values."""

from __future__ import annotations

from typing import Any

from ...core.numbers import plain, share
from ...models.words import WordOptions
from .section import ReportData, Section


def make(material: ReportData) -> dict[str, Any]:
    words = material.config.get("words", {})
    return {
        "threshold": share(words.get("lost_vocabulary_threshold", WordOptions.lost_vocabulary_threshold)),
        "alpha": plain(1 - material.spec["level"]),
    }


SECTIONS = (
    Section(
        "reading",
        "How to read this",
        ("scores",),
        make,
        "reading.html",
        place=25,
        lead="limits, meaning of the numbers, and reasons for missing values",
        nav="Help",
    ),
)

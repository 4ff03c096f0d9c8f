"""How to read the page: why values are missing, what the numbers mean, and what they do not say."""

from __future__ import annotations

from typing import Any

from ...numbers import plain
from ...words import WordOptions
from .section import Material, Section


def make(material: Material) -> dict[str, Any]:
    words = material.config.get("words", {})
    return {
        "threshold": words.get("lost_vocabulary_threshold", WordOptions.lost_vocabulary_threshold),
        "alpha": plain(1 - material.spec["level"]),
    }


SECTIONS = (
    Section(
        "reading",
        "How to read this",
        ("scores",),
        make,
        "reading.html",
        place=95,
        lead="why values are missing, what the numbers mean, and what they do not say",
    ),
)

"""The first section: what the study says, in sentences by rule."""

from __future__ import annotations

from typing import Any

from ...verdicts.summary import READ as summary_reads
from ...verdicts.summary import summary
from .section import Material, Section


def make(material: Material) -> dict[str, Any]:
    return {"sentences": summary(material.answers, material.tables, material.spec["summary"])}


READ = ("rankings", *summary_reads)
SECTIONS = (Section("verdict", "The verdict", READ, make, "verdict.html", place=10),)

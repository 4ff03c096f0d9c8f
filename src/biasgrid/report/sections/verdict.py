"""First section: a picture of the bias, and answers to four questions."""

from __future__ import annotations

from typing import Any

from ...measure.evidence import phrase
from ...tables.conclusions.overview import NO_MARKS, ZEROS, BiasPicture, Mark, bias_pictures
from ...tables.conclusions.summary import READ as conclusion_reads
from ..picture import Axis, looks, row_height, value_text
from .section import ReportData, Section

# Rows that are visible before "more queries" is opened.
MOST_ROWS = 30


def make(material: ReportData) -> dict[str, Any]:
    scores, spec = material.tables["scores"], material.spec
    criteria, models = spec["criteria"], list(spec["models"])
    pictures = [*bias_pictures(scores, spec["metrics"], criteria, models, spec["neutrals"])]
    measured = [model for model in models if any(_has(picture, model) for picture in pictures)]
    return {
        "conclusion": material.conclusion,
        "pictures": [_drawn(picture, measured, material) for picture in pictures],
        "models": looks(measured, models),
        "long": {model: spec["models"][model].get("label", model) for model in measured},
    }


def _has(picture: BiasPicture, model: str) -> bool:
    return any(mark.model == model for mark in picture.marks)


def _drawn(picture: BiasPicture, models: list[str], material: ReportData) -> dict[str, Any]:
    """Return a picture with the data of its template: the axis, and how many rows of a topic are visible at first."""
    rows = sum(len(topic.rows) for topic in picture.topics)
    seen = rows if rows <= MOST_ROWS else max(3, MOST_ROWS // len(picture.topics))
    label = material.names.label

    def says(mark: Mark) -> str:
        value = value_text(mark, picture.axis)
        return f"{label(mark.model)}: {value}, {phrase(mark.evidence, mark.tests, mark.tests)}"

    return {
        "metric": picture.metric,
        "axis": Axis.of(picture.ends),
        "unit": picture.axis,
        "zero": ZEROS[picture.axis],
        "no_mark": NO_MARKS[picture.axis],
        "topics": picture.topics,
        "seen": seen,
        "height": row_height(len(models)),
        "place": {model: i for i, model in enumerate(models)},
        "says": says,
        "filled": picture.filled,
    }


READ = ("rankings", *conclusion_reads)
SECTIONS = (Section("verdict", "Result", READ, make, "verdict.html", place=10),)

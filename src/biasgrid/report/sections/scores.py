"""Section on every score: its value, evidence and tests, the influence of words, and the command to reproduce it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..score_records import Cells
from .section import ReportData, Section

# From this number of scores on, a common reason for a missing test is written once.
FREQUENT = 10


def make(material: ReportData) -> dict[str, Any]:
    by_metric: dict[str, list[Any]] = {metric: [] for metric in material.spec["metrics"]}
    for question, records in material.cells.of_questions():
        by_metric[question.metric].append((question, records))
    languages = {key: entry.get("language") for key, entry in material.config["criteria"].items()}
    cells = material.cells
    return {
        "languages": languages,
        "languages_of_sets": {
            cells.found[number].set: languages.get(cells.questions[record.question].criterion)
            for record in cells.records
            for number in record.targets + record.attributes
        },
        "of_questions": {metric: questions for metric, questions in by_metric.items() if questions},
        "cells": cells,
        "reasons": _frequent_reasons(cells),
        "labels": material.names.labels,
    }


def _frequent_reasons(cells: Cells) -> dict[str, int]:
    """Return the frequent reasons for missing tests, each with a number to which scores refer."""
    counts = Counter(
        reason
        for record in cells.records
        for reason in {test["reason"] for test in record.tests.values() if "reason" in test}
    )
    frequent = [reason for reason, count in counts.most_common() if count >= FREQUENT]
    return {reason: number for number, reason in enumerate(frequent, 1)}


SECTIONS = (
    Section(
        "scores",
        "Every score",
        (),
        make,
        "scores.html",
        place=50,
        lead="value, evidence, tests, stability, and words that matter, per score",
        nav="Scores",
    ),
)

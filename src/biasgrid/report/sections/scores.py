"""Every score: what the metric asks, words found and lost, the influence of each word, tests, and the command."""

from __future__ import annotations

from typing import Any

from .section import Material, Section


def make(material: Material) -> dict[str, Any]:
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
        "labels": material.names.labels,
    }


SECTIONS = (
    Section(
        "scores",
        "Every score",
        (),
        make,
        "scores.html",
        place=50,
        lead="words found and lost, words that matter, tests, and the command to run it again",
    ),
)

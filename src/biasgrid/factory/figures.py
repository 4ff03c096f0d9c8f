"""The figures of a benchmark; a step's output is the files' stem."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..figures import factory as figures
from ..figures.layout import save
from ..frames import read_frame
from .recovery import TEXTS, figure_tables


def words(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw the correlations of words' scores with the truth, from factory.csv (inputs: "models"; spec: "labels")."""
    table = figure_tables(read_frame(inputs["models"], TEXTS))["words"]
    save(figures.word_level(table, spec["labels"]), output)


def truth(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw metrics against a truth, the models of a trainer (inputs: "models"; spec: "trainer", "labels", "truth",
    "metrics")."""
    table = figure_tables(read_frame(inputs["models"], TEXTS))[f"truth-{spec['trainer']}"]
    save(figures.against_truth(table, spec["labels"], spec["truth"], spec["metrics"]), output)

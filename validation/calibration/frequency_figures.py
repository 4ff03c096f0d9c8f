"""Figures of tests on shuffled corpora, from their table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biasgrid.figures.frame import save

from . import frequency_plots
from .frequency_table import FREQUENCY_TESTS


def draw(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw frequency_tests.csv ("table"), with a row for each training or metric, according to "by"."""
    save(frequency_plots.shares(FREQUENCY_TESTS.read(inputs["table"]), spec["labels"], spec["by"]), output)

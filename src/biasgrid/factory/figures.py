"""The figures of a benchmark; a step's output is the files' stem."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..figures import factory as figures
from ..figures.layout import save
from ..frames import read_frame
from .recovery import TEXTS, figure_tables


def words(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw the correlations of words' scores with the truth, from factory.csv (inputs: "models"; spec: "labels")."""
    save(figures.word_level(_table(inputs, output), spec["labels"]), output)


def truth(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw metrics against the truth, the models of a trainer (inputs: "models"; spec: "labels", "truths")."""
    save(figures.against_truth(_table(inputs, output), spec["labels"], spec["truths"]), output)


def _table(inputs: Mapping[str, Any], output: Path) -> pd.DataFrame:
    """The table that is beside the figure, with all digits."""
    return figure_tables(read_frame(inputs["models"], TEXTS))[output.name]

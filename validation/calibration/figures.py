"""The figures of a simulation, from its cells and tables; a step's output is the files' stem."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biasgrid.core.configs import read_json
from biasgrid.figures.frame import save

from . import plots
from .tables import CALIBRATION, SIMULATION


def p_values(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw the cells' p-values (inputs and spec: "cells" as of the table; spec: "labels")."""
    uniform = {
        tuple(place): read_json(file)["null"].get("uniform")
        for place, file in zip(spec["cells"], inputs["cells"], strict=True)
    }
    save(plots.p_values(uniform, spec["labels"]), output)


def coverage(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw how many intervals of simulation.csv ("table") hold the value that is "true"."""
    save(
        plots.coverage(SIMULATION.read(inputs["table"]), spec["labels"], spec["true"], spec["level"]),
        output,
    )


def calibration(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Draw the shares of small p-values of calibration.csv ("table")."""
    save(plots.shares(CALIBRATION.read(inputs["table"]), spec["labels"]), output)

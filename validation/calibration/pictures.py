"""Pictures of docs/calibration.md."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..pictures import Picture, read, table_of
from . import frequency_plots, plots
from .study import Simulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Steps of the axis of p-values, which is about 400 pixels wide in a picture.
STEPS = 200
EXPECTED = "_covers_expected"


@cache
def study(name: str = "simulation") -> Simulation:
    """Read a simulation of this folder."""
    return Simulation.read(Path(__file__).with_name(f"{name}.yaml"))


def p_value_counts(results: Path) -> pd.DataFrame:
    """Count a cell's p-values in each step of the axis; a metric without a test does not have counts."""
    rows = []
    for name, cell in study().cells.items():
        # The cell's file is in the folder of all results.
        file = results.parent / study().cell_file(name)
        values = np.array(json.loads(file.read_text(encoding="utf-8"))["null"].get("uniform", []))
        place = np.ceil(values * STEPS).clip(1, STEPS).astype(int)
        counts = np.bincount(place, minlength=STEPS + 1)[1:] if len(place) else []
        rows.append((*cell.place.values(), " ".join(map(str, counts))))
    return pd.DataFrame(rows, columns=["metric", "words", "bias", "counts"])


def p_values_of(counts: pd.DataFrame) -> dict[tuple, np.ndarray | None]:
    """Return the p-values of each (metric, words, bias), each at the end of its step."""
    ends = np.arange(1, STEPS + 1) / STEPS
    return {
        (row.metric, int(row.words), float(row.bias)): np.repeat(ends, [*map(int, row.counts.split())])
        if row.counts
        else None
        for row in counts.itertuples()
    }


def _covered(results: Path) -> pd.DataFrame:
    table = read(results / "simulation" / "simulation.csv")
    return table[table["what"].str.endswith(EXPECTED)]


def _coverage(table: pd.DataFrame) -> Figure:
    level = study().config.coverage.level
    return plots.coverage(table, study().labels, EXPECTED.removeprefix("_covers_"), level)


def _frequency(by: str) -> Picture:
    def draw(table: pd.DataFrame) -> Figure:
        return frequency_plots.shares(table, study("simulation_frequency").frequency_labels, by)

    name = "frequency_tests"
    return Picture("make simulation-frequency", name, table_of(f"simulation_frequency/{name}.csv"), draw)


PICTURES = {
    "simulation-p-values": Picture(
        "make simulation",
        "p_values",
        p_value_counts,
        lambda table: plots.p_values(p_values_of(table), study().labels),
    ),
    "simulation-coverage-expected": Picture("make simulation", "simulation", _covered, _coverage),
    "simulation-calibration": Picture(
        "make simulation",
        "calibration",
        table_of("simulation/calibration.csv"),
        lambda table: plots.shares(table, study().real_labels),
    ),
    "simulation-frequency-tests": _frequency("training"),
    "simulation-frequency-metrics": _frequency("metric"),
}

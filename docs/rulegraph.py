"""The drawing of docs/architecture.md: the rules of the workflow, and which reads what another makes.

    python docs/rulegraph.py        # `make rulegraph`

Snakemake says what depends on what, for the embedded study (`--rulegraph`). An arrow that others imply is left out:
tables also read cells, and so does their inference.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from biasgrid.figures.frame import blank, save, styled

ROOT = Path(__file__).resolve().parents[1]
EDGES = ROOT / "docs" / "images" / "workflow" / "rulegraph.json"
OPTIONAL = {"debias"}  # a path through it does not stand for one without
# each rule's column and row, and the files that it makes
BOXES = {
    "archive": (0, 1.5, "sources/*.json"),
    "query": (0, 3.1, "queries/*.json"),
    "store": (1, 1.5, "models/*.json"),
    "debias": (2, 0, "debias/*/*.npz"),
    "frequency": (3, 3.1, "frequency/*.json"),
    "evaluation": (3, 0, "evaluation/**/*.json"),
    "pool": (3, 2.1, "pools/*.npz"),
    "cell": (3, 1.05, "cells/**/*.json"),
    "inference": (4, 1.35, "inference/**, aggregates/**"),
    "evaluation_tables": (5, 0, "*.csv"),
    "tables": (5, 1.85, "*.csv"),
    "study": (5, 3.1, "study.json"),
    "evaluation_figures": (6, 0.4, "figures/*.svg"),
    "report": (6, 1.5, "report.html"),
    "figures": (6, 2.6, "figures/*.svg"),
}
Edge = tuple[str, str]


def edges_of(config: str = "config/embedded.yaml") -> list[Edge]:
    """Return pairs of rules of a study's workflow: a rule and one that reads what it makes. `all` is left out."""
    command = ["snakemake", "--cores", "1", "--configfile", config, "--rulegraph", "mermaid-js"]
    text = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    names = dict(re.findall(r"^\s*(id\d+)\[(\w+)\]$", text, re.M))
    edges = {(names[a], names[b]) for a, b in re.findall(r"^\s*(id\d+) --> (id\d+)$", text, re.M)}
    return sorted((a, b) for a, b in edges if b != "all")


def direct(edges: Iterable[Edge]) -> list[Edge]:
    """Return the edges that no path over other rules stands for."""
    edges = set(edges)

    def reaches(a: str, b: str) -> bool:
        return any(
            (c, b) in edges or reaches(c, b) for start, c in edges if start == a and c not in OPTIONAL | {b}
        )

    return sorted(edge for edge in edges if not reaches(*edge))


@styled
def draw(edges: list[Edge]) -> Figure:
    """Draw a box for each rule, and an arrow for each edge that no others stand for."""
    width, height, step, line = 1.62, 0.5, 1.95, 0.72  # of boxes, and from one to the next; inches
    size = 6 * step + width + 0.2, 3.1 * line + height + 0.2
    figure = blank(*size)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.1, size[0] - 0.1), ylim=(size[1] - 0.1, -0.1))
    axes.set_axis_off()
    boxes, centres = {}, {}
    for rule, (column, row, files) in BOXES.items():
        x, y = step * column, line * row
        look = {"facecolor": "#F3F5F7", "edgecolor": "#1F6F9F", "zorder": 2}
        boxes[rule] = FancyBboxPatch((x, y), width, height, "round,pad=0,rounding_size=.06", **look)
        axes.add_patch(boxes[rule])
        centres[rule] = x + width / 2, y + height / 2
        axes.text(centres[rule][0], y + 0.17, rule, ha="center", va="center", weight="bold", size=10)
        axes.text(centres[rule][0], y + 0.36, files, ha="center", va="center", size=7.5, color="#555555")
    for a, b in direct(edges):
        look = {"arrowstyle": "-|>", "mutation_scale": 10, "color": "#666666", "shrinkA": 0, "shrinkB": 1}
        axes.add_patch(FancyArrowPatch(centres[a], centres[b], patchA=boxes[a], patchB=boxes[b], **look))
    return figure


def main() -> None:
    edges = edges_of()
    EDGES.write_text(json.dumps(edges) + "\n", encoding="utf-8")
    save(draw(edges), EDGES.with_suffix(""), ["png"])


if __name__ == "__main__":
    main()

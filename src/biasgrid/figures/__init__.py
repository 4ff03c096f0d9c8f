"""Figures of a study: one file of this package per kind, discovered automatically; `REGISTRY` lists the kinds.

When a study is planned, each kind determines which figures the study has, and the files and the spec for each
(`Drawing`). A kind draws a figure from these alone. Importing this package and its kinds imports neither matplotlib
nor pandas, so that planning stays cheap.
"""

from __future__ import annotations

from .drawing import draw, draw_file, order_of, plan_figures
from .figure import Drawing, Example, Figure
from .registry import REGISTRY, current_name

__all__ = [
    "REGISTRY",
    "Drawing",
    "Example",
    "Figure",
    "current_name",
    "draw",
    "draw_file",
    "order_of",
    "plan_figures",
]

"""The figures of a study. Each kind is one file of this package, discovered automatically: `REGISTRY` has them.

When a study is planned, a kind says which figures the study has of it, and what each is drawn from: files, and a spec
(`Drawing`). To draw one, a kind gets these and nothing else. Importing this package and its kinds imports no
matplotlib and no pandas: a plan stays cheap.
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

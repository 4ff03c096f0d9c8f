"""WEFE's debias methods."""

from __future__ import annotations

from .base_debias import BaseDebias
from .double_hard_debias import DoubleHardDebias
from .half_sibling_regression import HalfSiblingRegression
from .hard_debias import HardDebias
from .multiclass_hard_debias import MulticlassHardDebias
from .repulsion_attraction_neutralization import RepulsionAttractionNeutralization

__all__ = [
    "BaseDebias",
    "DoubleHardDebias",
    "HalfSiblingRegression",
    "HardDebias",
    "MulticlassHardDebias",
    "RepulsionAttractionNeutralization",
]

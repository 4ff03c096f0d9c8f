"""WEFE's metrics."""

from __future__ import annotations

from .base_metric import BaseMetric
from .ECT import ECT
from .MAC import MAC
from .RIPA import RIPA
from .RND import RND
from .RNSB import RNSB
from .WEAT import WEAT

__all__ = ["ECT", "MAC", "RIPA", "RND", "RNSB", "WEAT", "BaseMetric"]

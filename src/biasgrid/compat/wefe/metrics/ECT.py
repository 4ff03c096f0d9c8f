"""ECT by WEFE's name."""

from __future__ import annotations

from .base_metric import BaseMetric


class ECT(BaseMetric):
    """Embedding Coherence Test."""

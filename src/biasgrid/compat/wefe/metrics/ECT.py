"""ECT under WEFE's name."""

from __future__ import annotations

from .base_metric import LibraryMetric


class ECT(LibraryMetric):
    """Embedding Coherence Test."""

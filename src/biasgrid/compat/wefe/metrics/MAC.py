"""MAC under WEFE's name."""

from __future__ import annotations

from typing import Any

from ....measure.result import Result
from .base_metric import LibraryMetric


class MAC(LibraryMetric):
    """Mean Average Cosine Similarity."""

    def _answer(self, result: Result, value: float | None = None, **details: Any) -> dict[str, Any]:
        return super()._answer(result, targets_eval=result.detail.get("targets_eval", {}))

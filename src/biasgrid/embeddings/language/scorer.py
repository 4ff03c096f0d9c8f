"""What masked and causal language models share: pieces are predicted, in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .architectures import CAUSAL
from .batches import Batch, Row, in_batches
from .pretrained import Pretrained


class Scorer:
    """A language model that scores.

    Parameters
    ----------
    pretrained
        The model, with its head.
    fast
        Whether a score may depend, in its last digits, on the others (`batches`).
    """

    pieces: ClassVar[int]  # of a batch

    def __init__(self, pretrained: Pretrained, *, fast: bool = False) -> None:
        self.pretrained = pretrained
        self._fast = fast

    @property
    def computed(self) -> dict[str, Any]:
        """How scores are computed: `Pretrained.computed`, of a causal model the piece that its texts begin with, and
        whether `fast`."""
        model = self.pretrained
        begins = (
            {"begins_with": model.tokenizer.convert_ids_to_tokens(model.first)}
            if model.kind == CAUSAL
            else {}
        )
        return {**model.computed, **begins, "fast": self._fast}

    def predict(self, rows: Sequence[Row]) -> list[NDArray[np.float64]]:
        """The log-probability of each row's labels at its places: float64 (places, ...) of each."""
        model = self.pretrained

        def compute(batch: Batch) -> Any:
            return model.log_probabilities(*batch)

        return in_batches(
            compute, rows, pieces=self.pieces, filler=model.filler, device=model.device, fast=self._fast
        )

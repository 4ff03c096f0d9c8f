"""The common base of masked and causal language models: prediction of tokens, in batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .architectures import CAUSAL
from .batches import Batch, Row, in_batches
from .pretrained import Pieces, Pretrained
from .sentence import Sentence


class Scorer:
    """A language model that scores texts.

    Parameters
    ----------
    pretrained
        The model, with its head.
    fast
        Whether the last digits of a score may depend on the other scores (`batches`).
    """

    pieces: ClassVar[int]  # tokens of a batch

    def __init__(self, pretrained: Pretrained, *, fast: bool = False) -> None:
        self.pretrained = pretrained
        self._fast = fast

    @property
    def computed(self) -> dict[str, Any]:
        """Return how scores are computed: `Pretrained.computed`, `fast`, and a causal model's first token."""
        model = self.pretrained
        begins = (
            {"begins_with": model.tokenizer.convert_ids_to_tokens(model.first)}
            if model.kind == CAUSAL
            else {}
        )
        return {**model.computed, **begins, "fast": self._fast}

    def unknown(self, text: str) -> list[str]:
        """Return the parts of a text that the tokenizer does not know, in order."""
        return self.pretrained.unknown_parts(text)

    def why_unscored(self, sentence: Sentence) -> str:
        """Return why a sentence does not have a score; "" if it has one."""
        pieces = self.pretrained.split(sentence.text)
        return self._why_unscored(sentence, pieces, self._places_to_score(sentence, pieces))

    def token_count(self, sentence: Sentence) -> int:
        """Return the number of tokens over which the score of a sentence is a sum."""
        return len(self._places_to_score(sentence, self.pretrained.split(sentence.text)))

    def _places_to_score(self, sentence: Sentence, pieces: Pieces) -> list[int]:
        return np.flatnonzero(pieces.inner).tolist() if sentence.part is None else pieces.of(sentence.part)

    def _why_unscored(self, sentence: Sentence, pieces: Pieces, places: Sequence[int]) -> str:
        model = self.pretrained
        if (count := len(pieces.ids)) > model.positions:
            return f"has {count} tokens, and the model takes {model.positions}"
        if not places:
            return "shares no token with its partner" if sentence.beside else "has no token"
        if sentence.hidden and not pieces.of(sentence.hidden):
            return "has no token"
        is_unknown = model.is_unknown(pieces, places)
        if is_unknown.all():
            return f"{'shares' if sentence.beside else 'has'} only tokens unknown to the model"
        # A word with an unknown part could be confused with another word.
        return "has tokens unknown to the model" if sentence.part and is_unknown.any() else ""

    def predict(self, rows: Sequence[Row]) -> list[NDArray[np.float64]]:
        """Compute the log-probability of each row's labels at its positions: float64 (places, ...) of each."""
        model = self.pretrained

        def compute(batch: Batch) -> Any:
            return model.log_probabilities(*batch)

        with model.at_work():
            return in_batches(
                compute, rows, pieces=self.pieces, filler=model.filler, device=model.device, fast=self._fast
            )

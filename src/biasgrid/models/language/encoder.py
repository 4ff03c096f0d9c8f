"""Vectors of words in sentences, and of sentences: pooled states of a model's tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...core.errors import InputError
from .batches import Batch, Row, in_batches
from .pretrained import Pieces, Pretrained
from .templates import PlacedWord

PIECES = 512  # tokens of a batch
WORD, SENTENCE, FIRST, LAST = "word", "sentence", "first", "last"
POOLS = (WORD, SENTENCE, FIRST, LAST)


class Encodes(Protocol):
    """An encoder of words in sentences."""

    def encode(self, sentences: Sequence[PlacedWord], pool: str, layer: int) -> NDArray[np.float64]:
        """Return the vector of each word in its sentence (sentences, dimensions).

        It is NaN for a word without tokens, or with an unknown one (`PlacedWord.is_known`).
        """
        ...


class States(NamedTuple):
    """A text's tokens, including special ones, and their states after a layer: float64 (tokens, dimensions)."""

    states: NDArray[np.float64]
    pieces: Pieces


class Encoder:
    """An encoder that takes the states of a model of any kind.

    Parameters
    ----------
    pretrained
        The model.
    fast
        Whether the last digits of a vector may depend on the others (`batches`).
    """

    def __init__(self, pretrained: Pretrained, *, fast: bool = False) -> None:
        self.pretrained = pretrained
        self._fast = fast

    @property
    def computed(self) -> dict[str, Any]:
        """Return how vectors are computed: `Pretrained.computed`, and `fast`."""
        return {**self.pretrained.computed, "fast": self._fast}

    def encode(
        self, sentences: Sequence[PlacedWord], pool: str = WORD, layer: int = -1
    ) -> NDArray[np.float64]:
        """Return the vector of each word in its sentence (sentences, dimensions).

        It is NaN for a word without tokens, or with an unknown one (`PlacedWord.is_known`).

        Parameters
        ----------
        sentences
            The sentences, and the position of the word in each.
        pool
            "word": the mean of the states of the tokens that contain any character of the word. "sentence":
            the mean over all tokens, including special ones, as in sentence-transformers. "first": the state
            of the first token, as SEAT uses BERT's [CLS] (May et al. 2019). "last": the state of the last
            token, as SEAT uses for GPT.
        layer
            0 for the embeddings of the tokens, 1 for the output of the first layer, and so on. Negative
            numbers count from the end, as in a list: -1 is the last layer.

        Raises
        ------
        InputError
            The model does not have the layer, or a text has more tokens than the model has positions.
        """
        vectors = []
        states_of_texts = self.states([sentence.text for sentence in sentences], layer)
        for sentence, (states, pieces) in zip(sentences, states_of_texts, strict=True):
            inner = np.flatnonzero(pieces.inner)
            word = pieces.of((sentence.start, sentence.end))
            is_known = sentence.is_known(self.pretrained.is_unknown(pieces, word).tolist())
            if len(inner) == 0 or (pool == WORD and not word) or not is_known:
                vectors.append(np.full(states.shape[1], np.nan))
                continue
            chosen: Any = {WORD: word, SENTENCE: slice(None), FIRST: slice(1), LAST: inner[-1:]}[pool]
            vectors.append(states[chosen].mean(axis=0))
        return np.array(vectors)

    def states(self, texts: Sequence[str], layer: int = -1) -> list[States]:
        """Compute the states of each text's tokens. Raise InputError like `encode`."""
        model = self.pretrained
        count = model.layers + 1
        if not -count <= layer < count:
            raise InputError(f"layer: {layer} is not allowed; allowed: {-count} to {count - 1}")
        pieces = [model.split(text, as_encoder=True) for text in texts]
        for text, each in zip(texts, pieces, strict=True):
            if len(each.ids) > model.positions:
                raise InputError(
                    f"{text[:40]!r} has {len(each.ids)} pieces; allowed: up to {model.positions}, special ones among "
                    "them"
                )

        def compute(batch: Batch) -> object:
            return model.states(batch.ids, batch.attended, layer % count)

        with model.at_work():
            found = in_batches(
                compute,
                [Row(each.ids, range(len(each.ids))) for each in pieces],
                pieces=PIECES,
                filler=model.filler,
                device=model.device,
                fast=self._fast,
            )
        return [States(states, each) for states, each in zip(found, pieces, strict=True)]

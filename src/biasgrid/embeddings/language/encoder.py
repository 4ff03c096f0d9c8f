"""Vectors of words in sentences, and of sentences: the states of a model's pieces, pooled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError
from .batches import Batch, Row, in_batches
from .pretrained import Pieces, Pretrained
from .templates import PlacedWord

PIECES = 512  # of a batch
WORD, SENTENCE, FIRST, LAST = "word", "sentence", "first", "last"
POOLS = (WORD, SENTENCE, FIRST, LAST)


class Encodes(Protocol):
    """What makes vectors of words in sentences."""

    def encode(self, sentences: Sequence[PlacedWord], pool: str, layer: int) -> NDArray[np.float64]:
        """The vector of each word in its sentence (sentences, dimensions); NaN of one without any piece, or with an
        unknown one (`PlacedWord.is_known`)."""
        ...


class States(NamedTuple):
    """The states of a text's pieces after a layer, special ones among them: float64 (pieces, dimensions), and what
    the pieces are."""

    states: NDArray[np.float64]
    pieces: Pieces


class Encoder:
    """A model of any kind, whose states are taken.

    Parameters
    ----------
    pretrained
        The model.
    fast
        Whether a vector may depend, in its last digits, on the others (`batches`).
    """

    def __init__(self, pretrained: Pretrained, *, fast: bool = False) -> None:
        self.pretrained = pretrained
        self._fast = fast

    @property
    def computed(self) -> dict[str, Any]:
        """How vectors are computed: `Pretrained.computed`, and whether `fast`."""
        return {**self.pretrained.computed, "fast": self._fast}

    def encode(
        self, sentences: Sequence[PlacedWord], pool: str = WORD, layer: int = -1
    ) -> NDArray[np.float64]:
        """The vector of each word in its sentence (sentences, dimensions); NaN of one without any piece, or with an
        unknown one (`PlacedWord.is_known`).

        Parameters
        ----------
        sentences
            The sentences, and where the word is.
        pool
            "word": the mean of the states of the pieces that have any character of the word. "sentence": the mean of
            those of all pieces, special ones among them, as sentence-transformers pools. "first": that of the first
            piece, as SEAT takes BERT's [CLS] (May et al. 2019); "last": of the last, as it takes GPT's.
        layer
            0 for the embeddings of the pieces, 1 for what the first layer makes of them, and so on; negative from the
            end, as in a list: -1 for the last.

        Raises
        ------
        InputError
            A layer that the model does not have, or a text of more pieces than it has positions.
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
        """The states of each text's pieces. Raises InputError as `encode`."""
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

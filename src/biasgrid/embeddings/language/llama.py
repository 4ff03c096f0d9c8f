"""Causal models of Llama's shape, read from a .gguf file: the log-likelihood of texts.

The file's BOS token comes first in each text, and no token ends it.

How a sum is rounded may depend on the shape of a batch and on the number of threads. So the processor gets one text
at a time, each in one thread, and a GPU always as many rows, whose length is filled up to a multiple: a text's score
depends on nothing but the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InputError, quote
from ...extras import require_for
from .building import GGUF
from .byte_pairs import MODEL, SENTENCE_PIECES, BytePairs
from .formats import LLAMA
from .gguf_file import GgufFile
from .llama_sizes import Sizes
from .sentence import Sentence
from .sentence_pieces import SentencePieces
from .threads import map_on_threads, one_thread

BLOCK = (
    256  # positions whose next tokens are predicted at a time: a row of logits is as long as the vocabulary
)
ROWS, LENGTHS = 32, 16  # of a batch on a GPU: its rows, and what its length is a multiple of


class Llama:
    """A causal model. Its weights are read at once, which takes seconds.

    Parameters
    ----------
    folder
        The model's, with its .gguf file.
    metadata
        Its model.json, of which nothing is needed.

    Raises
    ------
    BiasgridError
        The file is damaged, or its architecture, its tokenizer or a detail of it is not known.
    """

    def __init__(self, folder: Path, metadata: dict[str, Any]) -> None:
        require_for(LLAMA, purpose=f"a language model ({Path(folder).name})")
        from .llama_network import LlamaNetwork

        file = GgufFile.open((folder / GGUF).resolve())  # which errors name: a user's file, where it is
        self.sizes = Sizes.from_file(file)
        tokenizer = SentencePieces if file.fields.get(MODEL) == SENTENCE_PIECES else BytePairs
        self.pieces = tokenizer(file.path, file.fields)
        self.network = LlamaNetwork(file, self.sizes, len(self.pieces.tokens))

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """The log-likelihood of each sentence, or of its part given what comes before (sentences,).

        NaN for a text, or a part, without pieces, and for a text of more pieces than the model takes. As many texts
        are scored at the same time as torch may use threads.
        """
        pieces = {text: self.pieces(text) for text in {sentence.text: None for sentence in sentences}}
        scorable = [
            text for text, text_pieces in pieces.items() if 0 < len(text_pieces.ids) <= self.sizes.longest
        ]
        scores_of_text = dict(
            zip(scorable, self._log_probabilities([pieces[text].ids for text in scorable]), strict=True)
        )

        def total(sentence: Sentence) -> float:
            scores = scores_of_text.get(sentence.text, np.empty(0))
            if sentence.part is not None and len(scores):
                scores = scores[pieces[sentence.text].overlap(sentence.part)]
            return float(scores.sum()) if len(scores) else np.nan

        return np.array([total(sentence) for sentence in sentences], dtype=np.float64)

    def next_pieces(self, text: str, best: int = 10) -> dict[str, float]:
        """The most probable pieces after a text, with their probabilities, falling.

        Raises
        ------
        InputError
            A text of more pieces than the model takes.
        """
        import torch

        ids = [self.pieces.bos, *self.pieces(text).ids]
        if len(ids) > self.sizes.longest:
            raise InputError(
                f"{quote(text)}: has {len(ids)} pieces, and the model takes {self.sizes.longest}"
            )
        with one_thread(), torch.inference_mode():
            states = self.network.states(torch.tensor([ids], device=self.network.device))
            top = self.network.logits(states[0, -1]).softmax(-1).topk(best)
        values = zip(top.indices.tolist(), top.values.tolist(), strict=True)
        return {self.pieces.text(number): value for number, value in values}

    def _log_probabilities(self, texts: Sequence[list[int]]) -> list[NDArray[np.float64]]:
        """The log-probability of each piece of each text, given BOS and the pieces before it."""
        if self.network.device.type == "cuda":
            return self._score_batches(texts)
        return map_on_threads(lambda ids: self._score_rows([ids], len(ids))[0], texts)

    def _score_batches(self, texts: Sequence[list[int]]) -> list[NDArray[np.float64]]:
        """The same, of texts of about one length together."""
        scores: dict[int, NDArray[np.float64]] = {}
        numbers_by_length: dict[int, list[int]] = {}
        for number, ids in enumerate(texts):
            numbers_by_length.setdefault(-(-len(ids) // LENGTHS) * LENGTHS, []).append(number)
        for length, numbers in numbers_by_length.items():
            for start in range(0, len(numbers), ROWS):
                batch = numbers[start : start + ROWS]
                rows = [texts[number] for number in batch] + [[]] * (ROWS - len(batch))
                scores |= zip(batch, self._score_rows(rows, length), strict=False)
        return [scores[number] for number in range(len(texts))]

    def _score_rows(self, texts: Sequence[list[int]], length: int) -> list[NDArray[np.float64]]:
        """The same, of texts of at most this length. What fills up a row comes after its text, where a causal model
        does not look."""
        import torch

        bos, device = self.pieces.bos, self.network.device
        with torch.inference_mode():
            ids = torch.tensor([[bos, *text, *[bos] * (length - len(text))] for text in texts], device=device)
            states, next_ids = self.network.states(ids[:, :-1]), ids[:, 1:, None]
            blocks = []
            for start in range(0, length, BLOCK):
                block = slice(start, start + BLOCK)
                logits = self.network.logits(states[:, block])
                blocks.append(logits.gather(-1, next_ids[:, block])[..., 0] - logits.logsumexp(-1))
            scores = torch.cat(blocks, dim=1).double().cpu().numpy()
        return [row[: len(text)] for row, text in zip(scores, texts, strict=True)]

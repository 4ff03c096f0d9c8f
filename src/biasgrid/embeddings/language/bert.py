"""BERT (Devlin et al. 2019): states of a text's pieces, and its pseudo-log-likelihood if the model has its head.

Each sentence runs alone, with its own masked copies as one batch, on one thread: what shape the sums have, and so in
what order they are added up, depends on nothing but the sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BiasgridError, InputError, quote
from ...extras import require_for
from .bert_network import WEIGHTS, Shape, head, layers, read_shape, read_weights
from .formats import BERT
from .sentence import Sentence, Span
from .threads import map_on_threads, one_thread
from .word_pieces import MASK, read_pieces

BATCH = 8192  # pieces of masked copies that are in memory at a time


class States(NamedTuple):
    """The states of a text's pieces after a layer.

    states   float32 (pieces, dimensions)
    offsets  int64 (pieces, 2): the characters of the text that each piece stands for, from, up to; (0, 0) of [CLS]
             and [SEP]
    """

    states: NDArray[np.float32]
    offsets: NDArray[np.int64]


class Bert:
    """A model's folder with model.safetensors, config.json, and tokenizer.json or vocab.txt.

    Parameters
    ----------
    folder
        The folder.
    metadata
        Its model.json; nothing of it is needed.

    Attributes
    ----------
    shape
        Dimensions, layers, heads.
    masked
        Whether it has its head for masked words (`cls.predictions`), so that it can score.

    Raises
    ------
    BiasgridError
        A missing package or file, or one that is no BERT.
    """

    def __init__(self, folder: Path, metadata: Mapping[str, Any]) -> None:
        require_for(BERT, purpose=f"a BERT model ({Path(folder).name})")
        import torch

        self._folder = Path(folder)
        self.shape: Shape = read_shape(self._folder)
        self.pieces = read_pieces(self._folder)
        if self.pieces.size > self.shape.words:
            raise BiasgridError(
                f"{self._folder}: the tokenizer has {self.pieces.size} pieces, and {WEIGHTS} {self.shape.words}"
            )
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._weights = {
            name: weight.to(self._device) for name, weight in read_weights(self._folder, self.shape).items()
        }

    @property
    def masked(self) -> bool:
        """Whether it can score: it has its head for masked words."""
        return "cls.predictions.bias" in self._weights

    def states(self, texts: Sequence[str], layer: int = -1, *, specials: bool = False) -> list[States]:
        """The states of each text's pieces after a layer.

        A text's states are the same to the last bit, whatever other texts are passed with it and however many threads
        there are.

        Parameters
        ----------
        texts
            The texts.
        layer
            0 for the embeddings of the pieces, 1 for what the first layer makes of them, and so on; negative from the
            end, as in a list: -1 for the last.
        specials
            Whether with those of [CLS] and [SEP], the first and the last row. The mean of all rows then is what
            sentence-transformers calls mean pooling.

        Raises
        ------
        InputError
            A layer that the model does not have, or a text of more pieces than it has positions.
        """
        count = self.shape.layers + 1
        if not -count <= layer < count:
            raise InputError(f"layer: {layer} is not allowed; allowed: {-count} to {count - 1}")
        return self._map(partial(self._states, layer=layer % count, specials=specials), texts)

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """The pseudo-log-likelihood of each sentence (sentences,): see `Network.score`.

        A whole text: the sum over its pieces of the log-probability of each, that piece alone masked (Salazar et al.
        2020). NaN where there is nothing to score: no piece but [UNK], or more of them than the model has positions.

        Raises
        ------
        InputError
            The model has no head for masked words.
        """
        self._check_head()
        return np.array(self._map(self._score, sentences), dtype=np.float64)

    def fill(self, texts: Sequence[str], words: Sequence[Sequence[str]]) -> NDArray[np.float64]:
        """The log-probability of each text's words at its [MASK].

        Texts of one number of pieces are a batch, up to `BATCH` pieces: how a sum is rounded may depend on which
        texts are passed together.

        Parameters
        ----------
        texts
            Texts with one [MASK] each.
        words
            As many words for each text, each of them one piece of the model.

        Returns
        -------
        ndarray (texts, words)
            Natural logarithms.

        Raises
        ------
        InputError
            The model has no head for masked words; a text without its one [MASK], or with too many pieces; a word of
            several pieces, or none.
        """
        self._check_head()
        ids_of_texts = [self.pieces.split(text)[0] for text in texts]
        for text, ids in zip(texts, ids_of_texts, strict=True):
            if ids.count(self.pieces.mask) != 1 or len(ids) > self.shape.positions:
                raise InputError(
                    f"{quote(text)}: expected one {MASK}, and up to {self.shape.positions} pieces with [CLS] and "
                    "[SEP]"
                )
        piece = {word: self.pieces.single(word) for group in set(map(tuple, words)) for word in group}
        word_ids = np.array([[piece[word] for word in group] for group in words], dtype=np.int64)
        log_probabilities = np.full(word_ids.shape, np.nan)
        lengths = np.array([len(ids) for ids in ids_of_texts])
        with one_thread():
            for length in np.unique(lengths):
                rows_of_length, step = np.flatnonzero(lengths == length), max(1, BATCH // int(length))
                for start in range(0, len(rows_of_length), step):
                    rows = rows_of_length[start : start + step]
                    log_probabilities[rows] = self._fill(
                        np.array([ids_of_texts[row] for row in rows]), word_ids[rows]
                    )
        return log_probabilities

    def _fill(self, ids: NDArray[np.int64], word_ids: NDArray[np.int64]) -> NDArray[np.float64]:
        import torch

        rows, columns = np.nonzero(ids == self.pieces.mask)
        with torch.inference_mode():
            states = layers(self._weights, self.shape, torch.from_numpy(ids).to(self._device))[rows, columns]
            logits = head(self._weights, self.shape, states).double().log_softmax(-1)
            return logits.gather(1, torch.from_numpy(word_ids).to(self._device)).cpu().numpy()

    def _check_head(self) -> None:
        if not self.masked:
            raise InputError(
                f"{self._folder}: has no head for masked words (cls.predictions): it is an encoder, and no language "
                "model"
            )

    def _map(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
        """The function's value for each argument; on a processor several at a time, each on one thread."""
        if self._device.type == "cpu":
            return map_on_threads(function, arguments)
        return [function(argument) for argument in arguments]

    def _states(self, text: str, layer: int, specials: bool) -> States:
        import torch

        ids, offsets = self.pieces.split(text)
        if len(ids) > self.shape.positions:
            raise InputError(
                f"{text[:40]!r} has {len(ids)} pieces; allowed: up to {self.shape.positions} with [CLS] and [SEP]"
            )
        with torch.inference_mode():
            batch = torch.tensor([ids], device=self._device)
            states = layers(self._weights, self.shape, batch, depth=layer)[0].cpu().numpy()
        selection = slice(None) if specials else slice(1, -1)
        return States(states[selection], np.array(offsets, dtype=np.int64).reshape(-1, 2)[selection])

    def _score(self, sentence: Sentence) -> float:
        ids, offsets = self.pieces.split(sentence.text)
        places = self._places_to_score(sentence, ids, offsets)
        hidden = _pieces_of(offsets, sentence.hidden) if sentence.hidden else []
        # NaN where all pieces are [UNK], and where the part to hide has no piece
        all_unknown = all(ids[place] == self.pieces.unk for place in places)
        if all_unknown or (sentence.hidden and not hidden) or len(ids) > self.shape.positions:
            return float("nan")
        # one copy with the whole part masked, or a copy per piece
        copies = [places] if sentence.part else [[place] for place in places]
        step = max(1, BATCH // len(ids))
        return float(
            sum(
                self._log_probabilities(ids, copies[i : i + step], hidden)
                for i in range(0, len(copies), step)
            )
        )

    def _places_to_score(self, sentence: Sentence, ids: list[int], offsets: list[Span]) -> list[int]:
        """Which pieces are scored, as places in `ids`."""
        places = set(range(1, len(ids) - 1))
        if sentence.beside:
            places &= shared(ids, self.pieces.split(sentence.beside)[0])
        if sentence.part:
            places &= set(_pieces_of(offsets, sentence.part))
        elif sentence.hidden:
            places -= set(_pieces_of(offsets, sentence.hidden))
        return sorted(places)

    def _log_probabilities(self, ids: list[int], masked: list[list[int]], hidden: list[int]) -> float:
        """The sum of the log-probabilities of the masked pieces in each copy."""
        import torch

        rows = [copy for copy, places in enumerate(masked) for _ in places]
        columns = [place for places in masked for place in places]
        batch = torch.tensor([ids] * len(masked))
        true_ids = batch[rows, columns]
        batch[:, hidden] = self.pieces.mask
        batch[rows, columns] = self.pieces.mask
        with torch.inference_mode():
            states = layers(self._weights, self.shape, batch.to(self._device))[rows, columns]
            logits = head(self._weights, self.shape, states).double()
            return float(logits.log_softmax(-1).gather(1, true_ids.to(self._device)[:, None]).sum())


def shared(ids: Sequence[int], other_ids: Sequence[int]) -> set[int]:
    """The places of `ids` whose pieces another sentence has, too: the equal blocks that difflib finds.

    difflib may find others when the two change places; the one that is less goes first here, so that of a pair as
    many pieces are scored in each.
    """
    first, second = sorted((list(ids), list(other_ids)))
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    starts = [(block.a if first == list(ids) else block.b, block.size) for block in blocks]
    return {place for start, size in starts for place in range(start, start + size)}


def _pieces_of(offsets: Sequence[Span], span: Span) -> list[int]:
    """The places of the pieces that have any of the characters."""
    return [place for place, (start, end) in enumerate(offsets) if start < span[1] and end > span[0]]

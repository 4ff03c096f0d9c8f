"""A model of Hugging Face's transformers: texts as its pieces, and what it computes of these."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BiasgridError, InputError, quote
from .architectures import CAUSAL, ENCODER, ModelKind
from .sentence import Span, check_text
from .threads import one_thread

_ASKED = threading.local()  # `places`: those that a thread asks of a model, while it does
_LOCK = threading.RLock()  # of two callers at a time, one would undo what the other needs
ALIGNED = 8  # numbers
NO_LIMIT = 10**9  # pieces; transformers says more where nobody has said a limit


class Pieces(NamedTuple):
    """A text as a model reads it.

    ids      the numbers of its pieces, special ones at its ends among them
    offsets  int64 (pieces, 2): the characters of the text that each piece stands for, from, up to; (0, 0) of one that
             stands for none
    inner    bool (pieces,): whether it is of the text, and no special one that was put before or after it
    words    the number of the word that each piece is of, as the tokenizer parts words; None of special ones
    """

    ids: list[int]
    offsets: NDArray[np.int64]
    inner: NDArray[np.bool_]
    words: list[int | None]

    def of(self, span: Span) -> list[int]:
        """The places of the pieces that have any of the characters; none of an empty span."""
        if span[0] >= span[1]:
            return []
        return np.flatnonzero(
            self.inner & (self.offsets[:, 0] < span[1]) & (self.offsets[:, 1] > span[0])
        ).tolist()


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A model and its tokenizer.

    Attributes
    ----------
    model
        transformers' model, which may be somebody's who trains it: `at_work` leaves it as it was.
    tokenizer
        Its tokenizer, which says where in a text a piece is.
    kind
        "masked", which predicts masked words; "causal", the next one; "encoder", which predicts none.
    where
        What messages call it.
    one_line
        What makes one line of whatever the model or its tokenizer raises, as those of a damaged folder do when they
        are used, and not before.
    """

    model: Any
    tokenizer: Any
    kind: ModelKind
    where: str
    one_line: Callable[[], AbstractContextManager[None]] = nullcontext

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Put the model into evaluation mode, in which there is no dropout. Afterwards each of its modules is in its
        former mode: somebody may be training it."""
        with self.one_line(), _LOCK, modes_kept(self.model), ExitStack() as stack:
            self.model.eval()
            # a head costs more than the layers of a small model: it sees the places that are asked for, and no others
            if self.kind != ENCODER and self.model.base_model is not self.model:
                stack.callback(self.model.base_model.register_forward_hook(_keep_asked).remove)
            yield

    @cached_property
    def device(self) -> Any:
        """Where it computes."""
        return next(self.model.parameters()).device

    @cached_property
    def computed(self) -> dict[str, Any]:
        """How it computes: where, and in which numbers."""
        dtype = str(next(self.model.parameters()).dtype).removeprefix("torch.")
        return {"device": self.device.type, "dtype": dtype}

    @cached_property
    def positions(self) -> int:
        """The most pieces of a text, special ones among them."""
        limit = getattr(self.model.config, "max_position_embeddings", None) or NO_LIMIT
        table = getattr(getattr(self.model.base_model, "embeddings", None), "position_embeddings", None)
        # RoBERTa counts positions from its padding's number on
        if (padding := getattr(table, "padding_idx", None)) is not None:
            limit -= padding + 1
        return int(min(limit, self.tokenizer.model_max_length, NO_LIMIT))

    @cached_property
    def layers(self) -> int:
        """How many layers it has."""
        return int(self.model.config.num_hidden_layers)

    @cached_property
    def words(self) -> int:
        """How many pieces it knows."""
        return int(self.model.get_input_embeddings().num_embeddings)

    @cached_property
    def mask(self) -> int:
        """The piece that stands for a masked one."""
        return self._special(self.tokenizer.mask_token_id, ("[MASK]", "<mask>"), "a masked piece")

    @cached_property
    def first(self) -> int:
        """The piece that a causal model's texts begin with: BOS, or EOS where there is none."""
        bos = self.tokenizer.bos_token_id
        return self._special(
            self.tokenizer.eos_token_id if bos is None else bos, ("<s>",), "the beginning of a text"
        )

    @cached_property
    def unknown(self) -> int | None:
        """The piece for what no other piece stands for, where there is one."""
        return unknown_token(self.tokenizer)

    @cached_property
    def filler(self) -> int:
        """What rows of a batch are filled up with; attention never looks there."""
        # RoBERTa counts positions by it
        number = getattr(self.model.config, "pad_token_id", None)
        return int(number) if isinstance(number, int) and 0 <= number < self.words else 0

    def _special(self, number: int | None, names: Sequence[str], what: str) -> int:
        vocabulary = self.tokenizer.get_vocab()
        numbers = [number, *(vocabulary.get(name) for name in names)]
        number = next((number for number in numbers if number is not None), None)
        if number is None:
            raise BiasgridError(f"{self.where}: its tokenizer has no piece for {what}")
        if not 0 <= number < self.words:
            raise BiasgridError(f"{self.where}: its tokenizer has a piece for {what} that the model lacks")
        return int(number)

    def split(self, text: str, *, as_encoder: bool = False) -> Pieces:
        """A text's pieces, with the special ones that its tokenizer puts before and after it; a causal model's text
        begins with its first piece, and has no others, but where it serves as an encoder.

        Raises InputError for what is no text, such as half of a surrogate pair, and for a text with a piece that was
        added to the tokenizer and that the model lacks.
        """
        check_text(text)
        # some tokenizers put a causal model's first piece before a text, and some do not
        begins = [self.first] if self.kind == CAUSAL and not as_encoder else []
        with self.one_line(), kept(self.tokenizer):
            found = self.tokenizer(
                text, add_special_tokens=not begins, return_offsets_mapping=True, return_special_tokens_mask=True,
                verbose=False,
            )  # fmt: skip
        if max(found["input_ids"], default=0) >= self.words:
            raise InputError(f"{quote(text)}: has a piece that the tokenizer has, and the model lacks")
        special = [*(1 for _ in begins), *found["special_tokens_mask"]]
        return Pieces(
            [*begins, *found["input_ids"]],
            np.array([*((0, 0) for _ in begins), *found["offset_mapping"]], dtype=np.int64).reshape(-1, 2),
            np.array(special) == 0,
            [*(None for _ in begins), *found.word_ids()],
        )

    def is_unknown(self, pieces: Pieces, places: Iterable[int]) -> NDArray[np.bool_]:
        """Return whether each of the tokens at these places is the unknown one, bool (places,)."""
        return np.array([pieces.ids[place] == self.unknown for place in places], dtype=bool)

    def unknown_parts(self, text: str) -> list[str]:
        """Return the parts of a text that the tokenizer does not know, in order."""
        pieces = self.split(text)
        inner = np.flatnonzero(pieces.inner)
        spans = pieces.offsets[inner[self.is_unknown(pieces, inner.tolist())]]
        return [text[start:end] for start, end in spans.tolist()]

    def single(self, word: str) -> int:
        """The number of the piece that a word is. Raises InputError for a word of several pieces, or none."""
        check_text(word)
        with self.one_line(), kept(self.tokenizer):
            ids = self.tokenizer(word, add_special_tokens=False)["input_ids"]
        if len(ids) != 1 or ids[0] == self.unknown:
            raise InputError(f"{quote(word)}: is no single piece of the model")
        return int(ids[0])

    def log_probabilities(self, ids: Any, attended: Any, places: Any, labels: Any) -> Any:
        """The log-probability of a piece at each place: float tensor (rows, places).

        Parameters
        ----------
        ids
            Pieces, int64 (rows, length).
        attended
            Where there is one, int64 (rows, length): 1, or 0 where a row is filled up.
        places
            Where something is predicted, int64 (rows, places). A causal model predicts the piece after a place.
        labels
            The pieces there, int64 (rows, places), or several of each (rows, places, pieces).
        """
        _ASKED.places = places
        try:
            found = self.model(input_ids=ids, attention_mask=attended, **self._options)
        finally:
            _ASKED.places = None
        # models for pretraining have two heads
        logits = found.prediction_logits if "prediction_logits" in found else found.logits
        if logits.shape[1] != places.shape[1]:  # it has no part before its head
            logits = logits.gather(1, places[..., None].expand(-1, -1, logits.shape[-1]))
        logits = logits.float()
        several = labels if labels.ndim == 3 else labels[..., None]
        values = logits.gather(-1, several) - _log_of_sum(logits)
        return values if labels.ndim == 3 else values[..., 0]

    @cached_property
    def has_next_sentence_head(self) -> bool:
        """Whether it predicts if a sentence follows another, as BERT was trained to."""
        return hasattr(getattr(self.model, "cls", None), "seq_relationship")

    def count_of_two(self, first: str, second: str) -> int:
        """How many pieces two texts have together, with the special ones."""
        return len(self._two(first, second)["input_ids"])

    def log_probability_of_next(self, first: str, second: str) -> float:
        """The log-probability that a text is the sentence after another, by the next-sentence head."""
        import torch

        found = {
            name: torch.tensor([ids], device=self.device) for name, ids in self._two(first, second).items()
        }
        with self.at_work(), torch.inference_mode(), one_thread():
            logits = self.model(**found).seq_relationship_logits
        # BERT's first label is "is next"
        return float(logits.double().log_softmax(-1)[0, 0])

    def _two(self, first: str, second: str) -> dict[str, list[int]]:
        for text in (first, second):
            check_text(text)
        with self.one_line(), kept(self.tokenizer):
            return dict(
                self.tokenizer(
                    first, second, return_token_type_ids=True, return_attention_mask=True, verbose=False
                )
            )

    def states(self, ids: Any, attended: Any, layer: int) -> Any:
        """The states after a layer, float tensor (rows, length, dimensions): 0 are the embeddings of pieces."""
        last = layer == self.layers
        found = self.model.base_model(
            input_ids=ids, attention_mask=attended, output_hidden_states=not last, **self._options
        )
        return (found.last_hidden_state if last else found.hidden_states[layer]).float()

    @cached_property
    def _options(self) -> dict[str, Any]:
        return {"use_cache": False} if self.kind == CAUSAL else {}


def unknown_token(tokenizer: Any) -> int | None:
    """Return the number of the token for what no other token stands for. None where there is none, as in GPT-2, which
    names the end of a text in its place."""
    number = getattr(tokenizer, "unk_token_id", None)
    return None if number is None or number == getattr(tokenizer, "eos_token_id", None) else int(number)


@contextmanager
def modes_kept(model: Any) -> Iterator[None]:
    """Leave each module of a torch model in the mode that it is in: training or evaluation."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        yield
    finally:
        for module, is_training in modes:
            module.training = is_training


@contextmanager
def kept(tokenizer: Any) -> Iterator[None]:
    """Leave the lengths to which somebody's tokenizer cuts and fills up texts as they were: a call of it, which does
    neither, changes them."""
    backend = tokenizer.backend_tokenizer
    truncation, padding = backend.truncation, backend.padding
    try:
        yield
    finally:
        if truncation is not None:
            backend.enable_truncation(**truncation)
        if padding is not None:
            backend.enable_padding(**padding)


def _log_of_sum(logits: Any) -> Any:
    """log(sum(exp(logits))) of each place, in an axis of length 1."""
    if logits.is_cuda and (beyond := -logits.shape[-1] % ALIGNED):
        from torch.nn.functional import pad

        # in which order a GPU adds up depends on where in memory a place begins: each begins at such a multiple
        logits = pad(logits, (0, beyond), value=-math.inf)
    return logits.logsumexp(-1, keepdim=True)


def _keep_asked(module: Any, arguments: Any, output: Any) -> Any:
    """What a model's part before its head returns: the states at the places that this thread asks for."""
    places = getattr(_ASKED, "places", None)
    if places is None:
        return output
    _ASKED.places = None
    states = output[0]
    output.last_hidden_state = states.gather(1, places[..., None].expand(-1, -1, states.shape[-1]))
    return output

"""Transformers models: texts as tokens, and the computation of log-probabilities and states."""

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

from ...core.errors import BiasgridError, InputError, quote
from .architectures import CAUSAL, ENCODER, ModelKind
from .sentence import Span, check_text
from .threads import one_thread

_ASKED = threading.local()  # `places`: the positions that a thread requests from a model at the moment
_LOCK = threading.RLock()  # two callers at a time would undo each other's settings
ALIGNED = 8  # a GPU's logits at each position are padded to a multiple of this
NO_LIMIT = 10**9  # tokens; transformers gives a larger number if there is no limit


class Pieces(NamedTuple):
    """A text as tokens.

    Attributes
    ----------
    ids
        The numbers of its tokens, including special ones at its ends.
    offsets
        int64 (tokens, 2): the first and last (exclusive) character of each token in the text; (0, 0) for a
        special token.
    inner
        bool (tokens,): whether a token is part of the text, not a special one before or after it.
    words
        The number of each token's word, as split by the tokenizer; None for special tokens.
    """

    ids: list[int]
    offsets: NDArray[np.int64]
    inner: NDArray[np.bool_]
    words: list[int | None]

    def of(self, span: Span) -> list[int]:
        """Return the positions of the tokens that contain any of the characters; empty for an empty span."""
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
        The transformers model, which a user may be training: `at_work` restores its modes.
    tokenizer
        Its tokenizer, which gives the position of each token in a text.
    kind
        "masked" (predicts masked words), "causal" (predicts the next word) or "encoder" (predicts nothing).
    where
        Its name in messages.
    one_line
        A context manager that turns errors of the model or tokenizer into one line. A damaged folder may
        raise errors only when it is used.
    """

    model: Any
    tokenizer: Any
    kind: ModelKind
    where: str
    one_line: Callable[[], AbstractContextManager[None]] = nullcontext

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Put the model into evaluation mode, without dropout, and restore the mode of each module afterwards.

        A user may be training the model.
        """
        with self.one_line(), _LOCK, modes_kept(self.model), ExitStack() as stack:
            self.model.eval()
            # A head takes longer than the layers of a small model, so it is computed only for requested positions.
            if self.kind != ENCODER and self.model.base_model is not self.model:
                stack.callback(self.model.base_model.register_forward_hook(_keep_asked).remove)
            yield

    @cached_property
    def device(self) -> Any:
        """Return the device of the model."""
        return next(self.model.parameters()).device

    @cached_property
    def computed(self) -> dict[str, Any]:
        """Return how the model computes: its device and number type."""
        dtype = str(next(self.model.parameters()).dtype).removeprefix("torch.")
        return {"device": self.device.type, "dtype": dtype}

    @cached_property
    def positions(self) -> int:
        """Return the maximum number of tokens of a text, including special ones."""
        limit = getattr(self.model.config, "max_position_embeddings", None) or NO_LIMIT
        table = getattr(getattr(self.model.base_model, "embeddings", None), "position_embeddings", None)
        # RoBERTa counts positions from its padding token's number.
        if (padding := getattr(table, "padding_idx", None)) is not None:
            limit -= padding + 1
        return int(min(limit, self.tokenizer.model_max_length, NO_LIMIT))

    @cached_property
    def layers(self) -> int:
        """Return the number of layers."""
        return int(self.model.config.num_hidden_layers)

    @cached_property
    def words(self) -> int:
        """Return the number of tokens in the vocabulary."""
        return int(self.model.get_input_embeddings().num_embeddings)

    @cached_property
    def mask(self) -> int:
        """Return the mask token."""
        return self._special(self.tokenizer.mask_token_id, ("[MASK]", "<mask>"), "a masked piece")

    @cached_property
    def first(self) -> int:
        """Return the token with which a causal model's texts begin: BOS, or EOS if it does not have one."""
        bos = self.tokenizer.bos_token_id
        return self._special(
            self.tokenizer.eos_token_id if bos is None else bos, ("<s>",), "the beginning of a text"
        )

    @cached_property
    def unknown(self) -> int | None:
        """Return the unknown token, if there is one."""
        return unknown_token(self.tokenizer)

    @cached_property
    def filler(self) -> int:
        """Return the padding token of batches, which attention ignores."""
        # RoBERTa uses this token to count positions.
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
        """Split a text into tokens, including the special ones that its tokenizer puts before and after it.

        A causal model's text begins with its first token, and does not have other special ones, unless it is
        used as an encoder. Raise InputError for an invalid text, such as one with a lone surrogate. Raise it
        also for a text with a token that was added to the tokenizer but not to the model.
        """
        check_text(text)
        # Only some tokenizers put a causal model's first token before a text.
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
        """Return the number of a word's single token. Raise InputError for a word that is not exactly one token."""
        check_text(word)
        with self.one_line(), kept(self.tokenizer):
            ids = self.tokenizer(word, add_special_tokens=False)["input_ids"]
        if len(ids) != 1 or ids[0] == self.unknown:
            raise InputError(f"{quote(word)}: is no single piece of the model")
        return int(ids[0])

    def log_probabilities(self, ids: Any, attended: Any, places: Any, labels: Any) -> Any:
        """Compute the log-probability of a token at each position: float tensor (rows, places).

        Parameters
        ----------
        ids
            Tokens, int64 (rows, length).
        attended
            int64 (rows, length): 1 for a token, 0 for padding.
        places
            Positions at which to predict, int64 (rows, places). A causal model predicts the token after a
            position.
        labels
            The tokens there, int64 (rows, places), or several of each (rows, places, tokens).
        """
        _ASKED.places = places
        try:
            found = self.model(input_ids=ids, attention_mask=attended, **self._options)
        finally:
            _ASKED.places = None
        # Models for pretraining have two heads.
        logits = found.prediction_logits if "prediction_logits" in found else found.logits
        if logits.shape[1] != places.shape[1]:  # the model does not have a separate part before its head
            logits = logits.gather(1, places[..., None].expand(-1, -1, logits.shape[-1]))
        logits = logits.float()
        several = labels if labels.ndim == 3 else labels[..., None]
        values = logits.gather(-1, several) - _log_of_sum(logits)
        return values if labels.ndim == 3 else values[..., 0]

    @cached_property
    def has_next_sentence_head(self) -> bool:
        """Return whether the model predicts if a sentence follows another, as BERT was trained to do."""
        return hasattr(getattr(self.model, "cls", None), "seq_relationship")

    def count_of_two(self, first: str, second: str) -> int:
        """Return the number of tokens of two texts together, including the special ones."""
        return len(self._two(first, second)["input_ids"])

    def log_probability_of_next(self, first: str, second: str) -> float:
        """Compute the log-probability that a text is the sentence after another, with the next-sentence head."""
        import torch

        found = {
            name: torch.tensor([ids], device=self.device) for name, ids in self._two(first, second).items()
        }
        with self.at_work(), torch.inference_mode(), one_thread():
            logits = self.model(**found).seq_relationship_logits
        # BERT's first label means "is next".
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
        """Compute the states after a layer, float tensor (rows, length, dimensions); layer 0 is the
        embeddings."""
        last = layer == self.layers
        found = self.model.base_model(
            input_ids=ids, attention_mask=attended, output_hidden_states=not last, **self._options
        )
        return (found.last_hidden_state if last else found.hidden_states[layer]).float()

    @cached_property
    def _options(self) -> dict[str, Any]:
        return {"use_cache": False} if self.kind == CAUSAL else {}


def unknown_token(tokenizer: Any) -> int | None:
    """Return the number of the unknown token, or None.

    GPT-2, for example, does not have one and uses its end-of-text token for this.
    """
    number = getattr(tokenizer, "unk_token_id", None)
    return None if number is None or number == getattr(tokenizer, "eos_token_id", None) else int(number)


@contextmanager
def modes_kept(model: Any) -> Iterator[None]:
    """Restore the mode of each module of a torch model afterwards: training or evaluation."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        yield
    finally:
        for module, is_training in modes:
            module.training = is_training


@contextmanager
def kept(tokenizer: Any) -> Iterator[None]:
    """Restore a tokenizer's truncation and padding afterwards, as a call without them changes them."""
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
    """Compute log(sum(exp(logits))) at each position, in an axis of length 1."""
    if logits.is_cuda and (beyond := -logits.shape[-1] % ALIGNED):
        from torch.nn.functional import pad

        # A GPU's order of addition depends on the memory alignment of a position's numbers, so all are aligned.
        logits = pad(logits, (0, beyond), value=-math.inf)
    return logits.logsumexp(-1, keepdim=True)


def _keep_asked(module: Any, arguments: Any, output: Any) -> Any:
    """Reduce the output before a model's head to the states at the positions that this thread requests."""
    places = getattr(_ASKED, "places", None)
    if places is None:
        return output
    _ASKED.places = None
    states = output[0]
    output.last_hidden_state = states.gather(1, places[..., None].expand(-1, -1, states.shape[-1]))
    return output

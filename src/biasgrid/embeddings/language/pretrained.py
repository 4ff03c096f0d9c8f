"""A model of Hugging Face's transformers, opened from its folder.

What transformers says of a folder that is not what it should be misleads, or it says nothing: without a tokenizer's
files every word is unknown, a causal class takes any BERT, an encoder gets a random head. So what a folder holds is
checked here, before and after transformers reads it. No code of a model is run, and nothing but safetensors is read.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import BiasgridError, InputError, quote, unknown_name
from ...extras import require_for
from .files import CONFIG, INDEX, TOKENIZERS, WEIGHTS
from .formats import TRANSFORMERS
from .sentence import Span, check_text

ModelKind = Literal["masked", "causal", "encoder"]
MASKED: ModelKind = "masked"
CAUSAL: ModelKind = "causal"
ENCODER: ModelKind = "encoder"
# how the names of architectures end -> what such a model does; the first that fits
ARCHITECTURES: dict[str, ModelKind] = {
    "ForMaskedLM": MASKED,
    # with a second head, for the next sentence
    "BertForPreTraining": MASKED,
    "AlbertForPreTraining": MASKED,
    "ForCausalLM": CAUSAL,
    "LMHeadModel": CAUSAL,
    "Model": ENCODER,
}
# they predict words in other orders than from left to right
OTHER_ORDERS = ("xlnet", "xlm", "prophetnet", "xlm-prophetnet")
DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("float32", "bfloat16", "float16")
PROBE = "The Nurse's HATS: naïve café, 12th of May; Ünal ß 日本 don't"
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
        """The places of the pieces that have any of the characters."""
        return np.flatnonzero(
            self.inner & (self.offsets[:, 0] < span[1]) & (self.offsets[:, 1] > span[0])
        ).tolist()


@dataclass(frozen=True, eq=False)
class Pretrained:
    """A model and its tokenizer.

    Attributes
    ----------
    model
        transformers' model, which is not trained further.
    tokenizer
        Its tokenizer, which says where in a text a piece is.
    kind
        "masked", which predicts masked words; "causal", the next one; "encoder", which predicts none.
    where
        What messages call it.
    """

    model: Any
    tokenizer: Any
    kind: ModelKind
    where: str
    _asked: threading.local = field(default_factory=threading.local)

    def __post_init__(self) -> None:
        # a head costs more than the layers of a small model: it sees the places that are asked for, and no others
        if self.kind != ENCODER and self.model.base_model is not self.model:
            self.model.base_model.register_forward_hook(self._keep_asked)

    @cached_property
    def device(self) -> Any:
        """Where it computes."""
        return next(self.model.parameters()).device

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
        number = self.tokenizer.unk_token_id
        return None if number is None or number == self.tokenizer.eos_token_id else int(number)

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
        return int(number)

    def split(self, text: str, *, as_encoder: bool = False) -> Pieces:
        """A text's pieces, with the special ones that its tokenizer puts before and after it; a causal model's text
        begins with its first piece, and has no others, but where it serves as an encoder.

        Raises InputError for what is no text, such as half of a surrogate pair.
        """
        check_text(text)
        # some tokenizers put a causal model's first piece before a text, and some do not
        begins = [self.first] if self.kind == CAUSAL and not as_encoder else []
        found = self.tokenizer(
            text, add_special_tokens=not begins, return_offsets_mapping=True, return_special_tokens_mask=True,
            verbose=False,
        )  # fmt: skip
        special = [*(1 for _ in begins), *found["special_tokens_mask"]]
        return Pieces(
            [*begins, *found["input_ids"]],
            np.array([*((0, 0) for _ in begins), *found["offset_mapping"]], dtype=np.int64).reshape(-1, 2),
            np.array(special) == 0,
            [*(None for _ in begins), *found.word_ids()],
        )

    def single(self, word: str) -> int:
        """The number of the piece that a word is. Raises InputError for a word of several pieces, or none."""
        check_text(word)
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
        self._asked.places = places
        try:
            found = self.model(input_ids=ids, attention_mask=attended, **self._options)
        finally:
            self._asked.places = None
        # models for pretraining have two heads
        logits = found.prediction_logits if "prediction_logits" in found else found.logits
        if logits.shape[1] != places.shape[1]:  # it has no part before its head
            logits = logits.gather(1, places[..., None].expand(-1, -1, logits.shape[-1]))
        logits = logits.float()
        several = labels if labels.ndim == 3 else labels[..., None]
        values = logits.gather(-1, several) - logits.logsumexp(-1, keepdim=True)
        return values if labels.ndim == 3 else values[..., 0]

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

    def _keep_asked(self, module: Any, arguments: Any, output: Any) -> Any:
        places = getattr(self._asked, "places", None)
        if places is None:
            return output
        states = output[0]
        output.last_hidden_state = states.gather(1, places[..., None].expand(-1, -1, states.shape[-1]))
        return output


def read_kind(folder: Path) -> ModelKind:
    """What the model in a folder does, as config.json's `architectures` says; transformers is not asked.

    Raises
    ------
    BiasgridError
        A folder without config.json, weights in safetensors, or a tokenizer; an architecture that predicts no words
        in a text and is no encoder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise BiasgridError(f"{folder}: no such folder; a name on a hub has the form owner/name")
    config = _config(folder)
    names = config.get("architectures")
    if not isinstance(names, list) or not names or not isinstance(names[0], str):
        raise BiasgridError(
            f'{folder / CONFIG}: names no architecture; expected one, such as "architectures": ["BertForMaskedLM"]'
        )
    kind = next((kind for end, kind in ARCHITECTURES.items() if names[0].endswith(end)), None)
    if kind is None or config.get("is_encoder_decoder") or config["model_type"] in OTHER_ORDERS:
        raise BiasgridError(
            f"{folder / CONFIG}: {quote(names[0])} is no masked model (...ForMaskedLM), no causal one "
            "(...ForCausalLM, ...LMHeadModel), and no encoder (...Model)"
        )
    if not any((folder / name).is_file() for name in (WEIGHTS, INDEX)):
        raise BiasgridError(f"{folder}: has no {WEIGHTS}; other files of weights are not read")
    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise BiasgridError(
            f"{folder}: has no tokenizer; expected {TOKENIZERS[0]}, or one of {', '.join(TOKENIZERS[1:])}"
        )
    return kind


def _config(folder: Path) -> dict[str, Any]:
    path = folder / CONFIG
    if not path.is_file():
        raise BiasgridError(f"{folder}: has no {CONFIG}")
    try:
        config = json.loads(path.read_bytes())
        if not isinstance(config["model_type"], str):
            raise TypeError("model_type is no text")
        return dict(config)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise BiasgridError(f"{path}: not the config of a model: {error!r:.200}") from None


def open_pretrained(folder: Path, *, device: str = "auto", dtype: str = "float32") -> Pretrained:
    """The model in a folder, with its weights in memory.

    Parameters
    ----------
    folder
        With config.json, model.safetensors, and a tokenizer's files.
    device
        "cpu", "cuda", or "auto" for a GPU where torch sees one.
    dtype
        Of the weights: "float32"; "bfloat16" and "float16" change verdicts.

    Raises
    ------
    BiasgridError
        A package is missing; a folder that `read_kind` refuses, or whose files are damaged, of an architecture that
        transformers does not know, or not of one model; a tokenizer that knows nothing, or does not say where its
        pieces are.
    """
    kind = read_kind(folder)
    require_for(TRANSFORMERS, purpose=f"the model in {folder}")
    import torch
    import transformers

    classes = {
        MASKED: transformers.AutoModelForMaskedLM,
        CAUSAL: transformers.AutoModelForCausalLM,
        ENCODER: transformers.AutoModel,
    }
    with quiet(), one_line(folder):
        tokenizer = _tokenizer(folder)
        model, found = classes[kind].from_pretrained(
            folder,
            trust_remote_code=False,
            use_safetensors=True,
            local_files_only=True,
            dtype=getattr(torch, choice("dtype", dtype, DTYPES)),
            output_loading_info=True,
        )
    _check_weights(folder, kind, found)
    pretrained = in_memory(model, tokenizer, where=str(folder), kind=kind)
    pretrained.model.to(choose_device(device))
    return pretrained


def in_memory(model: Any, tokenizer: Any, *, where: str, kind: ModelKind | None = None) -> Pretrained:
    """A model and a tokenizer that are open already.

    Raises
    ------
    InputError
        What is no model, or no tokenizer, of transformers; a model of another kind than `ARCHITECTURES` has.
    BiasgridError
        A tokenizer that does not go with the model, or does not say where its pieces are.
    """
    import transformers

    if not isinstance(model, transformers.PreTrainedModel):
        raise InputError(f"{where}: {quote(type(model).__name__)} is no model of transformers")
    name = type(model).__name__
    kind = kind or next((kind for end, kind in ARCHITECTURES.items() if name.endswith(end)), None)
    if kind is None or model.config.is_encoder_decoder:
        raise InputError(f"{where}: {name} predicts no words in a text, and is no encoder")
    if not getattr(tokenizer, "is_fast", False):
        raise BiasgridError(
            f"{where}: its tokenizer does not say where its pieces are; a fast one (tokenizer.json) is needed"
        )
    words = model.get_input_embeddings().num_embeddings
    known = len(tokenizer) > len(set(tokenizer.all_special_ids))
    if not known or not tokenizer("he she it", add_special_tokens=False)["input_ids"]:
        raise BiasgridError(f"{where}: its tokenizer knows no words")
    if (pieces := max(tokenizer.get_vocab().values()) + 1) > words:
        raise BiasgridError(f"{where}: the tokenizer has {pieces} pieces, and the model {words}")
    return Pretrained(model.eval(), tokenizer, kind, where)


def _tokenizer(folder: Path) -> Any:
    """The tokenizer, as its files say: what a class of transformers makes of tokenizer.json may be another one."""
    import tokenizers
    import transformers

    options: dict[str, Any] = {"local_files_only": True}
    path = folder / TOKENIZERS[0]
    saved = None
    if path.is_file():
        try:
            saved = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises no class of its own
            raise BiasgridError(f"{path}: is damaged: {_line(error)}") from None
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=False, **options)
    if saved is not None:
        saved.no_truncation()
        saved.no_padding()
        ids = tokenizer(PROBE, add_special_tokens=False)["input_ids"]
        if ids != saved.encode(PROBE, add_special_tokens=False).ids:
            tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(folder, **options)
    return tokenizer


def _check_weights(folder: Path, kind: ModelKind, found: dict[str, Any]) -> None:
    """What a file lacks would be random, and what of a layer has no place would be left out."""
    # no state of a piece depends on a pooler
    if missing := sorted(key for key in found["missing_keys"] if "pooler" not in key):
        what = {MASKED: "its head for masked words, or of a layer", CAUSAL: "a head, or of a layer"}.get(
            kind, "a layer"
        )
        raise BiasgridError(f"{folder}: has no weights of {what}: {missing[0]:.100}")
    if extra := sorted(key for key in found["unexpected_keys"] if re.search(r"\.\d+\.", key)):
        raise BiasgridError(f"{folder}: {CONFIG} has no layer for the weights {extra[0]:.100}")


def choose_device(device: str) -> Any:
    """The device of that name; "auto" is a GPU where torch sees one. Raises InputError where there is none."""
    import torch

    choice("device", device, DEVICES)
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError("device: torch sees no GPU here; allowed: auto, cpu")
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def choice(name: str, value: Any, allowed: Sequence[str]) -> str:
    """The value of an option, of those that are allowed. Raises InputError for another."""
    if value not in allowed:
        raise InputError(f"{name}: {unknown_name('value', value, allowed)}")
    return str(value)


@contextmanager
def quiet() -> Iterator[None]:
    """No bars and no warnings of transformers, whose settings afterwards are as before."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # it warns where a process forks
    from transformers.utils import logging as said

    level, bars = said.get_verbosity(), said.is_progress_bar_enabled()
    said.set_verbosity(logging.CRITICAL)
    said.disable_progress_bar()
    try:
        yield
    finally:
        said.set_verbosity(level)
        if bars:
            said.enable_progress_bar()


@contextmanager
def one_line(where: Path) -> Iterator[None]:
    """Whatever a file makes transformers raise becomes one line."""
    import transformers

    try:
        yield
    except BiasgridError:
        raise
    except MemoryError:
        raise BiasgridError(f"{where}: there is not enough memory for its weights") from None
    except (
        Exception
    ) as error:  # KeyError, OSError, RuntimeError, SafetensorError, ...: what a file does to it
        text = _line(error)
        if type(error).__name__ == "SafetensorError":
            text = f"its file of weights is damaged: {text}"
        elif "ignore_mismatched_sizes" in str(error) or "size mismatch" in str(error):
            text = f"its weights do not fit {CONFIG}"
        elif "does not recognize this architecture" in str(error):
            text = f"transformers {transformers.__version__} does not know its model_type"
        elif "requires you to execute" in str(error) or "trust_remote_code" in str(error):
            text = "it brings code of its own, which is not run"
        else:
            text = f"transformers {transformers.__version__} cannot open it: {text}"
        raise BiasgridError(f"{where}: {text}") from None


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split()):.200}"

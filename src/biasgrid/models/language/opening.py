"""Opening of transformers models from their folders.

For an invalid folder, the errors of transformers are misleading or missing: without a tokenizer's files every
word is unknown, a causal class accepts any BERT, and an encoder gets a random head. So the contents of a
folder are checked here, before and after transformers reads it. A model's code is never run, and only weights
in safetensors are read.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ...core.errors import BiasgridError, InputError, quote, unknown_name
from ...core.extras import require_for
from .architectures import ARCHITECTURES, CAUSAL, ENCODER, MASKED, ModelKind, read_kind
from .batches import is_out_of_memory
from .files import CONFIG, TOKENIZERS
from .formats import TRANSFORMERS
from .pretrained import Pretrained, kept

DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("float32", "bfloat16", "float16")
# Default options of a network's computation.
DEFAULTS = {"device": "auto", "dtype": "float32", "fast": False, "random_weights": None}
PROBE = "The Nurse's HATS: naïve café, 12th of May; Ünal ß 日本 don't"


def open_pretrained(
    folder: Path, *, device: str = "auto", dtype: str = "float32", random_weights: int | None = None
) -> Pretrained:
    """Open the model in a folder, with its weights in memory.

    Parameters
    ----------
    folder
        A folder with config.json, model.safetensors, and a tokenizer's files.
    device
        "cpu", "cuda", or "auto" for a GPU if torch sees one.
    dtype
        The type of the weights: "float32", or "bfloat16" and "float16", which may change conclusions.
    random_weights
        The seed of weights that are drawn as before a training, in place of the folder's weights; None: the
        folder's.

    Raises
    ------
    BiasgridError
        A package is missing; `read_kind` refuses the folder; its files are damaged, of an architecture that
        transformers does not know, or of different models; or the tokenizer does not know any word, or does
        not give the positions of its tokens.
    """
    kind = read_kind(folder)
    require_for(TRANSFORMERS, purpose=f"the model in {folder}")
    import torch
    import transformers

    place = choose_device(device)  # checked before weights are read
    classes = {
        MASKED: transformers.AutoModelForMaskedLM,
        CAUSAL: transformers.AutoModelForCausalLM,
        ENCODER: transformers.AutoModel,
    }
    with quiet(), one_line(folder):
        tokenizer = _tokenizer(folder)
        if random_weights is not None:
            config = transformers.AutoConfig.from_pretrained(
                folder, trust_remote_code=False, local_files_only=True
            )
            with torch.random.fork_rng(devices=[]):
                # torch.manual_seed would also seed a GPU's generator.
                torch.default_generator.manual_seed(random_weights)
                model = classes[kind].from_config(
                    config, dtype=getattr(torch, choice("dtype", dtype, DTYPES))
                )
            untrained = _in_memory_of(folder, model, tokenizer, kind)
            untrained.model.to(place)
            return untrained
        read = partial(
            _read_weights,
            folder,
            dtype=getattr(torch, choice("dtype", dtype, DTYPES)),
            output_loading_info=True,
        )
        model, found = read(classes[kind])
        # The files of a BERT often have a second head, for next-sentence prediction.
        if kind == MASKED and any("seq_relationship" in key for key in found["unexpected_keys"]):
            model, found = read(transformers.AutoModelForPreTraining)
    _check_weights(folder, kind, found)
    with one_line(folder):
        pretrained = _in_memory_of(folder, model, tokenizer, kind)
        pretrained.model.to(place)
    return pretrained


def _read_weights(folder: Path, model_class: Any, **options: Any) -> Any:
    return model_class.from_pretrained(
        folder, trust_remote_code=False, use_safetensors=True, local_files_only=True, **options
    )


def _in_memory_of(folder: Path, model: Any, tokenizer: Any, kind: ModelKind) -> Pretrained:
    opened = in_memory(model, tokenizer, where=str(folder), kind=kind)
    return replace(opened, one_line=partial(one_line, folder))


def in_memory(model: Any, tokenizer: Any, *, where: str, kind: ModelKind | None = None) -> Pretrained:
    """Combine a model and a tokenizer that are in memory already.

    Raises
    ------
    InputError
        The model or the tokenizer is not from transformers, or the model's kind is not in `ARCHITECTURES`.
    BiasgridError
        The tokenizer does not match the model, or does not give the positions of its tokens.
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
    table: Any = model.get_input_embeddings()
    words = int(table.num_embeddings)
    known = len(tokenizer) > len(set(tokenizer.all_special_ids))
    with kept(tokenizer):
        ids = tokenizer("he she it", add_special_tokens=False)["input_ids"]
    if not known or not ids:
        raise BiasgridError(f"{where}: its tokenizer knows no words")
    # Added tokens, such as one for padding, may be missing in the model, if no text has them.
    vocabulary = tokenizer.get_vocab().items() - tokenizer.get_added_vocab().items()
    if (pieces := max((number for _, number in vocabulary), default=0) + 1) > words:
        raise BiasgridError(f"{where}: the tokenizer has {pieces} pieces, and the model {words}")
    return Pretrained(model, tokenizer, kind, where)


def _tokenizer(folder: Path) -> Any:
    """Open the tokenizer exactly as defined by its files; a transformers class may deviate from tokenizer.json."""
    import tokenizers
    import transformers

    options: dict[str, Any] = {"local_files_only": True}
    path = folder / TOKENIZERS[0]
    saved = None
    if path.is_file():
        try:
            saved = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers does not have its own class of errors
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
    """Raise BiasgridError for missing weights, which would be random, and for layers that would be left out."""
    # The state of a token does not depend on a pooler.
    if missing := sorted(key for key in found["missing_keys"] if "pooler" not in key):
        what = {MASKED: "its head for masked words, or of a layer", CAUSAL: "a head, or of a layer"}.get(
            kind, "a layer"
        )
        raise BiasgridError(f"{folder}: has no weights of {what}: {missing[0]:.100}")
    if extra := sorted(key for key in found["unexpected_keys"] if re.search(r"\.\d+\.", key)):
        raise BiasgridError(f"{folder}: {CONFIG} has no layer for the weights {extra[0]:.100}")


def choose_device(device: str) -> Any:
    """Return the device of that name; "auto" is a GPU if torch sees one. Raise InputError if it is missing."""
    import torch

    choice("device", device, DEVICES)
    if device == "cuda" and not sees_gpu():
        raise InputError("device: torch sees no GPU here; allowed: auto, cpu")
    return torch.device("cuda" if device != "cpu" and sees_gpu() else "cpu")


def sees_gpu() -> bool:
    """Return whether torch is installed and sees a GPU."""
    with suppress(ImportError):
        import torch

        return bool(torch.cuda.is_available())
    return False


def choice(name: str, value: Any, allowed: Sequence[str]) -> str:
    """Return the value of an option if it is allowed. Raise InputError for another value."""
    if value not in allowed:
        raise InputError(f"{name}: {unknown_name('value', value, allowed)}")
    return str(value)


def refuse_options(options: Mapping[str, Any], what: str, allowed: Collection[str] = ()) -> None:
    """Raise InputError for a given option of `DEFAULTS` that would not have an effect."""
    for name, value in options.items():
        if value != DEFAULTS[name] and name not in allowed:
            raise InputError(
                f"{name}: is not for {what}, but for a network that transformers reads; leave it out"
            )


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress progress bars and warnings of transformers, and restore its settings afterwards."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # avoids a warning when a process forks
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
    """Turn any error that transformers raises for a file into a one-line message."""
    import transformers

    try:
        yield
    except BiasgridError:
        raise
    except Exception as error:  # a damaged file can cause any error: KeyError, OSError, SafetensorError, ...
        if is_out_of_memory(error):
            place = "on the GPU " if "CUDA" in str(error) else ""
            raise BiasgridError(f"{where}: there is not enough memory {place}for its weights") from None
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

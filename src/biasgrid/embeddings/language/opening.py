"""A model of Hugging Face's transformers, opened from its folder.

What transformers says of a folder that is not what it should be misleads, or it says nothing: without a tokenizer's
files every word is unknown, a causal class takes any BERT, an encoder gets a random head. So what a folder holds is
checked here, before and after transformers reads it. No code of a model is run, and nothing but safetensors is read.
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

from ...errors import BiasgridError, InputError, quote, unknown_name
from ...extras import require_for
from .architectures import ARCHITECTURES, CAUSAL, ENCODER, MASKED, ModelKind, read_kind
from .batches import is_out_of_memory
from .files import CONFIG, TOKENIZERS
from .formats import TRANSFORMERS
from .pretrained import Pretrained, kept

DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("float32", "bfloat16", "float16")
# how a network computes, where nobody says it
DEFAULTS = {"device": "auto", "dtype": "float32", "fast": False, "random_weights": None}
PROBE = "The Nurse's HATS: naïve café, 12th of May; Ünal ß 日本 don't"


def open_pretrained(
    folder: Path, *, device: str = "auto", dtype: str = "float32", random_weights: int | None = None
) -> Pretrained:
    """The model in a folder, with its weights in memory.

    Parameters
    ----------
    folder
        With config.json, model.safetensors, and a tokenizer's files.
    device
        "cpu", "cuda", or "auto" for a GPU where torch sees one.
    dtype
        Of the weights: "float32"; "bfloat16" and "float16" change verdicts.
    random_weights
        The seed of weights that are drawn as before a training, in place of the folder's; None: the folder's.

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

    place = choose_device(device)  # before weights are read
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
                # torch.manual_seed would seed a GPU's generator, too
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
        # the files of a BERT often have a second head, for the next sentence
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
    table: Any = model.get_input_embeddings()
    words = int(table.num_embeddings)
    known = len(tokenizer) > len(set(tokenizer.all_special_ids))
    with kept(tokenizer):
        ids = tokenizer("he she it", add_special_tokens=False)["input_ids"]
    if not known or not ids:
        raise BiasgridError(f"{where}: its tokenizer knows no words")
    # what was added, such as a piece to fill up with, need not be in the model as long as no text has it
    vocabulary = tokenizer.get_vocab().items() - tokenizer.get_added_vocab().items()
    if (pieces := max((number for _, number in vocabulary), default=0) + 1) > words:
        raise BiasgridError(f"{where}: the tokenizer has {pieces} pieces, and the model {words}")
    return Pretrained(model, tokenizer, kind, where)


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
    if device == "cuda" and not sees_gpu():
        raise InputError("device: torch sees no GPU here; allowed: auto, cpu")
    return torch.device("cuda" if device != "cpu" and sees_gpu() else "cpu")


def sees_gpu() -> bool:
    """Whether torch is there and sees a GPU."""
    with suppress(ImportError):
        import torch

        return bool(torch.cuda.is_available())
    return False


def choice(name: str, value: Any, allowed: Sequence[str]) -> str:
    """The value of an option, of those that are allowed. Raises InputError for another."""
    if value not in allowed:
        raise InputError(f"{name}: {unknown_name('value', value, allowed)}")
    return str(value)


def refuse_options(options: Mapping[str, Any], what: str, allowed: Collection[str] = ()) -> None:
    """Raises InputError for an option of `DEFAULTS` that is given, and would do nothing."""
    for name, value in options.items():
        if value != DEFAULTS[name] and name not in allowed:
            raise InputError(
                f"{name}: is not for {what}, but for a network that transformers reads; leave it out"
            )


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
    except (
        Exception
    ) as error:  # KeyError, OSError, RuntimeError, SafetensorError, ...: what a file does to it
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

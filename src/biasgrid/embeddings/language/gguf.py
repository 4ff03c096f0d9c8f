"""Models in .gguf files, which are dear to read: each is converted once, into a folder of transformers' files.

What such a file has and transformers does not know it leaves out, and says nothing: biases, factors of positions, a
way to part words. So what it made is held against the file.
"""

from __future__ import annotations

import functools
import importlib
import io
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import BiasgridError, quote
from ...extras import require_for
from ..temporary import reference, working_folder
from .architectures import MOST_LAYERS
from .formats import GGUF
from .opening import one_line, quiet

MAGIC = b"GGUF"
FACTORS = "rope_freqs.weight"
# how byte pairs part words, as GPT-2 does: SmolLM2 has no pair with a digit. Of other ways transformers knows some
AS_GPT2 = ("gpt-2", "smollm")
_LOCK = threading.Lock()  # what `_read_once` changes is of the whole process


def convert(file: Path, folder: Path) -> Path:
    """Write config.json, model.safetensors (float32) and a tokenizer's files of a .gguf file into a folder.

    Raises
    ------
    BiasgridError
        A package is missing; the file is damaged, or of an architecture or a tokenizer that transformers does not
        read from such files.
    """
    require_for(GGUF, purpose=f"a language model ({file.name})")
    import gguf
    import torch
    import transformers

    # transformers takes a folder and a file's name, and reads a tokenizer that lies beside the file in its place
    place: dict[str, Any] = {"gguf_file": "model.gguf", "local_files_only": True, "trust_remote_code": False}
    # its bar ignores all settings
    with working_folder() as alone, quiet(), one_line(file), redirect_stderr(io.StringIO()), _read_once():
        reference(file, alone.path / place["gguf_file"])
        config = transformers.AutoConfig.from_pretrained(alone.path, **place)
        if config.num_hidden_layers > MOST_LAYERS:
            raise BiasgridError(f"{file}: {config.num_hidden_layers} layers are more than any model has")
        reader = gguf.GGUFReader(str(alone.path / place["gguf_file"]))
        _take_biases(reader, config)
        tokenizer = transformers.AutoTokenizer.from_pretrained(alone.path, **place)
        opened: Any = transformers.AutoModelForCausalLM.from_pretrained(
            alone.path, config=config, dtype=torch.float32, output_loading_info=True, **place
        )
        model, found = opened
        if missing := sorted(found["missing_keys"]):
            raise BiasgridError(f"{file}: has no weights {missing[0]:.100}")
        _check_all_read(file, reader, model)
        _take_factors(reader, model.config)
        # it refuses to save what it calls quantised, though its weights are float32 by now
        model.hf_quantizer = None
        model.is_quantized = False
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


@contextmanager
def _read_once() -> Iterator[None]:
    """gguf reads each file once, and makes each architecture's table of names once. transformers asks it for both
    anew: for a configuration, a tokenizer and weights, and for each part of a model. Of SmolLM2's 25 seconds these
    took 20."""
    gguf: Any = importlib.import_module("gguf")

    class Reader(gguf.GGUFReader):
        """It cuts a file into hundreds of thousands of slices, and those of a memory map are dear."""

        @property
        def data(self) -> Any:
            return self._data

        @data.setter
        def data(self, mapped: Any) -> None:
            self._data = np.asarray(mapped)

    with _LOCK:
        former = gguf.GGUFReader, gguf.get_tensor_name_map
        gguf.GGUFReader, gguf.get_tensor_name_map = functools.cache(Reader), functools.cache(former[1])
        try:
            yield
        finally:
            gguf.GGUFReader, gguf.get_tensor_name_map = former


def _take_biases(reader: Any, config: Any) -> None:
    """Whether a Llama has biases, which transformers looks for only if its configuration says so."""
    names = {tensor.name for tensor in reader.tensors}
    for option, name in (("attention_bias", "blk.0.attn_q.bias"), ("mlp_bias", "blk.0.ffn_gate.bias")):
        if hasattr(config, option) and name in names:
            setattr(config, option, True)


def _take_factors(reader: Any, config: Any) -> None:
    """The factors by which the frequencies of positions are divided (Llama 3.1 and later), which transformers leaves
    out: they are what it calls longrope, the same for long texts and for short ones."""
    for tensor in reader.tensors:
        if tensor.name == FACTORS:
            factors = tensor.data.astype(float).ravel().tolist()
            config.rope_parameters = {
                **config.rope_parameters,
                "rope_type": "longrope",
                "short_factor": factors,
                "long_factor": factors,
                "factor": 1.0,
                "attention_factor": 1.0,
                "original_max_position_embeddings": config.max_position_embeddings,
            }


def _check_all_read(file: Path, reader: Any, model: Any) -> None:
    """Raises BiasgridError where the model is not all that is in the file."""

    def said(key: str) -> Any:
        entry = reader.get_field(key)
        return None if entry is None else entry.contents()

    def check(key: str, *known: Any) -> None:
        if (value := said(key)) not in known:
            raise BiasgridError(f"{file}: {key}: {quote(value)} is not known")

    name = said("general.architecture")
    if said("tokenizer.ggml.model") == "gpt2":
        check("tokenizer.ggml.pre", *AS_GPT2, *_other_splits())
    rope = getattr(model.config, "rope_parameters", None) or {}
    check(f"{name}.rope.scaling.type", None, "none", rope.get("rope_type"))
    check(f"{name}.attention.sliding_window", None, 0, getattr(model.config, "sliding_window", None))
    sizes = {tensor.name: int(tensor.n_elements) for tensor in reader.tensors if tensor.name != FACTORS}
    unread = sum(sizes.values()) - sum(weight.numel() for weight in model.parameters())
    # a head that is the embedding may be in the file again
    if unread not in (0, sizes.get("output.weight", 0)):
        unusual = [name for name in sizes if name.endswith(".bias") or name.startswith("rope_")]
        example = f", such as {unusual[0]}" if unusual else ""
        raise BiasgridError(f"{file}: transformers does not read {abs(unread)} of its weights{example}")


def _other_splits() -> Collection[str]:
    try:
        from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS
    except ImportError:  # before 5.24
        return ()
    return list(GGUF_PRE_TOKENIZER_SPLITS)

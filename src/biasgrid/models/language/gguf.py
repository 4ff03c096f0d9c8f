"""Models in .gguf files, which are slow to read: each is converted once, into a folder of transformers files.

transformers silently leaves out parts of a file that it does not support: biases, factors of positions, a way
to split words. So the converted model is compared with the file.
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

from ...core.errors import BiasgridError, quote
from ...core.extras import require_for
from ..temporary import reference, working_folder
from .architectures import MOST_LAYERS
from .formats import GGUF
from .opening import one_line, quiet

MAGIC = b"GGUF"
FACTORS = "rope_freqs.weight"
# Ways to split words that are equivalent to GPT-2's; SmolLM2 does not have pairs with a digit. transformers knows
# some other ways.
AS_GPT2 = ("gpt-2", "smollm")
_LOCK = threading.Lock()  # `_read_once` changes the whole process


def convert(file: Path, folder: Path) -> Path:
    """Convert a .gguf file; write config.json, model.safetensors (float32) and a tokenizer's files into a folder.

    Raises
    ------
    BiasgridError
        A package is missing, the file is damaged, or transformers does not read its architecture or tokenizer
        from such files.
    """
    require_for(GGUF, purpose=f"a language model ({file.name})")
    import gguf
    import torch
    import transformers

    # transformers takes a folder and a file's name. It would prefer a tokenizer in the same folder.
    place: dict[str, Any] = {"gguf_file": "model.gguf", "local_files_only": True, "trust_remote_code": False}
    # Standard error is redirected, as the progress bar ignores all settings.
    with working_folder() as alone, quiet(), one_line(file), redirect_stderr(io.StringIO()), _read_once():
        reference(file, alone.path / place["gguf_file"])
        config = transformers.AutoConfig.from_pretrained(alone.path, **place)
        if config.num_hidden_layers > MOST_LAYERS:
            raise BiasgridError(f"{file}: {config.num_hidden_layers} layers are more than any model has")
        reader = gguf.GGUFReader(str(alone.path / place["gguf_file"]))
        _set_biases(reader, config)
        tokenizer = transformers.AutoTokenizer.from_pretrained(alone.path, **place)
        opened: Any = transformers.AutoModelForCausalLM.from_pretrained(
            alone.path, config=config, dtype=torch.float32, output_loading_info=True, **place
        )
        model, found = opened
        if missing := sorted(found["missing_keys"]):
            raise BiasgridError(f"{file}: has no weights {missing[0]:.100}")
        _check_all_read(file, reader, model)
        _set_position_factors(reader, model.config)
        # transformers refuses to save a model marked as quantised, although its weights are float32 by now.
        model.hf_quantizer = None
        model.is_quantized = False
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


@contextmanager
def _read_once() -> Iterator[None]:
    """Read each file only once, and make each architecture's table of names only once.

    transformers does both again for a configuration, a tokenizer and weights, and for each part of a model.
    For SmolLM2 this took 20 of 25 seconds.
    """
    gguf: Any = importlib.import_module("gguf")

    class Reader(gguf.GGUFReader):
        """A reader with the file as an array, as it makes many slices, which are slow on a memory map."""

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


def _set_biases(reader: Any, config: Any) -> None:
    """Set in the configuration whether a Llama has biases, as transformers reads them only if it is set."""
    names = {tensor.name for tensor in reader.tensors}
    for option, name in (("attention_bias", "blk.0.attn_q.bias"), ("mlp_bias", "blk.0.ffn_gate.bias")):
        if hasattr(config, option) and name in names:
            setattr(config, option, True)


def _set_position_factors(reader: Any, config: Any) -> None:
    """Set the factors that divide the frequencies of positions (Llama 3.1 and later), which transformers leaves out.

    They are set as its type "longrope", the same for long and for short texts.
    """
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
    """Raise BiasgridError if the model does not contain all weights and settings of the file."""

    def entry_of(key: str) -> Any:
        entry = reader.get_field(key)
        return None if entry is None else entry.contents()

    def check(key: str, *known: Any) -> None:
        if (value := entry_of(key)) not in known:
            raise BiasgridError(f"{file}: {key}: {quote(value)} is not known")

    name = entry_of("general.architecture")
    if entry_of("tokenizer.ggml.model") == "gpt2":
        check("tokenizer.ggml.pre", *AS_GPT2, *_other_splits())
    rope = getattr(model.config, "rope_parameters", None) or {}
    check(f"{name}.rope.scaling.type", None, "none", rope.get("rope_type"))
    check(f"{name}.attention.sliding_window", None, 0, getattr(model.config, "sliding_window", None))
    sizes = {tensor.name: int(tensor.n_elements) for tensor in reader.tensors if tensor.name != FACTORS}
    unread = sum(sizes.values()) - sum(weight.numel() for weight in model.parameters())
    # A head that equals the embedding may be in the file a second time.
    if unread not in (0, sizes.get("output.weight", 0)):
        unusual = [name for name in sizes if name.endswith(".bias") or name.startswith("rope_")]
        example = f", such as {unusual[0]}" if unusual else ""
        raise BiasgridError(f"{file}: transformers does not read {abs(unread)} of its weights{example}")


def _other_splits() -> Collection[str]:
    try:
        from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS
    except ImportError:  # transformers before 5.24
        return ()
    return list(GGUF_PRE_TOKENIZER_SPLITS)

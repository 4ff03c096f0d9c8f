"""Models in .gguf files, which are dear to read: each is converted once, into a folder of transformers' files."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from ...extras import require_for
from .formats import GGUF
from .opening import one_line, quiet

MAGIC = b"GGUF"


def convert(file: Path, folder: Path) -> Path:
    """Write config.json, model.safetensors (float32) and a tokenizer's files of a .gguf file into a folder.

    Raises
    ------
    BiasgridError
        A package is missing; the file is damaged, or of an architecture or a tokenizer that transformers does not
        read from such files.
    """
    require_for(GGUF, purpose=f"a language model ({file.name})")
    import torch
    import transformers

    # transformers takes a folder and a file's name; its bar ignores all settings
    place: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True, "trust_remote_code": False}
    with quiet(), one_line(file), redirect_stderr(io.StringIO()):
        tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, **place)
        model: Any = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent, dtype=torch.float32, **place
        )
        # it refuses to save what it calls quantised, though its weights are float32 by now
        model.hf_quantizer = None
        model.is_quantized = False
        if hasattr(model.config, "quantization_config"):
            del model.config.quantization_config
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder

"""Kinds of transformers models, read from their folders: masked, causal, or encoder without a prediction head."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from ...core.errors import BiasgridError, quote
from ...core.untrusted import check_fetched
from .files import CONFIG, FILES, INDEX, TOKENIZERS, WEIGHTS

ModelKind = Literal["masked", "causal", "encoder"]
MASKED: ModelKind = "masked"
CAUSAL: ModelKind = "causal"
ENCODER: ModelKind = "encoder"
# Suffix of an architecture's name -> kind of model; the first match counts.
ARCHITECTURES: dict[str, ModelKind] = {
    "ForMaskedLM": MASKED,
    # These have a second head, for next-sentence prediction.
    "BertForPreTraining": MASKED,
    "AlbertForPreTraining": MASKED,
    "ForCausalLM": CAUSAL,
    "LMHeadModel": CAUSAL,
    "Model": ENCODER,
}
# These models predict words in other orders than from left to right.
OTHER_ORDERS = ("xlnet", "xlm", "prophetnet", "xlm-prophetnet")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")  # entries of config.json
MOST_LAYERS = 10_000  # transformers makes all layers before it reads the weights


def read_kind(folder: Path) -> ModelKind:
    """Read the kind of the model in a folder from `architectures` in its config.json, without transformers.

    Raises
    ------
    BiasgridError
        A file is a Git LFS pointer; config.json, weights in safetensors, or a tokenizer is missing; or the
        architecture neither predicts words in a text nor is an encoder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise BiasgridError(f"{folder}: no such folder; a name on a hub has the form owner/name")
    for name in (*FILES, WEIGHTS, INDEX):
        check_fetched(folder / name)
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
        if any(isinstance(count := config.get(name), int) and count > MOST_LAYERS for name in LAYERS):
            raise ValueError("it has more layers than any model")
        # Refuse a name on a hub, as transformers would fetch and run its code.
        if any("/" in str(value) for key, value in config.items() if key.endswith("_implementation")):
            raise ValueError("it names code on a hub, which is not run")
        return dict(config)
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise BiasgridError(f"{path}: not the config of a model: {error!r:.200}") from None

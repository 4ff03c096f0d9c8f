"""The network of BERT (Devlin et al. 2019) in plain torch: a function of weights, for training and for scoring.

Weights are called as Hugging Face's files call them, without the prefix `bert.`; those of a LayerNorm `weight` and
`bias`, which older files call `gamma` and `beta`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import BiasgridError, unknown_name

CONFIG, WEIGHTS = "config.json", "model.safetensors"
Weights = Mapping[str, Any]  # name -> torch.Tensor

ACTIVATIONS = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu")
EMBEDDINGS = "embeddings."
HEAD = "cls.predictions."  # what the weights of the head for masked words begin with


@dataclass(frozen=True)
class Shape:
    """A network's dimensions.

    words       pieces that it knows
    positions   pieces that a text may have, with [CLS] and [SEP]
    types       of tokens; all of ours are of the first
    dimensions  of a piece's state
    inner       of a layer's inner states
    layers, heads, activation, epsilon (of LayerNorm)
    """

    words: int
    positions: int
    types: int
    dimensions: int
    inner: int
    layers: int
    heads: int
    activation: str
    epsilon: float

    def names(self) -> dict[str, tuple[int, ...]]:
        """The weights that the network needs, and the shape of each."""
        d, sizes = (
            self.dimensions,
            {
                "embeddings.word_embeddings.weight": (self.words, self.dimensions),
                "embeddings.position_embeddings.weight": (self.positions, self.dimensions),
                "embeddings.token_type_embeddings.weight": (self.types, self.dimensions),
                **_norm(EMBEDDINGS, self.dimensions),
            },
        )
        for place in range(self.layers):
            layer = f"encoder.layer.{place}."
            for name in ("attention.self.query", "attention.self.key", "attention.self.value"):
                sizes |= _dense(f"{layer}{name}", d, d)
            sizes |= _dense(f"{layer}attention.output.dense", d, d) | _norm(f"{layer}attention.output.", d)
            sizes |= _dense(f"{layer}intermediate.dense", self.inner, d)
            sizes |= _dense(f"{layer}output.dense", d, self.inner) | _norm(f"{layer}output.", d)
        return sizes

    def names_of_head(self) -> dict[str, tuple[int, ...]]:
        """Those that predict masked pieces. The decoder may be left out: it is the pieces' embeddings then."""
        d = self.dimensions
        transform = _dense(f"{HEAD}transform.dense", d, d) | _norm(f"{HEAD}transform.", d)
        return transform | {f"{HEAD}bias": (self.words,), f"{HEAD}decoder.weight": (self.words, d)}


def _dense(name: str, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(prefix: str, size: int) -> dict[str, tuple[int, ...]]:
    return {f"{prefix}LayerNorm.weight": (size,), f"{prefix}LayerNorm.bias": (size,)}


def read_shape(folder: Path) -> Shape:
    """The shape that config.json tells. Raises BiasgridError for one that is missing, damaged, or not a BERT's."""
    path = folder / CONFIG
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        counts = [
            config[key]
            for key in (
                "vocab_size",
                "max_position_embeddings",
                "type_vocab_size",
                "hidden_size",
                "intermediate_size",
                "num_hidden_layers",
                "num_attention_heads",
            )
        ]
        shape = Shape(*[*counts, config["hidden_act"], float(config.get("layer_norm_eps", 1e-12))])
        network = config.get("model_type", "bert"), config.get("position_embedding_type", "absolute")
    except FileNotFoundError:
        raise BiasgridError(f"{folder}: has no {CONFIG}") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BiasgridError(f"{path}: is damaged, or not a BERT model's: {error!r:.200}") from None
    whole = all(type(count) is int and count > 0 for count in counts) and 0 < shape.epsilon < 1
    if not whole or shape.dimensions % shape.heads:
        raise BiasgridError(f"{path}: is not a BERT model's: {shape}")
    if network != ("bert", "absolute"):
        raise BiasgridError(
            f"{path}: model_type {network[0]!r} with position_embedding_type {network[1]!r} cannot be read; allowed: "
            "'bert' with 'absolute'"
        )
    if shape.activation not in ACTIVATIONS:
        raise BiasgridError(f"{path}: hidden_act: {unknown_name('function', shape.activation, ACTIVATIONS)}")
    return shape


def read_weights(folder: Path, shape: Shape) -> dict[str, Any]:
    """The weights of model.safetensors as float32: those of the network, and if they are there those of the head.

    Raises BiasgridError for a missing or damaged file, and for a weight that is missing or has another shape.
    """
    from safetensors import SafetensorError, safe_open

    path = folder / WEIGHTS
    if not path.is_file():
        raise BiasgridError(f"{folder}: has no {WEIGHTS}")
    try:
        with safe_open(str(path), "pt") as file:
            names = {_name(name): name for name in file.keys()}  # noqa: SIM118 (the file is no mapping)
            # a damaged config may name any number of layers; a layer has more weights than one
            if shape.layers > len(names) or f"encoder.layer.{shape.layers}.output.dense.weight" in names:
                raise BiasgridError(f"{path}: has not the {shape.layers} layers that {CONFIG} says")
            sizes = shape.names()
            if f"{HEAD}transform.dense.weight" in names:
                sizes |= shape.names_of_head()
                # the same numbers under one name or the other; without either they are zeros
                names.setdefault(f"{HEAD}bias", names.get(f"{HEAD}decoder.bias", ""))
                if f"{HEAD}decoder.weight" not in names:
                    del sizes[f"{HEAD}decoder.weight"]
            weights = {name: file.get_tensor(names[name]).float() for name in sizes if names.get(name)}
    except BiasgridError:
        raise
    except (SafetensorError, OSError, ValueError) as error:
        raise BiasgridError(f"{path}: is damaged, or no safetensors file: {error!r:.200}") from None
    for name, size in sizes.items():
        if name not in weights:
            raise BiasgridError(f"{path}: has no weight {name}: not a BERT model's")
        if tuple(weights[name].shape) != size:
            raise BiasgridError(
                f"{path}: {name} has the shape {tuple(weights[name].shape)}, and {CONFIG} says {size}"
            )
    return weights


def _name(name: str) -> str:
    name = name.removeprefix("bert.")
    return name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")


def layers(weights: Weights, shape: Shape, ids: Any, is_piece: Any = None, depth: int | None = None) -> Any:
    """The pieces' states after `depth` layers, (texts, pieces, dimensions); None for all, 0 for the embeddings.

    ids       int64 (texts, pieces)
    is_piece  bool (texts, pieces): which places are pieces, and not padding, which no piece looks at; None for all
    """
    from torch.nn.functional import embedding, scaled_dot_product_attention

    texts, pieces = ids.shape
    states = embedding(ids, weights["embeddings.word_embeddings.weight"])
    states = states + weights["embeddings.position_embeddings.weight"][:pieces]
    states = states + weights["embeddings.token_type_embeddings.weight"][0]
    states = _normalize(weights, EMBEDDINGS, states, shape)
    attention_mask = None if is_piece is None else is_piece[:, None, None, :]
    for place in range(shape.layers if depth is None else depth):
        layer = f"encoder.layer.{place}."
        query, key, value = (
            _linear(weights, f"{layer}attention.self.{name}", states)
            .view(texts, pieces, shape.heads, -1)
            .transpose(1, 2)
            for name in ("query", "key", "value")
        )
        attention = (
            scaled_dot_product_attention(query, key, value, attn_mask=attention_mask)
            .transpose(1, 2)
            .reshape(states.shape)
        )
        attention = _linear(weights, f"{layer}attention.output.dense", attention)
        states = _normalize(weights, f"{layer}attention.output.", states + attention, shape)
        inner = activate(_linear(weights, f"{layer}intermediate.dense", states), shape)
        states = _normalize(
            weights, f"{layer}output.", states + _linear(weights, f"{layer}output.dense", inner), shape
        )
    return states


def head(weights: Weights, shape: Shape, states: Any) -> Any:
    """The logits of the piece at each state's place: (..., words)."""
    from torch.nn.functional import linear

    states = activate(_linear(weights, f"{HEAD}transform.dense", states), shape)
    states = _normalize(weights, f"{HEAD}transform.", states, shape)
    decoder = weights.get(f"{HEAD}decoder.weight", weights["embeddings.word_embeddings.weight"])
    return linear(states, decoder, weights[f"{HEAD}bias"])


def activate(states: Any, shape: Shape) -> Any:
    """The function between the two products of a layer."""
    from torch.nn.functional import gelu, relu

    if shape.activation == "relu":
        return relu(states)
    return gelu(states, approximate="none" if shape.activation == "gelu" else "tanh")


def _linear(weights: Weights, name: str, states: Any) -> Any:
    from torch.nn.functional import linear

    return linear(states, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _normalize(weights: Weights, prefix: str, states: Any, shape: Shape) -> Any:
    from torch.nn.functional import layer_norm

    scale, shift = weights[f"{prefix}LayerNorm.weight"], weights[f"{prefix}LayerNorm.bias"]
    return layer_norm(states, (shape.dimensions,), scale, shift, shape.epsilon)

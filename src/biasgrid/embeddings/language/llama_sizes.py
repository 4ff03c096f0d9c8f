"""The sizes of a network of Llama's shape, as a .gguf file says them, and the shapes of its tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import BiasgridError, quote, unknown_name
from .gguf_file import GgufFile

ARCHITECTURE = "general.architecture"
LLAMA = "llama"
# further entries that a file may have -> the only value allowed; None: any value
PLAIN = {
    "vocab_size": None,
    "tensor_data_layout": None,
    "rope.scaling.type": "none",
    "expert_count": 0,
    "expert_used_count": 0,
}

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Sizes:
    """The sizes of a network.

    Parameters
    ----------
    layers, width, hidden
        How many layers it has, and how wide their input, and their gated layer, is.
    heads, groups, head
        Heads of attention, groups of them that share keys and values, and the width of a head.
    rotary
        How many values of a head rotary positions turn.
    longest
        Tokens that it takes.
    base, epsilon
        Of rotary positions, and of the norms.
    """

    layers: int
    width: int
    hidden: int
    heads: int
    groups: int
    head: int
    rotary: int
    longest: int
    base: float
    epsilon: float

    @classmethod
    def from_file(cls, file: GgufFile) -> Sizes:
        """The sizes that a file says. Raises BiasgridError for a network of another shape."""
        if (kind := file.fields.get(ARCHITECTURE)) != LLAMA:
            raise BiasgridError(f"{file.path}: {ARCHITECTURE}: {unknown_name('architecture', kind, [LLAMA])}")
        prefix = f"{LLAMA}."
        entries = {key.removeprefix(prefix): v for key, v in file.fields.items() if key.startswith(prefix)}

        def number(key: str, default: Any = None, type: Any = int) -> Any:
            value = entries.pop(key, default)
            if not isinstance(value, type) or not 0 < value < 1e9:
                raise BiasgridError(f"{file.path}: {prefix}{key}: expected a number, not {quote(value)}")
            return value

        width, heads = number("embedding_length"), number("attention.head_count")
        head = number("attention.key_length", width // heads)
        sizes = cls(
            layers=number("block_count"),
            width=width,
            hidden=number("feed_forward_length"),
            heads=heads,
            groups=number("attention.head_count_kv", heads),
            head=head,
            rotary=number("rope.dimension_count", head),
            longest=number("context_length"),
            base=number("rope.freq_base", 10_000.0, float),
            epsilon=number("attention.layer_norm_rms_epsilon", type=float),
        )
        if number("attention.value_length", head) != head or heads % sizes.groups:
            raise BiasgridError(f"{file.path}: its numbers of heads, keys and values do not fit together")
        if sizes.rotary % 2 or sizes.rotary > head:
            raise BiasgridError(f"{file.path}: {prefix}rope.dimension_count: {sizes.rotary} of {head} values")
        if sizes.layers > len(file.tensors):
            raise BiasgridError(
                f"{file.path}: has {len(file.tensors)} tensors, too few for {sizes.layers} layers"
            )
        for key, value in entries.items():
            if key not in PLAIN or PLAIN[key] not in (None, value):
                raise BiasgridError(f"{file.path}: {prefix}{key}: {quote(value)} is not known here")
        return sizes


def shapes(sizes: Sizes, tokens: int) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """The shapes of the tensors that a network has, and of those that it may have."""
    width, hidden = sizes.width, sizes.hidden
    values, shared = sizes.heads * sizes.head, sizes.groups * sizes.head
    layer_shapes: dict[str, Shape] = {
        "attn_norm": (width,),
        "attn_q": (values, width),
        "attn_k": (shared, width),
        "attn_v": (shared, width),
        "attn_output": (width, values),
        "ffn_norm": (width,),
        "ffn_gate": (hidden, width),
        "ffn_up": (hidden, width),
        "ffn_down": (width, hidden),
    }
    mandatory: dict[str, Shape] = {"token_embd.weight": (tokens, width), "output_norm.weight": (width,)}
    # output weights of their own, and factors by which frequencies of positions are divided (Llama 3)
    optional: dict[str, Shape] = {"output.weight": (tokens, width), "rope_freqs.weight": (sizes.rotary // 2,)}
    for layer in range(sizes.layers):
        for name, shape in layer_shapes.items():
            mandatory[f"blk.{layer}.{name}.weight"] = shape
            if len(shape) == 2:
                optional[f"blk.{layer}.{name}.bias"] = shape[:1]
    return mandatory, optional

"""The network of Llama in plain torch and float32.

That of Touvron et al. 2023 (LLaMA: Open and Efficient Foundation Language Models, section 2.2), with keys and values
in groups (Ainslie et al. 2023). In GGUF order, rotary positions turn neighbouring values: 0 with 1, 2 with 3, ...
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import linear, rms_norm, scaled_dot_product_attention, silu

from ...errors import BiasgridError
from .gguf_file import GgufFile
from .llama_sizes import Sizes, shapes


class LlamaNetwork:
    """The weights of a file, on one device.

    Parameters
    ----------
    file, sizes
        The file, and what it says of the network's sizes.
    tokens
        How many tokens its tokenizer has.
    device
        Where to compute; None for a GPU if there is one.

    Raises
    ------
    BiasgridError
        A tensor is missing, has another shape, or has no place in this network.
    """

    def __init__(self, file: GgufFile, sizes: Sizes, tokens: int, device: str | None = None) -> None:
        self.sizes = sizes
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        mandatory, optional = shapes(sizes, tokens)
        if unknown_tensors := sorted(file.tensors.keys() - mandatory.keys() - optional.keys()):
            raise BiasgridError(
                f"{file.path}: has a tensor {unknown_tensors[0]:.100}, which is not known here"
            )
        self.weights = {}
        for name, shape in mandatory.items() | {
            entry for entry in optional.items() if entry[0] in file.tensors
        }:
            array = file.array(name)
            if array.shape != shape:
                raise BiasgridError(f"{file.path}: tensor {name} is {array.shape}, and should be {shape}")
            # a copy in torch's own memory: how a sum is rounded may depend on where in a cache line an array begins
            self.weights[name] = torch.tensor(array, device=self.device)

    def states(self, ids: Tensor) -> Tensor:
        """The states after the last layer (rows, length, width) of tokens (rows, length)."""
        sizes = self.sizes
        turns = self._turns(ids.shape[1])
        x = self.weights["token_embd.weight"][ids]
        for layer in range(sizes.layers):
            name = f"blk.{layer}."
            y = self._norm(x, f"{name}attn_norm")
            heads = (
                self._linear(y, f"{name}attn_{letter}").unflatten(-1, (-1, sizes.head)) for letter in "qkv"
            )
            q, k, v = (states.transpose(1, 2) for states in heads)  # (rows, heads, length, head)
            k, v = (
                states.repeat_interleave(sizes.heads // sizes.groups, 1) for states in (_turn(k, *turns), v)
            )
            y = scaled_dot_product_attention(_turn(q, *turns), k, v, is_causal=True)
            x = x + self._linear(y.transpose(1, 2).flatten(2), f"{name}attn_output")
            y = self._norm(x, f"{name}ffn_norm")
            inner = silu(self._linear(y, f"{name}ffn_gate")) * self._linear(y, f"{name}ffn_up")
            x = x + self._linear(inner, f"{name}ffn_down")
        return self._norm(x, "output_norm")

    def logits(self, states: Tensor) -> Tensor:
        """The logits of the next token (..., tokens) after states (..., width)."""
        return self._linear(states, "output" if "output.weight" in self.weights else "token_embd")

    def _linear(self, x: Tensor, name: str) -> Tensor:
        return linear(x, self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias"))

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return rms_norm(x, x.shape[-1:], self.weights[f"{name}.weight"], self.sizes.epsilon)

    def _turns(self, length: int) -> tuple[Tensor, Tensor]:
        """Cosine and sine of the angle by which each pair of values turns at each position (length, turned / 2)."""
        powers = torch.arange(0, self.sizes.rotary, 2, dtype=torch.float64) / self.sizes.rotary
        frequencies = self.sizes.base**-powers
        if (factors := self.weights.get("rope_freqs.weight")) is not None:
            frequencies /= factors.cpu().double()
        angles = torch.outer(torch.arange(length, dtype=torch.float64), frequencies)
        return angles.cos().float().to(self.device), angles.sin().float().to(self.device)


def _turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Queries or keys (rows, heads, length, head), turned at their positions."""
    rotary, rest = x.tensor_split((2 * cos.shape[1],), dim=-1)
    a, b = rotary.unflatten(-1, (-1, 2)).unbind(-1)
    rotary = torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)
    return torch.cat((rotary, rest), dim=-1)

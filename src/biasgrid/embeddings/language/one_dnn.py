"""Linear layers by oneDNN. For float32 torch takes MKL, which does not use all that AMD's processors have: oneDNN
takes half the time there. It adds up in another order."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import linear
from torch.overrides import TorchFunctionMode


class OneDnn(TorchFunctionMode):
    """While a thread is in it, oneDNN computes its linear layers, where torch has oneDNN: those of float32 on a
    processor whose weights lie in memory row by row, or column by column. Models stay as they are."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        # tensors of types of their own, such as quantised ones, multiply in their own way
        if not types and not kwargs:
            if function is linear:
                return _linear(*args)
            if function is torch.addmm and args[0].ndim == 1:  # a layer of GPT-2
                bias, states, weights = args
                return _linear(states, weights.T, bias)
        return function(*args, **(kwargs or {}))


def _linear(states: Any, weights: Any, bias: Any = None) -> Any:
    if (
        torch.backends.mkldnn.is_available()
        and states.is_cpu
        and states.dtype == weights.dtype == torch.float32
        and weights.ndim == 2
        and (bias is None or bias.shape == weights.shape[:1])  # it does not broadcast
        and (weights.is_contiguous() or weights.T.is_contiguous())  # others take a thousand times as long
    ):
        return torch.ops.mkldnn._linear_pointwise(states, weights, bias, "none", [], "")
    return linear(states, weights, bias)

"""Linear layers computed by oneDNN, which takes half as long as MKL on AMD's processors.

For float32, torch uses MKL by default. oneDNN adds sums in another order.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import linear
from torch.overrides import TorchFunctionMode


class OneDnn(TorchFunctionMode):
    """A mode in which a thread's linear layers are computed by oneDNN, if torch has it.

    It applies to float32 layers on a CPU whose weights are stored row by row or column by column. Models are
    not changed.
    """

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        # Special tensor types, such as quantised ones, have their own multiplication.
        if not types and not kwargs:
            if function is linear:
                return _linear(*args)
            if function is torch.addmm and args[0].ndim == 1:  # a layer in GPT-2
                bias, states, weights = args
                return _linear(states, weights.T, bias)
        return function(*args, **(kwargs or {}))


def _linear(states: Any, weights: Any, bias: Any = None) -> Any:
    if (
        torch.backends.mkldnn.is_available()
        and states.is_cpu
        and states.dtype == weights.dtype == torch.float32
        and weights.ndim == 2
        and (bias is None or bias.shape == weights.shape[:1])  # oneDNN does not broadcast
        and (weights.is_contiguous() or weights.T.is_contiguous())  # others are a thousand times slower
    ):
        return torch.ops.mkldnn._linear_pointwise(states, weights, bias, "none", [], "")
    return linear(states, weights, bias)

"""The network of a language model's folder: the masked or causal scorer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .architectures import CAUSAL
from .causal import Causal
from .masked import Masked
from .opening import open_pretrained
from .pretrained import Pretrained


def open_network(folder: Path, metadata: Mapping[str, Any]) -> Masked | Causal:
    """Open the model in a folder, with its weights in memory.

    `device`, `dtype` and `fast` in its model.json are options of the computation. Raise BiasgridError like
    `open_pretrained`.
    """
    options = {name: metadata[name] for name in ("device", "dtype") if metadata.get(name) is not None}
    return scoring(open_pretrained(Path(folder), **options), fast=bool(metadata.get("fast")))


def scoring(pretrained: Pretrained, *, fast: bool = False) -> Masked | Causal:
    """Return a scorer of texts for a masked or a causal model."""
    return (Causal if pretrained.kind == CAUSAL else Masked)(pretrained, fast=fast)

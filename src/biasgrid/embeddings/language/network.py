"""The network of a language model's folder: what scores, by what the model does."""

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
    """The model in a folder, with its weights in memory; entries `device`, `dtype` and `fast` of its model.json say
    how it computes. Raises BiasgridError as `open_pretrained`."""
    options = {name: metadata[name] for name in ("device", "dtype") if metadata.get(name) is not None}
    return scoring(open_pretrained(Path(folder), **options), fast=bool(metadata.get("fast")))


def scoring(pretrained: Pretrained, *, fast: bool = False) -> Masked | Causal:
    """What scores texts with a masked or a causal model."""
    return (Causal if pretrained.kind == CAUSAL else Masked)(pretrained, fast=fast)

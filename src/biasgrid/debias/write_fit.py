"""Task that fits a debias method on a model and writes it to a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import REGISTRY
from .transform import Transform


def fit(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> Transform:
    """Fit a debias method and write its transform.

    Parameters
    ----------
    inputs
        "store": a `StoreOf`.
    spec
        "method", "words", "params" and "seed".
    output
        The transform's file; the same store and spec give the same bytes.
    """
    method = REGISTRY.find(spec["method"])
    transform = method(inputs["store"].open(), **spec["words"], **spec["params"], seed=spec["seed"])
    transform.save(output)
    return transform

"""Measures in an evaluation's record, and unit vectors, on which most measures are based."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..models.model import Model


def fact(
    group: str,
    measure: str,
    value: float,
    n: int,
    *,
    undirected: int = 0,
    why: str = "degenerate",
    **extras: Any,
) -> dict[str, Any]:
    """Build a measure of a record; NaN becomes None with the status `why`.

    `undirected` is the number of words, pairs or questions that are left out as their vectors are zero or not
    finite (see `evaluate`). `extras` are further entries of the measure in the record.
    """
    is_defined = math.isfinite(value)
    status = why if not is_defined else f"no_direction:{undirected}" if undirected else "ok"
    return {
        "group": group,
        "measure": measure,
        "value": float(value) if is_defined else None,
        "n": int(n),
        "status": status,
        **extras,
    }


def direction_in(state: Model, direction: np.ndarray) -> np.ndarray:
    """Return a direction of the original model (d,) in the dimensions of a model variant.

    See `Transform.map_direction`.
    """
    if state.dimensions == len(direction):
        return direction
    # A model with entries of several words has the variant as its base.
    debiased: Any = getattr(state, "base", state)
    mapped: np.ndarray = debiased.transform.map_direction(direction)
    return mapped


def directions(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale rows (n, d) to unit length, in their precision, and return which of them have a direction: bool (n,).

    A row that is zero or not finite lacks a direction and becomes zero.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    has_direction = np.isfinite(norms) & (norms > 0)
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=has_direction), has_direction[:, 0]

"""What a measure is in an evaluation's record, and the directions of vectors, which most measures look at."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..embeddings.model import Model


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
    """A measure; NaN becomes None with the status `why`. `undirected`: how many words, pairs or questions are left
    out as they have no direction (see `evaluate`); `extras`: further entries of the measure in the record."""
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
    """Return a direction of the original model (d,) in the dimensions of a state of it.

    See `Transform.map_direction`.
    """
    if state.dimensions == len(direction):
        return direction
    debiased: Any = getattr(
        state, "base", state
    )  # a model of entries of several words has the state as its base
    mapped: np.ndarray = debiased.transform.map_direction(direction)
    return mapped


def directions(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, d) scaled to unit length, in their precision, and which of them have a direction: bool (n,).

    A row that is zero or not finite has none; it becomes zero.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    has_direction = np.isfinite(norms) & (norms > 0)
    return np.divide(vectors, norms, out=np.zeros_like(vectors), where=has_direction), has_direction[:, 0]

"""Vector arithmetic that several metrics share. Everything is float64."""

import numpy as np


def unit(vectors: np.ndarray) -> np.ndarray:
    """Rows divided by their Euclidean norm; a zero row, which has no direction, becomes NaN."""
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, norms, out=np.full_like(vectors, np.nan), where=norms > 0)


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosine of every row of `a` (n, d) with every row of `b` (m, d): (n, m), within [-1, 1]."""
    return np.clip(unit(a) @ unit(b).T, -1.0, 1.0)

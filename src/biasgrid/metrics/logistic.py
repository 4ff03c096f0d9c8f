"""Logistic regressions of many splits of the same words, solved together.

Each is liblinear's: with an L2 penalty, C = 1, and an intercept that is one more penalised weight. The fits of all
splits are one convex problem on overlapping data: what is a product of matrix and vector for one split is a product
of two matrices for all of them.
"""

from __future__ import annotations

import numpy as np

# no probability is further from the exact one than this, or than rounding puts it where vectors are very long
PRECISION = 1e-9
# words times splits that are worked on at once: a few arrays of 8 MB, however many splits there are
BLOCK = 1_000_000
MAX_STEPS = 100
TINY = np.finfo(float).tiny


def classifiers(
    words: np.ndarray,
    train: np.ndarray,
    longest: float,
    start: np.ndarray | None = None,
    part: float = 0.0,
) -> np.ndarray:
    """Classifiers, one per split.

    Parameters
    ----------
    words : array, (words, dimensions)
        The words' vectors, an intercept's 1 included; those of the second class times -1.
    train : array, (words, splits)
        Whether, or how often, a word is trained on; below 0, as a word of the other class.
    longest : float
        The length of the longest vector, of training words and of those to classify.
    start : array, (dimensions, 1), optional
        Weights to start from.
    part : float
        With `start`: a split is solved when its gradient is this part of what it was at the start.

    Returns
    -------
    array, (dimensions, splits)
        Weights. Without `part`, no probability of a word is further than PRECISION from that of the minimum. NaN
        for a split that is not solved in MAX_STEPS steps.
    """
    basis = None
    if len(words) < words.shape[1]:
        # the weights lie in the span of the words: as many coordinates as words are enough
        basis, triangle = np.linalg.qr(words.T)
        words = np.ascontiguousarray(triangle.T)
    # the penalty curves by 1, so weights are no further from the minimum than the gradient is long, and a
    # probability, whose slope in the margin is 1/4 at most, no further than that times longest / 4
    gradient_length = 4 * PRECISION / longest
    if start is None:
        # the splits start from what all words give together; that need be exact only if it is the answer
        all_words = np.sign(train.sum(axis=1, keepdims=True))
        tolerance = gradient_length if (train == all_words).all() else 1e7 * gradient_length
        start = _minimise(words, all_words, np.zeros((words.shape[1], 1)), tolerance)
    elif basis is not None:
        start = basis.T @ start
    width = max(1, BLOCK // len(words))
    blocks = np.split(train, range(width, train.shape[1], width), axis=1)
    weights = np.hstack([_minimise(words, block, start, gradient_length, part) for block in blocks])
    return weights if basis is None else basis @ weights


def _minimise(
    words: np.ndarray, train: np.ndarray, start: np.ndarray, gradient_length: float, part: float = 0.0
) -> np.ndarray:
    """Weights (coordinates, splits): column j minimises |w|^2/2 + sum log(1 + exp(-x w)), x in train[:, j] (a word
    that is trained on k times is a term with k before it, -k times a term with k before it and -x in it).

    Newton's method from `start` (coordinates, 1), all columns in step, until the gradient has the length, or the part
    `part` of its length at the start; NaN if it does not get there.
    """
    # single precision halves the time a step takes and is not seen in the result, as the gradient is always
    # computed in double; next to very long vectors it would lose the penalty
    rough = words.astype(np.float32 if (words**2).sum() < 1e8 else np.float64)
    # rounding alone leaves a gradient as long as this
    tolerance = max(gradient_length, 10 * np.finfo(float).eps * np.linalg.norm(words))
    sign = np.sign(train) if (train < 0).any() else None
    times = np.abs(train)
    weights = np.repeat(start, train.shape[1], axis=1)
    margins = words @ weights
    loss, push = _loss(weights, margins, times, sign)
    last_length = None
    for _ in range(MAX_STEPS):
        pull = train * push
        gradient = weights - words.T @ pull
        length = np.sqrt((gradient**2).sum(axis=0))
        if last_length is None:
            last_length, tolerance = tolerance, np.maximum(tolerance, part * length)
        if (length <= tolerance).all():
            return weights
        # the nearer, the more exact a step is worth its while (Eisenstat & Walker 1996, choice 2)
        step = _newton_step(
            rough,
            times * push * (1 - push),
            gradient,
            np.clip((length / np.maximum(last_length, TINY)) ** 2, 1e-3, 0.1),
        )
        last_length = length
        margin_step = words @ step
        slope = (gradient * step).sum(axis=0)
        size = np.ones(train.shape[1])
        for _ in range(MAX_STEPS):
            new = weights + size * step, margins + size * margin_step
            new_loss, push = _loss(*new, times, sign)
            # Armijo's condition, with room for rounding near the minimum
            is_too_far = new_loss > loss + 1e-4 * size * slope + 1e-12 * loss
            if not is_too_far.any():
                break
            size[is_too_far] /= 2
        (weights, margins), loss = new, new_loss
    return np.full_like(weights, np.nan)


def _newton_step(
    words: np.ndarray, curvature: np.ndarray, gradient: np.ndarray, goal: np.ndarray
) -> np.ndarray:
    """Solves (1 + words' diag(curvature) words) step = -gradient for each split, to relative error `goal`.

    Conjugate gradients, preconditioned with the matrix of the mean split: the splits share most of their
    words, so few rounds do; a single split is solved at once.
    """
    curvature = curvature.astype(words.dtype)
    mean = words * np.sqrt(curvature.mean(axis=1, keepdims=True))
    inverse = np.linalg.inv(np.eye(words.shape[1]) + mean.T @ mean)
    step = np.zeros_like(gradient)
    residual = -gradient
    direction = preconditioned_residual = inverse @ residual
    error = (residual * preconditioned_residual).sum(axis=0)
    tolerance = goal**2 * error
    for _ in range(MAX_STEPS):
        curvature_product = direction + words.T @ (curvature * (words @ direction.astype(words.dtype)))
        # TINY: a split that is at its minimum has nothing left to divide by
        size = error / np.maximum((direction * curvature_product).sum(axis=0), TINY)
        step += size * direction
        residual -= size * curvature_product
        preconditioned_residual = inverse @ residual
        last_error, error = error, (residual * preconditioned_residual).sum(axis=0)
        if (error <= tolerance).all():
            break
        direction = preconditioned_residual + error / np.maximum(last_error, TINY) * direction
    return step


def _loss(
    weights: np.ndarray, margins: np.ndarray, times: np.ndarray, sign: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """What is minimised (splits), and minus the derivative of a word's loss by its signed margin (words, splits)."""
    loss, push = logistic(margins if sign is None else sign * margins)
    return (loss * times).sum(axis=0) + (weights**2).sum(axis=0) / 2, push


def logistic(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log(1 + exp(-margins)) and 1 / (1 + exp(margins)), without overflow."""
    small = np.exp(-np.abs(margins))
    return np.log1p(small) - np.minimum(margins, 0), np.exp(-np.maximum(margins, 0)) / (1 + small)

"""Logistic regressions of many splits of the same words, solved together.

Each regression is liblinear's: with an L2 penalty, C = 1, and an intercept that is one more penalised weight. The
fits of all splits are one convex problem on overlapping data. A product of matrix and vector for one split becomes
a product of two matrices for all of them.
"""

from __future__ import annotations

import numpy as np

# Largest error of a probability, apart from rounding, which is larger if vectors are very long.
PRECISION = 1e-9
# Words times splits that are processed at once: a few arrays of 8 MB, however many splits there are.
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
    """Fit one classifier per split.

    Parameters
    ----------
    words : array, (words, dimensions)
        The words' vectors, with a 1 for the intercept; vectors of the second class are multiplied by -1.
    train : array, (words, splits)
        Whether, or how often, a word is used in training; below 0: used as a word of the other class.
    longest : float
        Length of the longest vector, of training words and of words to classify.
    start : array, (dimensions, 1), optional
        Weights to start from.
    part : float
        With `start`: a split is solved when its gradient is at most this fraction of its gradient at the start.

    Returns
    -------
    array, (dimensions, splits)
        Weights. Without `part`, no probability of a word is further than PRECISION from its value at the minimum.
        NaN for a split that is not solved in MAX_STEPS steps.
    """
    basis = None
    if len(words) < words.shape[1]:
        # The weights lie in the span of the words: as many coordinates as words are enough.
        basis, triangle = np.linalg.qr(words.T)
        words = np.ascontiguousarray(triangle.T)
    # The penalty has curvature 1, so weights are no further from the minimum than the gradient is long. The slope
    # of a probability in the margin is at most 1/4, so a probability is off by no more than that times longest / 4.
    gradient_length = 4 * PRECISION / longest
    if start is None:
        # Start the splits from the solution for all words; it need be exact only if it is the answer.
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
    """Minimise |w|^2/2 + sum log(1 + exp(-x w)) over the words x in train[:, j], for each column j.

    A word that is trained on k times is a term with factor k; -k times, a term with factor k and -x in place of x.

    Newton's method from `start` (coordinates, 1), with all columns in step. It stops when the gradient is shorter
    than `gradient_length`, or than the fraction `part` of its length at the start. Return the weights (coordinates,
    splits), NaN if the method does not converge.
    """
    # Single precision halves the time of a step. It does not change the result, as the gradient is always computed
    # in double precision. With very long vectors, single precision would lose the penalty.
    rough = words.astype(np.float32 if (words**2).sum() < 1e8 else np.float64)
    # Rounding alone leaves a gradient of this length.
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
        # Near the minimum, a more exact step is worth its cost (Eisenstat & Walker 1996, choice 2).
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
            # Check Armijo's condition, with room for rounding near the minimum.
            is_too_far = new_loss > loss + 1e-4 * size * slope + 1e-12 * loss
            if not is_too_far.any():
                break
            size[is_too_far] /= 2
        (weights, margins), loss = new, new_loss
    return np.full_like(weights, np.nan)


def _newton_step(
    words: np.ndarray, curvature: np.ndarray, gradient: np.ndarray, goal: np.ndarray
) -> np.ndarray:
    """Solve (1 + words' diag(curvature) words) step = -gradient for each split, to relative error `goal`.

    Conjugate gradients, preconditioned with the matrix of the mean split. The splits share most of their words, so
    a few iterations are enough; a single split is solved in one.
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
        # TINY avoids a division by 0 for a split that is at its minimum.
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
    """Return the loss (splits), and minus the derivative of a word's loss by its signed margin (words, splits)."""
    loss, push = logistic(margins if sign is None else sign * margins)
    return (loss * times).sum(axis=0) + (weights**2).sum(axis=0) / 2, push


def logistic(margins: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return log(1 + exp(-margins)) and 1 / (1 + exp(margins)), without overflow."""
    small = np.exp(-np.abs(margins))
    return np.log1p(small) - np.minimum(margins, 0), np.exp(-np.maximum(margins, 0)) / (1 + small)

"""LEACE, least-squares concept erasure (Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman, NeurIPS
2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..embeddings.store import EmbeddingStore
from ..limits import Count
from ..preprocessing import DEFAULT_FORMS, Preprocessor
from .lookup import choose_words
from .registry import Method
from .training import WORDS, find_training_words
from .transform import Transform, fitted


def leace(
    model: EmbeddingStore,
    *,
    classes: Mapping[str, Sequence[str]] | None = None,
    bias_representation: Sequence[str] | None = None,
    definitional_pairs: Sequence[Sequence[str]] | None = None,
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    n_words: Count = 7500,
    neutral: bool = True,
    shrinkage: bool = False,
    seed: int = 0,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> Transform:
    """Make the smallest change that defeats linear classifiers.

    Of all affine maps that leave a linear classifier nothing to tell the classes by, it is that which changes
    the training words least. With W the whitening of the training words' vectors, P the orthogonal projection
    onto the columns of W Cov(x, z), and z the class as one-hot (section 4)::

        x' = x - W^+ P W (x - E x)

    It makes Cov(x, z) zero on the training words, which is to say that their classes have one mean; no linear
    predictor of the class has then a lower convex loss on them than a constant. It has rank (classes - 1) and
    is applied to all words. All is float64. Vectors are used as they are; nothing is scaled.

    Parameters
    ----------
    model : EmbeddingStore
        What it is fitted on.
    classes
        Name to words, two classes or more, each of two words or more that the model has: the training words.
    bias_representation
        In place of `classes`, two words, [he, she] in the paper: the `n_words` words whose cosine with the
        difference of their vectors is highest, and lowest, are the classes.
    definitional_pairs
        In place of both, pairs of words: likewise, with the first principal component of the pairs in the
        difference's place, and their first words on the side of the first class.
    n_words
        Training words in each class of extremes; where the model has fewer, all classes get the size of the
        smallest.
    neutral
        Whether as many words without a side make a third class.
    shrinkage
        Whether the covariance is estimated by `shrink`, as the authors' library can. Erasure on the training
        words is as exact; the change is no longer the least on them, but with few training words for the
        dimensions it is smaller on all the others.

    Returns
    -------
    Transform

    Notes
    -----
    **What it leaves.** A classifier that is not linear may still tell the classes. Its guarantee is of the
    training words; on others a linear classifier may find what is left.

    **Defaults.** The default is that of the paper's section 4, without the shrinkage of the covariance that
    the authors' library can do (`shrinkage`). WEFE 1.0.1 does not have the method.

    Examples
    --------
    >>> from biasgrid import debias, load
    >>> words = {"he": [1, 1], "man": [1, -1], "she": [-1, 1], "woman": [-1, -1], "nurse": [-4, 3]}
    >>> model = load(words)
    >>> classes = {"male": ["he", "man"], "female": ["she", "woman"]}
    >>> transform = debias.leace(model, classes=classes)
    >>> (model.under(transform).take(["nurse"], model.rows(["nurse"])).round(3) + 0).tolist()
    [[0.0, 3.0]]
    """
    words, lost = choose_words(model, target, ignore, preprocessors)
    training = find_training_words(
        model,
        classes=classes,
        bias_representation=bias_representation,
        definitional_pairs=definitional_pairs,
        ignore=ignore,
        n_words=n_words,
        neutral=neutral,
        seed=seed,
        preprocessors=preprocessors,
    )
    left, right, mean = erasure(training.vectors, np.eye(len(training.names))[training.labels], shrinkage)
    params = {"n_words": n_words, "neutral": neutral, "shrinkage": shrinkage, "seed": seed}
    return Transform(
        method="leace",
        fitted_on=fitted(
            model,
            params | {"preprocessors": list(preprocessors)},
            training.found_words,
            training.lost_words | lost,
            rank=len(right),
            **training.facts,
        ),
        left=left,
        right=right,
        shift=mean @ left @ right,
        **words,
    )


def erasure(
    x: np.ndarray, z: np.ndarray, shrinkage: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Theorem 4.3: what makes Cov(x - (x - E x) left right, z) zero and changes x least in the mean square.

    Parameters
    ----------
    x : ndarray (n, d)
        Vectors, float64.
    z : ndarray (n, k)
        What is erased, such as classes as one-hot.
    shrinkage
        Whether the covariance of x is estimated by `shrink`.

    Returns
    -------
    left : ndarray (d, rank)
        W U, where U are the left singular vectors of W Cov(x, z), of which there are at most k - 1 for classes.
    right : ndarray (rank, d)
        U' W^+.
    mean : ndarray (d,)
        E x.
    """
    n, d = x.shape
    mean = x.sum(axis=0) / n
    xx = x.T @ (x - mean)
    xx = (xx + xx.T) / 2
    xx = shrink(xx / n, n) if shrinkage else xx / (n - 1)
    values, vectors = np.linalg.eigh(xx)
    # the other eigenvalues are rounding: with fewer words than dimensions, or with dimensions that depend on others
    positive = values > values[-1] * d * np.finfo(np.float64).eps
    roots = np.sqrt(np.where(positive, values, 1.0))
    whitening, inverse = (
        (vectors * np.where(positive, scale, 0.0)) @ vectors.T for scale in (1 / roots, roots)
    )
    cross = x.T @ (z - z.sum(axis=0) / n) / (n - 1)
    basis, strength, _ = np.linalg.svd(whitening @ cross, full_matrices=False)
    # at most .5 whatever the scale of x: what is below is rounding, while the .01 of the authors' library would leave
    # the traces of a weak or rare class
    basis = basis[:, strength > 1e-8]
    return whitening @ basis, basis.T @ inverse, mean


def shrink(covariance: np.ndarray, n: int) -> np.ndarray:
    """A covariance (d, d) of n vectors, divided by n, shrunk towards a multiple of the identity as far as is best
    where d and n are large and of one order (Bodnar, Gupta, Parolya. On the strong convergence of the optimal linear
    shrinkage estimator for large dimensional covariance matrix. Journal of Multivariate Analysis 132, 2014)."""
    d, trace = len(covariance), np.trace(covariance)
    # squared distance from the multiple of the identity with the same trace
    distance = (covariance**2).sum() - trace**2 / d
    weight = 1 - trace**2 / n / distance if distance > 0 else 0.0
    return weight * covariance + (1 - weight) * trace / d * np.eye(d)


METHODS = (
    Method(
        name="leace",
        label="LEACE",
        function=leace,
        words=WORDS,
        aliases=("LeastSquaresConceptErasure",),
        seeded=True,
        reference="Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman. LEACE: perfect linear concept "
        "erasure in closed form. NeurIPS 2023, section 4",
    ),
)

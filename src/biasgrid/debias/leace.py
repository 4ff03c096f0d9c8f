"""LEACE, least-squares concept erasure.

Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman, NeurIPS 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..core.limits import Count
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import EmbeddingStore
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

    Among all affine maps after which linear classifiers cannot separate the classes, it is the map that changes the
    training words least. With W the whitening of the training words' vectors, P the orthogonal projection onto the
    columns of W Cov(x, z), and z the class as one-hot (section 4)::

        x' = x - W^+ P W (x - E x)

    It makes Cov(x, z) zero on the training words, so that all classes have the same mean. No linear predictor of
    the class then has a lower convex loss on them than a constant. It has rank (classes - 1) and is applied to all
    words. All arithmetic is in float64. Vectors are used without scaling.

    Parameters
    ----------
    model : EmbeddingStore
        Model to fit on.
    classes
        Name to words: the training words. Two or more classes, each with two or more words that the model has.
    bias_representation
        In place of `classes`, two words, [he, she] in the paper. The classes are the `n_words` words whose cosine
        with the difference of their vectors is highest, and lowest.
    definitional_pairs
        In place of both, pairs of words. The first principal component of the pairs replaces the difference, and
        the pairs' first words are on the side of the first class.
    ignore
        Words that are left alone.
    target
        The only words that are changed; by default all are.
    n_words
        Number of training words in each class of extremes. If the model has fewer, all classes get the size of the
        smallest.
    neutral
        Whether the same number of words on neither side forms a third class.
    shrinkage
        Whether the covariance is estimated by `shrink`, as the authors' library can. Erasure on the training words
        is equally exact. The change is no longer the smallest possible on them, but with few training words for the
        dimensions it is smaller on all other words.
    seed
        From 0 to 4294967295; of what is drawn at random.
    preprocessors
        Forms in which a word is looked up, tried in this order: mappings of `lowercase`, `uppercase`, `titlecase` and
        `strip_accents`. `{}` is the word as it is written. Default: as written, else in lower case.

    Returns
    -------
    Transform
        The transform of vectors when they are looked up: `model.under(transform)`. `fitted_on` lists the words that
        were found and the missing ones; `save` writes the transform to a file.

    Notes
    -----
    **What it leaves.** A classifier that is not linear may still separate the classes. Its guarantee covers the
    training words; on other words a linear classifier may find remaining differences.

    **Defaults.** The default follows section 4 of the paper, without the shrinkage of the covariance that the
    authors' library offers (`shrinkage`). WEFE 1.0.1 does not have the method.

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
    """Compute the map that makes Cov(x - (x - E x) left right, z) zero and changes x least in the mean square.

    Theorem 4.3 of the paper.

    Parameters
    ----------
    x : ndarray (n, d)
        Vectors, float64.
    z : ndarray (n, k)
        Variables to erase, such as classes as one-hot.
    shrinkage
        Whether the covariance of x is estimated by `shrink`.

    Returns
    -------
    left : ndarray (d, rank)
        W U, where U are the left singular vectors of W Cov(x, z); for k classes there are at most k - 1.
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
    # The other eigenvalues are rounding, from fewer words than dimensions or from dependent dimensions.
    positive = values > values[-1] * d * np.finfo(np.float64).eps
    roots = np.sqrt(np.where(positive, values, 1.0))
    whitening, inverse = (
        (vectors * np.where(positive, scale, 0.0)) @ vectors.T for scale in (1 / roots, roots)
    )
    cross = x.T @ (z - z.sum(axis=0) / n) / (n - 1)
    basis, strength, _ = np.linalg.svd(whitening @ cross, full_matrices=False)
    # Strengths are at most .5 whatever the scale of x. Smaller ones than 1e-8 are rounding, while the .01 of the
    # authors' library would leave the traces of a weak or rare class.
    basis = basis[:, strength > 1e-8]
    return whitening @ basis, basis.T @ inverse, mean


def shrink(covariance: np.ndarray, n: int) -> np.ndarray:
    """Shrink a covariance (d, d) of n vectors, divided by n, towards a multiple of the identity.

    The weight is optimal if d and n are large and of the same order (Bodnar, Gupta, Parolya. On the strong
    convergence of the optimal linear shrinkage estimator for large dimensional covariance matrix. Journal of
    Multivariate Analysis 132, 2014).
    """
    d, trace = len(covariance), np.trace(covariance)
    # Compute the squared distance from the multiple of the identity with the same trace.
    distance = (covariance**2).sum() - trace**2 / d
    weight = 1 - trace**2 / n / distance if distance > 0 else 0.0
    return weight * covariance + (1 - weight) * trace / d * np.eye(d)


LEACE = Method(
    name="leace",
    label="LEACE",
    function=leace,
    words=WORDS,
    aliases=("LeastSquaresConceptErasure",),
    seeded=True,
    reference="Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman. LEACE: perfect linear concept "
    "erasure in closed form. NeurIPS 2023, section 4",
)
METHODS = (LEACE,)

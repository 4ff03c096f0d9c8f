"""INLP, iterative nullspace projection (Ravfogel, Elazar, Gonen, Twiton, Goldberg, Null it out, ACL 2020)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from ..core.errors import BiasgridError
from ..core.limits import Count
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import EmbeddingStore
from .lookup import choose_words
from .registry import Method
from .training import WORDS, find_training_words
from .transform import Transform, fitted

# Limit the iterations of one classifier, as scikit-learn does.
MAX_ITERATIONS = 1000


def inlp(
    model: EmbeddingStore,
    *,
    classes: Mapping[str, Sequence[str]] | None = None,
    bias_representation: Sequence[str] | None = None,
    definitional_pairs: Sequence[Sequence[str]] | None = None,
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    n_words: Count = 7500,
    neutral: bool = True,
    n_iterations: Count = 35,
    held_out: Annotated[float, Ge(0), Le(0.9)] = 0.3,
    stop_at_chance: bool = False,
    seed: int = 0,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> Transform:
    """Remove the directions of linear classifiers, repeatedly.

    Algorithm 1 with the paper's setting for word vectors (section 6.1): linear support vector machines
    without intercept, one normal per class for more than two classes. All normals found are kept; with an
    orthonormal basis B of their span::

        w' = w - sum over b in B of (w . b) b

    This is the exact projection onto the intersection of their nullspaces. The paper's I - (P_1 + ... + P_n) is the
    same if the normals of different iterations are orthogonal, which holds only as far as the classifiers have
    converged; the authors' code also takes the intersection. Vectors are used without scaling. If they are long, as
    spaCy's are, the first classifier may end before it has converged: scikit-learn issues a warning, and
    `not_converged` of `fitted_on` counts such classifiers. The projection is exact nevertheless.

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
        Whether the same number of words on neither side forms a third class. The paper has 7,500 words in each of
        three classes.
    n_iterations
        Maximal number of classifiers to train: training ends when all normals are zero.
    held_out
        Share of each class, rounded down, on which no classifier is trained, 0 to .9; it measures accuracy.
    stop_at_chance
        Stop when a classifier's accuracy on the held-out words is not above the share of their largest class; its
        normals are not used.
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
    **What it leaves.** A classifier that is not linear may still separate the classes, and so may a linear one that
    learns from other words. Each iteration removes one direction from every word (one per class with more than two
    classes), whether it contains bias or not.

    **Defaults.** The default is algorithm 1 with the setting of the paper's section 6.1, with its three classes of
    7,500 words (`neutral`, `n_words`). The projection is on the intersection of all nullspaces, as in the authors'
    code. WEFE 1.0.1 does not have the method.

    Examples
    --------
    >>> from biasgrid import debias, load
    >>> model = load({"he": [3, 0], "man": [2, 0], "she": [-3, 0], "woman": [-2, 0], "nurse": [-4, 3]})
    >>> classes = {"male": ["he", "man"], "female": ["she", "woman"]}
    >>> transform = debias.inlp(model, classes=classes, n_iterations=1, held_out=0.0)
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
    test = _draw_test_words(training.labels, held_out, np.random.default_rng([seed, 1]))
    if stop_at_chance and not test.any():
        raise BiasgridError("stop_at_chance: no word is held out to measure accuracy on; raise held_out")
    basis, accuracies, convergence = _nullspaces(
        training.vectors, training.labels, test, n_iterations, stop_at_chance
    )
    if len(basis) == model.dimensions:
        raise BiasgridError(
            f"n_iterations: after {len(accuracies)} iterations nothing is left of the {model.dimensions} dimensions; "
            "take fewer, or stop_at_chance"
        )
    params: dict[str, Any] = {"n_words": n_words, "neutral": neutral, "n_iterations": n_iterations}
    params |= {"held_out": held_out, "stop_at_chance": stop_at_chance, "seed": seed}
    return Transform(
        method="inlp",
        fitted_on=fitted(
            model,
            params | {"preprocessors": list(preprocessors)},
            training.found_words,
            training.lost_words | lost,
            directions=len(basis),
            accuracies=accuracies,
            not_converged=convergence.count(False),
            chance=_majority(training.labels[test]) if test.any() else None,
            **training.facts,
        ),
        left=basis.T.copy(),
        right=basis,
        **words,
    )


def normals(vectors: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Fit a linear support vector machine without intercept and return its normals.

    The normals are (1, d) for two classes, (classes, d) for more.
    """
    return _classifier(vectors, labels).coef_


def _classifier(vectors: np.ndarray, labels: np.ndarray) -> Any:
    from sklearn.svm import LinearSVC

    # Solve the primal problem, as the authors do: nothing is drawn at random. At scikit-learn's tolerance of 1e-4,
    # rounding in the first normals grows to .04 in the projection over 35 iterations; at 1e-10 it stays below 1e-7.
    return LinearSVC(dual=False, fit_intercept=False, tol=1e-10, max_iter=MAX_ITERATIONS).fit(vectors, labels)


def _nullspaces(
    vectors: np.ndarray, labels: np.ndarray, test: np.ndarray, n_iterations: int, stop_at_chance: bool
) -> tuple[np.ndarray, list[float | None], list[bool]]:
    """Compute an orthonormal basis (k, d) of all normals.

    Return also the classifiers' accuracies on held-out words, and whether each classifier converged.
    """
    basis = np.empty((0, vectors.shape[1]))
    accuracies: list[float | None] = []
    convergence: list[bool] = []
    chance = _majority(labels[test]) if test.any() else math.nan
    projections = vectors
    for _ in range(n_iterations):
        classifier = _classifier(projections[~test], labels[~test])
        accuracy = float(classifier.score(projections[test], labels[test])) if test.any() else None
        accuracies.append(accuracy)
        convergence.append(bool(classifier.n_iter_ < MAX_ITERATIONS))
        if stop_at_chance and accuracy is not None and accuracy <= chance:
            break
        previous_size = len(basis)
        basis = _extend(basis, classifier.coef_)
        if len(basis) in (previous_size, vectors.shape[1]):
            break
        projections = vectors - (vectors @ basis.T) @ basis
    return basis, accuracies, convergence


def _extend(basis: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Extend the basis (k, d) to the span of `rows`, orthonormal."""
    _, scale, axes = np.linalg.svd(rows - (rows @ basis.T) @ basis, full_matrices=False)
    # The normal of a class that is already removed is zero.
    new_axes = axes[scale > 1e-8 * np.linalg.norm(rows, axis=1).max()]
    # Rounding before their scaling leaves the new axes not quite orthogonal to the basis: QR makes them exactly so.
    return np.linalg.qr(np.concatenate([basis, new_axes]).T)[0].T


def _draw_test_words(labels: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Draw the held-out words, bool (n,): the same share of every class, rounded down, at random."""
    test = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        places = np.flatnonzero(labels == label)
        test[rng.permutation(places)[: int(share * len(places))]] = True
    return test


def _majority(labels: np.ndarray) -> float:
    return float(np.bincount(labels).max() / len(labels))


INLP = Method(
    name="inlp",
    label="INLP",
    function=inlp,
    words=WORDS,
    aliases=("IterativeNullspaceProjection",),
    seeded=True,
    imports=("sklearn.svm",),
    reference="Ravfogel, Elazar, Gonen, Twiton, Goldberg. Null it out: guarding protected attributes by "
    "iterative nullspace projection. ACL 2020, algorithm 1 and section 6.1",
)
METHODS = (INLP,)

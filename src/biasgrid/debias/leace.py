"""LEACE, least-squares concept erasure (Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman, NeurIPS
2023)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..embeddings.store import EmbeddingStore
from ..errors import BiasgridError, not_allowed
from ..words import Preprocessor
from .lookup import chosen
from .registry import Method
from .training import WORDS, check_training, labelled_words
from .transform import Transform, fitted


def leace(
    model: EmbeddingStore,
    *,
    classes: Mapping[str, Sequence[str]] | None = None,
    bias_representation: Sequence[str] | None = None,
    definitional_pairs: Sequence[Sequence[str]] | None = None,
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    n_words: int = 7500,
    neutral: bool = True,
    shrinkage: bool = False,
    seed: int = 0,
    preprocessors: Sequence[Preprocessor] = ({},),
) -> Transform:
    """LEACE: the least change after which no linear classifier tells the classes.

    Of all affine maps that leave a linear classifier nothing to tell the classes by, it is that which changes
    the training words least. With W the whitening of the training words' vectors, P the orthogonal projection
    onto the columns of W Cov(x, z), and z the class as one-hot (section 4)::

        x' = x - W^+ P W (x - E x)

    It makes Cov(x, z) zero on the training words, which is to say that their classes have one mean; no linear
    predictor of the class has then a lower convex loss on them than a constant. It has rank (classes - 1) and
    is applied to all words. Fitted by the authors' library, concept_erasure, in float64. Vectors are used as
    they are; nothing is scaled.

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
        Whether as many words that lean to neither side make a third class.
    shrinkage
        Estimate the covariance with the library's shrinkage. Erasure on the training words is as exact; the
        change is no longer the least on them, but with few training words for the dimensions it is smaller on
        all the others.

    Returns
    -------
    Transform

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
    import torch
    from concept_erasure import LeaceFitter

    words, lost = chosen(model, target, ignore, preprocessors)
    training = labelled_words(
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
    one_hot = np.eye(len(training.names))[training.labels]
    eraser = LeaceFitter.fit(
        torch.from_numpy(training.vectors),
        torch.from_numpy(one_hot),
        shrinkage=shrinkage,
        # LEACE never makes the variance grow; the remedy for where rounding says so would leave some of Cov(x, z)
        constrain_cov_trace=False,
        # singular values of W Cov(x, z), at most .5 whatever the scale of x: what is below is rounding, while the
        # default of .01 would leave the traces of a weak or rare class
        svd_tol=1e-8,
    ).eraser
    left, right = eraser.proj_right.T.numpy(), eraser.proj_left.T.numpy()
    kept = np.abs(left).max(axis=0) > 0
    left, right = left[:, kept].copy(), right[kept].copy()
    params = {"n_words": n_words, "neutral": neutral, "shrinkage": shrinkage, "seed": seed}
    return Transform(
        method="leace",
        fitted_on=fitted(
            model,
            params | {"preprocessors": list(preprocessors)},
            training.found,
            training.lost | lost,
            rank=int(kept.sum()),
            **training.facts,
        ),
        left=left,
        right=right,
        shift=eraser.bias.numpy() @ left @ right,
        **words,
    )


def _check(n_words, neutral, shrinkage, preprocessors) -> None:
    check_training(n_words, neutral)
    if type(shrinkage) is not bool:
        raise BiasgridError(not_allowed("shrinkage", shrinkage, "true, false"))


METHODS = (
    Method(
        name="leace",
        label="LEACE",
        function=leace,
        words=WORDS,
        aliases=("LeastSquaresConceptErasure",),
        seeded=True,
        imports=("concept_erasure",),
        check=_check,
        reference="Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff, Biderman. LEACE: perfect linear concept "
        "erasure in closed form. NeurIPS 2023, section 4",
    ),
)

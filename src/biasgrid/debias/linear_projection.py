"""Linear projection (Dev and Phillips, Attenuating bias in word vectors, AISTATS 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..core.errors import BiasgridError
from ..core.geometry import unit_or_zero
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import EmbeddingStore
from .inlp import normals
from .lookup import check_pairs, choose_words, find_sets, subspace
from .registry import Method
from .transform import Transform, fitted


def linear_projection(
    model: EmbeddingStore,
    *,
    definitional_pairs: Sequence[Sequence[str]],
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    direction: Literal["pca", "two_means", "classifier"] = "pca",
    normalize: bool = False,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> Transform:
    """Remove one direction from every word.

    With a bias direction v of unit length::

        w' = w - (w . v) v

    Unlike hard debias, it exempts no word, equalises nothing and scales nothing: the paper projects the whole
    vocabulary. `ignore` still exempts words; `target` projects only its own words.

    Parameters
    ----------
    model : EmbeddingStore
        Model to fit on.
    definitional_pairs
        Pairs of words, such as [she, he], whose differences define the bias. A pair of which the model lacks a word
        is left out; `fitted_on` has it.
    ignore
        Words that are left alone.
    target
        The only words that are changed; by default all are.
    direction
        How v is computed from the definitional pairs. "pca": the first singular vector of the pairs' differences,
        which is the first component of the pairs after each is centred. "two_means": the mean of the pairs' first
        words minus the mean of their second words. "classifier": the normal of a linear classifier that separates
        the first words from the second, one step of INLP (Ravfogel et al. 2020).
    normalize
        Whether every vector is first scaled to unit length, also for exempted words.
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
    **What it leaves.** It leaves everything that does not lie along the one direction: words keep their neighbours,
    and several pairs seldom differ along one direction alone.

    **Defaults.** The paper projects the whole vocabulary without exceptions; `direction="pca"` is its direction of
    pairs. WEFE 1.0.1 does not have the method.

    Examples
    --------
    >>> from biasgrid import debias, load
    >>> model = load({"he": [1, 4], "she": [-1, 4], "man": [2, 3], "woman": [-2, 3], "nurse": [-4, 3]})
    >>> transform = debias.linear_projection(model, definitional_pairs=[["he", "she"], ["man", "woman"]])
    >>> (model.under(transform).take(["nurse"], model.rows(["nurse"])).round(3) + 0).tolist()
    [[0.0, 3.0]]
    """
    check_pairs(definitional_pairs, "definitional_pairs")
    pairs = find_sets(model, definitional_pairs, "definitional_pairs", preprocessors)
    vectors = np.stack([unit_or_zero(v) if normalize else v for v in pairs.vectors])
    if direction == "pca":
        v = subspace(vectors, 1, "definitional_pairs")[0]
    elif direction == "two_means":
        v = (vectors[:, 0] - vectors[:, 1]).mean(axis=0)
    else:
        v = normals(np.concatenate([vectors[:, 0], vectors[:, 1]]), np.repeat([0, 1], len(vectors)))[0]
    size = np.linalg.norm(v)
    if not size > 1e-10 * np.linalg.norm(vectors, axis=-1).max():
        raise BiasgridError(
            f"definitional_pairs: direction {direction} finds no difference between their sides"
        )
    v = v / size
    words, lost = choose_words(model, target, ignore, preprocessors)
    params = {"direction": direction, "normalize": normalize, "preprocessors": list(preprocessors)}
    return Transform(
        method="linear_projection",
        fitted_on=fitted(
            model,
            params,
            {"definitional_pairs": pairs.words},
            {"definitional_pairs": pairs.lost, **lost},
        ),
        normalize=normalize,
        left=v[:, None],
        right=v[None, :],
        **words,
    )


LINEAR_PROJECTION = Method(
    name="linear_projection",
    label="Linear projection",
    function=linear_projection,
    words={"definitional_pairs": "sets", "ignore": "words", "target": "words"},
    aliases=("LinearProjection",),
    reference="Dev, Phillips. Attenuating bias in word vectors. AISTATS 2019",
)
METHODS = (LINEAR_PROJECTION,)

"""Half-sibling regression.

Yang and Feng, A causal inference method for reducing gender bias in word embedding relations, AAAI 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from annotated_types import Gt

from ..core.errors import BiasgridError, join_names
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import EmbeddingStore
from .lookup import choose_words, find_words
from .registry import Method
from .transform import Transform, fitted


def hsr(
    model: EmbeddingStore,
    *,
    definitional_words: Sequence[str],
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    alpha: Annotated[float, Gt(0)] = 60.0,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> Transform:
    """Subtract what the bias-defining words predict.

    The paper (section 4.2) predicts every other word's vector v by ridge regression on the definitional
    words' vectors, the rows of D (n, d)::

        v' = v - D^T (D D^T + alpha I)^-1 D v

    This is alpha (D^T D + alpha I)^-1 v, one d x d map for all words, and it is fitted in this form. Definitional
    words are not changed; vectors are used without scaling.

    Parameters
    ----------
    model : EmbeddingStore
        Model to fit on.
    definitional_words
        Words that define the bias. A word that is listed twice is two rows of D, as in the authors' code.
    ignore
        Words that are left alone.
    target
        The only words that are changed; by default all are.
    alpha
        Ridge penalty, above 0; the paper's 60.
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
    **What it leaves.** It leaves the part that the definitional words do not predict by a linear map, and the
    definitional words themselves. As `alpha` is a penalty, a part of what they do predict also stays; this part
    grows with `alpha`.

    **Defaults.** `alpha` is 60, as in the paper and in WEFE 1.0.1. A definitional word that is listed twice counts
    twice, as in WEFE and in the authors' code.

    Examples
    --------
    >>> from biasgrid import debias, load
    >>> model = load({"he": [1, 0], "nurse": [4, 3]})
    >>> transform = debias.hsr(model, definitional_words=["he"], alpha=1.0)
    >>> model.under(transform).take(["nurse"], model.rows(["nurse"])).tolist()
    [[2.0, 3.0]]
    """
    matches = find_words(model, definitional_words, "definitional_words", preprocessors)
    if not matches.words:
        raise BiasgridError(
            f"definitional_words: {model.name} has none of the {len(definitional_words)} words"
        )
    words, lost = choose_words(model, target, ignore, preprocessors)
    overlap = sorted(set(words["only"] or ()) & set(matches.words))
    if overlap:
        raise BiasgridError(f"target and definitional_words: {join_names(map(repr, overlap))} in both")
    if words["only"] is None:
        words["leave"] = tuple(dict.fromkeys([*words["leave"], *matches.words]))
    # The singular values of D are exact for any alpha; the inverse of D^T D + alpha I is not.
    weighted_vectors = matches.vectors * np.sqrt(matches.counts)[:, None]
    _, scale, axes = np.linalg.svd(weighted_vectors, full_matrices=False)
    matrix = np.eye(model.dimensions) - (axes.T * (scale**2 / (scale**2 + alpha))) @ axes
    return Transform(
        method="hsr",
        fitted_on=fitted(
            model,
            {"alpha": alpha, "preprocessors": list(preprocessors)},
            {"definitional_words": matches.words},
            {"definitional_words": matches.lost, **lost},
        ),
        # The matrix is symmetric up to rounding: make it exactly symmetric.
        matrix=(matrix + matrix.T) / 2,
        **words,
    )


HSR = Method(
    name="hsr",
    label="Half-sibling regression",
    function=hsr,
    words={"definitional_words": "words", "ignore": "words", "target": "words"},
    aliases=("HalfSiblingRegression",),
    reference="Yang, Feng. A causal inference method for reducing gender bias in word embedding relations. "
    "AAAI 2020, section 4",
)
METHODS = (HSR,)

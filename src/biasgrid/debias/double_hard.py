"""Double-Hard Debias (Wang, Lin, Rajani, McCann, Ordonez, Xiong, ACL 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from ..core.errors import BiasgridError
from ..core.limits import Count
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import EmbeddingStore
from .lookup import check_pairs, choose_words, find_sets, find_words, subspace
from .registry import Method
from .training import BLOCK, find_bias_words, measure_leanings
from .transform import Transform, fitted

INCREMENTAL = 10  # components of WEFE's incremental PCA


def double_hard(
    model: EmbeddingStore,
    *,
    definitional_pairs: Sequence[Sequence[str]],
    bias_representation: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    n_words: Count = 1000,
    n_components: Count = 4,
    component: Annotated[int, Ge(0)] | None = None,
    variant: Literal["paper", "wefe"] = "paper",
    incremental_pca: bool | None = None,
    seed: int = 0,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> Transform:
    """Remove a frequency component, then the bias direction.

    Algorithm 1 of the paper. Let mu be the mean of all vectors, u a principal component of the whole vocabulary,
    and g the first component of the definitional pairs after the first step. Every word except `ignore` (or only
    `target`) becomes::

        w' = w - mu - (u . w) u
        w'' = w' - (g . w') g

    Of the first `n_components` components, u is the one after whose removal a 2-means clustering (seeded, 10
    starts) separates the `n_words` most biased words of either side least. The clustering's accuracy a is measured
    as max(a, 1 - a), from .5 to 1, and is smallest for this u. Everything is affine: one map of rank two. Vectors
    are used without scaling. (u . w) uses the vector before centring, as printed and in the authors' code, so that
    all words keep the same coordinate -(u . mu) on u.

    Parameters
    ----------
    model : EmbeddingStore
        Model to fit on.
    definitional_pairs
        Pairs of words, such as [she, he], whose differences define the bias. A pair of which the model lacks a word
        is left out; `fitted_on` has it.
    bias_representation
        Two words, he and she in the paper: the most biased words have the highest and the lowest difference of the
        cosines with them. None: the highest and the lowest cosine with the bias direction of the original model.
        Ignored words are not among them; they come from the whole vocabulary whatever `target` is.
    ignore
        Words that are left alone.
    target
        The only words that are changed; by default all are.
    n_words
        Number of most biased words on each side; at most half of the available words.
    n_components
        Number of principal components among which the one to remove is chosen.
    component
        Component to remove, from 0 on, without a choice.
    variant
        "wefe" follows WEFE 1.0.1. The bias direction is computed in the original model, and the components by an
        incremental PCA. Only the 2 x `n_words` most biased words are changed; `target` does not choose words, but
        sets `n_words` to half their number.
    incremental_pca
        Whether scikit-learn's incremental PCA, an approximation, finds the components, in place of an exact PCA.
        None: only with variant "wefe". WEFE's `incremental_pca=False` is a randomized PCA, which approximates the
        exact one.
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
    **What it leaves.** It leaves bias that does not lie along the two removed directions, so that words keep most
    of their neighbours. The choice of the component minimises how well the most biased words can be clustered. The
    clustering of the same words is therefore not an independent test of the method.

    **Defaults.** The default is algorithm 1 of the paper, for all words except `ignore`. WEFE 1.0.1 changes only
    the 2 x `n_words` most biased words, and takes the direction of the original vectors and an incremental PCA:
    `variant="wefe"`. Its 2-means clustering is not seeded; `component` forces a choice that it may have made.

    Examples
    --------
    >>> from biasgrid import debias, load
    >>> words = {"he": [3, 4, 1], "she": [-3, 4, 1], "man": [4, 3, 0], "woman": [-4, 3, 0], "nurse": [-4, 3, 2]}
    >>> model = load(words)
    >>> pairs = [["he", "she"], ["man", "woman"]]
    >>> transform = debias.double_hard(model, definitional_pairs=pairs, n_words=2, n_components=1)
    >>> transform.fitted_on["params"]["n_words"]
    2
    """
    check_pairs(definitional_pairs, "definitional_pairs")
    pairs = find_sets(model, definitional_pairs, "definitional_pairs", preprocessors)
    words, lost = choose_words(model, target, ignore, preprocessors)
    wefe = variant == "wefe"
    if wefe and target is not None:
        n_words = len(target) // 2
        if not n_words:
            raise BiasgridError("target: variant wefe takes n_words from it, and it has fewer than two words")
    if incremental_pca is None:
        incremental_pca = wefe
    mean, components = _incremental_components(model) if incremental_pca else _components(model)
    n_available = len(components)
    if component is None and n_components > n_available:
        raise BiasgridError(
            f"n_components: {n_components} is more than the {n_available} components of the vectors"
        )
    if component is not None and component >= n_available:
        raise BiasgridError(
            f"component: no component {component}; the vectors have {n_available}, counted from 0"
        )
    direction = subspace(pairs.vectors, 1, "definitional_pairs")[0]
    found_words: dict[str, Any] = {"definitional_pairs": pairs.words}
    if bias_representation is not None:
        found_words["bias_representation"], (a, b) = find_bias_words(
            model, bias_representation, preprocessors
        )
        scale = _difference_of_units(a, b)
    else:
        scale = direction
    facts: dict[str, Any] = {}
    given_component = component
    if wefe or component is None:
        ignored_rows = find_words(model, ignore, "ignore", preprocessors).rows
        extremes = _extremes(model, scale, ignored_rows, n_words)
        facts["n_words_used"] = len(extremes) // 2
    if wefe:
        words = {"only": tuple(_words_of(model, extremes)), "leave": ()}

    def removal(u: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return left, right and shift of the Transform that removes u and then the bias direction g."""
        g = direction
        if not wefe:
            g = subspace([v - np.outer(v @ u, u) for v in pairs.vectors], 1, "definitional_pairs")[0]
        return np.column_stack([u, g - (g @ u) * u]), np.stack([u, g]), (g @ mean) * g - mean

    if component is None:
        vectors = model.read(extremes).astype(np.float64)
        accuracies = []
        for u in components[:n_components]:
            left, right, shift = removal(u)
            accuracies.append(_accuracy(vectors - (vectors @ left) @ right + shift, seed))
        component = int(np.argmin(accuracies))
        facts["accuracies"] = accuracies
    left, right, shift = removal(components[component])
    params = {
        "n_words": n_words,
        "n_components": n_components,
        "component": given_component,
        "variant": variant,
        "incremental_pca": incremental_pca,
    }
    return Transform(
        method="double_hard",
        fitted_on=fitted(
            model,
            params | {"seed": seed, "preprocessors": list(preprocessors)},
            found_words,
            {"definitional_pairs": pairs.lost, **lost},
            component=component,
            **facts,
        ),
        left=left,
        right=right,
        shift=shift,
        **words,
    )


def most_biased(
    model: EmbeddingStore,
    bias_representation: Sequence[str],
    ignore: Sequence[str],
    n_words: int,
    preprocessors: Sequence[Preprocessor],
) -> list[str]:
    """Return the words whose cosines with two words differ most: `n_words` nearest the second one, then the first."""
    _, (a, b) = find_bias_words(model, bias_representation, preprocessors)
    ignored_rows = find_words(model, ignore, "ignore", preprocessors).rows
    return _words_of(model, _extremes(model, _difference_of_units(a, b), ignored_rows, n_words))


def _difference_of_units(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    difference: np.ndarray = a / np.linalg.norm(a) - b / np.linalg.norm(b)
    return difference


def _words_of(model: EmbeddingStore, rows: np.ndarray) -> list[str]:
    entry = dict(zip(*reversed(model.vocabulary()), strict=True))
    return [entry[row] for row in rows if row in entry]


def _components(model: EmbeddingStore) -> tuple[np.ndarray, np.ndarray]:
    """Compute the mean (d,) and the principal components (k, d) of all vectors, in order, without zero variances."""
    rows = model.row_count
    # Sums of products about a point near the mean do not cancel, unlike sums about 0.
    origin = model.read(slice(BLOCK)).mean(axis=0, dtype=np.float64)
    total, products = np.zeros_like(origin), np.zeros((len(origin), len(origin)))
    for start in range(0, rows, BLOCK):
        block = model.read(slice(start, start + BLOCK)) - origin
        total += block.sum(axis=0)
        products += block.T @ block
    offset = total / rows
    variances, axes = np.linalg.eigh(products / rows - np.outer(offset, offset))
    has_variance = variances > 1e-12 * max(variances[-1], 0.0)
    return origin + offset, np.ascontiguousarray(axes.T[has_variance][::-1])


def _incremental_components(model: EmbeddingStore) -> tuple[np.ndarray, np.ndarray]:
    """Approximate `_components` with scikit-learn's incremental PCA and its batches."""
    from sklearn.decomposition import IncrementalPCA
    from sklearn.utils import gen_batches

    rows, d = model.row_count, model.dimensions
    pca = IncrementalPCA(min(INCREMENTAL, d, rows))
    for batch in gen_batches(rows, 5 * d, min_batch_size=pca.n_components):
        pca.partial_fit(model.read(batch))
    return pca.mean_.astype(np.float64), pca.components_.astype(np.float64)


def _extremes(model: EmbeddingStore, scale: np.ndarray, ignored_rows: np.ndarray, n_words: int) -> np.ndarray:
    """Return the rows of the words nearest to either end of the scale: n lowest and n highest, ascending."""
    leanings = measure_leanings(model, scale)
    # Other ignored words are composed of n-grams and do not have a row.
    leanings[ignored_rows[ignored_rows < len(leanings)]] = np.nan
    rows = np.flatnonzero(~np.isnan(leanings))
    n = min(n_words, len(rows) // 2)
    if not n:
        raise BiasgridError(f"ignore: {model.name} has {len(rows)} other words, and at least two are needed")
    order = rows[np.argsort(leanings[rows], kind="stable")]
    return np.concatenate([order[:n], order[-n:]])


def _accuracy(vectors: np.ndarray, seed: int) -> float:
    """Measure how well 2-means separates the first half of the vectors from the second, .5 to 1."""
    from sklearn.cluster import KMeans

    cluster = KMeans(n_clusters=2, n_init=10, random_state=seed).fit_predict(vectors)
    accuracy = float(np.mean(cluster == np.repeat([0, 1], len(vectors) // 2)))
    return max(accuracy, 1.0 - accuracy)


DOUBLE_HARD = Method(
    name="double_hard",
    label="Double-hard debias",
    function=double_hard,
    words={
        "definitional_pairs": "sets",
        "bias_representation": "words",
        "ignore": "words",
        "target": "words",
    },
    aliases=("DoubleHardDebias",),
    seeded=True,
    imports=("sklearn.cluster", "sklearn.decomposition"),
    reference="Wang, Lin, Rajani, McCann, Ordonez, Xiong. Double-Hard Debias: tailoring word embeddings "
    "for gender bias mitigation. ACL 2020, algorithm 1",
)
METHODS = (DOUBLE_HARD,)

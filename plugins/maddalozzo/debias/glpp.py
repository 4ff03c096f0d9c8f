"""GLPP, graph-based locality preserving projection, as a transform (Maddalozzo's thesis, 2023, chapter 3)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Le

from biasgrid.core.errors import BiasgridError
from biasgrid.core.geometry import unit_or_zero
from biasgrid.core.limits import Count
from biasgrid.debias.lookup import choose_words, find_words
from biasgrid.debias.registry import Method
from biasgrid.debias.transform import Transform, fitted
from biasgrid.models.preprocessing import DEFAULT_FORMS, Preprocessor
from biasgrid.models.store import EmbeddingStore

# Limit the words of a graph: the inner products of this many words take 200 MB.
MOST_WORDS = 5000


def glpp(
    model: EmbeddingStore,
    *,
    graph_words: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    n_words: Annotated[int, Ge(1), Le(MOST_WORDS)] = 3000,
    n_components: Count | None = None,
    n_neighbours: Count = 10,
    sigma: Annotated[float, Gt(0)] = 1.0,
    eta: Annotated[float, Ge(0)] = 0.0,
    order: Literal["smallest", "largest"] = "smallest",
    ridge: Annotated[float, Ge(0)] = 1e-6,
    test_words: Sequence[str] | None = None,
    reduce: bool = False,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> Transform:
    """Keep the directions along which neighbours stay together, and drop the others (GLPP).

    The words of the graph are the rows of X, at unit length. Two words are joined if one is among the nearest
    neighbours of the other. The weight of their edge is ``S = exp(-|x - y|^2 / sigma^2)``. D contains the sums of S,
    and L = D - S. The method solves the generalised eigenproblem::

        (X' L X - eta C) u = lambda X' D X u

    The solutions u with the smallest lambda change least between neighbours. Let U be an orthonormal basis of
    `n_components` of them. Every word x, at unit length, becomes::

        x' = U U' x

    which has the same number of dimensions as x. With `reduce` it becomes Y = U' x with `n_components` dimensions,
    as in the thesis; cosines are the same.

    The loss is measured on words that are not in the graph, the `test_words`, with X_test in place of X::

        d(X_rec, X_test) = |X_test U U' - X_test|   (Frobenius)

    Parameters
    ----------
    model : EmbeddingStore
        The model on which the method is fitted.
    ignore
        Words that are left alone.
    target
        The only words that are changed; by default all are.
    graph_words
        The words of the graph, at most 5,000. By default, the first `n_words` of the model, which are the most
        frequent words in most models.
    n_words
        See `graph_words`; at most 5,000.
    n_components
        Number of dimensions to keep, at most the number of dimensions of the vectors; by default half of them.
    n_neighbours
        Number of nearest words of each word that count as its neighbours.
    sigma
        Scale of distances in the weights, above 0.
    eta
        Weight of C, the covariance of the graph's words, at least 0. With a larger weight, directions of large
        variance come first.
    order
        "smallest" uses the smallest eigenvalues. "largest", as printed in the thesis, keeps the directions that
        separate neighbours.
    ridge
        This share of the mean diagonal of X' D X is added to its diagonal. Without it, the matrix is not invertible
        if there are fewer words than dimensions.
    test_words
        Words that are left out of the graph and held out for the reconstruction distance. The result is in the
        transform's `fitted_on["test"]`: the number of `words` with a direction, `distance` d(X_rec, X_test), and
        `relative_distance`. The latter is d divided by the norm of X_test: 0 if nothing is lost, 1 if everything is.
    reduce
        Whether vectors are shortened to the number of components. This changes all words, so `ignore` and `target`
        are not allowed.
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
    **What it leaves.** It leaves all bias that neighbours share. It does not use groups or pairs, and it is not a
    debias method. Pairs such as *he* and *she* are neighbours, so much of their difference is removed, but the
    difference between the words around them stays. Differences between neighbours are lost whatever they mean, at
    a cost in analogies. The method is included because the thesis proposes it as a transform; the thesis does not
    contain an experiment with it.

    **Defaults.** The thesis does not define C, eta, or the numbers of neighbours and components. Here eta is 0,
    because C is not defined. If eta is given, C is the total covariance. The thesis sorts the eigenvalues in
    descending order, which contradicts its stated aim: `order="largest"` does that. Its U is orthonormal only with
    respect to X' D X, so U U' x is not a projection of x; here U is made orthonormal. WEFE 1.0.1 does not have the
    method.

    Examples
    --------
    >>> from biasgrid import debias, load, load_plugins
    >>> load_plugins(["maddalozzo"])
    >>> near = {"a": [1, 0, 0.3], "b": [1, 0, -0.3], "c": [0, 1, 0.3], "d": [0, 1, -0.3]}
    >>> model = load(near)
    >>> transform = debias.glpp(model, n_components=2, n_neighbours=1)
    >>> (model.under(transform).take(["a"], model.rows(["a"])).round(2) + 0).tolist()
    [[0.96, 0.0, 0.0]]
    """
    if reduce and (target is not None or ignore):
        raise BiasgridError("reduce: shortens the vectors of all words; leave out target and ignore")
    words, lost = choose_words(model, target, ignore, preprocessors)
    held_out = find_words(model, test_words or (), "test_words", preprocessors)
    entries, lost_graph_words, vectors = _graph_words(
        model, graph_words, n_words, preprocessors, set(held_out.rows.tolist())
    )
    basis = projection(vectors, n_components, n_neighbours, sigma, eta, order, ridge)
    params = {
        "n_words": n_words,
        "n_components": n_components,
        "n_neighbours": n_neighbours,
        "sigma": sigma,
        "eta": eta,
        "order": order,
        "ridge": ridge,
        "reduce": reduce,
        "preprocessors": list(preprocessors),
    }
    return Transform(
        method="glpp",
        fitted_on=fitted(
            model,
            params,
            {"graph_words": entries, "test_words": held_out.words},
            {"graph_words": lost_graph_words, "test_words": list(held_out.lost), **lost},
            components=basis.shape[1],
            graph=len(vectors),
            # Record the mean share of a word's squared length that is kept.
            kept=round(float(((vectors @ basis) ** 2).sum() / len(vectors)), 6),
            **({} if test_words is None else {"test": _reconstruction(model, held_out.vectors, basis)}),
        ),
        normalize=True,
        matrix=basis if reduce else basis @ basis.T,
        **words,
    )


def _graph_words(
    model: EmbeddingStore,
    graph_words: Sequence[str] | None,
    n_words: int,
    preprocessors: Sequence[Preprocessor],
    held_out: Collection[int],
) -> tuple[tuple[str, ...], list[str], np.ndarray]:
    """Return the given words of the graph that were found, the words that were not, and the vectors of the graph.

    Vectors without a direction and held-out rows are left out.
    """
    if graph_words is None:
        entries, rows = model.vocabulary(n_words)
        given_entries, lost, vectors = (), [], model.take(entries, rows)
    else:
        matches = find_words(model, graph_words, "graph_words", preprocessors)
        given_entries, lost, vectors, rows = matches.words, list(matches.lost), matches.vectors, matches.rows
        if len(given_entries) > MOST_WORDS:
            raise BiasgridError(
                f"graph_words: {len(given_entries):,} words are more than the {MOST_WORDS:,} that are allowed"
            )
    vectors = _with_direction(vectors[[row not in held_out for row in rows.tolist()]])
    if len(vectors) < 3:
        raise BiasgridError(
            f"graph_words: {model.name} has {len(vectors)} of them, and at least 3 are needed"
        )
    return given_entries, lost, vectors


def _with_direction(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors that have a direction, at unit length."""
    vectors = unit_or_zero(vectors.astype(np.float64))
    return vectors[np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)]


def _reconstruction(model: EmbeddingStore, vectors: np.ndarray, basis: np.ndarray) -> dict[str, float]:
    """Compute the distance of the vectors of held-out words from their reconstruction."""
    vectors = _with_direction(vectors)
    if not len(vectors):
        raise BiasgridError(f"test_words: {model.name} has none of them")
    distance = float(np.linalg.norm(vectors @ basis @ basis.T - vectors))
    return {
        "words": len(vectors),
        "distance": round(distance, 6),
        "relative_distance": round(distance / float(np.linalg.norm(vectors)), 6),
    }


def projection(
    x: np.ndarray,
    n_components: int | None = None,
    n_neighbours: int = 10,
    sigma: float = 1.0,
    eta: float = 0.0,
    order: str = "smallest",
    ridge: float = 1e-6,
) -> np.ndarray:
    """Compute an orthonormal basis (d, components) of the locality preserving projection of x (n, d), float64."""
    # Import scipy late, because most methods do not need it.
    from scipy.linalg import eigh

    n, d = x.shape
    n_kept = d // 2 if n_components is None else n_components
    if not 0 < n_kept <= d:
        raise BiasgridError(f"n_components: {n_kept} is not from 1 to the {d} dimensions of the vectors")
    if not n_neighbours < n:
        raise BiasgridError(f"n_neighbours: {n_neighbours} is not fewer than the {n} words of the graph")
    weights = heat_weights(x, n_neighbours, sigma)
    degrees = weights.sum(axis=1)
    scatter = (x.T * degrees) @ x
    laplacian = scatter - x.T @ weights @ x
    if eta:
        laplacian = laplacian - eta * np.cov(x.T, ddof=0)
    scatter += ridge * np.trace(scatter) / d * np.eye(d)
    vectors = eigh((laplacian + laplacian.T) / 2, (scatter + scatter.T) / 2)[1]
    return np.linalg.qr(vectors[:, :n_kept] if order == "smallest" else vectors[:, -n_kept:])[0]


def heat_weights(x: np.ndarray, n_neighbours: int, sigma: float) -> np.ndarray:
    """Compute the weights (n, n) of the nearest-neighbour graph of rows x (n, d); 0 means not neighbours."""
    squares = np.einsum("ij,ij->i", x, x)
    distances = squares[:, None] + squares - 2 * x @ x.T
    np.fill_diagonal(distances, np.inf)
    adjacency = np.zeros(distances.shape, dtype=bool)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbours]
    np.put_along_axis(adjacency, nearest, True, axis=1)
    adjacency |= adjacency.T
    return np.where(adjacency, np.exp(-distances.clip(min=0) / sigma**2), 0.0)


METHODS = (
    Method(
        name="glpp",
        label="GLPP",
        function=glpp,
        words={"graph_words": "words", "ignore": "words", "target": "words", "test_words": "words"},
        imports=("scipy.linalg",),
        reference="Maddalozzo. Methods and Measures for bias detection in natural language processing. Thesis, "
        "Politecnico di Torino 2023, chapter 3; He, Niyogi. Locality preserving projections. NeurIPS 2003",
    ),
)

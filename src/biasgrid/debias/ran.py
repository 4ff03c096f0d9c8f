"""Repulsion, attraction, neutralisation.

Kumar, Bhotia, Kumar, Chakraborty. Nurse is closer to woman than surgeon? Mitigating gender-biased proximities in
word embeddings. TACL 2020.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Le

from ..core.errors import BiasgridError, not_allowed
from ..core.extras import require
from ..core.geometry import unit_or_zero
from ..core.limits import Count
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import EmbeddingStore
from .lookup import check_pairs, choose_words, find_sets, subspace
from .registry import Method
from .transform import Transform, fitted

if TYPE_CHECKING:
    from sklearn.neighbors import NearestNeighbors

# Limit the rows that are float64 at a time: of words whose neighbours are searched, and of the candidates.
TARGETS, CANDIDATES = 2048, 16384
# Limit the words that are optimised together, and the bytes of their repelling vectors, to the processor's cache.
GROUP, CACHE = 256, 2**23
# Repulsion sets of equal size are optimised together; sizes are rounded up to a multiple of this.
ROUND = 8


def ran(
    model: EmbeddingStore,
    *,
    definitional_pairs: Sequence[Sequence[str]],
    ignore: Sequence[str] = (),
    target: Sequence[str] | None = None,
    limit: Count | None = None,
    n_neighbours: Count = 100,
    theta: Annotated[float, Ge(0), Le(1)] = 0.05,
    weights: Sequence[float] = (0.33, 0.33, 0.33),
    learning_rate: Annotated[float, Gt(0)] = 0.01,
    epochs: Count = 300,
    variant: Literal["paper", "original", "wefe"] = "paper",
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> Transform:
    """Move words away from neighbours that share the bias.

    Every target word gets the x that minimises the paper's objective by Adam from x = w, scaled to unit
    length::

        weights[0] mean of |cos(x, n_i)| + weights[1] |cos(x, w) - 1| / 2 + weights[2] |cos(x, g)|

    w is the word's unit vector; n_i are the unit vectors of its nearest neighbours with an indirect bias above
    `theta`; g is the first principal component of the pairs (of unit vectors). Most words do not have such
    neighbours: the first term is then 0. Indirect bias (Bolukbasi et al. 2016): beta(w, v) = (w . v - cos of w and
    v without their parts along g) / w . v; a neighbour for which it is undefined does not repel. All other words
    are scaled to unit length. If words share a vector, each is a target or not by its own name. A zero vector is
    not a target. As Adam's steps have a fixed length, `|cos(x, g)|` ends near .01, not at 0. The result does not
    depend on the number of threads and, with a variant other than "wefe", not on the other targets.

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
    limit
        Number of first rows of the model from which neighbours are taken, and targets if none are named; None: all
        rows.
    n_neighbours
        Number of nearest words to examine, from 1 on.
    theta
        Indirect bias above which a neighbour repels, from 0 to 1.
    weights
        Weights of repulsion, attraction and neutralisation, from 0 on; the authors' configuration for GloVe is 1/8,
        6/8, 1/8.
    learning_rate, epochs
        Adam's learning rate and number of steps; its other settings follow Kingma and Ba 2015.
    variant
        "original", the authors' code: `|x . g|` in place of `|cos(x, g)|`, which a shorter x also lowers, with the
        second weight in place of the third (their script examines 199 neighbours, of which at most 100 repel).
        "wefe", WEFE 1.0.1: also `|x . g|`, and repulsion and neutralisation move a copy of w, which x only follows
        by attraction. Its first step has the direction of rounding errors.
    preprocessors
        Forms in which a word is looked up, tried in this order: mappings of `lowercase`, `uppercase`, `titlecase` and
        `strip_accents`. `{}` is the word as it is written. Default: as written, else in lower case.

    Returns
    -------
    Transform
        The transform of vectors when they are looked up: `model.under(transform)`. `fitted_on` lists the words that
        were found and the missing ones; `save` writes the transform to a file.

    Raises
    ------
    BiasgridError
        If no target is left.

    Notes
    -----
    **What it leaves.** A word without neighbours that share the bias is not repelled; it only loses its own part
    along the direction, and not all of it. Words that are not targets change only in length. Neighbours are
    searched in the original model.

    **Defaults.** The default is the paper's objective. The authors' code has the second weight in place of the
    third, and a dot product in place of a cosine: `variant="original"`. WEFE 1.0.1 exchanges the vector and its
    anchor: `variant="wefe"`.

    Examples
    --------
    >>> from biasgrid import debias, load
    >>> words = {"he": [3, 4], "she": [-3, 4], "man": [4, 3], "woman": [-4, 3], "nurse": [-4, 3]}
    >>> model = load(words)
    >>> pairs = [["he", "she"], ["man", "woman"]]
    >>> transform = debias.ran(model, definitional_pairs=pairs, target=["nurse"])
    >>> transform.override_words
    ('nurse',)
    """
    if variant == "wefe":
        require("torch", "ran with variant wefe")
    check_pairs(definitional_pairs, "definitional_pairs")
    pairs = find_sets(model, definitional_pairs, "definitional_pairs", preprocessors)
    words, rows, lost = _targets(model, target, ignore, limit, preprocessors)
    targets, row_of = np.unique(rows, return_inverse=True)
    overrides = np.empty((len(targets), model.dimensions), dtype=np.float32)
    # The rows are: number of repelling neighbours, loss before, loss after.
    statistics = np.empty((3, len(targets)))
    repulsion, attraction, neutralisation = map(float, weights)
    if variant == "original":
        neutralisation = attraction
    # Import scikit-learn here: scores do not need it.
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(algorithm="brute")
    direction = subspace([unit_or_zero(v) for v in pairs.vectors], 1, "definitional_pairs")[0]
    _, candidates = model.vocabulary(limit)
    candidate_cosines = _direction_cosines(model, candidates, direction)
    for start in range(0, len(targets), TARGETS):
        part = slice(start, start + TARGETS)
        neighbours, repels = _repulsion_sets(
            model, targets[part], candidates, candidate_cosines, direction, n_neighbours, theta, search
        )
        statistics[0, part] = repels.sum(axis=1)
        for members, slots in _groups_of_one_size(repels, model.dimensions):
            places = start + members
            vectors = np.zeros((*slots.shape, model.dimensions))
            vectors[slots] = _units(model, neighbours[members][repels[members]], variant)
            # Neutralisation is repulsion from the direction, with its own weight.
            vectors[:, -1] = direction
            counts = slots.sum(axis=1, keepdims=True)
            scale = np.where(slots, repulsion / np.maximum(counts, 1), 0.0)
            scale[:, -1] = neutralisation
            w = _units(model, targets[places], variant)
            optimise = _follow if variant == "wefe" else _descend
            x = optimise(w, vectors, scale, attraction, variant != "paper", learning_rate, epochs)
            overrides[places] = x
            statistics[1, places] = objective(w, w, vectors, scale, attraction)
            statistics[2, places] = objective(x, w, vectors, scale, attraction)
    repelled_by, loss_before, loss = statistics[:, row_of]
    params = {
        "limit": limit,
        "n_neighbours": n_neighbours,
        "theta": theta,
        "weights": list(weights),
        "learning_rate": learning_rate,
        "epochs": epochs,
        "variant": variant,
        "preprocessors": list(preprocessors),
    }
    return Transform(
        method="ran",
        fitted_on=fitted(
            model,
            params,
            {"definitional_pairs": pairs.words},
            {"definitional_pairs": pairs.lost, **lost},
            targets=len(words),
            repelled_by=float(repelled_by.mean()),
            repelled_by_none=int((repelled_by == 0).sum()),
            loss_before=float(loss_before.mean()),
            loss=float(loss.mean()),
        ),
        normalize=True,
        only=(),
        override_words=words,
        overrides=overrides,
        override_rows=row_of,
    )


def objective(
    x: np.ndarray, w: np.ndarray, repellers: np.ndarray, scale: np.ndarray, attraction: float
) -> np.ndarray:
    """Compute the paper's objective (b,) of unit vectors x (b, d).

    w (b, d) attracts; `repellers` (b, k, d) repel, each with its `scale` (b, k).
    """
    cosines = np.matmul(repellers, x[:, :, None])[:, :, 0]
    return (scale * np.abs(cosines)).sum(axis=1) + attraction / 2 * np.abs(np.einsum("bd,bd->b", x, w) - 1)


def gradient(
    x: np.ndarray, w: np.ndarray, repellers: np.ndarray, scale: np.ndarray, attraction: float, dot: bool
) -> np.ndarray:
    """Compute the gradient of the objective of x / |x| with respect to x (b, d), of any length.

    With `dot`, the last of `repellers`, g, repels by |x g| in place of |cos(x, g)|.
    """
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    units = x / norms
    cosines = np.matmul(repellers, units[:, :, None])[:, :, 0]
    signs = np.sign(cosines) * scale
    if dot:
        signs[:, -1:] *= norms
    pull = np.matmul(signs[:, None], repellers)[:, 0] - attraction / 2 * w
    # |cos| does not change with the length of x, so that its pull does not have a part along x; |x g| does.
    length = np.einsum("bd,bd->b", pull, units)
    if dot:
        length -= signs[:, -1] * cosines[:, -1]
    return (pull - length[:, None] * units) / norms


def _descend(w, repellers, scale, attraction, dot, learning_rate, epochs) -> np.ndarray:
    """Run Adam from w and return unit vectors (b, d).

    It is not PyTorch's, in which an entry's last bits depend on its place in the array, and it is faster.
    """
    x, mean, square = w.copy(), np.zeros_like(w), np.zeros_like(w)
    for step in range(1, epochs + 1):
        slope = gradient(x, w, repellers, scale, attraction, dot)
        mean += 0.1 * (slope - mean)
        square += 0.001 * (slope * slope - square)
        correction = math.sqrt(1 - 0.999**step)
        x -= learning_rate * correction / (1 - 0.9**step) * mean / (np.sqrt(square) + 1e-8 * correction)
    return unit_or_zero(x)


def _follow(w, repellers, scale, attraction, dot, learning_rate, epochs) -> np.ndarray:
    """Run WEFE's optimisation, in float32 and with its operations.

    At the start, the gradient of the attraction consists of rounding errors, and Adam makes a full step of them.
    Other operations would move coordinates by up to .02.
    """
    # Import torch here: the import takes longer than all other imports of a score together.
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        w, repellers, scale = (torch.from_numpy(a.astype(np.float32)) for a in (w, repellers, scale))
        copy, x = w.clone().requires_grad_(), w.clone().requires_grad_()
        adam = torch.optim.Adam([copy, x], lr=learning_rate)
        for _ in range(epochs):
            adam.zero_grad()
            products = torch.bmm(copy[:, None], repellers.mT)[:, 0]
            cosines = products[:, :-1] / copy.norm(dim=1, keepdim=True)
            repulsions = torch.cat([cosines, products[:, -1:]], dim=1).abs() * scale
            attractions = (torch.cosine_similarity(copy, x) - 1).abs()
            (repulsions.sum() + attraction / 2 * attractions.sum()).backward()
            adam.step()
        x = x.detach()
        return (x / x.norm(dim=1, keepdim=True)).numpy()
    finally:
        torch.set_num_threads(threads)


def _targets(
    model: EmbeddingStore,
    target: Sequence[str] | None,
    ignore: Sequence[str],
    limit: int | None,
    preprocessors: Sequence,
) -> tuple[tuple[str, ...], np.ndarray, dict[str, list[str]]]:
    """Return the vocabulary entries to debias and their rows, without zero vectors, and the missing words."""
    selection, lost = choose_words(model, target, ignore, preprocessors)
    words = selection["only"]
    if words is None:
        ignored_words = set(selection["leave"])
        words = [word for word in model.words() if word not in ignored_words]
    rows = model.rows(words)
    is_target = rows < limit if target is None and limit is not None else np.ones(len(rows), dtype=bool)
    candidates = np.flatnonzero(is_target)
    for start in range(0, len(candidates), CANDIDATES):
        part = candidates[start : start + CANDIDATES]
        is_target[part] = model.read(rows[part]).any(axis=1)
    if not is_target.any():
        raise BiasgridError(f"ignore and target: no word of {model.name} is left to debias")
    return tuple(word for word, keep in zip(words, is_target, strict=True) if keep), rows[is_target], lost


def _units(
    model: EmbeddingStore, rows: np.ndarray, variant: Literal["paper", "original", "wefe"] = "paper"
) -> np.ndarray:
    vectors = model.read(rows)
    if variant == "wefe":
        # Use WEFE's arithmetic: see `_follow`.
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit_or_zero(vectors.astype(np.float64))


def _direction_cosines(model: EmbeddingStore, rows: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """Compute the cosine of each row's vector with the direction (n,); NaN for a zero vector."""
    cosines = np.empty(len(rows))
    for start in range(0, len(rows), CANDIDATES):
        units = _units(model, rows[start : start + CANDIDATES])
        cosines[start : start + CANDIDATES] = np.where(units.any(axis=1), units @ direction, np.nan)
    return cosines


def _repulsion_sets(
    model: EmbeddingStore,
    rows: np.ndarray,
    candidates: np.ndarray,
    candidate_cosines: np.ndarray,
    direction: np.ndarray,
    n_neighbours: int,
    theta: float,
    search: NearestNeighbors,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows' nearest neighbours, the nearest first, and which of them repel: rows and bool (b, n)."""
    units = _units(model, rows)
    distances = np.full((len(rows), 1), np.inf)
    neighbours = np.zeros((len(rows), 1), dtype=np.int64)
    for start in range(0, len(candidates), CANDIDATES):
        part = candidates[start : start + CANDIDATES]
        # Search one more than needed: the word itself is its nearest neighbour.
        n = min(n_neighbours + 1, len(part))
        new_distances, places = search.fit(_units(model, part)).kneighbors(units, n)
        places += start
        new_distances[(candidates[places] == rows[:, None]) | np.isnan(candidate_cosines[places])] = np.inf
        distances, neighbours = np.hstack([distances, new_distances]), np.hstack([neighbours, places])
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbours]
        distances = np.take_along_axis(distances, nearest, axis=1)
        neighbours = np.take_along_axis(neighbours, nearest, axis=1)
    cosines = 1 - distances**2 / 2
    word_cosines, neighbour_cosines = (units @ direction)[:, None], candidate_cosines[neighbours]
    lengths = np.sqrt(np.maximum(1 - word_cosines**2, 0) * np.maximum(1 - neighbour_cosines**2, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        beta = 1 - (cosines - word_cosines * neighbour_cosines) / lengths / cosines
        is_defined = np.isfinite(distances) & (lengths > 1e-9) & (np.abs(cosines) > 1e-12)
        return candidates[neighbours], is_defined & (beta > theta)


def _groups_of_one_size(repels: np.ndarray, dimensions: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield words to optimise together: their places, and which slots of an array of repellers are taken (b, k +
    1).

    The last slot stays free. A word's k, which determines the order of its sums, does not depend on other words.
    """
    counts = repels.sum(axis=1)
    sizes = -(-counts // ROUND) * ROUND
    for size in np.unique(sizes):
        group_size = max(1, min(GROUP, CACHE // (8 * dimensions * (size + 1))))
        rows = np.flatnonzero(sizes == size)
        for start in range(0, len(rows), group_size):
            members = rows[start : start + group_size]
            yield members, np.arange(size + 1) < counts[members, None]


def _check(*, weights, **_) -> None:
    def is_number(value: object) -> bool:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)

    ok = isinstance(weights, (list, tuple)) and len(weights) == 3 and all(map(is_number, weights))
    if not ok or min(weights) < 0 or max(weights) == 0:
        raise BiasgridError(not_allowed("weights", weights, "three numbers from 0 on, not all 0"))


RAN = Method(
    name="ran",
    label="RAN debias",
    function=ran,
    words={"definitional_pairs": "sets", "ignore": "words", "target": "words"},
    aliases=("RepulsionAttractionNeutralization",),
    imports=("sklearn.neighbors",),
    check=_check,
    reference="Kumar, Bhotia, Kumar, Chakraborty. Nurse is closer to woman than surgeon? Mitigating "
    "gender-biased proximities in word embeddings. TACL 8, 2020",
)
METHODS = (RAN,)

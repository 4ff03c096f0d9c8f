"""FISE, Flexible Intersectional Stereotype Extraction: words in the quadrants of two axes.

Charlesworth, Ghate, Caliskan, Banaji, PNAS Nexus 2024.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from ..core.geometry import cosines, in_blocks, mean_cosines, unit, weighted_mean, weighted_products
from ..core.limits import limited
from ..models.cache_per_model import remember
from ..models.model import Model
from ..models.words import WordVectors
from .registry import Contrast, Detail, Metric, Score

Centre = Literal["words", "origin"]
VOCABULARY = 20_000
# Number of these words that define the model's own centre.
REFERENCE_WORDS = 1000
# Side of either axis on which the quadrant of each group lies.
SIGNS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


@limited
def fise(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    reference: np.ndarray,
    centre: Centre = "words",
    vocabulary: Annotated[int, Ge(2)] = VOCABULARY,
) -> Score:
    """Measure how unevenly words spread over crossed groups. The groups are quadrants of two axes (FISE).

    The target sets are four crossed groups C11, C12, C21, C22, such as men and women of one race, then men and women
    of the other. With the mean t(w, A) of cos(w, a) over the words of a set A, a word has two coordinates::

        x(w) = t(w, C11 + C12) - t(w, C21 + C22),    y(w) = t(w, C11 + C21) - t(w, C12 + C22)

    about the medians of x and of y over 1,000 words of the model. Each of the four quadrants belongs to one group:
    the quadrant of C11 has the words whose x and y are both above the medians. p_g is the share of the words in a
    group's quadrant, q_g the share of the 1,000 words::

        FISE = 1/2 sum over the groups g of |p_g - q_g|

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the four groups' words, and of the words of one attribute set.
    reference : array, (words, dimensions)
        Vectors of words of the model that define its own centre.
    centre
        "words": the medians over these words, and their shares. "origin": x = 0 and y = 0, and a quarter each, as
        in the paper.
    vocabulary
        The 1,000 words are taken at equal distances from this number of first rows of the model.

    Returns
    -------
    Score
        Range [0, 1], no-bias value 0, no sign. At 0, the words fall into the quadrants in the same shares as words
        of the model at large. The value is the share of the words that would have to move to another quadrant. For
        few words it is above 0 by chance alone. Undefined (NaN) for a zero vector. A word on an axis counts half on
        either side. `contrasts`: share and expected share of each group's quadrant. `detail`: axes, x and y of each
        word about the centre.

    Notes
    -----
    **Blind spots.** It does not see which quadrants have more words; `fise_share` shows the first group's
    share. A word next to an axis counts as much as one far from it. With `centre="origin"` the value also contains
    an effect of the model that is not bias. If all words of the model are closer to one side, so are the words of
    the query.

    **Defaults.** The paper's axes have their origin at 0; the shares are then far from a quarter each even for
    words drawn at random. Here the axes are about the model's own centre. `centre="origin"` follows the paper. The
    paper's four sets are two pairs, such as rich and poor, men and women; four crossed groups have both pairs in
    their unions. The permutation test exchanges words between the first two groups, and between the other two, so
    that x does not change. Similar words fall to one side of any y, so that the test hardly ever rejects for them.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> vectors = {"ann": [3, 1], "amy": [3, 0], "bob": [2, 2], "tim": [2, 1]}
    >>> vectors |= {"eve": [1, 3], "zoe": [1, 2], "abe": [0, 3], "joe": [0, 1], "nurse": [4, 1]}
    >>> groups = [["ann", "amy"], ["bob", "tim"], ["eve", "zoe"], ["abe", "joe"]]
    >>> metrics.fise(Query(groups, [["nurse"]]), load(vectors), centre="origin").value
    0.75
    """
    coordinates, expected = _coordinates_and_expected(targets, attributes, reference, centre)
    shares = _shares(coordinates).mean(axis=1)
    return _score(coordinates, shares, expected, 0.5 * np.abs(shares - expected).sum())


@limited
def fise_share(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    reference: np.ndarray,
    centre: Centre = "words",
    vocabulary: Annotated[int, Ge(2)] = VOCABULARY,
) -> Score:
    """Measure the excess of words in the first of four groups. It is one quadrant of FISE.

    With x and y, the centre and the quadrants of `fise`::

        value = p - q

    where p is the share of the words in the quadrant of C11, and q the share of 1,000 words of the model.

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the four groups' words, and of the words of one attribute set.
    reference : array, (words, dimensions)
        Vectors of words of the model that define its own centre.
    centre
        "words": the medians over these words, and their share. "origin": x = 0 and y = 0, and a quarter, as in the
        paper.
    vocabulary
        The 1,000 words are taken at equal distances from this number of first rows of the model.

    Returns
    -------
    Score
        Range [-1, 1], no-bias value 0. Positive: more of the words fall to the first group than of words at large.
        Undefined (NaN) for a zero vector. `contrasts` and `detail` as in `fise`.

    Notes
    -----
    **Blind spots.** It shows one group only: name another set first to measure that one. A word next to an
    axis counts as much as one far from it.

    **Defaults.** As in `fise`. The paper reports the four shares; minus the expected share, a share has a neutral
    value. The bootstrap interval covers the words of the groups, with which axes and centre change, and the other
    words.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> vectors = {"ann": [3, 1], "amy": [3, 0], "bob": [2, 2], "tim": [2, 1]}
    >>> vectors |= {"eve": [1, 3], "zoe": [1, 2], "abe": [0, 3], "joe": [0, 1], "nurse": [4, 1]}
    >>> groups = [["ann", "amy"], ["bob", "tim"], ["eve", "zoe"], ["abe", "joe"]]
    >>> metrics.fise_share(Query(groups, [["nurse"]]), load(vectors), centre="origin").value
    0.75
    """
    coordinates, expected = _coordinates_and_expected(targets, attributes, reference, centre)
    shares = _shares(coordinates).mean(axis=1)
    return _score(coordinates, shares, expected, shares[0] - expected[0])


def _coordinates_and_expected(
    targets: list[np.ndarray], attributes: list[np.ndarray], reference: np.ndarray, centre: str
) -> tuple[np.ndarray, np.ndarray]:
    """Compute x and y of each word about the centre (2, words), and the expected shares (4,)."""
    (words,) = attributes
    weights = [np.full((1, 1), len(group)) for group in targets]
    means = [mean_cosines(np.concatenate([words, reference]), group)[None] * len(group) for group in targets]
    coordinates, expected = _about_centre(_axes(weights, means), len(words), centre)
    return coordinates[:, 0], expected[:, 0]


def _axes(counts: Sequence[np.ndarray], sums: Sequence[np.ndarray]) -> np.ndarray:
    """Compute x and y (2, samples, words).

    `counts` is the number of words in each group (samples, 1), `sums` the sums of cosines with the words of each
    group (samples, words).
    """

    def mean(first: int, second: int) -> np.ndarray:
        return (sums[first] + sums[second]) / (counts[first] + counts[second])

    return np.stack(np.broadcast_arrays(mean(0, 1) - mean(2, 3), mean(0, 2) - mean(1, 3)))


def _about_centre(axes: np.ndarray, n_words: int, centre: str) -> tuple[np.ndarray, np.ndarray]:
    """Centre x and y (2, samples, words) of the first words, and compute the expected shares (4, samples).

    The words after the first `n_words` are words of the model.
    """
    words, others = axes[..., :n_words], axes[..., n_words:]
    if centre == "origin":
        return words, np.full((4, axes.shape[1]), 0.25)
    middle = np.median(others, axis=-1, keepdims=True)
    return words - middle, _shares(others - middle).mean(axis=-1)


def _shares(coordinates: np.ndarray) -> np.ndarray:
    """Return the share of each word in the quadrant of each group, (4, ..., words): 0, 1, or less than 1 on an
    axis."""
    sides = np.sign(coordinates)
    return np.stack([(1 + a * sides[0]) * (1 + b * sides[1]) / 4 for a, b in SIGNS])


def _score(coordinates: np.ndarray, shares: np.ndarray, expected: np.ndarray, value: float) -> Score:
    return Score(
        float(value),
        detail={"axes": Detail("attribute", [coordinates.T], ["x", "y"])},
        contrasts=[
            Contrast(group, None, 0, {"share": float(share), "expected_share": float(of_model)})
            for group, (share, of_model) in enumerate(zip(shares, expected, strict=True))
        ],
    )


def _reference(
    model: Any,
    targets: Sequence[WordVectors],
    attributes: Sequence[WordVectors],
    *,
    vocabulary: int = VOCABULARY,
    **_: Any,
) -> dict[str, np.ndarray]:
    return {"reference": _reference_words(model, vocabulary)}


# Share the words between all queries of a model, and all draws of random groups.
@remember(8)
def _reference_words(model: Model, vocabulary: int) -> np.ndarray:
    """Return the vectors of words at equal distances in the model's first rows, without zero vectors."""
    entries, rows = model.vocabulary(vocabulary)
    places = np.unique(np.linspace(0, len(rows) - 1, REFERENCE_WORDS).round().astype(int))
    vectors = model.take([entries[place] for place in places], rows[places])
    return vectors[np.isfinite(unit(vectors)).all(axis=1)]


def _value(counts: np.ndarray, in_quadrants: np.ndarray, expected: np.ndarray, of_share: bool) -> np.ndarray:
    """Compute the value (samples,) from how often words are drawn (samples or 1, words)."""
    excess = [
        weighted_mean(counts, of_group) - expected[i]
        for i, of_group in enumerate(in_quadrants[: 1 if of_share else 4])
    ]
    return excess[0] if of_share else 0.5 * np.abs(excess).sum(axis=0)


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    reference: np.ndarray,
    of_share: bool,
    centre: str = "words",
    **_: Any,
) -> Callable:
    scored = np.concatenate([attributes, reference])
    to_scored = weighted_products(unit(words), unit(scored))

    def value(*weights: np.ndarray) -> np.ndarray:
        *groups, counts = weights
        axes = _axes([w.sum(axis=1, keepdims=True) for w in groups], [to_scored(w) for w in groups])
        coordinates, expected = _about_centre(axes, len(attributes), centre)
        return _value(counts, _shares(coordinates), expected, of_share)

    return lambda targets, attribute_weights: in_blocks(value, len(scored), *targets, *attribute_weights)


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    words: Sequence[np.ndarray],
    *,
    reference: np.ndarray,
    of_share: bool,
    centre: str = "words",
    **_: Any,
) -> np.ndarray:
    cosine = cosines(pool, np.concatenate([words[0], reference]))
    ones = np.ones((1, len(words[0])))

    def value(*places: np.ndarray) -> np.ndarray:
        sums = [sum(cosine[of_word] for of_word in of_group.T) for of_group in places]
        axes = _axes([np.full((1, 1), of_group.shape[1]) for of_group in places], sums)
        coordinates, expected = _about_centre(axes, len(words[0]), centre)
        return _value(ones, _shares(coordinates), expected, of_share)

    return in_blocks(value, cosine.shape[1] * max(of_group.shape[1] for of_group in places), *places)


_SHARED: dict[str, Any] = {
    "reference": "Charlesworth, Ghate, Caliskan, Banaji. Extracting intersectional stereotypes from embeddings. PNAS "
    "Nexus 3(3), 2024",
    "template": (4, 1),
    "neutral": 0.0,
    "exchanged": "constituents",
    "of_model": _reference,
    "contrasts": True,
    "scored_by": ("axes", "first"),
    "item_note": "a word is in a quadrant or not: that is no sum",
    "details": {
        "axes": "how much nearer it is to {G1} and {G2} than to {G3} and {G4}, and how much nearer to {G1} and {G3} "
        "than to {G2} and {G4}, both about the model's centre"
    },
}
FISE = Metric(
    name="fise",
    label="FISE",
    function=fise,
    range=(0.0, 1.0),
    asks="How unevenly do the words of {W} fall to {G1}, {G2}, {G3} and {G4}?",
    above="more of the words of {W} fall to some of {G} than of words at large",
    resampled=partial(_resampled, of_share=False),
    redrawn=partial(_redrawn, of_share=False),
    **_SHARED,
)
FISE_SHARE = Metric(
    name="fise_share",
    label="FISE (share)",
    function=fise_share,
    range=(-1.0, 1.0),
    asks="Do more of the words of {W} fall to {G1}, rather than to {G2}, {G3} or {G4}, than of words at large?",
    above="more of the words of {W} fall to {G1} than of words at large",
    below="fewer of the words of {W} fall to {G1} than of words at large",
    resampled=partial(_resampled, of_share=True),
    redrawn=partial(_redrawn, of_share=True),
    **_SHARED,
)
METRICS = (FISE, FISE_SHARE)

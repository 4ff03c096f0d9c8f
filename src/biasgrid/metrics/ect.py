"""ECT, the Embedding Coherence Test (Dev & Phillips, AISTATS 2019, section 2.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..core.geometry import cosines, in_blocks, means_of_groups, unit, weighted_products, weighted_sum
from .registry import Detail, Metric, Score


def ect(targets: list[np.ndarray], attributes: list[np.ndarray]) -> Score:
    """Correlate words' similarities to two groups by rank. Embedding Coherence Test (ECT).

    With the means m_1 and m_2 of the two target sets' vectors::

        ECT = Spearman's correlation, over the attribute words w, of cos(w, m_1) and cos(w, m_2)

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.

    Returns
    -------
    Score
        Range [-1, 1], no-bias value 1: both groups order the words alike. Larger is less biased; negative: words
        that are near to one group are far from the other; the value does not show which group. Undefined (NaN) for
        fewer than two attribute words, and if all of them are equally near to a mean. `detail`: similarity of each
        word with either mean.

    Notes
    -----
    **Blind spots.** It does not see how much closer words are to one group, because only their order
    counts. All words may be far closer to one group, as long as both groups order them in the same way. Long
    vectors count for more in a group's mean. With few words it is coarse: for two words it is 1 or -1.

    **Defaults.** It does not have parameters. The paper (section 2.2) and WEFE 1.0.1 have the same formula. Cosines
    that agree to twelve digits are a tie here; WEFE ranks their rounding.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 0], "she": [0, 1], "engineer": [2, 1], "nurse": [1, 2]})
    >>> metrics.ect(Query([["he"], ["she"]], [["engineer", "nurse"]]), model).value
    -1.0
    """
    means = np.stack([words.mean(axis=0) for words in targets])
    (words,) = attributes
    similarity = cosines(words, means)
    value = _spearman(*similarity.T) if np.isfinite(similarity).all() else float("nan")
    return Score(value, detail={"similarity": Detail("attribute", [similarity])})


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    # Import scipy here: the import takes half a second and would slow down every start of the workflow.
    from scipy.stats import rankdata

    # Do not use spearmanr: its warnings are process-wide, and scores share a process. Cosines that agree to twelve
    # digits are a tie, as their order is due to rounding.
    x, y = rankdata(x.round(12)), rankdata(y.round(12))
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(np.clip(x @ y / scale, -1.0, 1.0)) if scale > 0 else float("nan")


# With more than MANY attribute words, samples are ranked by similarities that are rounded to LEVELS levels.
MANY, LEVELS = 1000, 2**14
BLOCK = 2**18


def _resampled(words: np.ndarray, attributes: np.ndarray) -> Callable:
    to_words, to_attributes = weighted_products(words, words), weighted_products(words, unit(attributes))

    def to_mean(weights: np.ndarray) -> np.ndarray:
        length = np.sqrt(np.vecdot(to_words(weights), weights))
        return (to_attributes(weights) / length[:, None]).round(12)

    def value(first: np.ndarray, second: np.ndarray, counts: np.ndarray) -> np.ndarray:
        return _correlations(to_mean(first), to_mean(second), counts)

    # Blocks fit the processor's cache.
    return lambda targets, attribute_weights: in_blocks(
        value, len(attributes), *targets, *attribute_weights, size=BLOCK
    )


def _correlations(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Compute Spearman's correlations (samples,) of two arrays of similarities (samples or 1, words).

    `counts` (samples or 1, words) is how often each word occurs in a sample.
    """
    is_defined = np.isfinite(x).all(axis=1) & np.isfinite(y).all(axis=1)
    shapes = [np.broadcast_shapes(similarity.shape, counts.shape) for similarity in (x, y)]
    x, y = (
        _ranks(np.broadcast_to(similarity, shape), np.broadcast_to(counts, shape))
        for similarity, shape in zip((x, y), shapes, strict=True)
    )
    covariance, variance_x, variance_y = (weighted_sum(counts, product) for product in (x * y, x * x, y * y))
    scale = np.sqrt(variance_x * variance_y)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(is_defined & (scale > 0), np.clip(covariance / scale, -1.0, 1.0), np.nan)


def _ranks_by_level(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Rank values as `_ranks` does, after rounding them to LEVELS levels of a row's range.

    For thousands of words this takes a third of the time of sorting them. Spearman's correlation is exact to 3e-5,
    far less than its variation between samples.
    """
    all_ones = counts.strides[0] == 0 and (counts[0] == 1).all()
    ranks, middles = np.empty(values.shape), np.zeros(LEVELS)
    # Work row by row: a row and its levels fit the processor's cache.
    for row_ranks, similarity, row_counts in zip(ranks, values, counts, strict=True):
        low = similarity.min()
        level = similarity - low
        level *= (LEVELS - 1) / max(similarity.max() - low, 1e-300)
        level = level.astype(np.int16)  # fast to sort
        if all_ones:
            sorted_levels = np.sort(level)
        else:
            # Words that are not in the sample count nothing, whatever their rank.
            order = np.flatnonzero(row_counts)
            order = order[level[order].argsort(kind="stable")]
            sorted_levels = level[order]
        last = np.append(np.flatnonzero(sorted_levels[1:] != sorted_levels[:-1]), len(sorted_levels) - 1)
        counts_through = last + 1 if all_ones else row_counts[order].cumsum()[last]
        # Compute twice the rank of a level's words, relative to the mean rank.
        middle = counts_through - counts_through[-1]
        middle[1:] += counts_through[:-1]
        middles[sorted_levels[last]] = middle
        np.multiply(middles.take(level), 0.5, out=row_ranks)
    return ranks


def _ranks(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Rank repeated values row by row, relative to their mean rank; ties share the average rank."""
    if values.shape[1] > MANY and np.isfinite(values).all():
        return _ranks_by_level(values, counts)
    order = values.argsort(axis=1)
    # Index the flattened arrays: this is much faster than indexing along an axis.
    order += values.shape[1] * np.arange(len(values))[:, None]
    values = values.ravel()[order]
    all_ones = counts.strides[0] == 0 and (counts[0] == 1).all()
    counts = np.ones((1, values.shape[1])) if all_ones else counts.ravel()[order]
    # Count the words with a lower value, and the words with the same or a lower value.
    counts_through = counts.cumsum(axis=1)
    counts_before = counts_through - counts
    total = counts_through[:, -1:].copy()
    has_ties = (values[:, 1:] == values[:, :-1]).any(axis=1)
    if all_ones and has_ties.any():
        counts_before, counts_through = (
            np.repeat(a, len(values), axis=0) for a in (counts_before, counts_through)
        )
    if has_ties.any():
        run_starts = np.ones(values[has_ties].shape, dtype=bool)
        run_starts[:, 1:] = values[has_ties, 1:] != values[has_ties, :-1]
        run_ends = np.roll(run_starts, -1, axis=1)
        counts_before[has_ties] = np.maximum.accumulate(
            np.where(run_starts, counts_before[has_ties], 0), axis=1
        )
        counts_through[has_ties] = np.minimum.accumulate(
            np.where(run_ends, counts_through[has_ties], np.inf)[:, ::-1], axis=1
        )[:, ::-1]
    ranks = np.empty(values.shape)
    ranks.ravel()[order] = (counts_before + counts_through - total) / 2
    return ranks


def _redrawn_words(
    pool: np.ndarray, places: Sequence[np.ndarray], attributes: Sequence[np.ndarray]
) -> list[np.ndarray]:
    to_first, to_second = (cosines(means_of_groups(pool, group), attributes[0]) for group in places)
    return [to_first - to_second]


def _redrawn(pool: np.ndarray, places: Sequence[np.ndarray], attributes: Sequence[np.ndarray]) -> np.ndarray:
    directions, ones = unit(attributes[0]).T, np.ones((1, len(attributes[0])))

    def value(*places: np.ndarray) -> np.ndarray:
        means = (means_of_groups(pool, group) for group in places)
        x, y = (np.clip(unit(mean) @ directions, -1.0, 1.0).round(12) for mean in means)
        return _correlations(x, y, ones)

    return in_blocks(value, len(attributes[0]), *places, size=BLOCK)


ECT = Metric(
    name="ect",
    label="ECT",
    function=ect,
    asks="Are the words of {A} ranked alike by their nearness to {T1} and by their nearness to {T2}?",
    below="the words of {A} are ranked differently by their nearness to {T1} and to {T2}",
    details={"similarity": "cosine with the mean of {T1} / with the mean of {T2}"},
    scored_by=("similarity", "difference"),
    item_note="of the words' cosines: the score is one correlation of all words",
    nearer="first",
    template=(2, 1),
    range=(-1.0, 1.0),
    neutral=1.0,
    resampled=_resampled,
    redrawn=_redrawn,
    redrawn_words=_redrawn_words,
    reference="Dev, Phillips. Attenuating bias in word vectors. AISTATS 2019",
)
METRICS = (ECT,)

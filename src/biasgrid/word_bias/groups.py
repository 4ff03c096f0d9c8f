"""Tests of words of several groups: whether they form clusters, and whether neighbours are of the same group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import InputError, quote
from ..core.keywords import checked_keywords
from ..evaluation.grouped_words import cluster, cluster_accuracy, match_clusters, nearest_of
from ..measure.candidate_words import bands_of
from ..measure.statistics.scale import NONE, Scale
from ..models.checks import check_model
from ..models.model import Model
from .axis import Groups, Words, find, groups_of, random_words

if TYPE_CHECKING:
    import pandas as pd

PERMUTATIONS = 1000
RANDOM_DRAWS = 50


@dataclass(frozen=True, eq=False, repr=False)
class GroupTest:
    """Test of whether groups of words are separate, made by `cluster_groups` and `neighbour_groups`.

    Attributes
    ----------
    model, groups
        Names of the model and of the groups.
    value
        0 to 1; 1 if the groups are completely separate.
    chance
        Value without groups: the mean over permutations of the words between the groups.
    p
        p-value of the permutation test, one-sided: the share of permutations with at least this value.
    standardized, error
        Number of standard deviations further from chance than groups of random words of the same frequency, and the
        Monte Carlo error; NaN if the model has too few words.
    frame
        pandas.DataFrame, one row per word: word, group, score and, for clusters, the group that is assigned to the
        word's cluster.
    missing
        Words that the model lacks, or whose vectors are zero or not finite.
    """

    model: str
    groups: tuple[str, ...]
    value: float
    chance: float
    p: float
    standardized: float
    error: float
    frame: pd.DataFrame
    missing: tuple[str, ...]

    def __repr__(self) -> str:
        return (
            f"<GroupTest of {len(self.frame)} words of {self.model}: {self.value:.3f}, chance {self.chance:.3f}, "
            f"p {self.p:.3g}>"
        )

    def _repr_html_(self) -> str:
        html: str = self.frame._repr_html_()
        return html


@dataclass(frozen=True, eq=False)
class _Grouped:
    """Words of groups: their unit vectors, and the number of each one's group."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    rows: np.ndarray
    units: np.ndarray
    labels: np.ndarray
    missing: tuple[str, ...]


@checked_keywords()
def cluster_groups(
    model: Model,
    groups: Groups,
    *,
    permutations: int = PERMUTATIONS,
    random_draws: int = RANDOM_DRAWS,
    seed: int = 0,
) -> GroupTest:
    """Test whether clusters of words match the words' groups, by k-means with a cluster for each group.

    Parameters
    ----------
    model
        A model of word vectors; for a debiased one, the test shows whether the groups are still separate.
    groups
        Two or more groups of words, in the form of a query's target sets; or a query.
    permutations
        Number of permutations of the words between the groups.
    random_draws
        Number of draws of groups of random words; 0 for no baseline.
    seed
        Seed of clustering, permutations and draws.

    Returns
    -------
    GroupTest
        `value` is the share of words in the cluster of their group, where clusters and groups are paired optimally.
        A word's score is its silhouette (-1 to 1) by cosine: positive if it is nearer to its own group than to any
        other.

    Raises
    ------
    BiasgridError
        For fewer than two groups, a word in two groups, or a group with fewer than two words.

    Notes
    -----
    Two sets of words on different subjects are also separate. The test is meant for words that were chosen for
    their bias, as in Gonen and Goldberg (2019).
    """
    _check(permutations, random_draws, seed)
    grouped = _look_up(model, groups)
    number = len(grouped.names)

    def measure(units: np.ndarray) -> tuple[np.ndarray, Callable[[np.ndarray], float]]:
        clusters = cluster(units, number, seed)
        return clusters, lambda labels: cluster_accuracy(clusters, labels)

    clusters, value_of = measure(grouped.units)
    from sklearn.metrics import silhouette_samples

    return _test(
        model,
        grouped,
        value_of,
        lambda units: measure(units)[1](grouped.labels),
        {
            "score": silhouette_samples(grouped.units, grouped.labels, metric="cosine"),
            "cluster": [grouped.names[i] for i in match_clusters(clusters, grouped.labels)],
        },
        (permutations, random_draws, seed),
    )


@checked_keywords()
def neighbour_groups(
    model: Model,
    groups: Groups,
    *,
    neighbours: int = 10,
    permutations: int = PERMUTATIONS,
    random_draws: int = RANDOM_DRAWS,
    seed: int = 0,
) -> GroupTest:
    """Test whether the nearest neighbours of words belong to the words' own group.

    Parameters
    ----------
    model, groups, permutations, random_draws, seed
        As in `cluster_groups`.
    neighbours
        Number of nearest neighbours of each word, by cosine, among the words of all groups.

    Returns
    -------
    GroupTest
        A word's score is the share of its neighbours in its own group, 0 to 1; `value` is the mean.

    Raises
    ------
    BiasgridError
        As in `cluster_groups`; also if `neighbours` is at least the number of other words.
    """
    _check(permutations, random_draws, seed)
    if type(neighbours) is not int or neighbours < 1:
        raise InputError(f"neighbours: expected a whole number from 1 on, not {neighbours!r}")
    grouped = _look_up(model, groups)
    others = len(grouped.words) - 1
    if neighbours >= others:
        raise InputError(
            f"neighbours: {neighbours} is not allowed for {others + 1} words, of which each has {others} others: all "
            "would have the same; give fewer"
        )

    def shares(units: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        everywhere = np.ones(len(units), dtype=bool)
        nearest = nearest_of(units, everywhere, np.arange(len(units)), neighbours)
        return lambda labels: (labels[nearest] == labels[:, None]).mean(axis=1)

    share_of = shares(grouped.units)
    return _test(
        model,
        grouped,
        lambda labels: float(share_of(labels).mean()),
        lambda units: float(shares(units)(grouped.labels).mean()),
        {"score": share_of(grouped.labels)},
        (permutations, random_draws, seed),
    )


def _check(permutations: Any, random_draws: Any, seed: Any) -> None:
    for name, number, least in (
        ("permutations", permutations, 1),
        ("random_draws", random_draws, 0),
        ("seed", seed, 0),
    ):
        if type(number) is not int or number < least:
            raise InputError(f"{name}: expected a whole number from {least} on, not {number!r}")


def _look_up(model: Model, groups: Groups) -> _Grouped:
    check_model(model, ("rows", "take", "vocabulary"))
    sets = groups_of(groups, None)
    parts: list[Words] = [find(model, words, f"groups: {words.name}") for words in sets]
    words = [word for part in parts for word in part.words]
    if repeated := [word for word, number in Counter(words).items() if number > 1]:
        raise InputError(f"groups: {quote(repeated[0])} is in two groups; a word is in one")
    rows = np.concatenate([part.rows for part in parts])
    labels = np.repeat(np.arange(len(parts)), [len(part.words) for part in parts])
    units = np.concatenate([part.units(model) for part in parts])
    has_direction = np.isfinite(units).all(axis=1)
    for place, words_of_set in enumerate(sets):
        if (size := int((labels[has_direction] == place).sum())) < 2:
            raise InputError(
                f"groups: {model.name} has {size} of the {len(words_of_set)} words of {quote(words_of_set.name)}; "
                "a group needs two or more"
            )
    missing = [word for part in parts for word in part.missing]
    missing += [word for word, known in zip(words, has_direction, strict=True) if not known]
    return _Grouped(
        tuple(one.name for one in sets),
        tuple(word for word, known in zip(words, has_direction, strict=True) if known),
        rows[has_direction],
        units[has_direction],
        labels[has_direction],
        tuple(missing),
    )


def _test(
    model: Model,
    grouped: _Grouped,
    value_of: Callable[[np.ndarray], float],
    value_of_units: Callable[[np.ndarray], float],
    columns: dict[str, Any],
    settings: tuple[int, int, int],
) -> GroupTest:
    """Run the permutation test and compute the random-word baseline of a value of groups."""
    import pandas as pd

    permutations, random_draws, seed = settings
    rng = np.random.default_rng(seed)
    value = value_of(grouped.labels)
    permuted = np.array([value_of(rng.permutation(grouped.labels)) for _ in range(permutations)])
    chance = float(permuted.mean())
    # Equal shares can differ by rounding.
    p = (1 + int((permuted >= value - 1e-12).sum())) / (1 + permutations)
    random = [
        value_of_units(units)
        for units in _random_units(model, grouped, random_draws, rng)
        if len(units) == len(grouped.units)
    ]
    standardized = (
        Scale.of(np.array(random), np.arange(len(random)), chance).read(value) if len(random) > 1 else NONE
    )
    names = [grouped.names[i] for i in grouped.labels]
    frame = pd.DataFrame({"word": grouped.words, "group": names, **columns})
    return GroupTest(
        model.name,
        grouped.names,
        value,
        chance,
        p,
        standardized.value,
        standardized.error,
        frame,
        grouped.missing,
    )


def _random_units(model: Model, grouped: _Grouped, draws: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Draw random words as frequent as the groups' words, in their order; none if a model has too few words."""
    if not draws:
        return []
    _, rows, bands, vectors = random_words(model)
    allowed = ~np.isin(rows, grouped.rows)
    needed = bands_of(grouped.rows)
    pools = {band: np.flatnonzero(allowed & (bands == band)) for band in np.unique(needed).tolist()}
    if any(len(pools[band]) < (needed == band).sum() for band in pools):
        return []
    drawn = []
    for _ in range(draws):
        chosen = np.empty(len(needed), dtype=np.int64)
        for band, pool in pools.items():
            places = np.flatnonzero(needed == band)
            chosen[places] = rng.choice(pool, len(places), replace=False)
        drawn.append(vectors[chosen].astype(np.float64))
    return drawn

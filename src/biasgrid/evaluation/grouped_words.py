"""Words of several groups: clustering into the groups, and nearest neighbours among the words."""

from __future__ import annotations

import numpy as np

# Number of words per block, whose similarities with all candidates are in memory at once.
BLOCK = 128


def cluster(vectors: np.ndarray, number: int, seed: int) -> np.ndarray:
    """Return the cluster (n,) of each of the vectors (n, d), as k-means finds them (the best of 10 starts)."""
    # Import scikit-learn late: the config's checks import this file and do not measure anything.
    from sklearn.cluster import KMeans

    clusters: np.ndarray = KMeans(number, n_init=10, random_state=seed).fit_predict(
        vectors.astype(np.float64)
    )
    return clusters


def match_clusters(clusters: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the group (n,) that is assigned to each word's cluster.

    Clusters and groups, both numbered from 0, are paired so that the number of words in the cluster of their group
    is largest.
    """
    from scipy.optimize import linear_sum_assignment

    number = int(max(clusters.max(), groups.max())) + 1
    counts = np.bincount(clusters * number + groups, minlength=number**2).reshape(number, number)
    of_cluster: np.ndarray = linear_sum_assignment(counts, maximize=True)[1]
    return of_cluster[clusters]


def cluster_accuracy(clusters: np.ndarray, groups: np.ndarray) -> float:
    """Return the share of words that are in the cluster of their group (`match_clusters`)."""
    return float((match_clusters(clusters, groups) == groups).mean())


def nearest_of(
    vectors: np.ndarray, has_direction: np.ndarray, places: np.ndarray, neighbours: int
) -> np.ndarray:
    """Find the nearest neighbours (words, at most `neighbours`) of some of the unit vectors, by cosine, in no
    order.

    A word is not its own neighbour; a vector without direction is nobody's.
    """
    pool = np.flatnonzero(has_direction)
    column = np.full(len(has_direction), -1)
    column[pool] = np.arange(len(pool))
    candidates = vectors[pool]
    k = max(min(neighbours, len(pool) - 1), 0)
    nearest = np.zeros((len(places), k), dtype=np.int64)
    if not k:
        return nearest
    for start in range(0, len(places), BLOCK):
        part = places[start : start + BLOCK]
        similar = vectors[part] @ candidates.T
        similar[np.arange(len(part)), column[part]] = -np.inf
        nearest[start : start + BLOCK] = pool[np.argpartition(similar, -k, axis=1)[:, -k:]]
    return nearest

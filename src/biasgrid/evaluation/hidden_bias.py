"""Bias that remains after debiasing (Gonen & Goldberg, NAACL 2019, "Lipstick on a Pig", section 4).

Words that were biased before debiasing still form clusters, can be classified, and are each other's neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..core.errors import BiasgridError, join_names
from ..core.validation import Strict, field
from ..debias.lookup import find_words
from ..models.model import Model
from ..models.preprocessing import DEFAULT_FORMS, Preprocessor
from ..models.store import DebiasedModel, EmbeddingStore
from .evaluation import Evaluation, Outcome
from .facts import directions, fact
from .grouped_words import cluster, cluster_accuracy, nearest_of
from .maps import Places, word_map
from .spec import Pair, Pairs, Spec, Words

# Largest number of characters of a word.
LONGEST = 20


class Hidden(Strict):
    """Tests of Gonen & Goldberg 2019. The numbers are the paper's."""

    pairs: Pairs = field(
        "pairs such as [she, he]: the mean of their differences, from the first word to the second, is the direction "
        "that the most biased words are furthest along"
    )
    sides: Pair = field("what the two ends are called, in the order of a pair: [female, male]")
    exclude: Words = field("words that are on a side by definition, and are not looked at", ())
    professions: Words = field(
        "words whose bias is compared with that of their neighbours; without them, no such measure", ()
    )
    cluster_words: int = field(
        "so many of the most biased words of a side are clustered, and their neighbours looked at",
        500,
        "words",
        ge=1,
    )
    svm_words: int = field("so many of a side are classified", 2500, "words", ge=1)
    svm_share: float = field("after training on this share of them", 0.2, "share, 0 to 1", gt=0, lt=1)
    svm_gamma: Literal["auto", "scale"] = field(
        "of the RBF kernel: auto, 1 / dimensions, with which the paper's accuracies come out (it names no gamma; "
        "this was scikit-learn's default then); or scale, 1 / (dimensions x variance), today's default, which on "
        "unit vectors is the stronger classifier",
        "auto",
    )
    neighbours: int = field("so many nearest neighbours", 100, "words", ge=1)
    map_words: int = field("so many of a side are in the map", 200, "words", ge=1)


@dataclass(frozen=True)
class BiasedWords:
    """Vocabulary and its words' bias in the original model.

    Attributes
    ----------
    words
        Vocabulary entries without the model's prefix.
    entries
        Vocabulary entries.
    rows
        Their rows, int64 (n,).
    bias
        Cosine with the direction, float64 (n,): negative towards the first side, positive towards the second.
    most
        Indices of the most biased words of each side, the most biased first, in equal number. Each test takes the
        first of them.
    """

    words: list[str]
    entries: list[str]
    rows: np.ndarray
    bias: np.ndarray
    most: tuple[np.ndarray, np.ndarray]

    def names(self, sides: Sequence[str], limit: int) -> dict[str, list[str]]:
        """Return side -> its `limit` most biased words, the most biased first."""
        return {
            side: [self.words[i] for i in places[:limit]]
            for side, places in zip(sides, self.most, strict=True)
        }


def measure(
    model: EmbeddingStore, state: EmbeddingStore | DebiasedModel, spec: Hidden, options: Spec, seed: int
) -> Outcome:
    """Measure hidden bias (`measures`).

    The entries are the most biased words by side, the most biased first, as used for clustering and neighbours, and
    a map of some of them (figure 1).
    """
    biased_words = choose(model, spec, options)
    parts = [places[: spec.map_words] for places in biased_words.most]
    places = np.concatenate(parts)
    sides = np.repeat(spec.sides, [len(part) for part in parts]).tolist()
    names, entries = ([column[i] for i in places] for column in (biased_words.words, biased_words.entries))
    return Outcome(
        measures(model, state, biased_words, spec, seed, options.preprocessors),
        {
            "words": biased_words.names(spec.sides, spec.cluster_words),
            "map": word_map(state, names, entries, biased_words.rows[places], sides, seed),
        },
    )


def choose(model: EmbeddingStore, spec: Hidden, options: Spec) -> BiasedWords:
    """Choose the vocabulary of the tests, and its most biased words, in the original model.

    As in the paper, candidates are words and phrases (new_york) among the first rows (`options.vocabulary`) of the
    model. They consist of lower-case letters only, have at most 20 characters, and are not in `exclude`. Their bias
    is the projection of their unit vector on the direction between the words of the pair(s), which are also unit
    vectors (he - she). A side has its `cluster_words` and `svm_words` most biased words, but no more than a quarter
    of the vocabulary and than the other side.

    Raises BiasgridError if the model lacks all pairs, and if the pairs' differences cancel.
    """
    direction = _direction(model, spec.pairs, options.preprocessors)
    excluded_rows = set(find_words(model, spec.exclude, "exclude", options.preprocessors).rows.tolist())
    candidates = lower_case_words(model, options.vocabulary, excluded_rows)
    rows = np.array([row for *_, row in candidates], dtype=np.int64)
    unit, has_direction = directions(model.matrix([entry for _, entry, _ in candidates], rows))
    candidates, rows, bias = (
        [candidates[i] for i in np.flatnonzero(has_direction)],
        rows[has_direction],
        unit[has_direction] @ direction,
    )
    order = np.argsort(bias, kind="stable")
    size = min(max(spec.cluster_words, spec.svm_words), len(rows) // 4, (bias < 0).sum(), (bias > 0).sum())
    return BiasedWords(
        words=[word for word, *_ in candidates],
        entries=[entry for _, entry, _ in candidates],
        rows=rows,
        bias=bias,
        most=(order[:size], order[::-1][:size]),
    )


def lower_case_words(
    model: Model, vocabulary: int | None, excluded_rows: Collection[int] = ()
) -> list[tuple[str, str, int]]:
    """Return the words and phrases (new_york) of lower-case letters among the first rows of a model, as in the
    paper.

    Each has its word, its vocabulary entry, and its row.
    """
    candidates = []
    for entry, row in zip(*model.vocabulary(vocabulary), strict=True):
        word = entry.removeprefix(model.vocab_prefix)
        is_candidate = entry.startswith(model.vocab_prefix) and row not in excluded_rows
        if is_candidate and word.replace("_", "").isalpha() and word.islower() and len(word) <= LONGEST:
            candidates.append((word, entry, int(row)))
    return candidates


def measures(
    model: EmbeddingStore,
    state: EmbeddingStore | DebiasedModel,
    biased_words: BiasedWords,
    spec: Hidden,
    seed: int,
    preprocessors: Sequence[Preprocessor] = DEFAULT_FORMS,
) -> list[dict[str, Any]]:
    """Compute the four measures of `state`. All vectors are scaled to unit length, like the paper's embeddings.

    - cluster_accuracy: 2-means on the `cluster_words` most biased words of each side; the share of words in the
      cluster of their side, .5 (chance) to 1.
    - svm_accuracy: an RBF-kernel SVM (C = 1) that learned the sides of a random fifth of the `svm_words` most
      biased words of each side; its accuracy on the others, chance .5. `n` is the number of the latter; the paper
      has 2 x 500 and 2 x 2,000.
    - neighbours_share: for the words of cluster_accuracy, the mean share of words of their own side among their 100
      nearest neighbours (by cosine, in the vocabulary), 0 to 1, neutral .5.
    - neighbours_correlation: Pearson's r between the professions' bias and the share of words of the second side
      among their 100 nearest neighbours, -1 to 1, neutral 0; for professions in the vocabulary.

    A word's side always comes from the original model.
    """
    vectors, has_direction = directions(state.matrix(biased_words.entries, biased_words.rows))
    facts = [
        _cluster(vectors, has_direction, [most[: spec.cluster_words] for most in biased_words.most], seed),
        _svm(vectors, has_direction, [most[: spec.svm_words] for most in biased_words.most], spec, seed),
    ]
    second = biased_words.bias > 0
    words = np.concatenate([most[: spec.cluster_words] for most in biased_words.most])
    places = {row: place for place, row in enumerate(biased_words.rows.tolist())}
    of_professions = find_words(model, spec.professions, "professions", preprocessors).rows.tolist()
    professions = np.array(sorted({places[r] for r in of_professions if r in places}), dtype=np.int64)
    places_with_share, _ = _present(np.concatenate([words, professions]), has_direction)
    nearest = nearest_of(vectors, has_direction, places_with_share, spec.neighbours)
    shares = second[nearest].mean(axis=1) if nearest.shape[1] else np.full(len(nearest), math.nan)
    share = dict(zip(places_with_share.tolist(), shares.tolist(), strict=True))

    words, no_direction = _present(words, has_direction)
    own_shares = np.array([share[i] if second[i] else 1 - share[i] for i in words])
    mean = own_shares.mean() if len(own_shares) else math.nan
    facts.append(
        fact(
            "hidden", "neighbours_share", mean, len(own_shares), undirected=no_direction, why="too_few_words"
        )
    )
    if spec.professions:
        professions, no_direction = _present(professions, has_direction)
        of_neighbours = np.array([share[i] for i in professions])
        r, enough = math.nan, len(professions) >= 3
        if enough and np.ptp(of_neighbours) > 0:
            # Import scipy late: the config's checks import this file and do not measure anything.
            from scipy.stats import pearsonr

            r = pearsonr(biased_words.bias[professions], of_neighbours).statistic
        why = "degenerate" if enough else "too_few_words"
        key = ("hidden", "neighbours_correlation")
        facts.append(fact(*key, r, len(professions), undirected=no_direction, why=why))
    return facts


def _direction(
    model: EmbeddingStore, pairs: Sequence[Sequence[str]], preprocessors: Sequence[Preprocessor]
) -> np.ndarray:
    """Compute the mean of the pairs' differences, second word minus first, at unit length."""
    differences = []
    for pair in pairs:
        lookup = find_words(model, pair, "pairs", preprocessors)
        unit, has_direction = directions(lookup.vectors)
        if len(unit) == 2 and has_direction.all():
            differences.append(unit[1] - unit[0])
    if not differences:
        raise BiasgridError(f"pairs: {model.name} has no whole pair of {join_names(map(':'.join, pairs))}")
    direction, has_direction = directions(np.mean(differences, axis=0, keepdims=True))
    if not has_direction[0]:
        raise BiasgridError("pairs: their differences cancel, there is no direction")
    return direction[0]


def _present(places: np.ndarray, has_direction: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the places of vectors with a direction, and the number of vectors without one."""
    present = places[has_direction[places]]
    return present, len(places) - len(present)


def _cluster(
    vectors: np.ndarray, has_direction: np.ndarray, sides: Sequence[np.ndarray], seed: int
) -> dict[str, Any]:
    places, no_direction = _present(np.concatenate(sides), has_direction)
    labels = np.isin(places, sides[1])
    accuracy = math.nan
    if len(places) >= 2:
        groups = labels.astype(np.int64)
        accuracy = cluster_accuracy(cluster(vectors[places], 2, seed), groups)
    key = ("hidden", "cluster_accuracy")
    return fact(*key, accuracy, len(places), undirected=no_direction, why="too_few_words")


def _svm(
    vectors: np.ndarray, has_direction: np.ndarray, sides: Sequence[np.ndarray], spec: Hidden, seed: int
) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    train: list[Any] = []
    test: list[Any] = []
    no_direction = 0
    for label, places in enumerate(sides):
        # Draw before words are left out: all variants of a model learn from the same words.
        order = rng.permutation(places)
        size = round(spec.svm_share * len(places))
        for subset, part in ((train, order[:size]), (test, order[size:])):
            part, n_lost = _present(part, has_direction)
            no_direction += n_lost
            subset.append((part, np.full(len(part), label)))
    (x, y), (x_test, y_test) = (
        [np.concatenate(column) for column in zip(*part, strict=True)] for part in (train, test)
    )
    accuracy = math.nan
    if len(set(y.tolist())) == 2 and len(y_test):
        from sklearn.svm import SVC

        classifier = SVC(kernel="rbf", C=1.0, gamma=spec.svm_gamma).fit(vectors[x].astype(np.float64), y)
        accuracy = classifier.score(vectors[x_test].astype(np.float64), y_test)
    key = ("hidden", "svm_accuracy")
    return fact(*key, accuracy, len(y_test), undirected=no_direction, why="too_few_words")


EVALUATIONS = (
    Evaluation(
        "hidden",
        "Whether biased words are still predictable after debiasing (Gonen & Goldberg 2019).",
        Hidden,
        measure,
        entries={"words": Mapping[str, list[str]], "map": Places},
        imports=("scipy.stats", "sklearn.cluster", "sklearn.manifold", "sklearn.svm"),
        order=1,
    ),
)

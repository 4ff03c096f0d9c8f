"""RNSB, Relative Negative Sentiment Bias (Sweeney & Najafian, ACL 2019, section 3).

The module `biasgrid.metrics.logistic` fits its classifiers, one per split of the attribute words.
"""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Le, Lt

from ..core.errors import BiasgridError, not_allowed
from ..core.limits import limited
from .classifier import check_estimator, evaluation, probabilities_of
from .logistic import TINY, classifiers, logistic
from .registry import Detail, Metric, Score
from .sets import WeightedSet, Whole, Words

# Tolerance of samples' classifiers, as a share of their distance from the classifier of all words: ROUGH with more
# attribute words than MANY, otherwise FINE.
ROUGH, FINE = 1e-3, 1e-8
MANY = 1000
# For vectors longer than this, the classifier's penalty is lost to rounding.
LONGEST = 1e6
# All splits are in memory before the first classifier is fitted.
MOST_ITERATIONS = 100_000


@limited
def rnsb(
    targets: list[np.ndarray],
    attributes: list[np.ndarray],
    *,
    n_iterations: Annotated[int, Ge(1), Le(MOST_ITERATIONS)] | None = None,
    holdout: bool = True,
    test_size: Annotated[float, Gt(0), Lt(1)] = 0.2,
    random_state: Annotated[int, Ge(0), Le(2**32 - 1)] | None = None,
    solver: Literal["exact", "liblinear"] = "exact",
    estimator: Any = None,
    estimator_params: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Score:
    """Compare how a sentiment classifier rates target words. Relative Negative Sentiment Bias (RNSB).

    A classifier learns to distinguish the first attribute set (positive) from the second (negative) and assigns
    each of the n target words a probability of being negative. p_i is the probability of word i, divided by the sum
    of all probabilities::

        RNSB = KL(p || uniform) = sum over i of p_i log(p_i n)

    The words of all target sets are pooled; a word in two sets counts twice. It is not symmetric in the attribute
    sets.

    Parameters
    ----------
    targets, attributes : list of array, (words, dimensions)
        Vectors of the query's target sets and attribute sets, which a call looks up in the model.
    n_iterations
        Splits of the attribute words to average over; None is 100, or 1 with a `random_state`.
    holdout
        Whether each split leaves the share `test_size` of the attribute words out of training. False: one training
        run on all of them, without randomness, whatever `n_iterations`.
    test_size
        Share of words left out, between 0 and 1.
    random_state
        Take the split that scikit-learn's train_test_split draws with this number, as WEFE does; otherwise splits
        are drawn with `seed`.
    solver
        "exact": a logistic regression at its minimum. "liblinear": scikit-learn's LogisticRegression with its
        default tolerance, as in WEFE, which for thousands of words stops up to .3 % of RNSB before the minimum.
    estimator
        Another classifier in place of the logistic regression: a class or an object of scikit-learn or with its
        interface (`fit`, `predict_proba`, `classes_`), or the name of a class of scikit-learn, such as
        "GaussianNB". It is fitted once per split, and in a permutation test or bootstrap once per split and draw:
        take few `draws`, or `holdout=False`.
    estimator_params
        Parameters of the `estimator`, by name. If they do not contain `random_state`, it is the argument
        `random_state`, or else `seed`.
    seed
        Seed of the splits, from 0.

    Returns
    -------
    Score
        Range [0, inf), no-bias value 0, no sign: `detail` shows which words are more negative. Undefined (NaN) if
        the attribute sets are too small to split, for a single target word, whose p is certain, and for vectors of
        length 1e6 or more. `scalars`: rnsb; n_iterations; accuracy on the words left out; with an `estimator` also
        precision, recall and f1 of the negative class on these words; standard_deviation over the iterations and
        standard_error of their mean, the part of the value that is due to the random splits. `detail`:
        negative_sentiment_probabilities, the mean probability of each target word, and
        negative_sentiment_distribution, these probabilities divided by their sum.

    Raises
    ------
    BiasgridError
        For a parameter out of range, several iterations of one random_state, and an estimator without
        probabilities.

    Notes
    -----
    **Blind spots.** It does not see what all target words have in common: if the classifier finds all of
    them equally negative, it is 0. It depends on the side of a plane on which words lie, and on the length of
    their vectors, not on their similarity with the attribute words. With a holdout, part of the value comes from
    the random splits (`standard_error`).

    **Defaults.** The paper has one classifier and no splits: `holdout=False`. WEFE 1.0.1 draws one unseeded split
    by default; here 100 seeded splits are averaged, and `random_state` reproduces one of WEFE's. `test_size` .2 is
    WEFE's (.33 in 2020, .1 in 2021). The classifier is WEFE's, whose intercept is penalised, at its exact minimum;
    `solver="liblinear"` stops at the same point as WEFE's.

    Examples
    --------
    >>> from biasgrid import Query, load, metrics
    >>> model = load({"he": [1, 2], "she": [2, 1], "good": [1, 0], "fine": [3, 0], "bad": [0, 1], "poor": [0, 3]})
    >>> query = Query([["he"], ["she"]], [["good", "fine"], ["bad", "poor"]])
    >>> round(metrics.rnsb(query, model, holdout=False).value, 2)
    0.05
    """
    options = {"solver": solver, "estimator": estimator, "estimator_params": estimator_params}
    _check(n_iterations=n_iterations, random_state=random_state, **options)
    sizes = [len(words) for words in attributes]
    if not holdout:
        train = np.ones((sum(sizes), 1), dtype=bool) if min(sizes) else None
    elif random_state is not None:
        train = sklearn_split(sizes, test_size, random_state)
    else:
        train = draw_splits(sizes, test_size, n_iterations or 100, np.random.default_rng(seed))
    targets_pooled = np.concatenate(targets)
    if train is None or len(targets_pooled) < 2:
        return Score(math.nan)
    fit = probabilities if solver == "exact" else liblinear_probabilities
    if estimator is not None:
        fit = partial(
            probabilities_of, estimator, estimator_params, seed if random_state is None else random_state
        )
    negative, correct = fit(targets_pooled, attributes, train)
    if not np.isfinite(negative).all():
        return Score(math.nan)
    share = negative / negative.sum(axis=0)
    # Define 0 log 0 as 0.
    divergence = (share * np.log(np.maximum(share * len(share), TINY))).sum(axis=0)
    # Uniform probabilities give 0 up to rounding, which can be negative.
    value = max(float(divergence.mean()), 0.0)
    scalars = {"rnsb": value, "n_iterations": len(divergence)}
    if holdout:
        scalars["accuracy"] = float(correct[~train].mean())
        scalars |= {} if estimator is None else evaluation(correct, ~train, attributes)
    if len(divergence) > 1:
        scalars["standard_deviation"] = float(divergence.std(ddof=1))
        scalars["standard_error"] = scalars["standard_deviation"] / math.sqrt(len(divergence))
    mean = negative.mean(axis=1)
    ends = np.cumsum([len(words) for words in targets])[:-1]
    detail = {
        "negative_sentiment_probabilities": Detail("target", np.split(mean, ends)),
        "negative_sentiment_distribution": Detail("target", np.split(mean / mean.sum(), ends)),
    }
    return Score(value, scalars, detail)


def _resampled(
    words: np.ndarray,
    attributes: np.ndarray,
    *,
    holdout: bool = True,
    test_size: float = 0.2,
    **_: Any,
) -> Callable:
    """Return RNSB of many samples, with one classifier per sample.

    In place of many random splits, each of which trains on the share 1 - test_size of the words, every word has
    that weight in training. To first order this is the splits' mean, without their randomness.
    """
    weight = 1 - test_size if holdout else 1.0
    words, attributes = map(_with_intercept, (words, attributes))
    longest = _longest(words, attributes)
    # Put the length into the key, as the fit depends on it: no value depends on which query came first.
    attributes_key = _digest(attributes), longest

    def shared(train: np.ndarray) -> np.ndarray:
        if len(attributes) <= MANY:
            return of_samples(train)
        return _train_once((*attributes_key, _digest(train)), lambda: of_samples(train))

    def of_samples(train: np.ndarray) -> np.ndarray:
        if train.shape[1] == 1:
            return classifiers(attributes, train, longest)
        start = np.zeros((attributes.shape[1], 1))
        if ((train >= 0).all(axis=1) | (train <= 0).all(axis=1)).all():
            # No word changes sets: samples' classifiers are near the classifier of all words.
            all_word_weights = weight * np.sign(train.sum(axis=1, keepdims=True))
            start = shared(all_word_weights)
        return classifiers(attributes, train, longest, start, ROUGH if len(attributes) > MANY else FINE)

    def statistic(targets: list[np.ndarray], attribute_weights: list[np.ndarray]) -> np.ndarray:
        first, second = attribute_weights
        # In a sample, a word is in one set at most: the absolute weight is its count, the sign shows the set.
        train = weight * (first - second).T
        if not longest < LONGEST:
            return np.full(train.shape[1], np.nan)
        counts: Any = sum(targets)
        return _divergence(WeightedSet(counts), logistic(words @ shared(train))[1].T)

    return statistic


def _redrawn(
    pool: np.ndarray,
    places: Sequence[np.ndarray],
    attributes: Sequence[np.ndarray],
    *,
    holdout: bool = True,
    test_size: float = 0.2,
    **_: Any,
) -> np.ndarray:
    """Compute RNSB of other target words under one classifier, fitted to all attribute words."""
    sizes = [len(words) for words in attributes]
    words, target_places = np.concatenate(attributes), np.concatenate(places, axis=1)
    train = (1 - test_size if holdout else 1.0) * np.repeat([1.0, -1.0], sizes)[:, None]
    pool, words = map(_with_intercept, (pool, words))
    longest = _longest(pool, words)
    if not longest < LONGEST:
        return np.full(len(target_places), np.nan)
    negative = logistic(pool @ classifiers(words, train, longest)[:, 0])[1]
    return _divergence(Whole(0, target_places.shape[1]), negative[target_places])


def _divergence(words: Words, negative: np.ndarray) -> np.ndarray:
    """Compute RNSB of samples, from the probabilities of all words (samples or 1, words)."""
    # Define 0 log 0 as 0.
    surprise = negative * np.log(np.maximum(negative, TINY))
    total = words.sum(negative)
    divergence = words.sum(surprise) / total + np.log(words.count / total)
    return np.where(words.count > 1, np.maximum(divergence, 0.0), np.nan)


# Classifiers do not depend on target words: queries with the same large attribute sets share them.
_CLASSIFIERS: OrderedDict[tuple[bytes, float, bytes], np.ndarray] = OrderedDict()
_LOCKS: dict[tuple[bytes, float, bytes], Lock] = {}
_LOCK = Lock()
MOST_CLASSIFIERS = 256


def _train_once(key: tuple[bytes, float, bytes], train: Callable[[], np.ndarray]) -> np.ndarray:
    """Return the result of `train`, computed once for all threads that have the key."""
    with _LOCK:
        lock = _LOCKS.setdefault(key, Lock())
    with lock:
        weights = _CLASSIFIERS.get(key)
        if weights is None:
            weights = train()
            with _LOCK:
                _CLASSIFIERS[key] = weights
                while len(_CLASSIFIERS) > MOST_CLASSIFIERS:
                    _LOCKS.pop(_CLASSIFIERS.popitem(last=False)[0], None)
    return weights


def _with_intercept(vectors: np.ndarray) -> np.ndarray:
    return np.hstack([vectors, np.ones((len(vectors), 1))])


def _longest(*arrays: np.ndarray) -> float:
    return math.sqrt(max((vectors**2).sum(axis=1).max() for vectors in arrays))


def _digest(array: np.ndarray) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(array).data, digest_size=16).digest()


def _check(
    *,
    n_iterations: object,
    random_state: object,
    solver: object,
    estimator: object,
    estimator_params: object,
    **_: object,
) -> None:
    check_estimator(estimator, estimator_params)
    if estimator is not None and solver != "exact":
        allowed_values = "'exact' with an estimator, which takes the solver's place"
        raise BiasgridError(not_allowed("solver", solver, allowed_values))
    if random_state is not None and n_iterations not in (None, 1):
        allowed_values = "1 and none with a random_state, which stands for one split"
        raise BiasgridError(not_allowed("n_iterations", n_iterations, allowed_values))


def _variant(*, estimator: object, **_: object) -> dict[str, Any]:
    """Return the fields for another classifier, with which samples are measured one by one."""
    return {} if estimator is None else {"resampled": None, "redrawn": None}


def draw_splits(
    sizes: list[int], test_size: float, n_iterations: int, rng: np.random.Generator
) -> np.ndarray | None:
    """Draw the training words: bool (words of the two sets, iterations); None if a split is impossible.

    Each set contributes its share, rounded as in scikit-learn's StratifiedShuffleSplit. If both sets have the same
    claim to the remaining word, it is drawn at random.
    """
    n_train = _training_words(sizes, test_size)
    if n_train is None:
        return None
    # Follow scikit-learn's order of operations, so that the same fractions are exactly equal.
    share = np.array(sizes) / sum(sizes) * n_train
    counts = np.floor(share).astype(int)
    rest = share - counts
    missing = n_train - counts.sum()
    first = np.full(n_iterations, counts[0] + (missing == 2 or (missing == 1 and rest[0] > rest[1])))
    if missing == 1 and rest[0] == rest[1]:
        first += rng.integers(2, size=n_iterations)
    training_splits = [
        np.arange(n) < m[:, None] for n, m in zip(sizes, (first, n_train - first), strict=True)
    ]
    if not all(splits.any(axis=1).all() for splits in training_splits):
        return None
    return np.concatenate([rng.permuted(splits, axis=1) for splits in training_splits], axis=1).T


def sklearn_split(sizes: list[int], test_size: float, random_state: int) -> np.ndarray | None:
    """Return the split of scikit-learn's train_test_split, in the form of `draw_splits`."""
    if _training_words(sizes, test_size) is None:
        return None
    # Import scikit-learn here: the import takes longer than measuring a grid without it.
    from sklearn.model_selection import train_test_split

    labels = np.repeat([1, -1], sizes)
    rows, _ = train_test_split(
        np.arange(len(labels)), test_size=float(test_size), stratify=labels, random_state=int(random_state)
    )
    train = np.zeros((len(labels), 1), dtype=bool)
    train[rows] = True
    return train if len(set(labels[rows])) == 2 else None


def _training_words(sizes: list[int], test_size: float) -> int | None:
    """Return the number of training words; None if scikit-learn refuses to split."""
    n_test = math.ceil(test_size * sum(sizes))
    n_train = sum(sizes) - n_test
    return n_train if min(*sizes, n_train, n_test) >= 2 else None


def probabilities(
    targets: np.ndarray, attributes: list[np.ndarray], train: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a classifier for each column of `train` and predict the words' classes.

    `train` (attribute words, splits) is whether, or how often, a word is used in training; with a number below 0,
    it is used as a word of the other set.

    Returns the target words' probabilities of the second class (target words, splits), NaN for vectors that are too
    long. The second array is whether an attribute word is assigned to its own class (attribute words, splits).
    """
    targets, first, second = map(_with_intercept, (targets, *attributes))
    # Mirror the second class: a word's product with the weights is positive if it is classified correctly.
    words = np.vstack([first, -second])
    longest = _longest(words, targets)
    if not longest < LONGEST:
        return np.full((len(targets), train.shape[1]), np.nan), np.zeros(train.shape, dtype=bool)
    weights = classifiers(words, train, longest)
    return logistic(targets @ weights)[1], words @ weights > 0


def liblinear_probabilities(
    targets: np.ndarray, attributes: list[np.ndarray], train: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the same as `probabilities`, with one scikit-learn fit for each split, as in WEFE 1.0.1."""
    # Import scikit-learn here: see `sklearn_split`.
    from sklearn.linear_model import LogisticRegression

    words = np.concatenate(attributes)
    if not np.linalg.norm(np.vstack([words, targets]), axis=1).max() < LONGEST:
        return np.full((len(targets), train.shape[1]), np.nan), np.zeros(train.shape, dtype=bool)
    model = LogisticRegression(solver="liblinear", max_iter=10_000)
    return probabilities_of(model, None, None, targets, attributes, train)


RNSB = Metric(
    name="rnsb",
    label="RNSB",
    function=rnsb,
    scaled=True,
    asks="Does a classifier that tells {A1} from {A2} find some words of {T} more likely to be of {A2} than "
    "others?",
    above="the classifier finds some words of {T} more likely to be of {A2} than others",
    details={"negative_sentiment_probabilities": "the classifier's probability that the word is of {A2}"},
    nearer="second",
    word_neutral=0.5,
    # Fit one classifier per half: the splits are the halves.
    halved={"holdout": False, "n_iterations": None},
    template=("n", 2),
    range=(0.0, np.inf),
    neutral=0.0,
    groups="attributes",
    seeded=True,
    resampled=_resampled,
    redrawn=_redrawn,
    exchanged="attributes",
    test_of="labels",
    variant=_variant,
    check=_check,
    reference="Sweeney, Najafian. A transparent framework for evaluating unintended demographic bias "
    "in word embeddings. ACL 2019",
)
METRICS = (RNSB,)

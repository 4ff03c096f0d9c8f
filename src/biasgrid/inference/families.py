"""Which tests are adjusted together, and which count as one test: those that give the same p-value on any data.

WEAT's statistic and its effect size are two metrics and one permutation test. A family that counts it twice asks more
of every other p-value of the criterion than it needs to. No list says which tests are equal: metrics, under
their parameters, are run on random vectors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .. import metrics
from ..embeddings.kinds import are_models
from ..in_memory import File, InMemory, parts_of
from ..metrics.registry import Metric
from ..options import P_VALUES
from ..query import Query
from ..request import Request
from ..sample import Sample
from ..words import FoundSet
from .control_words import values_of_controls
from .infer import BIAS, query_permutation_test
from .permutation import DISTANCE, share_as_extreme
from .random_groups import values_of_groups
from .resampler import Resampler

# of each kind of test: the part of `inference` that asks for it
COLUMNS = P_VALUES
PERMUTED = ("p_value", "p_bands")
# random data sets that tests are compared on, and permutations (or groups) of each; words per set, which differ, as
# some tests are equal only for sets of one size; pairs per set; words that a random group is drawn from
TRIALS, DRAWS = 3, 64
SIZES, PAIRS, POOL = (4, 5, 3), 6, 9
DIMENSIONS = 6


def tests_of_cells(
    cells: Iterable[Mapping[str, Any]], queries: Iterable[File]
) -> dict[str, dict[tuple[str, str, str, str], tuple[str, str]]]:
    """The family and the test of each p-value of a study, as `tables.scores.adjust` takes them.

    Parameters
    ----------
    cells
        What files of inference say of each cell: its metric ("function"), "params", "words" and "inference".
    queries
        The files of the cells' queries; their names are the queries' ids.

    Returns
    -------
    dict
        Column of scores.csv -> (criterion, (sub-)query, metric, model) -> (family, test). Tests of one query and
        model (and debias method) that have one name give the same p-value whatever the vectors. Columns are those
        that the study has: "p_value", of permutation tests, of which those of labels (`Metric.test_of`) are a
        family of their own, and "p_bands" likewise; "p_groups" and "p_controls", which are all about words.
    """
    by_id = {parts_of(file)[-1]: _query(file) for file in queries}
    tests: dict[str, dict] = {}
    for cell in cells:
        try:
            params = json.dumps(cell["params"], sort_keys=True)
            metric = _metric_under(cell["function"], params)
        except TypeError:  # an object, such as a classifier, which a study in memory may have
            params, metric = None, metrics.metric(cell["function"]).under(cell["params"])
        normalize = bool(cell["words"].get("normalize"))
        for name, template in _templates(by_id[cell["query"]], metric.template):
            for column, part in COLUMNS.items():
                if (options := cell["inference"].get(part)) is not None:
                    family = metric.test_of if column in PERMUTED else "words"
                    alternative = options.get("alternative", BIAS)
                    test = f"{metric.name} of {cell['metric']}"  # like no other
                    if params is not None:
                        test = signature(metric.name, params, template, normalize, alternative, column)
                    key = cell["criterion"], name, cell["metric"], cell["model"]
                    tests.setdefault(column, {})[key] = family, test
    return tests


def _query(file: File) -> Query:
    return file.content if isinstance(file, InMemory) else Query.read(file)


@lru_cache(maxsize=1024)
def _metric_under(metric: str, params: str) -> Metric:
    return metrics.metric(metric).under(json.loads(params))


@lru_cache(maxsize=4096)
def _templates(query: Query, template: tuple) -> list[tuple[str, tuple[int, int]]]:
    """Name and template of a query's sub-queries."""
    return [(sub.name, sub.template) for sub in query.subqueries(template)]


@lru_cache(maxsize=1024)
def signature(
    name: str,
    params: str = "{}",
    template: tuple[int, int] = (2, 2),
    normalize: bool = False,
    alternative: str = BIAS,
    column: str = "p_value",
) -> str:
    """A name that tests have in common which give the same p-value for all words and vectors that were tried.

    Parameters
    ----------
    name, params
        Metric and its parameters, as JSON.
    template
        How many target and attribute sets the query has.
    normalize
        Whether words are looked up at unit length, which makes some metrics one.
    alternative, column
        Of the test; see `tests_of_cells`.

    Returns
    -------
    str
        A digest of the p-values of random data, of every permutation (or drawn groups) in turn as the observed one.
        Metrics that look at the model around the words, those of other kinds of models than vectors, those without a
        value for random vectors, and those that results alone say anything of (`Registry.note`), are named by
        themselves.
    """
    params = json.loads(params)
    metric = metrics.metric(name).under(params)
    unique_name = json.dumps([metric.name, {**metric.parameters, **params}], sort_keys=True)
    if metric.of_model or metrics.REGISTRY.is_noted(metric.name) or not are_models(metric.needs):
        return unique_name
    digest = hashlib.sha256()
    values_of = {"p_groups": _group_values, "p_controls": _control_values}.get(column, _permutation_values)
    for trial in range(TRIALS):
        with np.errstate(all="ignore"):
            values = values_of(metric, params, template, normalize, alternative, trial)
        if values is None or not np.isfinite(values).all():
            return unique_name
        bias = DISTANCE if column == "p_groups" else metric.bias
        side = bias if alternative == BIAS else alternative
        p_values = [share_as_extreme(values, value, side, metric.neutral) for value in values]
        digest.update(np.array(p_values).tobytes())
    # which words are exchanged, or drawn, is part of the test
    return f"{metric.exchanged if column in PERMUTED else metric.regrouped} {digest.hexdigest()[:16]}"


def _permutation_values(
    metric: Metric, params: dict, template: tuple[int, int], normalize: bool, alternative: str, trial: int
) -> np.ndarray | None:
    """The metric's value for each permutation of random words; None where it has no test."""
    sizes = [
        [PAIRS] * template[0] if metric.paired else _sizes(template[0], trial),
        _sizes(template[1], trial),
    ]
    resampler = Resampler.of(_sample(metric, params, *_random_sets(sizes, normalize, trial)))
    test = query_permutation_test(resampler, alternative=alternative, draws=DRAWS, exact=DRAWS)
    return None if isinstance(test, str) else test.null_distribution


def _group_values(
    metric: Metric, params: dict, template: tuple[int, int], normalize: bool, alternative: str, trial: int
) -> np.ndarray:
    """The metric's value for groups that are drawn anew, each from random words of its own."""
    group_side, word_side = (0, 1) if metric.regrouped == "targets" else (1, 0)
    groups = [PAIRS] * template[group_side] if metric.paired else _sizes(template[group_side], trial)
    (pool,), words = _random_sets(
        [[POOL * len(groups)], _sizes(template[word_side], trial)], normalize, trial
    )
    rng = np.random.default_rng(trial)
    places = [POOL * i + rng.random((DRAWS, POOL)).argsort(axis=1)[:, :size] for i, size in enumerate(groups)]
    sides = ([pool], words) if metric.regrouped == "targets" else (words, [pool])
    return values_of_groups(_sample(metric, params, *sides), pool, places)


def _control_values(
    metric: Metric, params: dict, template: tuple[int, int], normalize: bool, alternative: str, trial: int
) -> np.ndarray:
    """The metric's value for control words, which are random words."""
    sizes = [_sizes(template[0], trial), _sizes(template[1], trial)]
    sizes[0] = [PAIRS] * template[0] if metric.paired else sizes[0]
    sides = _random_sets(sizes, normalize, trial)
    keys = [key for s in sides[metric.regrouped == "targets"] for key in s.keys]
    ((pool,), _) = _random_sets([[POOL * len(keys)], [1]], normalize, trial)
    rng = np.random.default_rng(trial)
    places = POOL * np.arange(len(keys)) + rng.integers(POOL, size=(DRAWS, len(keys)))
    return values_of_controls(_sample(metric, params, *sides), pool, keys, places)


def _random_sets(sizes: Sequence[Sequence[int]], normalize: bool, trial: int) -> list[list[FoundSet]]:
    """Sets of so many words on either side, with random vectors of unlike lengths."""
    rng = np.random.default_rng([trial, *sizes[0], *sizes[1]])
    sides = []
    for side, of_side in enumerate(sizes):
        sides.append([])
        for i, size in enumerate(of_side):
            words = tuple(f"{side} {i} {word}" for word in range(size))
            vectors = 0.5 + rng.normal(size=(size, DIMENSIONS))
            vectors *= np.exp(rng.normal(size=(size, 1)) / 2)
            if normalize:
                vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            sides[-1].append(
                FoundSet(f"{side} {i}", words, words, np.arange(size), vectors, np.arange(size), {}, ())
            )
    return sides


def _sample(
    metric: Metric, params: Mapping[str, Any], targets: list[FoundSet], attributes: list[FoundSet]
) -> Sample:
    """A metric on sets that are of no model."""
    query = Query([s.words for s in targets], [s.words for s in attributes])
    return Sample(Request(metric, params), None, query, targets, attributes, "ok", query, {})


def _sizes(sets: int, trial: int) -> list[int]:
    return [SIZES[(trial + i) % len(SIZES)] for i in range(sets)]

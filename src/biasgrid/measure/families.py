"""Families of tests that are adjusted together, and equal tests: tests with the same p-value on any data.

WEAT's statistic and its effect size are two metrics and one permutation test. Counting it twice in a family would
make the adjustment of all other p-values of the criterion too strict. No list declares which tests are equal:
metrics, with their parameters, are run on random vectors.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from .. import metrics
from ..core.in_memory import File, InMemory, parts_of
from ..metrics.registry import Metric
from ..models.kinds import are_models
from ..queries.query import Query
from . import significance
from .options import BIAS
from .permutation import share_as_extreme

# Number of random data sets on which tests are compared.
TRIALS = 3


def tests_of_cells(
    cells: Iterable[Mapping[str, Any]], queries: Iterable[File]
) -> dict[str, dict[tuple[str, str, str, str], tuple[str, str]]]:
    """Return the family and the test of each p-value of a study, in the format of `tables.scores.adjust`.

    Parameters
    ----------
    cells
        Entries of each cell in files of inference: its metric ("function"), "params", "words" and "inference".
    queries
        The files of the cells' queries; their names are the queries' ids.

    Returns
    -------
    dict
        Column of scores.csv -> (criterion, (sub-)query, metric, model) -> (family, test). Tests of one query and
        model (and debias method) with the same name have the same p-value whatever the vectors. Columns are the
        study's own: "p_value", of permutation tests, among which tests of labels (`Metric.test_of`) are a separate
        family, and "p_bands" likewise; "p_groups" and "p_controls", which all test words.
    """
    by_id = {parts_of(file)[-1]: _query(file) for file in queries}
    tests: dict[str, dict] = {}
    for cell in cells:
        try:
            params = json.dumps(cell["params"], sort_keys=True)
            metric = _metric_under(cell["function"], params)
        except TypeError:
            # A parameter is an object, such as a classifier, which is possible in a study in memory.
            params, metric = None, metrics.metric(cell["function"]).under(cell["params"])
        normalize = bool(cell["words"].get("normalize"))
        for name, template in _templates(by_id[cell["query"]], metric.template):
            for test in significance.tests():
                if (options := cell["inference"].get(test.name)) is not None:
                    alternative = options.get("alternative", BIAS)
                    unique_name = f"{metric.name} of {cell['metric']}"  # like no other
                    if params is not None:
                        unique_name = signature(
                            metric.name, params, template, normalize, alternative, test.name
                        )
                    key = cell["criterion"], name, cell["metric"], cell["model"]
                    tests.setdefault(test.column, {})[key] = test.family(metric), unique_name
    return tests


def _query(file: File) -> Query:
    return file.content if isinstance(file, InMemory) else Query.read(file)


@lru_cache(maxsize=1024)
def _metric_under(metric: str, params: str) -> Metric:
    return metrics.metric(metric).under(json.loads(params))


@lru_cache(maxsize=4096)
def _templates(query: Query, template: tuple) -> list[tuple[str, tuple[int, int]]]:
    """Return the names and templates of a query's sub-queries."""
    return [(sub.name, sub.template) for sub in query.subqueries(template)]


@lru_cache(maxsize=1024)
def signature(
    name: str,
    params: str = "{}",
    template: tuple[int, int] = (2, 2),
    normalize: bool = False,
    alternative: str = BIAS,
    test: str = "permutation",
) -> str:
    """Return a name shared by all tests with the same p-value for all words and vectors that were tried.

    Parameters
    ----------
    name, params
        Metric and its parameters, as JSON.
    template
        Numbers of target and attribute sets of the query.
    normalize
        Whether words are looked up at unit length, which makes some metrics equal.
    alternative, test
        The test and its option; see `tests_of_cells`.

    Returns
    -------
    str
        A digest of the p-values of random data, with every permutation (or drawn groups) in turn as the observed
        one. Some metrics get their own names: metrics that use the model beyond the words, metrics of other kinds
        of models than vectors, metrics without a value for random vectors, and metrics known only from results
        (`Registry.note`).
    """
    parameters = json.loads(params)
    metric = metrics.metric(name).under(parameters)
    unique_name = json.dumps([metric.name, {**metric.parameters, **parameters}], sort_keys=True)
    of_significance = significance.REGISTRY[test]
    simulate = None if metrics.REGISTRY.is_noted(metric.name) else of_significance.simulate
    if metric.of_model or simulate is None or not are_models(metric.needs):
        return unique_name
    digest = hashlib.sha256()
    for trial in range(TRIALS):
        with np.errstate(all="ignore"):
            values = simulate(metric, parameters, template, normalize, alternative, trial)
        if values is None or not np.isfinite(values).all():
            return unique_name
        side = of_significance.bias(metric) if alternative == BIAS else alternative
        p_values = [share_as_extreme(values, value, side, metric.neutral) for value in values]
        digest.update(np.array(p_values).tobytes())
    # The exchanged, or drawn, words are part of the test.
    return f"{metric.exchanged if of_significance.permutes else metric.regrouped} {digest.hexdigest()[:16]}"

"""Metrics as functions of a query and a model: `metrics.weat(query, model)`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import BiasgridError, shown
from ..measure import Result, measure, split_options
from ..metrics.registry import Metric
from ..query import Query


def call(
    metric: Metric,
    query: Query,
    model: Any,
    *,
    seed: int = 0,
    permutation: Mapping[str, Any] | None = None,
    random_groups: Mapping[str, Any] | None = None,
    bootstrap: Mapping[str, Any] | None = None,
    sensitivity: Mapping[str, Any] | None = None,
    interval: str = "jackknife",
    **options: Any,
) -> Result:
    """Measure a query of this metric's template on a model.

    Parameters
    ----------
    query
        Of the metric's template; take the sub-queries of a larger one: `query.subqueries(template)`.
    model
        A store, or one under a transform.
    seed
        From 0; of metrics that draw at random, and of inference.
    permutation, random_groups, bootstrap, sensitivity
        Each a mapping of options ({}: the defaults); they ask for the result's `p_value`, `p_groups`, `ci_low` and
        `ci_high`, and `inference`; see `biasgrid.inference.infer_query`.
    interval
        Which interval `ci_low` and `ci_high` are the ends of: "jackknife", "percentile" or "bca".
    **options
        The metric's parameters, and those of the word look-up (`biasgrid.words.WordOptions`).

    Returns
    -------
    biasgrid.measure.Result
        `value` lies in the metric's range; its neutral value means no bias; NaN, with the reason in `status`, where
        the metric has none.

    Raises
    ------
    BiasgridError
        For a query of another template, and an option that does not exist or has a value that is not allowed.
    """
    parameters, words = split_options(metric, options)
    template = metric.under(parameters).template
    if not query.exactly(template):
        raise BiasgridError(
            f"{metric.name} has template {template} and query {shown(query.name)} {query.template}; "
            f"take its sub-queries: query.subqueries({template})"
        )
    results = measure(metric, query, model, parameters, words, seed)
    parts = {"permutation": permutation, "random_groups": random_groups}
    parts |= {"bootstrap": bootstrap, "sensitivity": sensitivity}
    if any(part is not None for part in parts.values()):
        # imported late: scipy.stats takes a second
        from ..inference.results import inferred

        results = inferred(results, metric, query, model, parameters, words, seed, parts, interval)
    return results[0]


# what a metric is (metrics/) knows nothing of models and inference, which stand above it
Metric.__call__ = call

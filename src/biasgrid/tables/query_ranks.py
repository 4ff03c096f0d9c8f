"""Table of query ranks: the order of a criterion's queries by each model and metric, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measure.ranks import rank_interval, ranks_of_resamples
from ..measure.results import KEYS
from .inputs import holds, sample_files
from .keys import CRITERION, DEBIAS, METRIC, MODEL, QUERY
from .rank_samples import value_samples
from .scores import SCORES
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


# The columns whose combination gives every query of a criterion and a template a value.
UNIT = ["metric", "model", "debias"]


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    table, samples = directed_values(inputs, spec)
    ranks = ranks_of_units(table, table["value"].to_numpy()[:, None])[:, 0]
    ranks_of_samples = ranks_of_units(table, samples)
    ends = [rank_interval(row, spec["level"]) for row in ranks_of_samples]
    table[["rank_low", "rank_high"]] = np.reshape(ends, (-1, 2))
    units = ["criterion", "template", *UNIT]
    table = table.assign(rank=ranks, queries=table.groupby(units)["value"].transform("count").astype("int64"))
    return table[QUERY_RANKS.names].sort_values(["criterion", "template", "query", *UNIT], ignore_index=True)


def directed_values(inputs: Files, spec: Mapping[str, Any]) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the scores whose sign has a direction, all in the same direction, and their resampled values.

    The rows of scores.csv get the column `template`. The resampled values are (rows, draws); without a bootstrap
    there are no draws. Missing values are NaN.

    Parameters
    ----------
    inputs
        "scores", and with a bootstrap the inputs of `rank_samples.value_samples`.
    spec
        From the function `spec`.
    """
    directions = {(criterion, metric): rest for criterion, metric, *rest in spec["metrics"]}
    table = SCORES.read(inputs["scores"])
    has_direction = [place in directions for place in zip(table["criterion"], table["metric"], strict=True)]
    table = table[has_direction].reset_index(drop=True)
    samples = np.empty((len(table), 0))
    if "inferences" in inputs:
        samples, _ = value_samples(table, inputs, spec)
        samples[table["value"].isna()] = math.nan
    places = zip(table["criterion"], table["metric"], strict=True)
    template, *numbers = (list(part) for part in zip(*(directions[key] for key in places), strict=True))
    sign, neutral = np.array(numbers, dtype=float)

    def to_direction(values: Any) -> np.ndarray:
        return (np.asarray(values).T * sign + (1 - sign) * neutral).T

    ends = np.stack([to_direction(table["ci_low"]), to_direction(table["ci_high"])])
    table = table.assign(
        template=template,
        value=to_direction(table["value"]),
        ci_low=ends.min(axis=0),
        ci_high=ends.max(axis=0),
    )
    return table, to_direction(samples)


def ranks_of_units(table: pd.DataFrame, values: np.ndarray) -> np.ndarray:
    """Return the rank of each query's value among the queries of its criterion, template, metric and model.

    Rank 1 is the highest. Each column of the values (rows, draws) is ranked; NaN values are not ranked.
    """
    groups = table.reset_index(drop=True).groupby(["criterion", "template", *UNIT]).groups
    return ranks_of_resamples(-values[None], [list(rows) for rows in groups.values()])[0].astype(np.float64)


def metrics_with_direction(study: Planned) -> list[list[Any]]:
    """Return [criterion, metric, template, sign, no-bias value] of each metric that tells the nearer of two groups.

    Sign -1 means that a positive value is nearer to the second group.
    """
    metrics = []
    for criterion in study.config.criteria:
        for key in study.metrics(criterion):
            metric = study.metric(criterion, key)
            if metric.nearer and metric.bias == "two-sided" and study.grid.suitable_models(criterion, key):
                sign = 1 if metric.nearer == "first" else -1
                template = ", ".join(map(str, metric.template))
                metrics.append([criterion, key, template, sign, metric.neutral])
    return sorted(metrics)


def spec(study: Planned) -> dict[str, Any]:
    metrics = metrics_with_direction(study)
    queries = {name: sorted(study.config.criteria[name].queries) for name, *_ in metrics}
    return {"metrics": metrics, "queries": queries}


def inputs(study: Planned) -> dict[str, Any]:
    """Return the scores and, with a bootstrap, the resamples of all cells of the table."""
    metric_keys = {(criterion, key) for criterion, key, *_ in metrics_with_direction(study)}

    def has_rank(cell: Any) -> bool:
        return (cell.criterion, cell.metric) in metric_keys

    if not any(map(has_rank, study.grid.cells.values())):
        return {}
    samples = sample_files(study, has_rank) if holds(study, "bootstrap") else {}
    return {"scores": study.paths.table_file("scores"), **samples}


# Inputs of the tables of query ranks.
OF_RANKS: dict[str, Any] = {
    "when": "query_ranks",
    "inputs": inputs,
    "facts": ("draws", "level", "seed"),
    "spec": spec,
}
TEMPLATE = Column(
    "template",
    "number of target and attribute sets that the metrics take. Only queries of the same template are "
    "compared",
)
QUERY_RANKS = Table(
    "query_ranks",
    "The rank of each query among the queries of a metric and model. One row per criterion, (sub-)query, "
    "metric, model and debias method, in studies with `query_ranks: true`. Metrics whose sign has no direction "
    "are left out. Values of RND with distance norm, and of other metrics where a positive value means the "
    "second group, have the opposite sign here.",
    (
        CRITERION,
        TEMPLATE,
        QUERY,
        METRIC,
        MODEL,
        DEBIAS,
        Column.value(
            "value",
            "the metric's value, with a sign that means the same in every metric. Positive: the attribute words "
            "are closer to the first target set. With two attribute sets: the first target set is closer to "
            "the first of them",
        ),
        Column.value("ci_low", "lower end of the score's confidence interval, as in `scores.csv`"),
        Column.value("ci_high", "upper end of the same interval"),
        Column.rank("rank", "rank of the value; 1 is the highest, and equal values share a mean rank"),
        Column.rank(
            "rank_low",
            "lower end of its 95 % percentile interval (bootstrap over words, with the same draws for all "
            "models)",
        ),
        Column.rank("rank_high", "upper end of the same interval"),
        Column.count("queries", "number of queries with a rank"),
    ),
    **OF_RANKS,
    make=make,
    key=tuple(KEYS),
)
TABLES = (QUERY_RANKS,)

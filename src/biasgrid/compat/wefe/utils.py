"""WEFE's tables of many queries and models, its rankings, its figures, and its test model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ... import metrics as library
from ...core.errors import ArgumentTypeError, InputError, quote, unknown_name
from ...core.extras import has
from ...core.keywords import checked_keywords
from ...core.wefe_names import FORMER_OPTIONS
from ...debias import UNTOUCHED
from ...figures.showing import with_show
from ...models.load import load
from . import plots
from .fitted import check_is_fitted
from .metrics.base_metric import BaseMetric
from .query import Query
from .word_embedding_model import WordEmbeddingModel

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

__all__ = [
    "calculate_ranking_correlations",
    "check_is_fitted",
    "create_ranking",
    "flair_to_gensim",
    "generate_subqueries_from_queries_list",
    "load_test_model",
    "load_weat_w2v",
    "plot_queries_results",
    "plot_ranking",
    "plot_ranking_correlations",
    "run_queries",
]
SAVE = "figure.savefig('figure.png')"  # how to save the figures here, which are matplotlib's
BY = ("query", "model")
WEFES = ("ECT", "MAC", "RIPA", "RND", "RNSB", "WEAT")  # metrics with a known no-bias value
# Aggregation -> its name in pandas, and in the column's name.
AGGREGATIONS = {
    "sum": ("sum", "sum"),
    "abs_sum": ("sum", "sum of abs values"),
    "avg": ("mean", "average"),
    "abs_avg": ("mean", "average of abs values"),
}


def generate_subqueries_from_queries_list(metric: type[BaseMetric], queries: Sequence[Query]) -> list[Query]:
    parts = (part for query in queries for part in query.get_subqueries(metric.metric_template))
    return list({part.name: part for part in parts}.values())


@checked_keywords(FORMER_OPTIONS)
def run_queries(
    metric: type[BaseMetric],
    queries: Sequence[Query],
    models: Sequence[WordEmbeddingModel],
    queries_set_name: str = "Unnamed queries set",
    lost_vocabulary_threshold: float = 0.2,
    metric_params: dict[str, Any] | None = None,
    generate_subqueries: bool = False,
    aggregate_results: bool = False,
    aggregation_function: str | Callable[[pd.DataFrame], Any] = "abs_avg",
    return_only_aggregation: bool = False,
    warn_not_found_words: bool = False,
) -> pd.DataFrame:
    """Measure a metric on queries and models: one row per model, one column per query, and one for their aggregate.

    A user's `aggregation_function` takes the data frame, as in WEFE.
    """
    if not (isinstance(metric, type) and issubclass(metric, BaseMetric)):
        raise ArgumentTypeError(f"metric: expected a class of a metric, such as WEAT, not {quote(metric)}")
    if generate_subqueries:
        queries = generate_subqueries_from_queries_list(metric, queries)
    common = {"lost_vocabulary_threshold": lost_vocabulary_threshold}
    options = common | {"warn_not_found_words": warn_not_found_words} | (metric_params or {})
    table = pd.DataFrame(
        {q.name: [metric().run_query(q, model, **options)["result"] for model in models] for q in queries},
        index=pd.Index([model.name for model in models], name="model_name"),
    ).rename_axis(columns="query_name")
    table.attrs["metric"] = metric.metric_short_name  # for figures
    if not aggregate_results:
        return table
    if callable(aggregation_function):
        aggregate, how = aggregation_function(table), "custom aggregation"
    elif aggregation_function not in AGGREGATIONS:
        raise InputError(unknown_name("aggregation_function", aggregation_function, AGGREGATIONS))
    else:
        function, how = AGGREGATIONS[aggregation_function]
        values = table.abs() if aggregation_function.startswith("abs_") else table
        aggregate = getattr(values, function)(axis=1)
    name = f"{metric.metric_short_name}: {queries_set_name} {how} score"
    only = aggregate.to_frame(name)
    only.attrs |= table.attrs
    return only if return_only_aggregation else pd.concat([table, only], axis=1)


def create_ranking(
    results_dataframes: Sequence[pd.DataFrame], method: str = "first", ascending: bool = True
) -> pd.DataFrame:
    """Return the models' ranks by the last column of each table; 1 is the smallest value."""
    for place, table in enumerate(results_dataframes):
        _check_frame(table, f"results_dataframes: element {place}")
    columns = [table.iloc[:, -1].rank(method=method, ascending=ascending) for table in results_dataframes]
    names = [str(column.name) for column in columns]
    for place, column in enumerate(columns):
        if names.count(name := names[place]) > 1:
            column.name = f"{name} ({names[: place + 1].count(name)})"
    return pd.concat(columns, axis=1)


def calculate_ranking_correlations(rankings: pd.DataFrame, method: str = "spearman") -> pd.DataFrame:
    _check_frame(rankings, "rankings")
    correlations = rankings.corr(method=method)
    correlations.attrs["method"] = method  # for the figure
    return correlations


def plot_queries_results(results: pd.DataFrame, by: str = "query") -> Any:
    """Draw a table of `run_queries`: bars of plotly, or, if plotly is not installed, marks of matplotlib.

    `by` is "query" or "model", by which bars are grouped; matplotlib's figure always has a row for each
    query.
    """
    _check_frame(results, "results")
    if by not in BY:
        raise InputError(unknown_name("value of by", by, BY))
    if has("plotly"):
        return plots.queries_results(results, by)
    from ...figures.scores import scores

    # The no-bias value of a user's metric is not known, so WEAT's is used.
    name = results.attrs.get("metric", "WEAT")
    metric = library.metric(name if name in WEFES else "WEAT")
    key, label = (metric.name, metric.label) if name in WEFES else (name, name)
    table = _long(results, "query", "value").assign(metric=key)
    return with_show(scores(table, {key: label}, "Results", key, {key: metric.neutral}), SAVE)


def plot_ranking(ranking: pd.DataFrame, use_metric_as_facet: bool = False) -> Any:
    """Draw ranks as stacked bars, with plotly, or, if plotly is not installed, with matplotlib.

    `use_metric_as_facet` draws a panel for each ranking; matplotlib's figure instead writes each rank in its
    bar.
    """
    _check_frame(ranking, "ranking")
    if has("plotly"):
        return plots.ranking(ranking, use_metric_as_facet)
    from ...figures.rankings import rankings

    return with_show(rankings(_long(ranking, "metric", "rank"), {}, "Results"), SAVE)


def plot_ranking_correlations(correlation_matrix: pd.DataFrame, title: str = "") -> Any:
    """Draw correlations as a heat map, with plotly, or, if plotly is not installed, with matplotlib."""
    _check_frame(correlation_matrix, "correlation_matrix")
    if has("plotly"):
        return plots.correlations(correlation_matrix, title)
    from ...figures.correlations import correlations

    long = correlation_matrix.rename_axis(index="metric_a", columns="metric_b").stack()
    table = long.rename("correlation").reset_index()
    method = correlation_matrix.attrs.get("method", "spearman")
    table = table.assign(criterion=title or "Correlations", method=method)
    return with_show(correlations(table, {}, method), SAVE)


def load_test_model() -> WordEmbeddingModel:
    """Return WEFE's test model: the words of its tests, with the vectors of word2vec's Google News."""
    return WordEmbeddingModel(load("word2vec-google-news-300-subset"), "test_w2v")


def load_weat_w2v() -> KeyedVectors:
    """Return the vectors of `load_test_model`, under the name used in WEFE's guide to user-defined metrics."""
    return load_test_model().wv


def flair_to_gensim(flair_embedding: Any) -> KeyedVectors:
    """Return the vectors of flair's word embeddings as gensim's KeyedVectors."""
    return WordEmbeddingModel(flair_embedding).wv


def _check_frame(table: object, argument: str) -> None:
    if not isinstance(table, pd.DataFrame):
        raise ArgumentTypeError(f"{argument}: expected a data frame, not {quote(table)}")


def _long(table: pd.DataFrame, column: str, value: str) -> pd.DataFrame:
    """Return a table of models by queries or metrics in the long form that figures take."""
    long = table.rename_axis(index="model", columns=column).stack(future_stack=True).rename(value)
    return long.reset_index().assign(criterion="Results", debias=UNTOUCHED, cells_nan=0, status="no value")

"""Table of correlations over queries between set differences in vectors and the same differences in a corpus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.seeds import seed_of
from ..measure.statistics.correlation import by_methods
from .correlation_columns import correlation_columns
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .scores import SCORES
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


# Smallest number of queries of a correlation.
FEWEST = 3


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Correlate values over the queries of a criterion with two target sets X, Y and two attribute sets A, B.

    For each query, a metric such as WEAT has one value, and PMI bias has one value per attribute set. The value of B
    is subtracted from the value of A, both between X and Y. This is the difference of Maddalozzo (2023, section
    3.5.3), PMI(X; A, B) - PMI(Y; A, B). Both are log(n_AX n_BY / (n_AY n_BX)), where n counts the sentences with a
    word from each of two sets (for the risk ratio).

    Parameters
    ----------
    inputs
        "scores".
    spec
        "criteria": for each criterion "queries", a list of [name, the two names of its sub-queries], "metrics" and
        "corpus_metrics"; "seed": the study's seed.
    """
    scores, seed = SCORES.read(inputs["scores"]), seed_of(spec["seed"], "corpus correlations")
    rows = [
        (criterion, *unit, *corpus_unit, *correlation)
        for criterion, entry in spec["criteria"].items()
        for unit, corpus_unit, points in _pairs(scores[scores["criterion"] == criterion], entry)
        for correlation in by_methods(points["x"], points["y"], seed)
    ]
    return CORPUS_CORRELATIONS.finish(rows)


def _pairs(scores: pd.DataFrame, entry: Mapping[str, Any]) -> list[tuple[tuple, tuple, pd.DataFrame]]:
    """Return both values of each query, for each pair of a metric of vectors with its model and a corpus metric."""
    import pandas as pd

    names, first, second = (list(part) for part in zip(*entry["queries"], strict=True))
    units = ["metric", "model", "debias"]
    values = dict(iter(scores[scores["metric"].isin(entry["metrics"])].groupby(units)))
    of_corpora = dict(iter(scores[scores["metric"].isin(entry["corpus_metrics"])].groupby(units[:2])))
    pairs = []
    for unit, part in values.items():
        x = part.set_index("query")["value"].reindex(names).to_numpy()
        for corpus_unit, corpus_scores in of_corpora.items():
            by_query = corpus_scores.set_index("query")["value"]
            y = by_query.reindex(first).to_numpy() - by_query.reindex(second).to_numpy()
            pairs.append((unit, corpus_unit, pd.DataFrame({"x": x, "y": y}).dropna()))
    return pairs


def _criteria(study: Planned) -> dict[str, dict[str, Any]]:
    """Return the criteria in which vectors and corpora are compared, in the format of the spec."""
    criteria = {}
    for criterion, entry in study.config.criteria.items():
        metrics = {key: study.metric(criterion, key) for key in sorted(study.metrics(criterion))}
        corpora = [
            key
            for key, m in metrics.items()
            if m.name == "pmi" and study.grid.suitable_models(criterion, key)
        ]
        vector_metrics = [
            key
            for key, m in metrics.items()
            if m.template == (2, 2)
            and (models := study.grid.suitable_models(criterion, key))
            and not study.kind(models[0]).text
        ]
        queries = [q for key in entry.queries if (q := study.queries[key]).template == (2, 2)]
        if corpora and vector_metrics and len(queries) >= FEWEST:
            names = [[q.name, *(part.name for part in q.subqueries((2, 1)))] for q in queries]
            criteria[criterion] = {
                "queries": sorted(names),
                "metrics": vector_metrics,
                "corpus_metrics": corpora,
            }
    return criteria


CORPUS_CORRELATIONS = Table(
    "corpus_correlations",
    "Correlations of metrics of vectors with metrics of corpora. One row per criterion, metric of vectors, "
    "model, debias method, metric of corpora, corpus and method. It has the criteria with PMI and at least "
    "three queries of two target and two attribute sets.",
    (
        CRITERION,
        METRIC,
        MODEL,
        DEBIAS,
        Column("corpus_metric", "key of the metric that measures the corpus"),
        Column("of", "key of the corpus"),
        *correlation_columns(
            "the values and the corpus' differences", "number of queries with both values", "queries"
        ),
    ),
    reads=("scores",),
    when=_criteria,
    facts=("seed",),
    spec=lambda study: {"criteria": _criteria(study)},
    make=make,
    key=("criterion", "metric", "model", "debias", "corpus_metric", "of", "method"),
)
TABLES = (CORPUS_CORRELATIONS,)

"""Table of seed lists: how a score varies over word lists for one concept, of which a study uses one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import TYPE_CHECKING, Any

from . import spreads
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .scores import SCORES
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Summarise the scores of each concept's lists, one row per metric and model.

    spec: "concepts", from `concepts`; "neutral", as [criterion, metric, value].
    """
    neutral = {(criterion, metric): value for criterion, metric, value in spec["neutral"]}
    values = spreads.with_errors(spread(SCORES.read(inputs["scores"]), spec["concepts"]), inputs)
    values = values.rename(columns={"list": "name"})
    rows = []
    for place, part in values.groupby(SEED_LISTS.lead, sort=True):
        place = dict(zip(SEED_LISTS.lead, place, strict=True))
        summary = spreads.summary(part, "lists", neutral[place["criterion"], place["metric"]])
        if summary.get("standard_error", 0) > 0:
            summary["ratio"] = summary["sd"] / summary["standard_error"]
        rows.append(place | summary)
    return SEED_LISTS.finish(rows)


def spread(scores: pd.DataFrame, concepts: list[list[Any]]) -> pd.DataFrame:
    """Return the scores of concepts' lists, one row per list, with the added columns concept, part and list."""
    import pandas as pd

    lists = [
        (criterion, concept, part, metric, name, query)
        for criterion, concept, part, metric, queries in concepts
        for name, query in queries
    ]
    list_queries = pd.DataFrame(lists, columns=["criterion", "concept", "part", "metric", "list", "query"])
    return list_queries.merge(scores, on=["criterion", "metric", "query"], how="inner")


def concepts(study: Planned) -> Iterator[list[Any]]:
    """Yield criterion, concept, part, metric and [list, (sub-)query] of every concept of a study.

    A metric may divide a query into sub-queries. Each of them is then compared with the matching sub-query of the
    other lists; a part is named after the sets that all lists have.
    """
    for criterion, entry in study.config.criteria.items():
        for concept, lists in (entry.seed_lists or {}).items():
            queries = [study.queries[key] for key in lists.values()]
            names = [{s.name for s in (*q.target_sets, *q.attribute_sets)} for q in queries]
            common = set.intersection(*names)
            for metric in study.metrics(criterion):
                template = study.metric(criterion, metric).template
                if not all(query.fits(template) for query in queries):
                    continue
                for subqueries in zip(*(query.subqueries(template) for query in queries), strict=True):
                    sets = (*subqueries[0].target_sets, *subqueries[0].attribute_sets)
                    part = ", ".join(s.name for s in sets if s.name in common)
                    yield [
                        criterion,
                        concept,
                        part,
                        metric,
                        [[name, query.name] for name, query in zip(lists, subqueries, strict=True)],
                    ]


SEED_LISTS = Table(
    "seed_lists",
    "How scores vary over word lists for the same concept. One row per concept, metric and model.",
    (
        CRITERION,
        Column("concept", "the concept's name in the config"),
        Column("part", "the other sets of the query, the same for all lists"),
        METRIC,
        MODEL,
        DEBIAS,
        *spreads.columns("list", "lists"),
        Column(
            "ratio",
            "sd divided by standard_error. Above 1, lists differ more than random draws of words for one list "
            "would",
            "number",
            range=(0, inf),
        ),
    ),
    reads=("scores", "intervals"),
    when=lambda study: any(concepts(study)),
    facts=("neutral",),
    spec=lambda study: {"concepts": list(concepts(study))},
    make=make,
)
TABLES = (SEED_LISTS,)

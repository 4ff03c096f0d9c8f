"""Last columns of tables: query ids for tables with queries, and model labels for tables with models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..queries.query import Query
from .column import Column

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Cell, Planned

# Key in a table's spec of the values that these columns depend on.
SPEC = "ends"
QUERY_ID = Column("query_id", "the query's key in the config: `queries/<query_id>.json` has its words")
PARENT_QUERY_ID = Column(
    "parent_query_id", "the same key if `query` is one of the query's sub-queries; empty for the whole query"
)
MODEL_LABEL = Column("model_label", "what the config calls the model")
# Map a column to the last columns of a table that has it.
ENDS = {"query": (QUERY_ID, PARENT_QUERY_ID), "model": (MODEL_LABEL,)}
# Columns that tell the rows of two queries apart.
KEYS = ("criterion", "metric", "query")


def ends_of(columns: Iterable[Column]) -> tuple[Column, ...]:
    """Return the last columns of a table with these columns, without columns that it already has."""
    names = {column.name for column in columns}
    ends = [end for name, of_name in ENDS.items() if name in names for end in of_name]
    return tuple(end for end in ends if end.name not in names)


def spec_of(ends: Iterable[Column], study: Planned, cells: Iterable[Cell]) -> dict[str, Any]:
    """Return the JSON-compatible values that these columns depend on, in a table of some cells."""
    spec: dict[str, Any] = {}
    if {QUERY_ID, PARENT_QUERY_ID} & set(ends):
        queries_of_metrics: dict[tuple[str, str], dict[str, None]] = {}
        for cell in cells:
            queries_of_metrics.setdefault((cell.criterion, cell.metric), {})[cell.query] = None
        spec["asked"] = []
        for place, ids in sorted(queries_of_metrics.items()):
            template = study.metric(*place).template
            names = [part.name for key in ids for part in study.queries[key].subqueries(template)]
            # The order of the config only matters if queries share a sub-query.
            keys = sorted(ids) if len(set(names)) == len(names) else [*ids]
            spec["asked"].append([*place, list(template), keys])
        # A sub-query's name consists of its sets' names.
        queries = {key: study.queries[key] for ids in queries_of_metrics.values() for key in ids}
        spec["queries"] = {
            key: [query.name, query.target_sets_names, query.attribute_sets_names]
            for key, query in queries.items()
        }
    if MODEL_LABEL in ends:
        spec["labels"] = {key: study.config.models[key].label for key in study.models}
    return {SPEC: spec} if spec else {}


def with_ends(table: pd.DataFrame, ends: Iterable[Column], spec: Mapping[str, Any]) -> pd.DataFrame:
    """Add these columns to the table, from the spec of `spec_of`; they are empty for rows that the spec lacks."""
    ends, ends_spec = list(ends), spec.get(SPEC, {})
    if {QUERY_ID, PARENT_QUERY_ID} & set(ends):
        keys = [name for name in KEYS if name in table]
        ids = _ids(ends_spec.get("asked", []), ends_spec.get("queries", {}), keys)
        of_rows = [ids.get(place, ("", "")) for place in table[keys].itertuples(index=False, name=None)]
    for part, end in enumerate((QUERY_ID, PARENT_QUERY_ID)):
        if end in ends:
            table[end.name] = [of_row[part] for of_row in of_rows]
    if MODEL_LABEL in ends:
        labels = ends_spec.get("labels", {})
        table[MODEL_LABEL.name] = [labels.get(model, "") for model in table["model"]]
    return table


def _ids(
    queries_of_metrics: Iterable[tuple[str, str, list, list[str]]],
    queries: Mapping[str, tuple],
    columns: Iterable[str],
) -> dict[tuple[str, ...], tuple[str, str]]:
    """Return both ids, by these columns.

    As in the scores, a sub-query of several queries has the ids of the first cell.
    """
    columns = list(columns)
    ids: dict[tuple[str, ...], tuple[str, str]] = {}
    wholes: dict[tuple[str, ...], tuple[str, str]] = {}
    for criterion, metric, template, keys in queries_of_metrics:
        place = {"criterion": criterion, "metric": metric}
        for key in keys:
            name, *sides = queries[key]
            # Only names count here, so that any word serves.
            query = Query(*({of_set: ["-"] for of_set in side} for side in sides), name=name)
            for part in query.subqueries(tuple(template)):
                of_part = place | {"query": part.name}
                parent = "" if part is query else key
                ids.setdefault(tuple(of_part[column] for column in columns), (key, parent))
            # Add the row of a cell as a whole, for every template of a metric.
            of_whole = place | {"query": name}
            wholes.setdefault(tuple(of_whole[column] for column in columns), (key, ""))
    return wholes | ids

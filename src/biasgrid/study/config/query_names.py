"""Unique names of queries: tables identify rows by name, so queries with different words need different names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...core.errors import BiasgridError, quote
from ...queries.query import Arity, Query, marked

Template = tuple[Arity, Arity]


def with_different_names(
    queries: Mapping[str, Query], templates: Iterable[Template], named: Iterable[str]
) -> dict[str, Query]:
    """Return the queries of a criterion by id, with the id added to names that queries with different words share.

    Parameters
    ----------
    queries
        The queries by id.
    templates
        Templates of the metrics that measure them, because sub-queries also have names.
    named
        Ids of queries with a name in the config, which is kept.
    """
    shared: set[str] = set()
    for template in set(templates):
        by_name: dict[str, dict[Query, list[str]]] = {}
        for key, query in queries.items():
            for part in query.subqueries(template) if query.fits(template) else ():
                by_name.setdefault(part.name, {}).setdefault(part, []).append(key)
        shared |= {
            key for parts in by_name.values() if len(parts) > 1 for keys in parts.values() for key in keys
        }
    shared.difference_update(named)
    return {key: marked(query, key) if key in shared else query for key, query in queries.items()}


def check_subquery_names(queries: Mapping[str, Query], template: Template, where: str) -> None:
    """Raise BiasgridError if two different sub-queries have the same name in tables and figures.

    `queries` are by id. The message begins with `where`.
    """
    by_name: dict[str, tuple[str, Query]] = {}
    for key, query in queries.items():
        for sub in query.subqueries(template):
            other_key, other = by_name.setdefault(sub.name, (key, sub))
            if other != sub:
                are_whole = sub is query and other is queries[other_key]
                way_out = "give one of them another name, or " if are_whole else "give "
                raise BiasgridError(
                    f"{where}: the queries {quote(other_key)} and {quote(key)} are both named {quote(sub.name)}, and "
                    f"their words differ; {way_out}their sets different names"
                )

"""Names of queries: tables tell rows by them, so two queries whose words differ need different ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..errors import BiasgridError, quote
from ..query import Arity, Query, marked

Template = tuple[Arity, Arity]


def with_different_names(
    queries: Mapping[str, Query], templates: Iterable[Template], named: Iterable[str]
) -> dict[str, Query]:
    """Return the queries of a criterion by id, with the id in the names of those that share one with other words.

    Parameters
    ----------
    queries
        The queries by id.
    templates
        Templates of the metrics that measure them: sub-queries have names, too.
    named
        Ids of queries whose names the config gives. These stay as they are.
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
    """Raise BiasgridError, which begins with `where`, for two sub-queries of one name that differ: tables and figures
    name them alike. `queries` are by id."""
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

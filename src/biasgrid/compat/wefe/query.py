"""WEFE's queries."""

from __future__ import annotations

from typing import Any

from ...core.errors import ArgumentTypeError, quote
from ...queries import query as queries


class Query(queries.Query):
    """Target sets and attribute sets of words, with their names."""

    @property
    def query_name(self) -> str:
        return self.name

    def dict(self) -> dict[str, Any]:
        return {
            "target_sets": [list(s) for s in self.target_sets],
            "attribute_sets": [list(s) for s in self.attribute_sets],
            "target_sets_names": self.target_sets_names,
            "attribute_sets_names": self.attribute_sets_names,
            "query_name": self.name,
            "template": self.template,
        }

    def get_subqueries(self, new_template: tuple[Any, Any]) -> list[Query]:
        return [Query.from_dict(query.to_dict()) for query in self.subqueries(new_template)]

    def __repr__(self) -> str:
        targets, attributes = ([list(s) for s in sets] for sets in (self.target_sets, self.attribute_sets))
        return f"<Query: {self.name}\n- Target sets: {targets}\n- Attribute sets:{attributes}>"


def check_query(query: object) -> None:
    """Raise ArgumentTypeError unless the argument is a query."""
    if not isinstance(query, queries.Query):
        raise ArgumentTypeError(
            f"query: {quote(query)} is not a Query: Query(target_sets, attribute_sets) makes one"
        )

"""Queries of published numbers, identified by their words, whatever the sets are called."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.configs import read_json
from ...core.errors import BiasgridError
from ...queries.query import Query
from ...queries.word_set import first_words

FILE = "published_queries.json"  # in the folder of the files of numbers whose queries it lists
Queries = Mapping[str, str]  # key of a query -> `words_digest`


def words_digest(query: Query) -> str:
    """Return a digest of a query's words, their counts, and the order of words and sets."""
    sides: list[Any] = [
        [list(word_set.words) for word_set in side] for side in (query.target_sets, query.attribute_sets)
    ]
    is_repeated = any(len(set(words)) < len(words) for side in sides for words in side)
    counted = [query.repetitions] if is_repeated and query.repetitions == "count" else []
    return hashlib.sha256(json.dumps(sides + counted).encode()).hexdigest()[:16]


def read_queries(numbers: Path) -> dict[str, dict[str, str]]:
    """Return the queries of the published numbers in a file, by criterion; empty if no file lists them.

    Raises BiasgridError for a file of another form.
    """
    path = numbers.with_name(FILE)
    if not path.is_file():
        return {}
    queries = read_json(path)
    if not isinstance(queries, dict) or not all(isinstance(keys, dict) for keys in queries.values()):
        raise BiasgridError(f"{path}: expected an object: criterion -> query -> digest of its words")
    return queries


def difference(ours: Queries, published: Queries) -> str:
    """Return how the study's queries differ from the published ones, or "" if they are the same under any keys."""
    added, missing = _queries_not_in(ours, published), _queries_not_in(published, ours)
    changed = [key for key in added if key in missing]
    parts = {
        "ours has other words in": changed,
        "ours is also over": [key for key in added if key not in changed],
        "ours is not over": [key for key in missing if key not in changed],
    }
    return "; ".join(f"{what} {first_words(keys)}" for what, keys in parts.items() if keys)


def _queries_not_in(queries: Queries, others: Queries) -> list[str]:
    """Return the queries whose words none of the others has."""
    left = Counter(others.values())
    lacking = []
    for key, digest in queries.items():
        left[digest] -= 1
        if left[digest] < 0:
            lacking.append(key)
    return lacking

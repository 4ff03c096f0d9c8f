"""WEAT, its effect size and RND of a study, computed again from the vectors that were written into the archives.

Nothing of biasgrid computes here; of the study only its word lists are taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

LOST = 0.2  # a set that lacks a larger share of its words has no vectors


def check(
    scores: pd.DataFrame, queries: Mapping[str, Any], vectors: Mapping[str, Mapping]
) -> tuple[int, float, list]:
    """How many scores of untouched models were compared, the largest difference, and those that are wrong.

    Parameters
    ----------
    scores
        The study's scores.csv.
    queries
        The study's queries by id.
    vectors
        Model -> word -> vector, (dimensions,).
    """
    expected = {
        (metric, model, name): value
        for model, of_model in vectors.items()
        for query in queries.values()
        for metric, name, value in _values(query, of_model)
    }
    rows = scores[(scores["debias"] == "none") & scores["metric"].isin(["weat", "weat_es", "rnd"])]
    compared, worst, wrong, seen = 0, 0.0, [], set()
    for row in rows.itertuples():
        place = (row.metric, row.model, row.query)
        seen.add(place)
        if row.status == "not_downloaded":
            continue
        value = expected.get(place)
        compared += 1
        if value is None or np.isnan(value) != np.isnan(row.value) or abs(value - row.value) > 1e-9:
            wrong.append((*place, row.value, value))
        elif not np.isnan(value):
            worst = max(worst, abs(value - row.value))
    wrong += [(*place, None, expected[place]) for place in expected.keys() - seen]
    return compared, worst, wrong


def _values(query: Any, vectors: Mapping[str, np.ndarray]):
    """Metric, name and value of each score of a query with two target and two attribute sets."""
    targets = [_found(words, vectors) for words in query.target_sets]
    attributes = [_found(words, vectors) for words in query.attribute_sets]
    (x, y), lost = targets, np.nan
    if any(part is None for part in (*targets, *attributes)):
        yield from (("weat", query.name, lost), ("weat_es", query.name, lost))
    else:
        a, b = attributes
        of_x, of_y = (_cosines(t, a).mean(axis=1) - _cosines(t, b).mean(axis=1) for t in targets)
        yield "weat", query.name, of_x.sum() - of_y.sum()
        yield "weat_es", query.name, (of_x.mean() - of_y.mean()) / np.concatenate([of_x, of_y]).std()
    names = " and ".join(words.name for words in query.target_sets)
    for words, part in zip(query.attribute_sets, attributes, strict=True):
        if x is None or y is None or part is None:
            value = lost
        else:
            to_x, to_y = (np.sqrt(((part - t.mean(axis=0)) ** 2).sum(axis=1)) for t in targets)
            value = (to_x - to_y).mean()
        yield "rnd", f"{names} wrt {words.name}", value


def _found(word_set: Any, vectors: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """The vectors of a set's words, as written or else in lower case; None where too many are lost."""
    words = list(dict.fromkeys(word_set.words))
    keys = [word if word in vectors else word.lower() for word in words]
    found = [vectors[key] for key in keys if key in vectors]
    if len(words) - len(found) > LOST * len(words):
        return None
    return np.stack(found).astype(np.float64)


def _cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = (part / np.sqrt((part**2).sum(axis=1, keepdims=True)) for part in (a, b))
    return a @ b.T

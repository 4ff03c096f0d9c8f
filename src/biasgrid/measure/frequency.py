"""Frequencies of the words of a model's queries in the model's corpus: one file per model.

Frequency is not bias, but affects measures of bias: `tables.frequency` shows, for every set of words, how frequent
its words are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.files import write_text
from ..core.schema import as_finite, dumps, with_version
from ..models.appended_vectors import BEHIND
from ..models.frequencies import Frequency
from ..models.words import WordOptions, entries_and_rows
from .cell import model_of, query_of


def write(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write the frequencies of the words of a model's queries.

    Parameters
    ----------
    inputs
        "queries": their files; "store": a `StoreOf`.
    spec
        "model": its key. "queries": for each file [criterion, query's id, options of the look-up]. "source" and
        "language": see `Frequency.of`.
    """
    model = model_of(inputs["store"])
    frequency = Frequency.of(model, spec.get("source"), spec.get("language"))
    look_ups = [
        (criterion, query_id, s.name, *entries_and_rows(s.words, model, WordOptions(**options)))
        for file, (criterion, query_id, options) in zip(inputs["queries"], spec["queries"], strict=True)
        for s in _sets(file)
    ]
    entries = {
        entry: row for *_, keys, rows in look_ups for entry, row in zip(keys, rows.tolist(), strict=True)
    }
    rows = np.array(list(entries.values()), dtype=np.int64)
    # Sort the counts once, not once per set.
    ranks = dict(zip(entries, frequency.ranks(rows), strict=True))
    logs = dict(zip(entries, frequency.logarithms(list(entries), rows), strict=True))
    sets = [
        {"criterion": criterion, "query": query_id, "set": name}
        | frequency.of_set(of_set, *(np.array([numbers[key] for key in keys]) for numbers in (ranks, logs)))
        for criterion, query_id, name, keys, of_set in look_ups
    ]
    record = {
        "model": spec["model"],
        "source": frequency.source,
        "tokens": frequency.tokens,
        "sets": sets,
        "words": _words(entries, frequency.counts, ranks, logs),
    }
    write_text(output, dumps(with_version(as_finite(record)), separators=(",", ":")) + "\n")


def _sets(file: Path) -> Iterable[Any]:
    query = query_of(file)
    return [*query.target_sets, *query.attribute_sets]


def _words(
    entries: Mapping[str, int],
    counts: NDArray[np.int64] | None,
    ranks: Mapping[str, float],
    logs: Mapping[str, float],
) -> dict[str, dict[str, float | None]]:
    """Return for each vocabulary entry its count, its rank and the logarithm of its frequency; None: unknown."""
    return {
        entry: {
            "count": None if counts is None or row >= BEHIND else int(counts[row]),
            "rank": int(ranks[entry]) if ranks[entry] == ranks[entry] else None,
            "log_frequency": float(logs[entry]),
        }
        for entry, row in sorted(entries.items())
    }

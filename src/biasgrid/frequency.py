"""How frequent the words of a model's queries are in the corpus that the model is of: a file per model.

Frequency is not bias, but measures of bias see it: `tables.frequency` says, for every set of words, how frequent its
words are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cell import model_of, query_of
from .files import write_text
from .measure import as_finite, dumps
from .schema import stamped
from .words import WordOptions, entries_and_rows

COUNTS, RANK = "counts", "rank"  # what frequencies are known by


@dataclass(frozen=True)
class Frequency:
    """The frequencies of a model's words, by row.

    counts  int64 (rows,), how often each word occurs in the corpus; None where only their order is known
    tokens  how many tokens the corpus has; None where that is not known
    """

    counts: NDArray[np.int64] | None = None
    tokens: int | None = None

    @classmethod
    def of(cls, model: Any) -> Frequency:
        """Those of a model of `Study.counted`: by its counts, else by the order of its words."""
        counts = getattr(model, "counts", None)
        if counts is None:
            return cls()
        return cls(counts, getattr(model, "tokens", None) or model.metadata.get("tokens"))

    @property
    def source(self) -> str:
        """What frequencies are known by."""
        return RANK if self.counts is None else COUNTS

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rank of each row: 1, and as many more as words are more frequent; by the order of rows from 1."""
        if self.counts is None:
            return rows + 1
        rising = np.sort(self.counts)
        return 1 + len(rising) - np.searchsorted(rising, self.counts[rows], side="right")

    def of_set(self, rows: NDArray[np.int64], ranks: NDArray[np.int64]) -> dict[str, Any]:
        """What the table says of a set's words; NaN are numbers of no words, and such as are not known."""
        nothing = np.array([np.nan])
        known = self.counts is not None and len(rows) > 0
        counts = self.counts[rows] if known else nothing
        ranks = ranks if len(ranks) else nothing
        return {
            "words": len(rows),
            "mean": float(np.mean(counts)),
            "variance": float(np.var(counts)),
            "mean_rank": float(np.mean(ranks)),
            "median_rank": float(np.median(ranks)),
            "share": float(np.sum(counts) / self.tokens) if self.tokens else np.nan,
        }


def write(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path) -> None:
    """Write how frequent the words of a model's queries are.

    Parameters
    ----------
    inputs
        "queries": their files; "store": a `StoreOf`.
    spec
        "model": its key; "queries": of each file [criterion, query's id, options of the look-up].
    """
    model = model_of(inputs["store"])
    frequency = Frequency.of(model)
    found = [
        (criterion, query_id, s.name, *entries_and_rows(s.words, model, WordOptions(**options)))
        for file, (criterion, query_id, options) in zip(inputs["queries"], spec["queries"], strict=True)
        for s in _sets(file)
    ]
    entries = {entry: row for *_, keys, rows in found for entry, row in zip(keys, rows.tolist(), strict=True)}
    rows = np.array(list(entries.values()), dtype=np.int64)
    # counts are sorted once, not once per set
    ranks = dict(zip(rows.tolist(), frequency.ranks(rows).tolist(), strict=True))
    sets = [
        {"criterion": criterion, "query": query_id, "set": name}
        | frequency.of_set(of_set, np.array([ranks[row] for row in of_set.tolist()]))
        for criterion, query_id, name, _, of_set in found
    ]
    record = {
        "model": spec["model"],
        "source": frequency.source,
        "tokens": frequency.tokens,
        "sets": sets,
        "words": _words(entries, frequency, ranks),
    }
    write_text(output, dumps(stamped(as_finite(record)), separators=(",", ":")) + "\n")


def _sets(file: Path) -> Iterable[Any]:
    query = query_of(file)
    return [*query.target_sets, *query.attribute_sets]


def _words(
    entries: Mapping[str, int], frequency: Frequency, ranks: Mapping[int, int]
) -> dict[str, dict[str, int | None]]:
    """Vocabulary entry -> how often it occurs, and its rank."""
    counts = frequency.counts
    return {
        entry: {"count": None if counts is None else int(counts[row]), "rank": ranks[row]}
        for entry, row in sorted(entries.items())
    }

"""How frequent the words of a model are in the corpus that the model is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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

    def logarithms(self, entries: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How frequent vocabulary entries (found in `rows`) are, as natural logarithms: of occurrences per million
        tokens, or of 1 / rank, which differs from that by about a constant (Zipf's law). Differences of two say how
        many times as frequent one word is as another."""
        if self.counts is None:
            return -np.log(rows + 1.0)
        tokens = self.tokens or int(self.counts.sum())
        # a word that a model has without having counted it, such as one of a file's own, has no frequency
        with np.errstate(divide="ignore"):
            logs = np.log(self.counts[rows] * (1e6 / tokens))
        return np.where(np.isfinite(logs), logs, np.nan)

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

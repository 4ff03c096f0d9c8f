"""How frequent the words of a model are: in the corpus that it was trained on, or in other texts of its language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BiasgridError, unknown_name
from ..extras import require
from .extended import BEHIND

COUNTS, RANK, WORDFREQ = "counts", "rank", "wordfreq"  # what frequencies are known by
ENGLISH = "en"  # the language of a model whose config names none


@dataclass(frozen=True)
class Frequency:
    """The frequencies of a model's words, by row.

    counts    int64 (rows,), how often each word occurs in the corpus; None where that is not known
    tokens    how many tokens the corpus has; None where that is not known
    language  without counts, the language in which the package wordfreq looks words up; empty: the order of rows
              gives the frequencies
    prefix    what stands before each word in the vocabulary
    """

    counts: NDArray[np.int64] | None = None
    tokens: int | None = None
    language: str = ""
    prefix: str = ""

    @classmethod
    def of(cls, model: Any, source: str | None = None, language: str | None = None) -> Frequency:
        """The frequencies of a model's words.

        Parameters
        ----------
        model
            An open model.
        source
            Where a model without counts has its frequencies from, as `Study.frequency_source` has it: "wordfreq", a
            proxy, or else the order of its words.
        language
            The model's, such as "fr", for "wordfreq"; left out: English.

        Raises
        ------
        BiasgridError
            One sentence, where the package wordfreq, or its list of the language, is missing.
        """
        if (counts := counts_of(model)) is not None:
            return cls(counts, getattr(model, "tokens", None) or model.metadata.get("tokens"))
        if source != WORDFREQ:
            return cls()
        language = language or ENGLISH
        _occurrences("", language)
        return cls(language=language, prefix=model.vocab_prefix)

    def logarithms(self, entries: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How frequent vocabulary entries (found in `rows`) are, as natural logarithms: of occurrences per million
        tokens, or of 1 / rank, which differs from that by about a constant (Zipf's law). Differences of two say how
        many times as frequent one word is as another. NaN of a word whose frequency is not known."""
        if (is_made := rows >= BEHIND).any():
            logs = np.full(len(rows), np.nan)
            logs[~is_made] = self.logarithms(
                [entry for entry, made in zip(entries, is_made, strict=True) if not made], rows[~is_made]
            )
            return logs
        if self.language:
            shares = [_occurrences(entry.removeprefix(self.prefix), self.language) for entry in entries]
            per_million: NDArray[np.floating] = np.array(shares, dtype=float) * 1e6
        elif self.counts is None:
            return -np.log(rows + 1.0)
        else:
            per_million = self.counts[rows] * (1e6 / (self.tokens or int(self.counts.sum())))
        # no frequency: a word that has a vector but no count, and a word that wordfreq does not list
        with np.errstate(divide="ignore"):
            logs = np.log(per_million)
        return np.where(np.isfinite(logs), logs, np.nan)

    @property
    def source(self) -> str:
        """Where the frequencies come from: `COUNTS`, `RANK` or `WORDFREQ`."""
        return WORDFREQ if self.language else RANK if self.counts is None else COUNTS

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.floating]:
        """The rank of each row: 1 plus the number of more frequent words; by the order of rows from 1. NaN
        where neither counts nor the order are known, and of a word that is not in the vocabulary."""
        ranks = np.full(len(rows), np.nan)
        is_known = rows < BEHIND
        if self.language:
            return ranks
        if self.counts is None:
            ranks[is_known] = rows[is_known] + 1.0
        else:
            counts, sorted_counts = self.counts[rows[is_known]], np.sort(self.counts)
            ranks[is_known] = 1.0 + len(sorted_counts) - np.searchsorted(sorted_counts, counts, side="right")
        return ranks

    def of_set(
        self, rows: NDArray[np.int64], ranks: NDArray[np.float64], logs: NDArray[np.float64]
    ) -> dict[str, Any]:
        """A set's entries of the frequency table; NaN where no word has a known number."""
        missing = np.array([np.nan])
        is_known = rows < BEHIND
        counts = missing if self.counts is None or not is_known.any() else self.counts[rows[is_known]]
        ranks = ranks[is_known] if is_known.any() else missing
        known_logs = logs[~np.isnan(logs)]
        return {
            "words": len(rows),
            "mean": float(np.mean(counts)),
            "variance": float(np.var(counts)),
            "mean_rank": float(np.mean(ranks)),
            "median_rank": float(np.median(ranks)),
            "share": float(np.sum(counts) / self.tokens) if self.tokens else np.nan,
            "known": len(known_logs),
            "mean_log": float(np.mean(known_logs)) if len(known_logs) else np.nan,
            "variance_log": float(np.var(known_logs)) if len(known_logs) else np.nan,
        }


def counts_of(model: Any) -> NDArray[np.int64] | None:
    """How often the word of each row of an open model is in its corpus; None where that is not known, and where all
    words have the same count: older versions stored that for files without counts."""
    counts: NDArray[np.int64] | None = getattr(model, "counts", None)
    return None if counts is None or (len(counts) > 1 and counts.min() == counts.max()) else counts


def most_frequent(number: int, language: str) -> list[str]:
    """The most frequent words of a language, as the package wordfreq has them; only words of letters.

    Raises BiasgridError where the package, or its list of the language, is missing.
    """
    if not number:
        return []
    _occurrences("", language)
    import wordfreq

    words = wordfreq.iter_wordlist(language.partition("-")[0])
    return list(islice((word for word in words if word.isalpha()), number))


@cache
def _languages() -> frozenset[str]:
    """The languages of wordfreq, which lists the files of its folder each time that it is asked."""
    import wordfreq

    return frozenset(wordfreq.available_languages())


def _occurrences(word: str, language: str) -> float:
    """The share of the tokens of a language's texts that are a word, as the package wordfreq has it; 0: unknown."""
    require("wordfreq", "frequencies: wordfreq")
    # imported late: it is optional, and its lists take a second
    import wordfreq

    name = language.partition("-")[0]
    # for another language it would take the nearest that it has: English for Klingon
    if name not in _languages():
        raise BiasgridError(f"frequencies: wordfreq: {unknown_name('language', name, sorted(_languages()))}")
    try:
        return float(wordfreq.word_frequency(word, name))
    except ImportError as error:  # Chinese, Japanese and Korean need further packages
        raise BiasgridError(f"frequencies: wordfreq: language {name}: {error}") from None

"""Frequencies of a model's words, in its training corpus or in other texts of its language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BiasgridError, unknown_name
from ..core.extras import require
from .appended_vectors import BEHIND

COUNTS, RANK, WORDFREQ = "counts", "rank", "wordfreq"  # sources of frequencies
ENGLISH = "en"  # the default language of a model


@dataclass(frozen=True)
class Frequency:
    """The frequencies of a model's words, by row.

    Attributes
    ----------
    counts
        How often each word occurs in the corpus, int64 (rows,); None if this is not known.
    tokens
        The number of tokens in the corpus; None if it is not known.
    language
        Without counts, the language in which the package wordfreq looks words up. If it is empty, the order
        of rows gives the frequencies.
    prefix
        The text that precedes each word in the vocabulary.
    """

    counts: NDArray[np.int64] | None = None
    tokens: int | None = None
    language: str = ""
    prefix: str = ""

    @classmethod
    def of(cls, model: Any, source: str | None = None, language: str | None = None) -> Frequency:
        """Return the frequencies of a model's words.

        Parameters
        ----------
        model
            An open model.
        source
            The source of frequencies for a model without counts, as in `Study.frequency_source`: "wordfreq",
            a proxy, or else the order of its words.
        language
            The model's language for "wordfreq", such as "fr"; English by default.

        Raises
        ------
        BiasgridError
            The package wordfreq, or its list of the language, is missing.
        """
        if (counts := counts_of(model)) is not None:
            return cls(counts, getattr(model, "tokens", None) or model.metadata.get("tokens"))
        if source != WORDFREQ:
            return cls()
        language = language or ENGLISH
        _occurrences("", language)
        return cls(language=language, prefix=model.vocab_prefix)

    def logarithms(self, entries: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the natural logarithms of the frequencies of vocabulary entries, found in `rows`.

        The frequency is the number of occurrences per million tokens, or 1 / rank; their logarithms differ by
        about a constant (Zipf's law). The difference of two logarithms gives the ratio of the words'
        frequencies. The result is NaN for a word of unknown frequency.
        """
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
        # The frequency is unknown for a word with a vector but without a count, and for one that wordfreq lacks.
        with np.errstate(divide="ignore"):
            logs = np.log(per_million)
        return np.where(np.isfinite(logs), logs, np.nan)

    @property
    def source(self) -> str:
        """Return the source of the frequencies: `COUNTS`, `RANK` or `WORDFREQ`."""
        return WORDFREQ if self.language else RANK if self.counts is None else COUNTS

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.floating]:
        """Return the rank of each row: 1 plus the number of more frequent words, or else its position, from 1 on.

        It is NaN if neither counts nor the order are known, and for a word that is not in the vocabulary.
        """
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
        """Return a word set's entries of the frequency table; NaN if the number is not known for any word."""
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
    """Return how often each row's word occurs in an open model's corpus; None if this is not known.

    It is also None if all words have the same count, because older versions stored equal counts for files
    without counts.
    """
    counts: NDArray[np.int64] | None = getattr(model, "counts", None)
    return None if counts is None or (len(counts) > 1 and counts.min() == counts.max()) else counts


def most_frequent(number: int, language: str) -> list[str]:
    """Return the most frequent words of a language according to the package wordfreq; only words of letters.

    Raise BiasgridError if the package, or its list of the language, is missing.
    """
    if not number:
        return []
    _occurrences("", language)
    import wordfreq

    words = wordfreq.iter_wordlist(language.partition("-")[0])
    return list(islice((word for word in words if word.isalpha()), number))


@cache
def _languages() -> frozenset[str]:
    """Return the languages of wordfreq. The result is cached, as wordfreq lists its folder at each call."""
    import wordfreq

    return frozenset(wordfreq.available_languages())


def _occurrences(word: str, language: str) -> float:
    """Return a word's share of the tokens of a language's texts according to wordfreq; 0 for an unknown word."""
    require("wordfreq", "frequencies: wordfreq")
    # Imported late, as it is optional and its lists take a second to load.
    import wordfreq

    name = language.partition("-")[0]
    # For a language that it lacks, wordfreq would use the nearest one: English for Klingon.
    if name not in _languages():
        raise BiasgridError(f"frequencies: wordfreq: {unknown_name('language', name, sorted(_languages()))}")
    try:
        return float(wordfreq.word_frequency(word, name))
    except ImportError as error:  # Chinese, Japanese and Korean need further packages
        raise BiasgridError(f"frequencies: wordfreq: language {name}: {error}") from None

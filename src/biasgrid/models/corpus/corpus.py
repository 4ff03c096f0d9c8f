"""A counted corpus: a folder that opens at once, and from which only requested words' positions are read.

- vocabulary.sqlite: the words, in lower case, and their rows, by falling frequency.
- counts.npy: int64 (words,), how often each row's word occurs.
- places.npy: unsigned (tokens,), the positions of each word in the text, row after row.
- starts.npy: int64 (sentences,), the position in the text at which each sentence starts.
- model.json: description and origin of the corpus; written last.
"""

from __future__ import annotations

import html
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.errors import BiasgridError, InputError, not_allowed
from ...core.untrusted import read_npy
from ..cache_per_model import remember
from ..vocabulary import Vocabulary
from .cooccurrence import Cooccurrence, group_units

COUNTS, PLACES, STARTS, MODEL = "counts.npy", "places.npy", "starts.npy", "model.json"
REMEDY = "count the corpus again (in a study: snakemake stores)"


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """An opened corpus, made by `open`. Words are stored and looked up in lower case.

    Attributes
    ----------
    path
        The corpus' folder.
    name
        Its name, printed in tables.
    counts
        How often each row's word occurs, int64 (words,), falling.
    starts
        The position in the text of each sentence's first word, int64 (sentences,).
    metadata
        The contents of model.json.
    word_table
        The words and their rows.
    """

    path: Path
    name: str
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    metadata: dict[str, Any]
    word_table: Vocabulary
    _places: NDArray[Any]
    _keeper: object = None

    kind = "corpus"
    vocab_prefix = ""
    fold = staticmethod(str.lower)  # applied to each word before it is looked up

    @classmethod
    def open(cls, path: Path | str, name: str | None = None, keeper: object = None) -> Corpus:
        """Open a corpus without reading its words or positions.

        Parameters
        ----------
        path
            The corpus' folder.
        name
            The name of the corpus; None for the name that is stored with it.
        keeper
            An object that must live as long as the corpus, such as its temporary folder.

        Raises
        ------
        BiasgridError
            The folder is not a complete corpus.
        """
        path = Path(path)
        try:
            metadata = json.loads((path / MODEL).read_text(encoding="utf-8"))
            stored_name, words, tokens, sentences = (
                metadata[key] for key in ("name", "words", "tokens", "sentences")
            )
            counts, places, starts = (
                read_npy(path / file, memory_map=True) for file in (COUNTS, PLACES, STARTS)
            )
            if (len(counts), len(places), len(starts)) != (words, tokens, sentences) or not isinstance(
                stored_name, str
            ):
                raise BiasgridError(f"its files do not fit {MODEL}")
            word_table = Vocabulary(path, words, metadata, REMEDY)
        except (FileNotFoundError, NotADirectoryError) as error:
            missing = Path(error.filename).name
            raise BiasgridError(
                f"{path}: not a corpus, or one that was not finished: it has no {missing}"
            ) from None
        except (
            BiasgridError,
            OSError,
            ValueError,
            LookupError,
            TypeError,
            RecursionError,
            sqlite3.Error,
        ) as error:
            reason = str(error) if isinstance(error, BiasgridError) else repr(error)
            raise BiasgridError(f"{path}: not a whole corpus: {reason:.300}; {REMEDY}") from None
        return cls(path, name or stored_name, counts, starts, metadata, word_table, places, keeper)

    @property
    def tokens(self) -> int:
        """Return the number of words in the text."""
        return int(self.metadata["tokens"])

    @property
    def sentences(self) -> int:
        """Return the number of sentences."""
        return int(self.metadata["sentences"])

    @property
    def window(self) -> int | None:
        """Return the default number of words of a window in which co-occurrences are counted; None for sentences."""
        return self.metadata.get("window")

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """Return the row of each word as int64, -1 for words that the corpus lacks. The look-up is in lower
        case."""
        return self.word_table.find(words if isinstance(words, str) else list(map(self.fold, words)))

    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how often each of the words at `rows` (none is -1) occurs, as float64 (n, 1)."""
        return self.counts[rows].astype(np.float64)[:, None]

    def words(self) -> list[str]:
        """Return all words, by falling frequency."""
        return self.word_table.words()

    def places(self, row: int) -> NDArray[Any]:
        """Return the positions in the text, from 0, at which a row's word occurs, in rising order."""
        end = int(self._ends[row])
        return self._places[end - int(self.counts[row]) : end]

    def units(self, window: int | None = None) -> int:
        """Return the number of sentences, or of windows of this many words; the last window may be shorter."""
        return self.sentences if window is None else -(-self.tokens // window)

    def cooccurrence(self, words: Sequence[str], window: int | None = None) -> Cooccurrence:
        """Count the sentences or windows that contain each subset of the words.

        Parameters
        ----------
        words
            Words that the corpus has.
        window
            Count in consecutive windows of this many words, regardless of sentences; None for the corpus' own
            setting (`window`), or sentences.

        Raises
        ------
        BiasgridError
            The window is not allowed, or the corpus is a single sentence and no window is set.
        """
        check_window(window)
        window = window or self.window
        if window is None and self.sentences < 2:
            raise BiasgridError(
                f"{self.name}: the corpus is one sentence, in which all words stand together: count in windows "
                "(such as window: 10)"
            )
        return _count(self, tuple(words), window)

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum(self.counts)

    def __len__(self) -> int:
        """Return the number of distinct words."""
        return int(self.metadata["words"])

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.rows([word])[0] >= 0)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words())

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the corpus' path for pickling; unpickling opens the corpus again."""
        return Corpus.open, (self.path.absolute(), self.name)

    def under(self, transform: object) -> Any:
        """Raise InputError, as a corpus does not have vectors to transform."""
        raise InputError(f"{self.name}: is a corpus; a debias method changes vectors, of which it has none")

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}: {len(self):,} words, {self.tokens:,} tokens, {self.sentences:,} sentences)"

    def _repr_html_(self) -> str:
        facts = {
            "corpus": self.name,
            "words": f"{len(self):,}",
            "tokens": f"{self.tokens:,}",
            "sentences": f"{self.sentences:,}",
            "folder": str(self.path),
        }
        rows = (f"<tr><th>{name}</th><td>{html.escape(fact)}</td></tr>" for name, fact in facts.items())
        return f"<table>{''.join(rows)}</table>"


def check_window(window: object) -> None:
    """Raise BiasgridError unless a window is None or a whole number from 2 on."""
    if window is not None and (isinstance(window, bool) or not isinstance(window, int) or window < 2):
        raise BiasgridError(
            not_allowed("window", window, "whole numbers from 2 on, or nothing for sentences")
        )


# The counts are cached, as a value, its test and its interval need the same ones.
@remember(64)
def _count(corpus: Corpus, words: tuple[str, ...], window: int | None) -> Cooccurrence:
    units: list[NDArray[np.integer]] = []
    kind = np.int32 if corpus.units(window) < 2**31 else np.int64
    for row in corpus.rows(words):
        places = corpus.places(int(row))
        sentences = window is None
        word_units = (
            np.searchsorted(corpus.starts, places, side="right") - 1 if sentences else places // window
        )
        # Positions rise, and so do sentence numbers. A word counts once per sentence.
        units.append(word_units[np.diff(word_units.astype(np.int64), prepend=-1) > 0].astype(kind))
    return group_units(units, corpus.units(window))

"""A counted corpus: a folder that opens at once, and from which only the places of words in question are read.

- vocabulary.sqlite  the words, in lower case, and their rows, by falling frequency
- counts.npy         int64 (words,): how often the word of each row occurs
- places.npy         unsigned (tokens,): where in the text each word stands, those of the first row first
- starts.npy         int64 (sentences,): where in the text each sentence starts
- model.json         what the corpus is and where it is from; written last
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

from ...errors import BiasgridError, InputError, not_allowed
from ...untrusted import read_npy
from ..remember import remember
from ..vocabulary import Vocabulary
from .cooccurrence import Cooccurrence, group_units

COUNTS, PLACES, STARTS, MODEL = "counts.npy", "places.npy", "starts.npy", "model.json"
REMEDY = "count the corpus again (in a study: snakemake stores)"


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """An opened corpus; `open` makes it. Words are in lower case, and looked up in lower case.

    Attributes
    ----------
    path
        The corpus' folder.
    name
        Its name, as tables print it.
    counts
        How often the word of each row occurs, int64 (words,), falling.
    starts
        The number of the word in the text that each sentence starts with, int64 (sentences,).
    metadata
        model.json.
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
    fold = staticmethod(str.lower)  # what a word is looked up as

    @classmethod
    def open(cls, path: Path | str, name: str | None = None, keeper: object = None) -> Corpus:
        """Open a corpus without reading its words or places.

        Parameters
        ----------
        path
            The corpus' folder.
        name
            What to call it; None for the name that it was made with.
        keeper
            What must live as long as the corpus, such as its folder where that is a temporary one.

        Raises
        ------
        BiasgridError
            The folder is not a whole corpus.
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
        """How many words the text has."""
        return int(self.metadata["tokens"])

    @property
    def sentences(self) -> int:
        """How many sentences it has."""
        return int(self.metadata["sentences"])

    @property
    def window(self) -> int | None:
        """The words of a window in which co-occurrences are counted unless something else is asked for; None for
        sentences."""
        return self.metadata.get("window")

    def rows(self, words: Sequence[str]) -> NDArray[np.int64]:
        """The row of each word as int64, -1 where the corpus lacks it: words are looked up in lower case."""
        return self.word_table.find(words if isinstance(words, str) else list(map(self.fold, words)))

    def take(self, words: Sequence[str], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """How often each of the words occurs that were looked up (`rows`, none -1), as float64 (n, 1)."""
        return self.counts[rows].astype(np.float64)[:, None]

    def words(self) -> list[str]:
        """Every word, by falling frequency."""
        return self.word_table.words()

    def places(self, row: int) -> NDArray[Any]:
        """The numbers of the words in the text, from 0, at which the word of a row stands; rising."""
        end = int(self._ends[row])
        return self._places[end - int(self.counts[row]) : end]

    def units(self, window: int | None = None) -> int:
        """How many sentences there are, or windows of so many words, the last of which may be shorter."""
        return self.sentences if window is None else -(-self.tokens // window)

    def cooccurrence(self, words: Sequence[str], window: int | None = None) -> Cooccurrence:
        """In how many sentences, or windows, which of the words stand.

        Parameters
        ----------
        words
            Words that the corpus has.
        window
            Count in windows of so many words, one after the other, without regard to sentences; None for the corpus'
            own (`window`), or sentences.

        Raises
        ------
        BiasgridError
            A window that is not allowed; a corpus that is one single sentence, and no window.
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
        """Number of distinct words."""
        return int(self.metadata["words"])

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.rows([word])[0] >= 0)

    def __iter__(self) -> Iterator[str]:
        return iter(self.words())

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle is the path: what unpickles it opens the corpus again."""
        return Corpus.open, (self.path.absolute(), self.name)

    def under(self, transform: object) -> Any:
        """There are no vectors to transform. Raises InputError."""
        raise InputError(f"{self.name}: is a corpus; a debias method changes vectors, of which it has none")

    def __repr__(self) -> str:
        return f"Corpus({self.name!r}: {len(self):,} words, {self.tokens:,} tokens, {self.sentences:,} sentences)"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
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
    """Raises BiasgridError for what is no window: whole numbers from 2 on, and None."""
    if window is not None and (isinstance(window, bool) or not isinstance(window, int) or window < 2):
        raise BiasgridError(
            not_allowed("window", window, "whole numbers from 2 on, or nothing for sentences")
        )


# a value, its test and its interval need the same counts
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
        # places rise, and so do the sentences: a word counts once in each
        units.append(word_units[np.diff(word_units.astype(np.int64), prepend=-1) > 0].astype(kind))
    return group_units(units, corpus.units(window))

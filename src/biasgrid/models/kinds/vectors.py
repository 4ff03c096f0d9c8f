"""Word vectors, kept in a store."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ...core.validation import Strict, Whole, field
from ..model import Model
from ..store import EmbeddingStore
from ..subwords import NGRAMS, SubwordModel, Subwords
from .kind import VECTORS, Kind


class Section(Strict):
    """The keys that only a model of vectors has."""

    subwords: bool = field(
        "of fastText's .bin, gensim's FastText and spaCy's floret vectors: a word that is in the vocabulary in none "
        "of its forms has the vector of its n-grams, as fastText and spaCy give it",
        None,
    )
    limit: Whole = field(
        "of a file: read its first rows only, so many; in a file that is sorted by frequency they have the most "
        "frequent words",
        None,
        "rows",
        ge=1,
    )
    broken_words: Literal["replace", "refuse"] = field(
        "of a file: what to do about a word that is not UTF-8; left out, or `replace`: U+FFFD stands where it is "
        "broken, and the word is counted; `refuse`: the model is not read",
        None,
    )


def open_vectors(folder: Path, name: str | None = None) -> Model:
    """Open a store, with n-grams if it has them. Raise BiasgridError for a folder that is not a store."""
    store = EmbeddingStore.open(folder, name)
    return SubwordModel(store, Subwords.open(folder)) if NGRAMS in store.metadata["sha256"] else store


KINDS = (
    Kind(
        VECTORS,
        "One vector per word, from a file of vectors or trained here.",
        open=open_vectors,
        make="biasgrid.models.making:make_vectors",
        load="biasgrid.models.load_vectors:load",
        examine="biasgrid.models.readers:examine",
        section=Section,
        encoded=True,
        is_model=True,
        random_groups=True,
        first_metrics={"weat": {}, "rnd": {}, "ripa": {}},
        called="model of vectors",
    ),
)

"""Corpora: the text itself."""

from __future__ import annotations

from ..corpus.corpus import Corpus
from ..corpus.formats import FORMATS
from .kind import Kind

KINDS = (
    Kind(
        "corpus",
        "All places of each word in a text: co-occurrences in sentences or windows, and frequencies.",
        open=Corpus.open,
        make="biasgrid.embeddings.corpus.counting:make_corpus",
        load="biasgrid.embeddings.corpus.loading:load",
        formats=FORMATS,
        keys=("window",),
        counts=True,
        complete=True,
    ),
)

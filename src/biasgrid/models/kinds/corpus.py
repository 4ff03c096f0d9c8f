"""Corpora: the text itself."""

from __future__ import annotations

from ...core.validation import Strict, Whole, field
from ..corpus.corpus import Corpus
from ..corpus.formats import FORMATS
from .kind import Kind


class Section(Strict):
    """The keys that only a corpus has."""

    window: Whole = field(
        "of a corpus: count what stands together in windows of so many words, one after the other; left out: in "
        "sentences",
        None,
        "words",
        ge=2,
    )


KINDS = (
    Kind(
        "corpus",
        "Co-occurrences and frequencies of the words of a text.",
        open=Corpus.open,
        make="biasgrid.models.corpus.counting:make_corpus",
        load="biasgrid.models.corpus.loading:load",
        examine="biasgrid.models.corpus.loading:examine",
        formats=FORMATS,
        section=Section,
        text=True,
        counts=True,
        complete=True,
        first_metrics={"pmi": {"params": {"smoothing": 0.5}}, "pair_frequency": {}},
    ),
)

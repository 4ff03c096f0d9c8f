"""The formats of language models, and the class that reads each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from .sentence import Sentence

TRANSFORMERS, GGUF, SCORES = "transformers", "gguf", "scores"
SENTENCE_TRANSFORMERS = "sentence-transformers"  # for an encoder with a source of this type
ANSWERS = "answers"  # for a source of this type (`biasgrid score --export`), never for a config's file
FORMATS = {
    TRANSFORMERS: "a folder of a model in transformers' format (needs the extra `language`). It has config.json, "
    "model.safetensors and a tokenizer's files, of a masked or causal model, or an encoder",
    GGUF: "a causal model in a .gguf file, with its tokenizer (needs the extra `gguf`)",
    SCORES: "a table of sentences and their measured scores",
}
FORMER = {"bert": TRANSFORMERS, "llama-gguf": GGUF}  # former names of formats, which are still read
# The class that reads a folder of each format, as "module:class", so that torch is imported only to score a text.
NETWORKS = {
    TRANSFORMERS: "biasgrid.models.language.network:open_network",
    SCORES: "biasgrid.models.language.scores:Scores",
    ANSWERS: "biasgrid.models.language.answers:Answers",
}


class Network(Protocol):
    """A class that reads a model's folder and scores sentences."""

    def __init__(self, folder: Path, metadata: dict[str, Any]) -> None: ...

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """Return the natural logarithm of the probability of each sentence (sentences,), NaN if it does not have one.

        For a causal model it is the log-likelihood, for a masked one the pseudo-log-likelihood (Salazar et
        al. 2020).

        A sentence's score depends neither on the other sentences nor on the number of threads. On one machine
        and device it is the same to the last bit.
        """
        ...

    # A network may also have `why_unscored(sentence)`, which returns why a sentence does not have a score, and
    # `unknown(text)`, which returns the parts of a text that its tokenizer does not know.

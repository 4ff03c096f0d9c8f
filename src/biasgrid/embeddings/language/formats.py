"""The formats that language models are read from, and what reads each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from .sentence import Sentence

TRANSFORMERS, GGUF, SCORES = "transformers", "gguf", "scores"
SENTENCE_TRANSFORMERS = "sentence-transformers"  # of an encoder's source of this type
ANSWERS = (
    "answers"  # of a source of this type (`biasgrid score --export`), and of no file that a config names
)
FORMATS = {
    TRANSFORMERS: "a folder of a model in transformers' format (needs the extra `language`). It has config.json, "
    "model.safetensors and a tokenizer's files, of a masked or causal model, or an encoder",
    GGUF: "a causal model in a .gguf file, with its tokenizer (needs the extra `gguf`)",
    SCORES: "a table of sentences and their measured scores",
}
FORMER = {"bert": TRANSFORMERS, "llama-gguf": GGUF}  # former names of formats, which are still read
# what reads a folder of each, as "module:class", so that torch is imported when a text is scored, and not before
NETWORKS = {
    TRANSFORMERS: "biasgrid.embeddings.language.network:open_network",
    SCORES: "biasgrid.embeddings.language.scores:Scores",
    ANSWERS: "biasgrid.embeddings.language.answers:Answers",
}


class Network(Protocol):
    """What reads a model's folder and scores sentences."""

    def __init__(self, folder: Path, metadata: dict[str, Any]) -> None: ...

    def score(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """The natural logarithm of the probability of each (sentences,), NaN where there is none: the
        log-likelihood of a causal model, the pseudo-log-likelihood (Salazar et al. 2020) of a masked one.

        A sentence's score does not depend on the others that are passed with it, nor on the number of threads: on one
        machine and device it is the same to the last bit.
        """
        ...

    # A network may also have `why_unscored(sentence)`, which returns why a sentence has no score, and
    # `unknown(text)`, which returns the parts of a text that its tokenizer does not know.

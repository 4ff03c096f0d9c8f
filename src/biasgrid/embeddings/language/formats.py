"""The formats that language models are read from, and what reads each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from .sentence import Sentence

LLAMA, BERT, SCORES = "llama-gguf", "bert", "scores"
ANSWERS = "answers"  # of a source of this type (`biasgrid texts`), and of no file that a config names
FORMATS = {
    LLAMA: "a causal model of Llama's shape in a .gguf file, with its tokenizer (needs the extra `language`)",
    BERT: "a BERT encoder: model.safetensors, config.json and tokenizer.json; with its head for masked words it is a "
    "masked language model (needs the extra `language`)",
    SCORES: "a table of sentences and the scores that somebody measured",
}
# what reads a folder of each, as "module:class", so that torch is imported when a text is scored, and not before
NETWORKS = {
    LLAMA: "biasgrid.embeddings.language.llama:Llama",
    BERT: "biasgrid.embeddings.language.bert:Bert",
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
        machine it is the same to the last bit.
        """
        ...

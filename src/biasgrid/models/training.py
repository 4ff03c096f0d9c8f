"""Models that are trained here on a corpus: gensim's Word2Vec and FastText, our GloVe and PPMI; seeded, one worker.

The same corpus and parameters give the same bytes in every process of one machine with one version of gensim
and NumPy. Other processors and BLAS libraries add numbers in another order. There, the last bits of a sum,
and after a million steps the vectors, may differ.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.errors import BiasgridError
from ..core.extras import has, require
from .corpus.text import text_of
from .store import EmbeddingStore
from .store_writer import StoreWriter

# Raise this number if a change of this module changes vectors. Models that are trained here are then trained again.
VERSION = 1
SENTENCE = 10_000  # tokens, as in gensim's Text8Corpus; gensim trains on at most this many at once
BLOCK = 1 << 20
LONGEST = 8 << 20  # characters of a token

LARGEST = 2**31 - 1
SWITCH, COUNT = (int, 0, 1), (int, 1, LARGEST)

# gensim's names -> type, minimum, maximum. A study cannot set gensim's other parameters: files, callbacks, threads.
WORD2VEC: dict[str, tuple[Any, float, float]] = {
    "vector_size": COUNT,
    "window": COUNT,
    "min_count": COUNT,
    "epochs": COUNT,
    "seed": (int, 0, 2**32 - 1),
    "sg": SWITCH,
    "hs": SWITCH,
    "negative": (int, 0, LARGEST),
    "ns_exponent": (float, -10, 10),
    "cbow_mean": SWITCH,
    "alpha": (float, 0, 1),
    "min_alpha": (float, 0, 1),
    "sample": (float, 0, 1),
    "shrink_windows": (bool, False, True),
    "max_vocab_size": COUNT,
    "max_final_vocab": COUNT,
}
PARAMETERS: dict[str, dict[str, tuple[Any, float, float]]] = {
    "word2vec": WORD2VEC,
    "fasttext": WORD2VEC | {"min_n": COUNT, "max_n": COUNT, "bucket": COUNT},
    "glove": {name: WORD2VEC[name] for name in ("vector_size", "window", "min_count", "epochs", "seed")}
    | {"x_max": (float, 0.001, LARGEST), "alpha": (float, 0, 10), "learning_rate": (float, 0, 10)},
    "ppmi": {name: COUNT for name in ("vector_size", "window", "min_count")}
    | {"alpha": (float, 0, 1), "shift": (float, 1, LARGEST), "eig": (float, 0, 1)},
}
# Algorithms that train a language model; `PARAMETERS` has the algorithms that train vectors.
LANGUAGE_MODELS = {
    "bert": {"seed": WORD2VEC["seed"]}
    | {"epochs": (float, 0.0001, 1000), "learning_rate": (float, 0, 1), "masked": (float, 0.01, 0.9)}
    | {"batch_size": COUNT, "pieces": (int, 8, LARGEST), "held_out": COUNT},
}
# Algorithms of this package -> module.
MODULES = {"glove": "glove", "ppmi": "ppmi", "bert": "language.bert_training"}
KINDS = {int: "whole numbers", float: "numbers"}


def check_parameters(algorithm: str, params: Mapping[str, Any]) -> None:
    """Raise BiasgridError for a parameter that the algorithm does not have, or a value that is not allowed."""
    parameters = (PARAMETERS | LANGUAGE_MODELS)[algorithm]
    for name, value in params.items():
        if name == "workers":
            raise BiasgridError("workers: is always 1, for the same vectors each time; leave it out")
        if name not in parameters:
            raise BiasgridError(
                f"{algorithm} has no parameter {name!r}; allowed are: {', '.join(sorted(parameters))}"
            )
        kind, low, high = parameters[name]
        fits = type(value) is kind or (kind is float and type(value) is int)
        if not fits or not low <= value <= high:
            choices = "true and false" if kind is bool else f"{KINDS[kind]} from {low} to {high}"
            raise BiasgridError(f"{name}: {value!r} is not allowed; allowed are {choices}")
    if not params.get("hs") and params.get("negative", 5) == 0:
        raise BiasgridError("negative: 0 without hs: 1 trains nothing; allowed are whole numbers from 1")
    shortest, longest = params.get("min_n", 3), params.get("max_n", 6)
    if shortest > longest:
        raise BiasgridError(
            f"min_n: {shortest} is more than max_n, {longest}: no n-gram would have such a length"
        )


def version(algorithm: str) -> str:
    """Return the versions of code on which a model's vectors depend, apart from the corpus and the parameters."""
    if algorithm in MODULES:
        text = f"{algorithm} version {_module(algorithm).VERSION}"
        return f"{text} torch {_version('torch')}" if algorithm in LANGUAGE_MODELS else text
    return f"version {VERSION} gensim {_version('gensim')}"


def _version(package: str) -> str:
    return importlib.metadata.version(package) if has(package) else "missing"


def train(
    sentences: Iterable[list[str]],
    output: Path,
    *,
    where: Path | str,
    name: str,
    algorithm: str,
    params: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> EmbeddingStore:
    """Train a model on a corpus and write it as the store `output`, words by falling frequency.

    A word's vector is the one in gensim's `wv`; in fastText it is the mean of the word's own vector and its
    n-grams' vectors. In GloVe it is the sum of its vectors as a word and as a context; for PPMI see `ppmi`.
    The store has the words' counts, and its model.json the number of `tokens` in the corpus.

    Parameters
    ----------
    sentences
        Lists of tokens, which are iterated several times, such as `Sentences`. A context window does not
        cross the end of a sentence.
    output
        The store's folder.
    where
        The name of the corpus in messages.
    name
        The model's name.
    algorithm
        A key of `PARAMETERS`.
    params
        Its parameters by name. Others have the defaults of gensim, `glove.train` or `ppmi.train`.
    metadata
        Further entries of model.json.

    Raises
    ------
    BiasgridError
        A parameter is wrong, or the corpus has too few words.
    """
    check_parameters(algorithm, params)
    if algorithm in MODULES:
        words, vectors, counts, tokens = _module(algorithm).train(sentences, where, **params)
        facts = {"tokens": tokens}
    else:
        require("gensim", f"training {name}")
        words, vectors, counts, facts = _gensim(sentences, where, algorithm, params)
    with StoreWriter(output, where) as writer:
        writer.add(words, vectors, counts=counts)
        record = {"label": name, "note": ""} | dict(metadata)
        writer.finish(
            record | facts | {"name": name, "format": "trained", "vocab_prefix": "", "sorted": True}
        )
    return EmbeddingStore.open(output)


def _module(algorithm: str) -> Any:
    # Imported late and by name, because the modules import SciPy.
    return importlib.import_module(f"{__package__}.{MODULES[algorithm]}")


def _gensim(
    sentences: Iterable[list[str]], where: Path | str, algorithm: str, params: Mapping[str, Any]
) -> tuple[list[str], np.ndarray, np.ndarray, dict[str, Any]]:
    """Train with gensim; return words, their vectors and counts, and further entries of model.json."""
    import gensim

    model_class = {"word2vec": gensim.models.Word2Vec, "fasttext": gensim.models.FastText}[algorithm]
    model = model_class(**params, workers=1)
    with suppress(RuntimeError):  # gensim raises this error if no word is left
        # These are the two steps of gensim's constructor. The first one fails if the corpus is damaged.
        model.build_vocab(sentences)
    if not len(model.wv):
        raise BiasgridError(f"{where}: no word occurs {model.min_count} times (min_count)")
    model.train(sentences, total_examples=model.corpus_count, epochs=model.epochs)
    facts = {"tokens": model.corpus_total_words, "gensim": gensim.__version__}
    return model.wv.index_to_key, model.wv.vectors, model.wv.expandos["count"], facts


@dataclass(frozen=True)
class Sentences:
    """The tokens of a corpus in lists of `SENTENCE`; each iteration reads the file again.

    An iteration raises BiasgridError if the corpus cannot be read.

    Attributes
    ----------
    corpus
        A UTF-8 text, plain, compressed, or alone in a .zip. It is split at white space, including line ends,
        and not changed otherwise.
    """

    corpus: Path

    def __iter__(self) -> Iterator[list[str]]:
        try:
            yield from self._sentences()
        except UnicodeDecodeError as error:
            raise BiasgridError(f"{self.corpus}: is damaged, or no UTF-8 text: {error}") from None

    def _sentences(self) -> Iterator[list[str]]:
        tokens: list[str] = []
        rest = ""
        with text_of(self.corpus) as file:
            while block := file.read(BLOCK):
                block = rest + block
                if len(rest) > LONGEST:
                    raise BiasgridError(
                        f"{self.corpus}: has no white space in {LONGEST} characters: no corpus"
                    )
                block_tokens = block.split()
                rest = "" if block[-1].isspace() else block_tokens.pop()
                tokens += block_tokens
                while len(tokens) >= SENTENCE:
                    yield tokens[:SENTENCE]
                    tokens = tokens[SENTENCE:]
        tokens += [rest] * bool(rest)
        if tokens:
            yield tokens

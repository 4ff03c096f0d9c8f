"""Training with gensim: its Word2Vec and FastText, seeded, with one worker.

The same corpus and parameters give the same bytes in every process of one machine with one version of gensim
and NumPy. Other processors and BLAS libraries add numbers in another order. There, the last bits of a sum,
and after a million steps the vectors, may differ.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from biasgrid.core.errors import BiasgridError
from biasgrid.core.extras import has, require
from biasgrid.models.algorithms import Algorithm

from .parameters import COUNT, LARGEST, SEED, SWITCH, Parameters, check
from .vectors import Trained, algorithm_of_vectors

# Raise this number if a change of this module changes vectors. Models that are trained here are then trained again.
VERSION = 1

# gensim's names. A study cannot set gensim's other parameters: files, callbacks, threads.
WORD2VEC: Parameters = {
    "vector_size": COUNT,
    "window": COUNT,
    "min_count": COUNT,
    "epochs": COUNT,
    "seed": SEED,
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


def gensim_algorithm(name: str, meaning: str, model_class: str, parameters: Parameters) -> Algorithm:
    """Return the algorithm of a class of `gensim.models`."""
    return algorithm_of_vectors(
        name,
        meaning,
        parameters,
        partial(train, model_class),
        version,
        check=partial(_check, name, parameters),
        needs="gensim",
    )


def version() -> str:
    """Return the versions of code on which vectors depend."""
    return f"version {VERSION} gensim {importlib.metadata.version('gensim') if has('gensim') else 'missing'}"


def train(model_class: str, sentences: Iterable[list[str]], where: Path | str, **params: Any) -> Trained:
    """Train a model of a class of gensim. A word's vector is the one in gensim's `wv`.

    In fastText it is the mean of the word's own vector and its n-grams' vectors. Parameters that are left out have
    gensim's defaults.
    """
    require("gensim", f"training on {where}")
    import gensim

    model = getattr(gensim.models, model_class)(**params, workers=1)
    with suppress(RuntimeError):  # gensim raises this error if no word is left
        # These are the two steps of gensim's constructor. The first one fails if the corpus is damaged.
        model.build_vocab(sentences)
    if not len(model.wv):
        raise BiasgridError(f"{where}: no word occurs {model.min_count} times (min_count)")
    model.train(sentences, total_examples=model.corpus_count, epochs=model.epochs)
    facts = {"tokens": model.corpus_total_words, "gensim": gensim.__version__}
    return Trained(model.wv.index_to_key, model.wv.vectors, model.wv.expandos["count"], facts)


def _check(name: str, parameters: Parameters, params: Mapping[str, Any]) -> None:
    check(name, parameters, params)
    if not params.get("hs") and params.get("negative", 5) == 0:
        raise BiasgridError("negative: 0 without hs: 1 trains nothing; allowed are whole numbers from 1")
    shortest, longest = params.get("min_n", 3), params.get("max_n", 6)
    if shortest > longest:
        raise BiasgridError(
            f"min_n: {shortest} is more than max_n, {longest}: no n-gram would have such a length"
        )

"""fastText (Bojanowski et al. 2017), by gensim: word2vec with vectors of n-grams."""

from __future__ import annotations

from ..gensim_models import WORD2VEC, gensim_algorithm
from ..parameters import COUNT

PARAMETERS = WORD2VEC | {"min_n": COUNT, "max_n": COUNT, "bucket": COUNT}

ALGORITHMS = (
    gensim_algorithm(
        "fasttext", "gensim's fastText: word2vec with vectors of n-grams.", "FastText", PARAMETERS
    ),
)

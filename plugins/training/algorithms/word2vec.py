"""word2vec (Mikolov et al. 2013), by gensim: skip-gram and CBOW."""

from __future__ import annotations

from ..gensim_models import WORD2VEC, gensim_algorithm

ALGORITHMS = (gensim_algorithm("word2vec", "gensim's word2vec: skip-gram and CBOW.", "Word2Vec", WORD2VEC),)

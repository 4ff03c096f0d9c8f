"""Training of models on a corpus: word vectors and context vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biasgrid.core.errors import BiasgridError
from biasgrid.core.extras import require


def train(
    sentences: Sequence[Sequence[str]], algorithm: str, params: Mapping[str, Any], seed: int
) -> tuple[list[str], np.ndarray, np.ndarray | None]:
    """Train word vectors and context vectors on a corpus. On one machine, the same input gives the same result.

    `ppmi` factorises the positive pointwise mutual information of words in a sentence by a truncated singular value
    decomposition. The factors of words and of contexts each get the square root of the singular values. `word2vec`
    uses gensim with one worker: its input vectors, and the output vectors of negative sampling.

    Parameters
    ----------
    sentences
        Tokens of each sentence.
    algorithm
        ``"ppmi"`` or ``"word2vec"``.
    params
        All parameters of the algorithm.
    seed
        Seed of word2vec.

    Returns
    -------
    words : list of str
    word_vectors : ndarray (words, dimensions)
        The vector of each word.
    context : ndarray (words, dimensions) or None
        The vector of each word as a context of others; None for hierarchical softmax, which does not have them.

    Raises
    ------
    BiasgridError
        If `dimensions` is not below the number of words.
    """
    if algorithm == "word2vec":
        require("gensim", "the trainer word2vec")
        from gensim.models import Word2Vec

        model = Word2Vec(sentences, seed=seed, workers=1, **params)
        return list(model.wv.index_to_key), model.wv.vectors, getattr(model, "syn1neg", None)
    words = sorted({word for sentence in sentences for word in sentence})
    return words, *_factors(_ppmi(sentences, words), params["dimensions"])


def _ppmi(sentences: Sequence[Sequence[str]], words: Sequence[str]):
    """Compute positive pointwise mutual information of words that share a sentence, sparse (words, words)."""
    from scipy import sparse

    places = {word: i for i, word in enumerate(words)}
    tokens = np.array([places[word] for sentence in sentences for word in sentence])
    rows = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
    occurs = sparse.csr_array((np.ones(len(tokens)), (rows, tokens)), shape=(len(sentences), len(words)))
    # Count pairs of two different tokens of a sentence.
    counts = (occurs.T @ occurs - sparse.diags_array(occurs.sum(axis=0))).tocoo()
    counts.eliminate_zeros()
    total = np.asarray(counts.sum(axis=0))
    information = np.log(counts.data * total.sum() / (total[counts.row] * total[counts.col]))
    return sparse.csr_array((information.clip(0), (counts.row, counts.col)), shape=counts.shape)


def _factors(matrix, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute U S^(1/2) and V S^(1/2) of the truncated decomposition U S V^T, (words, dimensions) each."""
    # Import late, because the import takes a second.
    from sklearn.decomposition import TruncatedSVD

    if dimensions >= matrix.shape[0]:
        raise BiasgridError(f"dimensions: {dimensions} is too many for {matrix.shape[0]} words")
    decomposition = TruncatedSVD(dimensions, random_state=0, n_iter=10)
    word_factors = decomposition.fit_transform(matrix)
    root = np.sqrt(decomposition.singular_values_)
    with np.errstate(divide="ignore", invalid="ignore"):
        word_vectors = np.where(root > 1e-6 * root[0], word_factors / root, 0.0)
    return word_vectors, decomposition.components_.T * root

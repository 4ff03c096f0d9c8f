"""Word vectors: a store."""

from __future__ import annotations

from ..store import EmbeddingStore
from .kind import VECTORS, Kind

KINDS = (
    Kind(
        VECTORS,
        "A vector of each word, from a file of vectors or trained here.",
        open=EmbeddingStore.open,
        make="biasgrid.embeddings.making:make_vectors",
        load="biasgrid.embeddings.loading:load",
        algorithms=("word2vec", "fasttext", "glove", "ppmi"),
        encoded=True,
        is_model=True,
        random_groups=True,
        first_metrics={"weat": {}, "rnd": {}, "ripa": {}},
        called="model of vectors",
    ),
)

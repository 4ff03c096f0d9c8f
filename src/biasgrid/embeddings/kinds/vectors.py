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
        random_groups=True,
        called="model of vectors",
    ),
)

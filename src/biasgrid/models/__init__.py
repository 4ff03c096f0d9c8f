"""Word vectors, corpora and language models: downloading, reading, training and opening them, and finding words.

Metrics of bias belong in `metrics`, and methods that change vectors in `debias`. A debiased model is
`store.DebiasedModel`.
"""

from .building import STORE_VERSION, build_store
from .readers import convert
from .store import EmbeddingStore

__all__ = ["STORE_VERSION", "EmbeddingStore", "build_store", "convert"]

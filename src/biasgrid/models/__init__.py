"""Models: word vectors, corpora and language models, and the look-up of words in them.

Here is all code that reads a format, downloads an archive, makes a store, or finds the entry of a word. Scores of a
model belong in `metrics` and `measure`. Changes of a model by a debias method belong in `debias`.
"""

from .building import STORE_VERSION, build_store
from .readers import convert
from .store import EmbeddingStore

__all__ = ["STORE_VERSION", "EmbeddingStore", "build_store", "convert"]

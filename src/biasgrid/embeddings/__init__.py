"""Embeddings: the store, readers of foreign formats, and sources that archives come from."""

from .building import STORE_VERSION, build_store
from .readers import convert
from .store import EmbeddingStore

__all__ = ["STORE_VERSION", "EmbeddingStore", "build_store", "convert"]

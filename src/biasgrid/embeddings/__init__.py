"""Embeddings: the store, readers of other formats, and sources of archives."""

from .building import STORE_VERSION, build_store
from .readers import convert
from .store import EmbeddingStore

__all__ = ["STORE_VERSION", "EmbeddingStore", "build_store", "convert"]

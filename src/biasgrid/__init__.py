"""biasgrid: social bias in word embeddings, measured reproducibly.

from biasgrid import EmbeddingStore, Query, metrics

model = EmbeddingStore.open("data/embeddings/glove-6b-50d")
query = Query.read("query.json")
metrics.weat(query, model, preprocessors=[{}, {"lowercase": True}]).value
"""

from . import debias, metrics
from .api import calls, fits  # noqa: F401  (makes functions of metrics and debias methods)
from .embeddings.store import EmbeddingStore
from .errors import BiasgridError
from .query import Query, WordSet
from .words import WordOptions

__all__ = ["BiasgridError", "EmbeddingStore", "Query", "WordOptions", "WordSet", "debias", "metrics"]

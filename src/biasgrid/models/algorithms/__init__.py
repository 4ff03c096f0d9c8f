"""Algorithms that train models on a corpus (`type: trained`). biasgrid has none itself: plugins bring them.

The plugin `training`, which comes with biasgrid, has word2vec, fastText, GloVe, PPMI and BERT. An algorithm is one
file; `REGISTRY` maps names to algorithms.
"""

from __future__ import annotations

from ...core.registry import Registry
from .algorithm import Algorithm

__all__ = ["REGISTRY", "Algorithm"]

REGISTRY: Registry[Algorithm] = Registry(__name__, "ALGORITHMS", "training algorithm")

"""The metrics. Each is one file of this package, discovered automatically.

`REGISTRY` maps names to metrics. As attributes of this package they can be called on a query and a model:

    from biasgrid import EmbeddingStore, Query, metrics
    metrics.weat(query, model, preprocessors=[{}, {"lowercase": True}]).value
"""

from __future__ import annotations

from ..registry import Registry
from .registry import Contrast, Detail, Metric, Score

__all__ = ["REGISTRY", "Contrast", "Detail", "Metric", "Score", "metric"]

REGISTRY: Registry[Metric] = Registry(__name__, "METRICS", "metric")
# `metrics.weat` is the metric; its module, of the same name, stays importable as biasgrid.metrics.weat
globals().update(REGISTRY)


def metric(name: str) -> Metric:
    """The metric of that name; upper case, spaces and hyphens are accepted ("WEAT-ES" is weat_es)."""
    return REGISTRY.find(name)


def __getattr__(name: str) -> Metric:
    """A metric of a plugin that was loaded later."""
    try:
        return REGISTRY[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None

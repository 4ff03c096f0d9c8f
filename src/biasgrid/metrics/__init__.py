"""The metrics. Each is a file of this package and is found here by being in it.

`REGISTRY` maps names to metrics. As attributes of this package they can be called on a query and a model:

    from biasgrid import EmbeddingStore, Query, metrics
    metrics.weat(query, model, preprocessors=[{}, {"lowercase": True}]).value
"""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from ..errors import BiasgridError
from .registry import Contrast, Detail, Metric, Score

__all__ = ["REGISTRY", "Contrast", "Detail", "Metric", "Score", "metric", "source_file"]


def _found() -> dict[str, Metric]:
    registry = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != "registry"):
        for entry in importlib.import_module(f"{__name__}.{module}").METRICS:
            if entry.name in registry:
                raise ImportError(f"two metrics are named {entry.name!r}; one is in {module}.py")
            registry[entry.name] = entry
    return registry


REGISTRY: dict[str, Metric] = _found()
# `metrics.weat` is the metric; its module, of the same name, stays importable as biasgrid.metrics.weat
globals().update(REGISTRY)


def metric(name: str) -> Metric:
    """The metric of that name; upper case, spaces and hyphens are accepted ("WEAT-ES" is weat_es)."""
    try:
        return REGISTRY[name.lower().replace("-", "_").replace(" ", "_")]
    except KeyError:
        raise BiasgridError(
            f"metric {name!r} is not known; allowed are {', '.join(sorted(REGISTRY))}"
        ) from None


def source_file(entry: Metric) -> Path:
    """The file that defines a metric: what its cells depend on."""
    return Path(importlib.import_module(entry.function.__module__).__file__)

"""Metrics of bias. Each metric is one file of this package and is discovered automatically.

A file's own function takes arrays of vectors. As attributes of this package, metrics are functions of a query and a
model (`measure/metric_functions.py`), and their help describes what they measure. `REGISTRY` maps names to the
metrics' declarations:

    from biasgrid import Query, load, metrics
    metrics.weat(query, model, preprocessors=[{}, {"lowercase": True}]).value
    metrics.REGISTRY["weat"].template
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.registry import Registry
from .registry import Contrast, Detail, Metric, Score

__all__ = ["REGISTRY", "Contrast", "Detail", "Metric", "Score", "metric"]

REGISTRY: Registry[Metric] = Registry(__name__, "METRICS", "metric")
# A metric's module has the metric's name. Remove the module, so that the attribute is the function.
for _name in REGISTRY:
    globals().pop(_name, None)


def metric(name: str | Metric | Callable[..., Any]) -> Metric:
    """Return the declaration of a metric: its template, range, neutral value and the like.

    Parameters
    ----------
    name
        Name of the metric. Upper case, spaces and hyphens are accepted ("WEAT-ES" is weat_es). Or its function,
        such as `metrics.weat`.

    Returns
    -------
    Metric

    Raises
    ------
    BiasgridError
        If no metric has the name; the message suggests a similar one.
    """
    name_or_metric: Any = getattr(name, "metric", name)
    return name_or_metric if isinstance(name_or_metric, Metric) else REGISTRY.find(name_or_metric)


def __getattr__(name: str) -> Any:
    return REGISTRY.member(name)


def __dir__() -> list[str]:
    # List the names that users look for, without this file's own imports.
    return sorted({*__all__, *REGISTRY})

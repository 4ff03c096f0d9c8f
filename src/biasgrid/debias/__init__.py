"""The debias methods. Each is a file of this package, which is discovered automatically.

`REGISTRY` maps names to methods. As attributes of this package they are called on a model and words, and return a
fitted transform:

    from biasgrid import EmbeddingStore, debias, metrics
    transform = debias.hard(model, definitional_pairs=pairs, equalize_pairs=equalize, ignore=specific)
    metrics.weat(query, model.under(transform))
"""

from __future__ import annotations

from ..registry import Registry
from .registry import UNTOUCHED, Method
from .transform import Transform

__all__ = ["REGISTRY", "UNTOUCHED", "Method", "Transform", "method"]


REGISTRY: Registry[Method] = Registry(__name__, "METHODS", "debias method")
# `debias.hard` is the method; its module, of the same name, stays importable as biasgrid.debias.hard
globals().update(REGISTRY)


def method(name: str) -> Method:
    """The method of that name or alias; case, spaces and hyphens do not matter ("HardDebias" is hard)."""
    return REGISTRY.find(name)


def __getattr__(name: str) -> Method:
    """A method of a plugin that was loaded later."""
    try:
        return REGISTRY[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None

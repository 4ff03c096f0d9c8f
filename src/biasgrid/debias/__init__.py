"""The debias methods. Each is a file of this package and is found here by being in it.

`REGISTRY` maps names to methods. As attributes of this package they are called on a model and words, and return a
fitted transform:

    from biasgrid import EmbeddingStore, debias, metrics
    transform = debias.hard(model, definitional_pairs=pairs, equalize_pairs=equalize, ignore=specific)
    metrics.weat(query, model.under(transform))
"""

from __future__ import annotations

import importlib
from pathlib import Path

from ..registry import Registry
from .registry import UNTOUCHED, Method
from .transform import Transform

__all__ = ["REGISTRY", "UNTOUCHED", "Method", "Transform", "method", "source_files"]


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


def source_files(entry: Method) -> list[Path]:
    """The files of this package that a method's transforms depend on: its own, and those that it takes names from."""
    modules, ahead = set(), {entry.function.__module__}
    while ahead:
        module = importlib.import_module(ahead.pop())
        modules.add(module)
        others = {getattr(thing, "__module__", None) or "" for thing in vars(module).values()}
        ahead |= {name for name in others if name.startswith(f"{__name__}.")} - {m.__name__ for m in modules}
    return sorted(Path(module.__file__) for module in modules)

"""Debias methods. Each method is one file of this package and is discovered automatically.

As attributes of this package, methods are functions of a model and words that return a fitted transform, and their
help describes what they do. `REGISTRY` maps names to the methods' declarations:

    from biasgrid import debias, load, metrics
    transform = debias.hard(model, definitional_pairs=pairs, equalize_pairs=equalize, ignore=specific)
    metrics.weat(query, model.under(transform))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.registry import Registry
from .registry import UNTOUCHED, Method
from .transform import Transform, fitted

__all__ = ["REGISTRY", "UNTOUCHED", "Method", "Transform", "fitted", "method"]


REGISTRY: Registry[Method] = Registry(__name__, "METHODS", "debias method")
# A method's module has the method's name. Remove the module, so that the attribute is the function.
for _name in REGISTRY:
    globals().pop(_name, None)


def method(name: str | Method | Callable[..., Any]) -> Method:
    """Return the declaration of a debias method: its words, parameters and the like.

    Parameters
    ----------
    name
        Name or alias of the method; case, spaces and hyphens do not matter ("HardDebias" is hard). Or its function,
        `debias.hard`.

    Returns
    -------
    Method

    Raises
    ------
    BiasgridError
        If no method has the name; the message suggests a similar one.
    """
    name_or_method: Any = getattr(name, "method", name)
    return name_or_method if isinstance(name_or_method, Method) else REGISTRY.find(name_or_method)


def __getattr__(name: str) -> Any:
    return REGISTRY.member(name)


def __dir__() -> list[str]:
    # List the names that users look for, without this file's own imports.
    return sorted({*__all__, *REGISTRY})

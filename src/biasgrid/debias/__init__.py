"""The debias methods. Each is a file of this package, which is discovered automatically.

As attributes of this package they are functions of a model and words that return a fitted transform, and whose help
says what they do; `REGISTRY` maps names to their declarations:

    from biasgrid import debias, load, metrics
    transform = debias.hard(model, definitional_pairs=pairs, equalize_pairs=equalize, ignore=specific)
    metrics.weat(query, model.under(transform))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..registry import Registry
from .registry import UNTOUCHED, Method
from .transform import Transform, fitted

__all__ = ["REGISTRY", "UNTOUCHED", "Method", "Transform", "fitted", "method"]


REGISTRY: Registry[Method] = Registry(__name__, "METHODS", "debias method")
# a method's module has the method's name: without this, the attribute would be the module, not the function
for _name in REGISTRY:
    globals().pop(_name, None)


def method(name: str | Method | Callable[..., Any]) -> Method:
    """The declaration of a debias method: its words, parameters and the like.

    Parameters
    ----------
    name
        Its name or alias; case, spaces and hyphens do not matter ("HardDebias" is hard). Or its function,
        `debias.hard`.

    Returns
    -------
    Method

    Raises
    ------
    BiasgridError
        For a name that no method has; it says a likely one.
    """
    name_or_method: Any = getattr(name, "method", name)
    return name_or_method if isinstance(name_or_method, Method) else REGISTRY.find(name_or_method)


def __getattr__(name: str) -> Any:
    return REGISTRY.member(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *REGISTRY})  # what users look for, without this file's own imports

"""Debias methods. Each method is one file of this package, and an attribute of it: an object that is called with a
model and words, and returns a fitted transform.

    from biasgrid import debias, load, metrics
    transform = debias.hard(model, definitional_pairs=pairs, equalize_pairs=equalize, ignore=specific)
    metrics.weat(query, model.under(transform))

`debias.Method` has what the object declares. A method of a plugin is an attribute, too. `REGISTRY` maps names to all
of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.registry import Registry
from .registry import UNTOUCHED, Method
from .transform import Transform, fitted

if TYPE_CHECKING:  # for editors and type checkers; `REGISTRY` finds the files
    from .double_hard import DOUBLE_HARD as double_hard
    from .hard import HARD as hard
    from .hsr import HSR as hsr
    from .inlp import INLP as inlp
    from .leace import LEACE as leace
    from .linear_projection import LINEAR_PROJECTION as linear_projection
    from .multiclass_hard import MULTICLASS_HARD as multiclass_hard
    from .ran import RAN as ran

__all__ = [
    "REGISTRY",
    "UNTOUCHED",
    "Method",
    "Transform",
    "double_hard",
    "fitted",
    "hard",
    "hsr",
    "inlp",
    "leace",
    "linear_projection",
    "method",
    "multiclass_hard",
    "ran",
]


def _replacement(method: Method[...], name: str) -> str:
    """Return the replacement of `debias.HardDebias` for a message."""
    words = [f"{word}=..." for word in method.required_words]
    return (
        f"say debias.{method.name}: model.under(debias.{method.name}({', '.join(['model', *words])})) is "
        f"WEFE's {name}().fit(...).transform(model)"
    )


REGISTRY: Registry[Method[...]] = Registry(__name__, "METHODS", "debias method", replacement=_replacement)
# `debias.hard` is the method, although its module is also called `hard`.
globals().update(REGISTRY)


def method(name: str | Method[...]) -> Method[...]:
    """Return a debias method by its name.

    Parameters
    ----------
    name
        Name or alias of the method; case, spaces and hyphens do not matter ("HardDebias" is hard). Or the method
        itself, such as `debias.hard`.

    Returns
    -------
    Method

    Raises
    ------
    BiasgridError
        If no method has the name; the message suggests a similar one.
    """
    return name if isinstance(name, Method) else REGISTRY.find(name)


# Type checkers do not see this function, so that they report unknown names.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        return REGISTRY.member(name)


def __dir__() -> list[str]:
    # List the names that users look for, without this file's own imports.
    return sorted({*__all__, *REGISTRY})

"""The base of registries' entries that users call: metrics and debias methods."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from .docstrings import sections, wrap
from .registry import UnknownAttributeError


class CalledEntry:
    """Entry that calls its function, and shows the function's docstring and source as its own.

    The docstring ends with the entry's reference.

    Attributes
    ----------
    PACKAGE
        The package that has the entry as an attribute.
    SEE
        What the docstring's section See Also says; it may be empty.
    WEFE_METHODS
        Replacements of the methods of WEFE's classes, by name.
    """

    PACKAGE: ClassVar[str]
    SEE: ClassVar[str] = ""
    WEFE_METHODS: ClassVar[Mapping[str, str]]
    if TYPE_CHECKING:

        @property
        def name(self) -> str: ...

        @property
        def label(self) -> str: ...

        @property
        def reference(self) -> str: ...

        @property
        def function(self) -> Callable[..., Any]: ...

    def __post_init__(self) -> None:
        # Entries are frozen, so functools.update_wrapper cannot set these.
        doc = _documentation(self.function, self.label, self.SEE, self.reference)
        vars(self).update(__wrapped__=self.function, __doc__=doc, __name__=self.name, __qualname__=self.name)

    # Type checkers do not see this method, so that they report unknown attributes.
    if not TYPE_CHECKING:

        def __getattr__(self, attribute: str) -> Any:
            if attribute in self.WEFE_METHODS:
                here = f"{self.PACKAGE.rpartition('.')[2]}.{self.name}"
                answer = self.WEFE_METHODS[attribute].format(name=self.name)
                raise UnknownAttributeError(f"{here}.{attribute}: {answer}")
            kind = type(self).__name__
            raise AttributeError(f"{kind!r} object has no attribute {attribute!r}", name=attribute, obj=self)

    def __repr__(self) -> str:
        return f"<{self.PACKAGE.rpartition('.')[2]}.{self.name}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle an entry that is an attribute of its package by its name, like a function."""
        is_attribute = vars(sys.modules[self.PACKAGE]).get(self.name) is self
        return (_find, (self.PACKAGE, self.name)) if is_attribute else super().__reduce_ex__(protocol)


def _find(package: str, name: str) -> Any:
    return getattr(import_module(package), name)


@lru_cache(maxsize=256)
def _documentation(function: Callable[..., Any], label: str, see: str, reference: str) -> str:
    own = sections(function)
    more = {"See Also": see, "References": wrap(reference)}
    texts = [
        f"{title}\n{'-' * len(title)}\n{text}" for title, text in more.items() if text and title not in own
    ]
    return "\n\n".join([inspect.getdoc(function) or f"{label}.", *texts])

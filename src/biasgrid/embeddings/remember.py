"""What was computed of a model, kept for the next call as long as there is the model."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def remember(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """As functools.lru_cache, for functions whose first argument is a model, which it does not keep alive: a model in
    memory may take gigabytes."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @lru_cache(size)
        def call_cached(reference: Callable[[], Any], *further_arguments: Any) -> R:
            return function(reference(), *further_arguments)  # type: ignore[call-arg]

        @wraps(function)
        def call(*arguments: P.args, **_: P.kwargs) -> R:
            value: R = call_cached(weakref.ref(arguments[0]), *arguments[1:])
            return value

        call.cache_clear = call_cached.cache_clear  # type: ignore[attr-defined]
        return call

    return decorate

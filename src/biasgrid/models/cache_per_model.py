"""A cache for results computed from a model, which lasts as long as the model."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def remember(size: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Cache like functools.lru_cache, without keeping the first argument, a model, alive.

    A model in memory may take gigabytes.
    """

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

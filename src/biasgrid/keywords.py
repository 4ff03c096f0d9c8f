"""Keywords that a function does not have: one line that names those that it has, and the nearest."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from .errors import InputError, unknown_name

P = ParamSpec("P")
R = TypeVar("R")


def check_names(
    options: Iterable[str], parameters: Iterable[str], names: Mapping[str, str], function: str
) -> None:
    """Raise InputError for a name of WEFE's that a function does not know, with what to say in its place."""
    parameters = set(parameters)
    for name in options:
        if name in names and name not in parameters:
            raise InputError(f"{function}: {name}: {names[name]}")


def checked_keywords(
    names: Mapping[str, str] = MappingProxyType({}), more: Callable[[], Iterable[str]] = tuple
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator: the function raises InputError for a keyword that it does not have.

    Parameters
    ----------
    names
        Names of WEFE's -> what to say in their place.
    more
        Returns the keywords that the function's `**` takes.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        own_parameters = [
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if name != "self" and parameter.kind is not parameter.VAR_KEYWORD
        ]
        owner = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def answer(*args: P.args, **options: P.kwargs) -> R:
            parameters = [*own_parameters, *more()]
            check_names(options, parameters, names, function.__name__)
            for name in options:
                if name not in parameters:
                    raise InputError(
                        unknown_name("option", name, parameters, f"help(biasgrid.{owner})", owner)
                    )
            return function(*args, **options)

        return answer

    return decorate

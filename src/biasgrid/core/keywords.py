"""Checks of keywords, with messages that name the nearest and all allowed ones."""

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
    """Raise InputError for a name of WEFE's that a function does not know, with its replacement."""
    parameters = set(parameters)
    for name in options:
        if name in names and name not in parameters:
            raise InputError(f"{function}: {name}: {names[name]}")


def checked_keywords(
    names: Mapping[str, str] = MappingProxyType({}), more: Callable[[], Iterable[str]] = tuple
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that makes a function raise InputError for unknown keywords.

    Parameters
    ----------
    names
        Replacements of WEFE's names, by name.
    more
        A function that returns the keywords that the decorated function's `**` takes.
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

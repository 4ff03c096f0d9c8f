"""Allowed values of parameters, according to their annotations.

`bool`, `Literal["cos", "norm"]`, `Annotated[int, Ge(1)]` and `Annotated[float, Ge(0), Lt(0.5)]` are checked,
also in a union with None. Any other annotation allows all values.
"""

from __future__ import annotations

import inspect
import math
import operator
import types
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, wraps
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt

from .errors import InputError, not_allowed, unknown_name

F = TypeVar("F", bound=Callable[..., Any])
Count = Annotated[int, Ge(1)]
BOUNDS = {Ge: operator.ge, Gt: operator.gt, Le: operator.le, Lt: operator.lt}


def check_limits(function: Callable[..., Any], values: Mapping[str, Any]) -> None:
    """Raise BiasgridError if a value is excluded by its parameter's annotation.

    Parameters
    ----------
    function
        The function with the parameters.
    values
        The values by name of parameter.
    """
    for name, (limit, takes_none) in _limits(function).items():
        value = values.get(name)
        if name not in values or (takes_none and value is None) or _fits(limit, value):
            continue
        choices = get_args(limit) if get_origin(limit) is Literal else ()
        if choices and isinstance(choices[0], str):
            raise InputError(f"{name}: {unknown_name('value', value, choices)}")
        raise InputError(not_allowed(name, value, ", ".join(map(str, choices)) or _describe_limit(limit)))


@lru_cache(maxsize=512)
def _limits(function: Callable[..., Any]) -> dict[str, tuple[Any, bool]]:
    """Return the limits of each parameter's values, and whether it accepts None.

    A parameter whose annotation uses a name imported only for type checkers does not have limits.
    """
    limits: dict[str, tuple[Any, bool]] = {}
    function = inspect.unwrap(function)
    if not inspect.isfunction(function):  # a placeholder for the function of a plugin that is not loaded
        return limits
    for parameter in inspect.signature(function).parameters.values():
        annotation = parameter.annotation
        if isinstance(annotation, str):
            try:
                annotation = eval(annotation, function.__globals__)
            except NameError:
                continue
        limit, takes_none = _split_union(annotation)
        if limit is bool or get_origin(limit) is Literal or range_of(annotation):
            limits[parameter.name] = limit, takes_none
    return limits


def _split_union(annotation: Any) -> tuple[Any, bool]:
    """Return the type of an annotation apart from None (None if there are several), and whether it accepts None."""
    is_union = get_origin(annotation) in (Union, types.UnionType)
    parts = get_args(annotation) if is_union else (annotation,)
    others = [part for part in parts if part is not type(None)]
    return others[0] if len(others) == 1 else None, len(others) < len(parts)


def _fits(limit: Any, value: Any) -> bool:
    if limit is bool:
        return type(value) is bool
    if get_origin(limit) is Literal:
        return any(type(value) is type(choice) and value == choice for choice in get_args(limit))
    kind, *bounds = get_args(limit)
    is_number = type(value) is int or (kind is float and isinstance(value, float) and math.isfinite(value))
    return is_number and all(BOUNDS[end](value, number) for end, number in _bounds(bounds).items())


def _bounds(bounds: Iterable[Any]) -> dict[type, float]:
    """Return the bounds' numbers by type; other metadata of an annotation are ignored."""
    return {
        type(bound): getattr(bound, type(bound).__name__.lower()) for bound in bounds if type(bound) in BOUNDS
    }


def _describe_limit(limit: Any) -> str:
    """Return a description of the allowed values, such as "numbers from 0 to less than 0.5"."""
    if limit is bool:
        return "true, false"
    return f"{'whole numbers' if get_args(limit)[0] is int else 'numbers'} {range_of(limit)}"


def range_of(annotation: Any) -> str:
    """Return the numbers that an annotation allows, such as "from 0 to less than 0.5", or "" without limits."""
    limit, _ = _split_union(annotation)
    if get_origin(limit) is not Annotated or get_args(limit)[0] not in (int, float):
        return ""
    ends = _bounds(get_args(limit)[1:])
    if Gt in ends and Lt in ends:
        return f"between {ends[Gt]} and {ends[Lt]}, both excluded"
    low = f"from {ends[Ge]}" if Ge in ends else f"above {ends[Gt]}" if Gt in ends else ""
    high = f"to {ends[Le]}" if Le in ends else f"to less than {ends[Lt]}" if Lt in ends else ""
    if not low:
        return high and f"up {high}"
    return f"{low} {high}" if high else f"{low} on" if Ge in ends else low


def limited(function: F) -> F:
    """Wrap a function so that its keyword arguments are checked on every call (`check_limits`)."""

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        check_limits(function, options)
        return function(*arguments, **options)

    return cast(F, checked)

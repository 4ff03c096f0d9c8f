"""WEFE's names that are called otherwise here, each with what to write in its place."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from ..debias.registry import Method
from ..errors import InputError, unknown_name
from ..metrics.registry import Metric

P = ParamSpec("P")
R = TypeVar("R")


def check_names(
    options: Iterable[str], parameters: Iterable[str], names: Mapping[str, str], function: str
) -> None:
    """Raises BiasgridError for a name of WEFE's that a function does not know, with what to say in its place."""
    parameters = set(parameters)
    for name in options:
        if name in names and name not in parameters:
            raise InputError(f"{function}: {name}: {names[name]}")


def answers(
    names: Mapping[str, str], more: Callable[[], Iterable[str]] = tuple
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: a function's unknown keywords are answered, WEFE's with what to say in their place. `more`
    are those that its `**` takes."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        own_parameters = [
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if name != "self" and parameter.kind is not parameter.VAR_KEYWORD
        ]

        @functools.wraps(function)
        def answer(*args: P.args, **options: P.kwargs) -> R:
            parameters = [*own_parameters, *more()]
            check_names(options, parameters, names, function.__name__)
            for name in options:
                if name not in parameters:
                    raise InputError(unknown_name(f"{function.__name__} option", name, parameters))
            return function(*args, **options)

        return answer

    return decorate


def answer_methods(function: Callable[..., Any], names: Mapping[str, str]) -> None:
    """Give a function the methods of WEFE's class that it stands for: each raises InputError with what to say."""
    for method, answer in names.items():
        message = f"{function.__module__.rpartition('.')[2]}.{function.__name__}.{method}: "
        setattr(function, method, _raiser(message + answer.format(name=function.__name__)))


def _raiser(message: str) -> Callable[..., Any]:
    def method(*_: Any, **__: Any) -> Any:
        raise InputError(message)

    return method


def replacement_of_metric(metric: Metric, name: str) -> str:
    """What to write in place of `metrics.WEAT`."""
    return (
        f"say metrics.{metric.name}, a function: metrics.{metric.name}(query, model) is WEFE's "
        f"{name}().run_query(query, model)"
    )


def replacement_of_method(method: Method, name: str) -> str:
    """What to write in place of `debias.HardDebias`."""
    words = [f"{word}=..." for word in method.required_words]
    return (
        f"say debias.{method.name}, a function: model.under(debias.{method.name}({', '.join(['model', *words])})) is "
        f"WEFE's {name}().fit(...).transform(model)"
    )


def replacement(entry: Any, name: str) -> str:
    """What to write in place of an attribute that is another name of a metric or a debias method."""
    return (
        replacement_of_metric(entry, name)
        if isinstance(entry, Metric)
        else replacement_of_method(entry, name)
    )

"""WEFE's names that differ here, each with its replacement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..core.errors import InputError
from ..debias.registry import Method
from ..metrics.registry import Metric


def answer_methods(function: Callable[..., Any], names: Mapping[str, str]) -> None:
    """Add the methods of WEFE's class to a function: each raises InputError with the replacement."""
    for method, answer in names.items():
        message = f"{function.__module__.rpartition('.')[2]}.{function.__name__}.{method}: "
        setattr(function, method, _raiser(message + answer.format(name=function.__name__)))


def _raiser(message: str) -> Callable[..., Any]:
    def method(*_: Any, **__: Any) -> Any:
        raise InputError(message)

    return method


def replacement_of_metric(metric: Metric, name: str) -> str:
    """Return the replacement of `metrics.WEAT` for a message."""
    return (
        f"say metrics.{metric.name}, a function: metrics.{metric.name}(query, model) is WEFE's "
        f"{name}().run_query(query, model)"
    )


def replacement_of_method(method: Method, name: str) -> str:
    """Return the replacement of `debias.HardDebias` for a message."""
    words = [f"{word}=..." for word in method.required_words]
    return (
        f"say debias.{method.name}, a function: model.under(debias.{method.name}({', '.join(['model', *words])})) is "
        f"WEFE's {name}().fit(...).transform(model)"
    )


def replacement(entry: Any, name: str) -> str:
    """Return the replacement of an attribute that is another name of a metric or a debias method."""
    return (
        replacement_of_metric(entry, name)
        if isinstance(entry, Metric)
        else replacement_of_method(entry, name)
    )

"""Answers to the methods of WEFE's classes: functions of biasgrid raise the replacement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .errors import InputError


def answer_methods(function: Callable[..., Any], names: Mapping[str, str]) -> None:
    """Add the methods of WEFE's class to a function: each raises InputError with the replacement."""
    for method, answer in names.items():
        message = f"{function.__module__.rpartition('.')[2]}.{function.__name__}.{method}: "
        setattr(function, method, _raiser(message + answer.format(name=function.__name__)))


def _raiser(message: str) -> Callable[..., Any]:
    def method(*_: Any, **__: Any) -> Any:
        raise InputError(message)

    return method

"""Parameters of training algorithms: their types and allowed values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from biasgrid.core.errors import BiasgridError

# Name -> type, minimum, maximum.
Parameters = dict[str, tuple[Any, float, float]]

LARGEST = 2**31 - 1
SWITCH, COUNT, SEED = (int, 0, 1), (int, 1, LARGEST), (int, 0, 2**32 - 1)
NUMBERS = {int: "whole numbers", float: "numbers"}


def check(algorithm: str, parameters: Parameters, params: Mapping[str, Any]) -> None:
    """Raise BiasgridError for a parameter that the algorithm does not have, or a value that is not allowed."""
    for name, value in params.items():
        if name == "workers":
            raise BiasgridError("workers: is always 1, for the same vectors each time; leave it out")
        if name not in parameters:
            raise BiasgridError(
                f"{algorithm} has no parameter {name!r}; allowed are: {', '.join(sorted(parameters))}"
            )
        kind, low, high = parameters[name]
        fits = type(value) is kind or (kind is float and type(value) is int)
        if not fits or not low <= value <= high:
            choices = "true and false" if kind is bool else f"{NUMBERS[kind]} from {low} to {high}"
            raise BiasgridError(f"{name}: {value!r} is not allowed; allowed are {choices}")

"""Variation of a value over choices that a study has to make, such as word lists or training runs of a model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measure.results import KEYS
from .intervals import TABLE as INTERVALS
from .intervals import standard_errors
from .table import Column, Files

if TYPE_CHECKING:
    import pandas as pd


def with_errors(values: pd.DataFrame, inputs: Files) -> pd.DataFrame:
    """Add a column `standard_error` to scores; it is NaN in a study without a bootstrap."""
    if "intervals" not in inputs:
        return values.assign(standard_error=math.nan)
    return values.merge(standard_errors(INTERVALS.read(inputs["intervals"])), on=KEYS, how="left")


def summary(part: pd.DataFrame, plural: str, neutral: float) -> dict[str, Any]:
    """Summarise some scores: their number, location and spread.

    Parameters
    ----------
    part
        The scores, one per choice, with columns `value`, `standard_error` and `name`, the choice's name.
    plural
        Plural noun for the choices, as in `columns`.
    neutral
        The metric's no-bias value.

    Returns
    -------
    dict
        `lowest` and `highest` name choices. A standard deviation needs two values; a standard error needs one for
        each value.
    """
    with_value = part.dropna(subset="value").sort_values("value", kind="stable")
    values = with_value["value"].to_numpy()
    n = len(values)
    numbers: dict[str, Any] = {plural: n, f"{plural}_lost": len(part) - n, "other_side": 0}
    if n:
        mean = values.mean()
        side = np.sign(mean - neutral)
        numbers |= {"mean": mean, "min": values[0], "max": values[-1]}
        numbers |= {"lowest": with_value["name"].iloc[0], "highest": with_value["name"].iloc[-1]}
        numbers["other_side"] = int((np.sign(values - neutral) == -side).sum()) if side else 0
    if n > 1:
        numbers["sd"] = values.std(ddof=1)
        errors = with_value["standard_error"].to_numpy()
        if np.isfinite(errors).all():
            numbers["standard_error"] = math.sqrt((errors**2).mean())
    return numbers


def columns(singular: str, plural: str) -> tuple[Column, ...]:
    """Return the columns of a summary; `singular` and `plural` name the choices."""
    return (
        Column.count(plural, f"number of {plural} with a value"),
        Column.count(f"{plural}_lost", f"number of {plural} without a value"),
        Column.value("mean", f"mean of the {plural}' values"),
        Column.value("sd", "standard deviation of the values (n - 1)", least=0),
        Column.value("min", "smallest value"),
        Column.value("max", "largest value"),
        Column("lowest", f"the {singular} with the smallest value"),
        Column("highest", f"the {singular} with the largest value"),
        Column.count(
            "other_side",
            f"number of {plural} whose value is on the other side of the no-bias value than the mean",
        ),
        Column.value(
            "standard_error",
            f"standard error of one {singular} (bootstrap over words): root mean square over the {plural}",
            least=0,
        ),
    )

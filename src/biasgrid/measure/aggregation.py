"""Aggregation of scores: groups of scores, and functions that aggregate them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BiasgridError, quote, unknown_name
from ..debias import UNTOUCHED

if TYPE_CHECKING:
    import pandas as pd

# The key of all ranked criteria together.
OVERALL = "Overall"
AGGREGATIONS: dict[str, Callable[[np.ndarray], float]] = {
    "avg": np.mean,
    "abs_avg": lambda values: np.mean(np.abs(values)),
    "sum": np.sum,
    "abs_sum": lambda values: np.sum(np.abs(values)),
}


# A name, or a function of values (n,) without NaN.
Aggregation = str | Callable[[np.ndarray], float]


def aggregator(aggregation: Aggregation) -> Callable[[np.ndarray], float]:
    """Return the function with which an aggregation is computed. Raises BiasgridError for an unknown name."""
    if callable(aggregation):
        return lambda values: number_of(aggregation, "aggregation", values)
    if not isinstance(aggregation, str) or aggregation not in AGGREGATIONS:
        raise BiasgridError(
            unknown_name("aggregation", aggregation, AGGREGATIONS, "or a function of an array")
        )
    return AGGREGATIONS[aggregation]


def covers_enough(scores: int, of_scores: int) -> bool:
    """Return whether at least half of an aggregate's scores have random groups, so that it is compared with them."""
    return scores > 0 and 2 * scores >= of_scores


def aggregate_rows(values: np.ndarray, aggregation: Aggregation) -> np.ndarray:
    """Aggregate each row of values (rows, n) without NaN: (rows,)."""
    signed = np.abs(values) if aggregation in ("abs_avg", "abs_sum") else values
    if aggregation in ("avg", "abs_avg"):
        return signed.mean(axis=1)
    if aggregation in ("sum", "abs_sum"):
        return signed.sum(axis=1)
    return np.array([aggregator(aggregation)(row) for row in values])


def number_of(function: Callable[..., Any], what: str, *arrays: np.ndarray) -> float:
    """Return the number that a user's function computes from arrays.

    Raises BiasgridError if the result is not a number, or if the function does not accept arrays.
    """
    try:
        value = function(*arrays)
    except (AttributeError, TypeError) as error:
        # WEFE's functions take data frames.
        raise BiasgridError(
            f"{what}: {name_of(function)} takes no {'array' if len(arrays) == 1 else 'two arrays'}: {error}"
        ) from error
    try:
        if np.ndim(value) == 0 and not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise BiasgridError(
        f"{what}: {name_of(function)} returned {quote(value)}, which is no number; expected a function of "
        f"{'an array' if len(arrays) == 1 else 'two arrays'} that returns one"
    )


def aggregation_name(aggregation: Aggregation) -> str:
    """Return the name of an aggregation in tables."""
    return aggregation if isinstance(aggregation, str) else name_of(aggregation)


def name_of(function: Any) -> str:
    """Return the name of a user's function in tables."""
    return getattr(function, "__name__", type(function).__name__)


def groups(
    scores: pd.DataFrame, ranked_criteria: Sequence[str]
) -> Iterable[tuple[tuple[str, str, str, str], np.ndarray]]:
    """Yield the groups of scores: (criterion, metric, model, debias) -> row numbers of the group's scores."""
    keys = ["metric", "model", "debias"]
    scores = scores.reset_index(drop=True)
    for key, part in scores.groupby(["criterion", *keys], sort=True):
        yield key, part.index.to_numpy()
    ranked_scores = scores[scores["criterion"].isin(ranked_criteria)]
    criteria = ranked_scores.groupby("metric")["criterion"].nunique()
    for (metric, model, debias), part in ranked_scores.groupby(keys, sort=True):
        # A model that was measured on only some criteria is not ranked over all of them.
        if debias == UNTOUCHED or part["criterion"].nunique() == criteria[metric]:
            yield (OVERALL, metric, model, debias), part.index.to_numpy()

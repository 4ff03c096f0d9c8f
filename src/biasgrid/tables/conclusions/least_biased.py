"""Models that are clearly the least biased, by criterion and metric.

A model is clearly the least biased if it differs significantly from every other model that it can be compared with,
and is below it. pairs.csv has the pairs that can be compared, and their scale. Ranks are ranks of raw values, as in
WEFE, and do not affect this conclusion. A model with values on too few queries is not ranked
(`biasgrid.measure.statistics.shared`). Only this module reads rankings.csv and pairs.csv.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.errors import BiasgridError
from ...debias import UNTOUCHED
from ...measure.aggregation import OVERALL
from ...measure.statistics.scale import NO_BASELINE, NO_COMMON_ZERO
from ...measure.statistics.shared import FEW_SHARED, FEW_UNITS, NO_VALUE
from ...measure.statistics.two_models import ALIKE, MODELS, STATES

if TYPE_CHECKING:
    import pandas as pd

# The keys of a model and of a debias method.
State = tuple[str, str]


@dataclass(frozen=True)
class RankedState:
    """Model variant under a metric.

    Attributes
    ----------
    model, debias
        Its keys.
    value, rank
        `value_shared` and `rank_shared` of rankings.csv, for raw values; NaN if missing.
    different
        The models that differ significantly from it.
    queries, queries_of
        Number of queries on which it has all values, and of all queries.
    p_first
        p-value of its difference from the first variant, adjusted over all pairs of the family. NaN for the first
        variant, and if the two were not compared.
    reason
        Why it is not ranked, as in rankings.csv.
    """

    model: str
    debias: str
    value: float
    rank: float
    different: tuple[str, ...]
    queries: int
    queries_of: int
    p_first: float
    reason: str

    @property
    def has_lost_queries(self) -> bool:
        """Return whether it lacks a value for some queries; its label then has a mark or "n of m queries"."""
        return self.queries < self.queries_of


@dataclass(frozen=True)
class DebiasedState:
    """Debiased variant of a model, compared with the model without debiasing.

    Attributes
    ----------
    model, debias
        Its keys.
    reason
        Why the two cannot be compared, as in pairs.csv; empty if they can.
    direction
        "less" or "more" biased than the model without debiasing; "" without a significant difference.
    p_adjusted
        p-value of the difference, adjusted over all pairs of the model's variants; NaN without a test.
    smallest_difference
        As in pairs.csv.
    queries, queries_of
        Number of queries on which both were compared, and of all queries.
    share_left
        Raw distance from no bias after debiasing, as a share of the distance before; NaN if missing.
    """

    model: str
    debias: str
    reason: str
    direction: str
    p_adjusted: float
    smallest_difference: float
    queries: int
    queries_of: int
    share_left: float


@dataclass(frozen=True)
class Rival:
    """Model that cannot be compared with the first one, the reason (as in pairs.csv), and the common queries."""

    model: str
    reason: str
    queries: int
    queries_of: int


@dataclass(frozen=True)
class Answer:
    """Comparison of the models by a metric on a criterion.

    Attributes
    ----------
    criterion, metric
        Their keys.
    level
        Confidence level of the comparison.
    models
        The ranked models, on the scale of their comparisons: the clearly least biased model first, then by the number
        of models above them; by their ranks if models are not compared.
    not_ranked
        The other models, most queries first.
    reason
        Why no model is ranked, as in rankings.csv; empty if some are.
    debiased
        Each debiased variant that has a value, like its original model.
    has_test
        Whether the study compares pairs: it has a bootstrap and more than one model.
    not_compared
        Why the metric compares no two models, as in pairs.csv: "no baseline" of random groups, or "no common zero";
        empty if it compares some.
    least_biased
        The model that is clearly the least biased, if any.
    comparable
        The models with which the first model can be compared.
    undecided
        The comparable models that do not differ significantly from the first one.
    incomparable
        The models with which the first model cannot be compared.
    p_adjusted
        The largest p-value among the comparable models; NaN if there are no such models.
    smallest_difference
        The smallest difference from an undecided model that would be found with 80 % power; NaN if all models differ
        significantly.
    queries, queries_of
        The smallest number of queries on which the first model was compared with another one, and the number of all
        queries.
    decided_pairs
        Pairs of original models that differ significantly, the less biased first.
    compared_pairs, alike_pairs
        Number of compared pairs of models, and of pairs that are alike.
    """

    criterion: str
    metric: str
    level: float
    models: tuple[RankedState, ...]
    not_ranked: tuple[RankedState, ...]
    reason: str
    debiased: tuple[DebiasedState, ...]
    has_test: bool
    not_compared: str
    least_biased: str | None
    comparable: tuple[str, ...]
    undecided: tuple[str, ...]
    incomparable: tuple[Rival, ...]
    p_adjusted: float
    smallest_difference: float
    queries: int
    queries_of: int
    decided_pairs: frozenset[tuple[State, State]]
    compared_pairs: int
    alike_pairs: int

    @property
    def is_decided(self) -> bool:
        """Return whether one model is clearly the least biased."""
        return self.least_biased is not None

    @property
    def rivals(self) -> tuple[RankedState, ...]:
        """Return all models except the first one."""
        return (*self.models[1:], *self.not_ranked)

    @property
    def models_with_value(self) -> list[str]:
        """Return the original models that have a value, ranked or not."""
        return [state.model for state in (*self.models, *self.not_ranked) if state.reason != NO_VALUE]


def decisions(difference: np.ndarray, p_adjusted: np.ndarray, limit: float) -> np.ndarray:
    """Return which of two variants is significantly less biased: -1 the first, 1 the second, 0 neither.

    Parameters
    ----------
    difference, p_adjusted
        Differences and p-values of pairs, as in pairs.csv, (pairs,); the result is 0 for NaN.
    limit
        Largest significant p-value, 1 minus the level of the bootstrap.
    """
    # Add a tolerance for the rounding of 1 - .9.
    return np.where(np.asarray(p_adjusted) <= limit + 1e-12, np.nan_to_num(np.sign(difference)), 0).astype(
        int
    )


class Pairs:
    """Compared pairs of a family, in both directions.

    Parameters
    ----------
    rows
        Rows of pairs.csv of one criterion, metric and family: tuples with its names.
    level
        1 minus the largest significant p-value.
    """

    def __init__(self, rows: Sequence[Any], level: float) -> None:
        self.rows: dict[tuple[State, State], Any] = {}
        self.signs: dict[tuple[State, State], int] = {}
        self.differences: dict[tuple[State, State], float] = {}
        differences = np.array([row.difference for row in rows])
        p_values = np.array([row.p_adjusted for row in rows])
        signs = decisions(differences, p_values, 1 - level)
        for row, sign in zip(rows, signs.tolist(), strict=True):
            a, b = (row.model_a, row.debias_a), (row.model_b, row.debias_b)
            self.rows[a, b] = self.rows[b, a] = row
            self.signs[a, b], self.signs[b, a] = sign, -sign
            self.differences[a, b], self.differences[b, a] = row.difference, -row.difference

    def count(self, holds: Callable[[Any], bool]) -> int:
        """Return for how many pairs a condition holds; each pair is in `rows` in both directions."""
        return sum(map(holds, self.rows.values())) // 2

    def p_adjusted(self, a: State | None, b: State) -> float:
        """Return the adjusted p-value of two variants; NaN if they were not compared."""
        return self.rows[a, b].p_adjusted if a is not None and (a, b) in self.rows else nan

    def reason(self, a: State, b: State) -> str:
        """Return why the two cannot be compared, as in pairs.csv; "no value" for two without a row."""
        return str(self.rows[a, b].reason) if (a, b) in self.rows else NO_VALUE

    def is_comparable(self, a: State, b: State) -> bool:
        """Return whether the two can be compared."""
        return not self.reason(a, b)

    def count_above(self, a: State) -> int:
        """Return how many others have more bias than this one, whether or not that is significant."""
        return sum(difference < 0 for (first, _), difference in self.differences.items() if first == a)

    def is_decided(self, a: State, b: State) -> bool:
        """Return whether the first is significantly less biased than the second."""
        return self.signs.get((a, b)) == -1

    def differ(self, a: State, b: State) -> bool:
        """Return whether the two differ significantly."""
        return self.is_decided(a, b) or self.is_decided(b, a)


def find_least_biased(models: Iterable[State], pairs: Pairs) -> State | None:
    """Return the model that is clearly the least biased, if there is one.

    Parameters
    ----------
    models
        The original models with a value.
    pairs
        Their comparisons.

    Returns
    -------
    tuple of str, optional
        The model that differs from, and is below, every other one with which it can be compared. If all models can be
        compared, at most one model does; None if several do.
    """
    models = list(models)
    found = []
    for model in models:
        rivals = [rival for rival in models if pairs.is_comparable(model, rival)]
        if rivals and all(pairs.is_decided(model, rival) for rival in rivals):
            found.append(model)
    return found[0] if len(found) == 1 else None


def answers(
    rankings: pd.DataFrame, pairs: pd.DataFrame | None, order: Sequence[str], level: float
) -> list[Answer]:
    """Return each metric's comparison of the models, by criterion ("Overall" last) and in the order of the metrics.

    Parameters
    ----------
    rankings, pairs
        The tables; None for a study without a bootstrap.
    order
        The metrics' keys.
    level
        Level of the bootstrap: two models differ if the adjusted p-value is at most 1 minus the level.
    """
    by_family: dict[tuple[str, ...], list[Any]] = {}
    # Split each table once; selecting part by part would take ten times as long.
    for row in pairs.itertuples() if pairs is not None else ():
        by_family.setdefault((row.criterion, row.metric, row.family), []).append(row)
    parts: dict[tuple[str, str], list[Any]] = {}
    for row in rankings.sort_values(["model", "debias"]).itertuples():
        parts.setdefault((row.criterion, row.metric), []).append(row)
    criteria = sorted({criterion for criterion, _ in parts}, key=lambda name: (name == OVERALL, name))
    return [
        _answer(*place, parts[place], by_family, level)
        for place in [(criterion, metric) for criterion in criteria for metric in order]
        if place in parts
    ]


def _answer(
    criterion: str,
    metric: str,
    part: Sequence[Any],
    by_family: Mapping[tuple[str, ...], Sequence[Any]],
    level: float,
) -> Answer:
    pairs, state_pairs = (
        Pairs(by_family.get((criterion, metric, family), ()), level) for family in (MODELS, STATES)
    )
    rows = {(row.model, row.debias): row for row in part}
    untouched = {state: row for state, row in rows.items() if state[1] == UNTOUCHED}
    with_value = [state for state, row in untouched.items() if not isnan(row.value)]
    # Ranks are ranks of raw values, and do not tell which model is clearly the least biased.
    clear = find_least_biased(with_value, pairs)
    ranking = sorted(
        (state for state, row in untouched.items() if not row.reason),
        key=lambda s: (s != clear, -pairs.count_above(s), rows[s].rank_shared),
    )
    unranked = sorted((state for state in untouched if state not in ranking), key=lambda s: -rows[s].queries)
    first: Any = clear or (ranking[0] if ranking else None)
    rivals = [state for state in with_value if first not in (None, state)]
    if pairs.rows and (lacking := [rival for rival in rivals if (first, rival) not in pairs.rows]):
        raise BiasgridError(
            f"pairs.csv: no row compares {'/'.join(first)} with {'/'.join(lacking[0])} ({criterion}, {metric}); make "
            'it again: biasgrid step "table pairs" --study CONFIG'
        )
    comparable = {rival: pairs.rows[first, rival] for rival in rivals if pairs.is_comparable(first, rival)}
    undecided = [rival for rival in comparable if not pairs.is_decided(first, rival)]
    reasons = {rows[state].reason for state in unranked}
    pairs_reasons = {row.reason for row in pairs.rows.values()}

    def ranked_state(state: State) -> RankedState:
        row = rows[state]
        return RankedState(
            *(row.model, row.debias, float(row.value_shared), float(row.rank_shared)),
            tuple(model for model, _ in untouched if pairs.differ(state, (model, UNTOUCHED))),
            *(int(row.queries), int(row.queries_of), pairs.p_adjusted(first, state), row.reason),
        )

    return Answer(
        criterion=criterion,
        metric=metric,
        level=level,
        models=tuple(map(ranked_state, ranking)),
        not_ranked=tuple(map(ranked_state, unranked)),
        reason=next((reason for reason in (FEW_SHARED, FEW_UNITS) if reason in reasons and not ranking), ""),
        debiased=tuple(
            _debiased_state(state, state_pairs, rows)
            for state in rows
            if state[1] != UNTOUCHED and state_pairs.reason(state, (state[0], UNTOUCHED)) != NO_VALUE
        ),
        has_test=bool(pairs.rows),
        not_compared=next((r for r in (NO_BASELINE, NO_COMMON_ZERO) if r in pairs_reasons), "")
        * ("" not in pairs_reasons),
        least_biased=clear[0] if clear else None,
        comparable=tuple(model for model, _ in comparable),
        undecided=tuple(model for model, _ in undecided),
        incomparable=tuple(
            Rival(rival[0], row.reason, int(row.queries), int(row.queries_of))
            for rival in rivals
            if pairs.rows and rival not in comparable
            for row in [pairs.rows[first, rival]]
        ),
        p_adjusted=_largest(row.p_adjusted for row in comparable.values()),
        smallest_difference=-_largest(-comparable[rival].smallest_difference for rival in undecided),
        queries=min((int(row.queries) for row in comparable.values()), default=0),
        queries_of=max(int(row.queries_of) for row in rows.values()),
        decided_pairs=frozenset(pair for pair in pairs.rows if pairs.is_decided(*pair)),
        compared_pairs=pairs.count(lambda row: not row.reason),
        alike_pairs=pairs.count(lambda row: not row.reason and getattr(row, "answer", "") == ALIKE),
    )


def _largest(numbers: Iterable[float]) -> float:
    """Return the largest number, ignoring NaN; NaN if there is none."""
    return max((number for number in numbers if not isnan(number)), default=nan)


def before_and_after(before: Any, after: Any) -> tuple[float, float]:
    """Return the values of an original and a debiased model in rankings.csv, on the same queries."""
    if isnan(before.value_shared) or isnan(after.value_shared):
        return before.value, after.value
    return before.value_shared, after.value_shared


def _debiased_state(state: State, pairs: Pairs, rows: Mapping[State, Any]) -> DebiasedState:
    original = state[0], UNTOUCHED
    before, after = before_and_after(rows[original], rows[state]) if original in rows else (nan, nan)
    row = pairs.rows[state, original]
    direction = "less" if pairs.is_decided(state, original) else "more" * pairs.is_decided(original, state)
    return DebiasedState(
        *(*state, row.reason, direction, row.p_adjusted, row.smallest_difference),
        *(int(row.queries), int(row.queries_of), after / before if before else nan),
    )

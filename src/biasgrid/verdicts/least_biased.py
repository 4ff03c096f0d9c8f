"""Which model is the least biased, by criterion and metric, and whether that is decided.

Models are ranked on the queries that all of them have; a model with values on too few is not ranked. A ranked model
is *decided* to be the least biased where it comes first and differs significantly from every rival that it can be
compared with: a rival is any model with a value, ranked or not, and two can be compared on five queries that both
have (`biasgrid.statistics.shared`). rankings.csv and pairs.csv hold all of this; this module alone reads it off them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import isnan, nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ..debias import UNTOUCHED
from ..errors import BiasgridError
from ..statistics.aggregation import OVERALL
from ..statistics.pairs import letters
from ..statistics.shared import FEW_SHARED, FEW_UNITS, NO_VALUE, OTHER_QUERIES, THESE_QUERIES

if TYPE_CHECKING:
    import pandas as pd

State = tuple[str, str]  # a model's key and a debias method's
MODELS, STATES = "models", "states"  # families of pairs: of the untouched models; of one model's states


@dataclass(frozen=True)
class RankedState:
    """A state of a model under a metric.

    model, debias  its keys
    value, rank    `value_shared` and `rank_shared` of rankings.csv: NaN where it has none
    letters        the groups of states that it does not differ from significantly; empty without a test
    queries        how many of the queries it has all values of, of so many (`queries_of`)
    p_first        p-value of its difference from the first state, adjusted over all pairs of the family; NaN for the
                   first state, and where the two were not compared
    reason         why it is not ranked, as in rankings.csv
    """

    model: str
    debias: str
    value: float
    rank: float
    letters: str
    queries: int
    queries_of: int
    p_first: float
    reason: str

    @property
    def has_lost_queries(self) -> bool:
        """Whether it has no value for some queries: wherever it is named, "n of m queries" or a dagger stands."""
        return self.queries < self.queries_of


@dataclass(frozen=True)
class DebiasedState:
    """A debiased state of a model beside the model without debiasing.

    model, debias  its keys
    direction      "less" or "more" biased than the model without debiasing; "" where neither is decided
    p_adjusted     of the difference, adjusted over all pairs of the model's states; NaN where there is no test
    is_borderline  whether that is within two Monte Carlo standard errors of the limit
    reach          half-width of the simultaneous interval of the difference
    queries, queries_of  how many queries both were compared on, of how many
    holds_for      as in pairs.csv
    """

    model: str
    debias: str
    direction: str
    p_adjusted: float
    is_borderline: bool
    reach: float
    queries: int
    queries_of: int
    holds_for: str


@dataclass(frozen=True)
class Rival:
    """A model that cannot be compared with the first one, and how many queries both have, of how many."""

    model: str
    queries: int
    queries_of: int


@dataclass(frozen=True)
class Answer:
    """What a metric says of the models on a criterion.

    criterion, metric  their keys
    level          confidence level of the comparison
    models         the ranked models, the least biased first
    not_ranked     the other models, those with most queries first
    reason         why no model is ranked, as in rankings.csv; empty where some are
    states         of each model with debiased states: all its states, the least biased first
    debiased       each debiased state beside its model without debiasing, where the two were compared
    has_test       whether pairs were compared, that is, whether the study has a bootstrap and more than one model
    least_biased   the model that is decided to be the least biased, if any
    comparable     the rivals that the first model can be compared with
    undecided      those of them of which it is not decided
    incomparable   the rivals that it cannot be compared with
    p_adjusted     the largest p-value over the rivals that it can be compared with; NaN of none
    is_borderline  whether that is within two Monte Carlo standard errors of the limit: another seed may say otherwise
    reach          half-width of the narrowest simultaneous interval of an undecided rival's difference: smaller
                   differences cannot be decided; NaN where nothing is undecided
    queries, queries_of  how many queries the ranked models were compared on, of how many; 0 without pairs
    holds_for      what the comparison of the first model with its rivals holds for, as in pairs.csv: of these queries
                   alone, if one of them is; empty of none
    decided_pairs  pairs of untouched models that differ significantly, the less biased first
    """

    criterion: str
    metric: str
    level: float
    models: tuple[RankedState, ...]
    not_ranked: tuple[RankedState, ...]
    reason: str
    states: tuple[tuple[RankedState, ...], ...]
    debiased: tuple[DebiasedState, ...]
    has_test: bool
    least_biased: str | None
    comparable: tuple[str, ...]
    undecided: tuple[str, ...]
    incomparable: tuple[Rival, ...]
    p_adjusted: float
    is_borderline: bool
    reach: float
    queries: int
    queries_of: int
    holds_for: str
    decided_pairs: frozenset[tuple[State, State]]

    @property
    def first(self) -> tuple[RankedState, ...]:
        """The models with the lowest rank; none where no model is ranked."""
        return tuple(state for state in self.models if state.rank == self.models[0].rank)

    @property
    def is_decided(self) -> bool:
        """Whether one model is the least biased."""
        return self.least_biased is not None

    @property
    def is_of_these_queries(self) -> bool:
        """Whether what is decided holds for these queries alone."""
        return self.holds_for == THESE_QUERIES

    @property
    def rivals(self) -> tuple[RankedState, ...]:
        """All models but the first one."""
        return (*self.models[1:], *self.not_ranked)

    @property
    def models_with_value(self) -> list[str]:
        """The untouched models that have a value, ranked or not."""
        return [state.model for state in (*self.models, *self.not_ranked) if state.reason != NO_VALUE]


def decisions(difference: np.ndarray, p_adjusted: np.ndarray, limit: float) -> np.ndarray:
    """Which of two states is decided to be the less biased: -1 the first, 1 the second, 0 neither.

    Parameters
    ----------
    difference, p_adjusted
        Of pairs, as in pairs.csv, (pairs,); NaN decides nothing.
    limit
        The largest p-value that decides, 1 less the level of the bootstrap.
    """
    # the rounding of 1 - .9 takes no p-value away
    return np.where(np.asarray(p_adjusted) <= limit + 1e-12, np.nan_to_num(np.sign(difference)), 0).astype(
        int
    )


class Pairs:
    """The compared pairs of a family, in both directions.

    Parameters
    ----------
    rows
        Of pairs.csv, of one criterion, metric and family: tuples with its names.
    level
        1 less the limit of p-values.
    draws
        Of the bootstrap: they say how exact a p-value is.
    """

    def __init__(self, rows: Sequence[Any], level: float, draws: int) -> None:
        self.limit = 1 - level
        self.error = sqrt(level * (1 - level) / draws) if draws else nan
        self.rows: dict[tuple[State, State], Any] = {}
        self.signs: dict[tuple[State, State], int] = {}
        differences = np.array([row.difference for row in rows])
        p_values = np.array([row.p_adjusted for row in rows])
        signs = decisions(differences, p_values, self.limit)
        for row, sign in zip(rows, signs.tolist(), strict=True):
            a, b = (row.model_a, row.debias_a), (row.model_b, row.debias_b)
            self.rows[a, b] = self.rows[b, a] = row
            self.signs[a, b], self.signs[b, a] = sign, -sign

    def p_adjusted(self, a: State | None, b: State) -> float:
        """NaN of two that were not compared."""
        return self.rows[a, b].p_adjusted if a is not None and (a, b) in self.rows else nan

    def is_comparable(self, a: State, b: State) -> bool:
        """Whether the two can be compared."""
        return (a, b) in self.rows and not self.rows[a, b].reason

    def is_decided(self, a: State, b: State) -> bool:
        """Whether the first is decided to be less biased than the second."""
        return self.signs.get((a, b)) == -1

    def differ(self, a: State, b: State) -> bool:
        """Whether one of the two is decided to be less biased than the other."""
        return self.is_decided(a, b) or self.is_decided(b, a)

    def is_borderline(self, p: float) -> bool:
        """Whether a p-value is within two Monte Carlo standard errors of the limit."""
        return abs(p - self.limit) <= 2 * self.error

    def half_width(self, a: State, b: State) -> float:
        """Of the simultaneous interval of the difference of two."""
        row = self.rows[a, b]
        return (row.high - row.low) / 2


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
        The model that is different from, and below, every other one that it can be compared with. There is at most
        one if all models can be compared; of several, there is none.
    """
    models = list(models)
    found = []
    for model in models:
        rivals = [rival for rival in models if pairs.is_comparable(model, rival)]
        if rivals and all(pairs.is_decided(model, rival) for rival in rivals):
            found.append(model)
    return found[0] if len(found) == 1 else None


def answers(
    rankings: pd.DataFrame, pairs: pd.DataFrame | None, order: Sequence[str], level: float, draws: int = 0
) -> list[Answer]:
    """What each metric says of the models, by criterion ("Overall" last) and in the order of the metrics.

    Parameters
    ----------
    rankings, pairs
        The tables; None for a study without a bootstrap.
    order
        The metrics' keys.
    level
        Of the bootstrap: two models differ where the adjusted p-value is at most 1 less it.
    draws
        Of the bootstrap; 0 for a study without one.
    """
    by_family: dict[tuple[str, ...], list[Any]] = {}
    # each table is taken apart once: part by part, it would take ten times as long
    for row in pairs.itertuples() if pairs is not None else ():
        by_family.setdefault((row.criterion, row.metric, row.family), []).append(row)
    parts: dict[tuple[str, str], list[Any]] = {}
    for row in rankings.sort_values(["model", "debias"]).itertuples():
        parts.setdefault((row.criterion, row.metric), []).append(row)
    criteria = sorted({criterion for criterion, _ in parts}, key=lambda name: (name == OVERALL, name))
    return [
        _answer(*place, parts[place], by_family, level, draws)
        for place in [(criterion, metric) for criterion in criteria for metric in order]
        if place in parts
    ]


def _answer(
    criterion: str,
    metric: str,
    part: Sequence[Any],
    by_family: Mapping[tuple[str, ...], Sequence[Any]],
    level: float,
    draws: int,
) -> Answer:
    pairs, state_pairs = (
        Pairs(by_family.get((criterion, metric, family), ()), level, draws) for family in (MODELS, STATES)
    )
    rows = {(row.model, row.debias): row for row in part}
    untouched = {state: row for state, row in rows.items() if state[1] == UNTOUCHED}
    ranking = sorted(
        (state for state, row in untouched.items() if not row.reason), key=lambda s: rows[s].rank_shared
    )
    unranked = sorted((state for state in untouched if state not in ranking), key=lambda s: -rows[s].queries)
    # pairs on the standardised scale have answers; ranks are those of raw values
    # older results have no answers
    answered = [getattr(row, "answer", "") for row in pairs.rows.values()]
    if any(isinstance(answer, str) and answer for answer in answered):
        with_value = [state for state, row in untouched.items() if not isnan(row.value)]
        if (clear := find_least_biased(with_value, pairs)) is not None:
            ranking = [clear, *(state for state in ranking if state != clear)]
            unranked = [state for state in unranked if state != clear]
    first: Any = ranking[0] if ranking else None
    rivals = [
        state for state, row in untouched.items() if first not in (None, state) and not isnan(row.value)
    ]
    if pairs.rows and (lacking := [rival for rival in rivals if (first, rival) not in pairs.rows]):
        raise BiasgridError(
            f"pairs.csv: no row compares {'/'.join(first)} with {'/'.join(lacking[0])} ({criterion}, {metric}); make "
            "it again: biasgrid table --study CONFIG --table pairs"
        )
    comparable = [rival for rival in rivals if pairs.is_comparable(first, rival)]
    undecided = [rival for rival in comparable if not pairs.is_decided(first, rival)]
    p_adjusted = _largest(pairs.p_adjusted(first, rival) for rival in comparable)
    reasons = {rows[state].reason for state in unranked}
    kinds = {pairs.rows[first, rival].holds_for for rival in comparable}
    return Answer(
        criterion=criterion,
        metric=metric,
        level=level,
        models=_group(ranking, rows, pairs),
        not_ranked=tuple(
            _ranked_state(rows[state], "", pairs.p_adjusted(first, state)) for state in unranked
        ),
        reason=next((reason for reason in (FEW_SHARED, FEW_UNITS) if reason in reasons and not first), ""),
        states=tuple(
            _group(_by_value([state for state in rows if state[0] == model], rows), rows, state_pairs)
            for model in dict.fromkeys(model for model, debias in rows if debias != UNTOUCHED)
        ),
        debiased=tuple(
            _debiased_state(state, state_pairs)
            for state in rows
            if state[1] != UNTOUCHED and state_pairs.is_comparable(state, (state[0], UNTOUCHED))
        ),
        has_test=bool(pairs.rows),
        least_biased=first[0] if first and comparable and not undecided else None,
        comparable=tuple(model for model, _ in comparable),
        undecided=tuple(model for model, _ in undecided),
        incomparable=tuple(
            Rival(rival[0], pairs.rows[first, rival].queries, pairs.rows[first, rival].queries_of)
            for rival in rivals
            if pairs.rows and rival not in comparable
        ),
        p_adjusted=p_adjusted,
        is_borderline=pairs.is_borderline(p_adjusted),
        reach=-_largest(-pairs.half_width(first, rival) for rival in undecided),
        # of two ranked models: what all ranked ones have
        queries=next((pairs.rows[p].queries for p in permutations(ranking, 2) if pairs.is_comparable(*p)), 0),
        queries_of=max(row.queries_of for row in rows.values()),
        holds_for=next((kind for kind in (THESE_QUERIES, OTHER_QUERIES) if kind in kinds), ""),
        decided_pairs=frozenset(pair for pair in pairs.rows if pairs.is_decided(*pair)),
    )


def _largest(numbers: Iterable[float]) -> float:
    """The largest of numbers that are not NaN; NaN of none."""
    return max((number for number in numbers if not isnan(number)), default=nan)


def _group(states: Sequence[State], rows: Mapping[State, Any], pairs: Pairs) -> tuple[RankedState, ...]:
    """States that are compared with each other, in their order, with letters."""
    comparable = [a for a in states if any(pairs.is_comparable(a, b) for b in states)]
    differs = np.array([[pairs.differ(a, b) for b in comparable] for a in comparable], dtype=bool)
    groups = dict(zip(comparable, letters(differs.reshape(len(comparable), len(comparable))), strict=True))
    return tuple(
        _ranked_state(rows[state], groups.get(state, ""), pairs.p_adjusted(states[0], state))
        for state in states
    )


def _by_value(states: Sequence[State], rows: Mapping[State, Any]) -> list[State]:
    """The states of a model, the least biased first: on the queries that models are ranked on, where it is ranked."""
    values = {state: rows[state].value_shared for state in states}
    if all(isnan(value) for value in values.values()):
        values = {state: rows[state].value for state in states}
    return sorted(states, key=lambda state: (isnan(values[state]), values[state]))


def _debiased_state(state: State, pairs: Pairs) -> DebiasedState:
    original = state[0], UNTOUCHED
    row, p_adjusted = pairs.rows[state, original], pairs.p_adjusted(state, original)
    direction = "less" if pairs.is_decided(state, original) else "more" * pairs.is_decided(original, state)
    return DebiasedState(
        *(*state, direction, p_adjusted, pairs.is_borderline(p_adjusted)),
        *(pairs.half_width(state, original), int(row.queries), int(row.queries_of), row.holds_for),
    )


def _ranked_state(row: Any, letters: str = "", p_first: float = nan) -> RankedState:
    return RankedState(
        *(row.model, row.debias, float(row.value_shared), float(row.rank_shared), letters),
        *(int(row.queries), int(row.queries_of), float(p_first), row.reason),
    )

"""Which model is the least biased, by criterion and metric; is that significant, and do metrics agree?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from ..debias import UNTOUCHED
from ..statistics.aggregation import OVERALL
from ..statistics.pairs import letters
from ..tables.pairs import MODELS, STATES

if TYPE_CHECKING:
    import pandas as pd

State = tuple[str, str]  # a model's key and a debias method's
PValues = Mapping[frozenset[State], float]  # adjusted p-values of pairs


@dataclass(frozen=True)
class RankedState:
    """A state of a model under a metric.

    model, debias  its keys
    rank, value    as in rankings.csv
    letters        the groups of states that it does not differ from significantly; empty without a bootstrap
    cells, missing its scores, and how many of them have no value
    p_first        p-value of its difference from the first state, adjusted over all pairs; NaN for the first state
                   and without a bootstrap
    """

    model: str
    debias: str
    rank: float
    value: float
    letters: str
    cells: int
    missing: int
    p_first: float


@dataclass(frozen=True)
class Answer:
    """What a metric says of the models on a criterion.

    criterion, metric  their keys
    models         the untouched models, the least biased first; those without a value last
    states         of each model with debiased states: all its states, likewise
    tested         whether pairs were compared, that is, whether the study has a bootstrap and more than one model
    decided_pairs  pairs of untouched models that differ significantly, the less biased first
    level          confidence level of the comparison
    """

    criterion: str
    metric: str
    models: tuple[RankedState, ...]
    states: tuple[tuple[RankedState, ...], ...]
    has_test: bool
    decided_pairs: frozenset[tuple[State, State]]
    level: float

    @property
    def first(self) -> list[RankedState]:
        """The models with the lowest rank; empty where no model has a value."""
        with_rank = [state for state in self.models if not isnan(state.rank)]
        return [state for state in with_rank if state.rank == with_rank[0].rank]

    @property
    def models_that_differ(self) -> list[RankedState]:
        """The models that differ significantly from the first one."""
        return [
            state
            for state in self._rest
            if (self._key(self.first[0]), self._key(state)) in self.decided_pairs
        ]

    @property
    def models_on_a_par(self) -> list[RankedState]:
        """The models that do not differ significantly from the first one."""
        different_models = self.models_that_differ
        return [state for state in self._rest if state not in different_models]

    @property
    def is_decided(self) -> bool:
        """Whether one model is the least biased of all that have a value."""
        return self.has_test and len(self.first) == 1 and bool(self._rest) and not self.models_on_a_par

    @property
    def _rest(self) -> list[RankedState]:
        return [state for state in self.models if not isnan(state.rank) and state != self.first[0]]

    @staticmethod
    def _key(state: RankedState) -> State:
        return state.model, state.debias


def answers(
    rankings: pd.DataFrame, pairs: pd.DataFrame | None, order: Sequence[str], level: float
) -> list[Answer]:
    """What each metric says of the models, by criterion ("Overall" last) and in the order of the metrics.

    Parameters
    ----------
    rankings, pairs
        The tables; None for a study without a bootstrap.
    order
        The metrics' keys.
    level
        1 less the level of adjusted p-values below which two models differ.
    """
    all_answers = []
    by_place = dict(list(pairs.groupby(["criterion", "metric"]))) if pairs is not None else {}
    criteria = sorted(rankings["criterion"].unique(), key=lambda name: (name == OVERALL, name))
    parts = dict(list(rankings.groupby(["criterion", "metric"])))
    for place in [(criterion, metric) for criterion in criteria for metric in order]:
        if place in parts:
            all_answers.append(_answer(*place, parts[place], by_place.get(place), level))
    return all_answers


def _answer(
    criterion: str, metric: str, part: pd.DataFrame, pairs: pd.DataFrame | None, level: float
) -> Answer:
    rows = {
        (row.model, row.debias): row for row in part.sort_values(["rank", "model", "debias"]).itertuples()
    }
    untouched_states = [state for state in rows if state[1] == UNTOUCHED]
    debiased_models = dict.fromkeys(model for model, debias in rows if debias != UNTOUCHED)
    model_p_values = _adjusted_p_values(pairs, MODELS)
    state_p_values = _adjusted_p_values(pairs, STATES)
    decided_pairs = frozenset(
        (a, b)
        for i, a in enumerate(untouched_states)
        for b in untouched_states[i + 1 :]
        if model_p_values.get(frozenset((a, b)), 1.0) <= 1 - level and rows[a].rank < rows[b].rank
    )
    return Answer(
        criterion,
        metric,
        _group([rows[state] for state in untouched_states], model_p_values, level),
        tuple(
            _group([row for state, row in rows.items() if state[0] == model], state_p_values, level)
            for model in debiased_models
        ),
        bool(model_p_values),
        decided_pairs,
        level,
    )


def _adjusted_p_values(pairs: pd.DataFrame | None, family: str) -> PValues:
    if pairs is None:
        return {}
    return {
        frozenset(((row.model_a, row.debias_a), (row.model_b, row.debias_b))): row.p_adjusted
        for row in pairs[pairs["family"] == family].itertuples()
        if not isnan(row.p_adjusted)
    }


def _group(rows: Sequence, p_values: PValues, level: float) -> tuple[RankedState, ...]:
    states = [(row.model, row.debias) for row in rows]
    ranked_states = [state for state, row in zip(states, rows, strict=True) if not isnan(row.rank)]
    differs = np.array(
        [[p_values.get(frozenset((a, b)), 1.0) <= 1 - level for b in ranked_states] for a in ranked_states],
        dtype=bool,
    ).reshape(len(ranked_states), len(ranked_states))
    groups = dict(zip(ranked_states, letters(differs), strict=True)) if p_values else {}
    return tuple(
        RankedState(
            *state,
            float(row.rank),
            float(row.value),
            groups.get(state, ""),
            int(row.cells),
            int(row.cells_nan),
            p_values.get(frozenset((state, ranked_states[0])), float("nan"))
            if ranked_states and state != ranked_states[0]
            else float("nan"),
        )
        for state, row in zip(states, rows, strict=True)
    )


@dataclass(frozen=True)
class Agreement:
    """Whether metrics order the models alike on a criterion.

    order      the models, the least biased first, if every pair is decided by some metric and no two metrics decide a
               pair in opposite ways; else empty
    against    pairs that are decided in opposite ways: a, b, the metrics by which a is the less biased, and those by
               which b is
    n_decided  how many pairs some metric decides
    pairs      how many pairs there are of models that have a rank
    """

    order: tuple[str, ...]
    against: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...]
    n_decided: int
    pairs: int


def agreement(of_criterion: Iterable[Answer]) -> Agreement:
    """Whether the metrics of a criterion agree in what they decide of its untouched models."""
    by_pair: dict[tuple[str, str], list[str]] = {}
    models: dict[str, None] = {}
    for answer in of_criterion:
        models |= dict.fromkeys(state.model for state in answer.models if not isnan(state.rank))
        for (a, _), (b, _) in answer.decided_pairs:
            by_pair.setdefault((a, b), []).append(answer.metric)
    against = tuple(
        (a, b, tuple(metrics), tuple(by_pair[b, a]))
        for (a, b), metrics in sorted(by_pair.items())
        if (b, a) in by_pair and a < b
    )
    n_decided = len({frozenset(pair) for pair in by_pair})
    pairs = len(models) * (len(models) - 1) // 2
    order: tuple[str, ...] = ()
    if pairs and n_decided == pairs and not against:
        better = {model: sum(pair[0] == model for pair in by_pair) for model in models}
        # decisions may be circular
        if sorted(better.values()) == list(range(len(models))):
            order = tuple(sorted(models, key=lambda model: -better[model]))
    return Agreement(order, against, n_decided, pairs)

"""Which model is the least biased, by criterion and metric, whether that is decided, and whether metrics agree."""

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
Decided = Mapping[frozenset[State], float]  # adjusted p-values of pairs


@dataclass(frozen=True)
class Ranked:
    """A state of a model under a metric.

    model, debias  its keys
    rank, value    as in rankings.csv
    letters        the groups of states that it is not told apart from; empty where the study has no bootstrap
    cells, missing its scores, and how many of them have no value
    p_first        that it does not differ from the first, adjusted over all pairs; NaN for the first, and without one
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
    models     the untouched models, the least biased first; those without a value last
    states     of each model with debiased states: all its states, likewise
    tested     whether pairs were compared, that is, whether the study has a bootstrap and more than one model
    differing  of each two untouched models that are told apart, the less biased first
    level      of the comparison
    """

    criterion: str
    metric: str
    models: tuple[Ranked, ...]
    states: tuple[tuple[Ranked, ...], ...]
    tested: bool
    differing: frozenset[tuple[State, State]]
    level: float

    @property
    def first(self) -> list[Ranked]:
        """The models with the lowest rank; none, where no model has a value."""
        known = [state for state in self.models if not isnan(state.rank)]
        return [state for state in known if state.rank == known[0].rank]

    @property
    def told_apart(self) -> list[Ranked]:
        """The models that the first one is told apart from."""
        pairs = {(self._key(self.first[0]), self._key(other)) for other in self._others}
        return [
            other
            for other in self._others
            if (self._key(self.first[0]), self._key(other)) in pairs & self.differing
        ]

    @property
    def undecided(self) -> list[Ranked]:
        """The models that it is not told apart from."""
        apart = self.told_apart
        return [other for other in self._others if other not in apart]

    @property
    def decided(self) -> bool:
        """Whether one model is the least biased of all that have a value."""
        return self.tested and len(self.first) == 1 and bool(self._others) and not self.undecided

    @property
    def _others(self) -> list[Ranked]:
        return [state for state in self.models if not isnan(state.rank) and state != self.first[0]]

    @staticmethod
    def _key(state: Ranked) -> State:
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
        1 less the level of adjusted p-values below which two models are told apart.
    """
    found = []
    by_place = dict(list(pairs.groupby(["criterion", "metric"]))) if pairs is not None else {}
    criteria = sorted(rankings["criterion"].unique(), key=lambda name: (name == OVERALL, name))
    parts = dict(list(rankings.groupby(["criterion", "metric"])))
    for place in [(criterion, metric) for criterion in criteria for metric in order]:
        if place in parts:
            found.append(_answer(*place, parts[place], by_place.get(place), level))
    return found


def _answer(
    criterion: str, metric: str, part: pd.DataFrame, pairs: pd.DataFrame | None, level: float
) -> Answer:
    rows = {
        (row.model, row.debias): row for row in part.sort_values(["rank", "model", "debias"]).itertuples()
    }
    untouched = [state for state in rows if state[1] == UNTOUCHED]
    debiased = dict.fromkeys(model for model, debias in rows if debias != UNTOUCHED)
    of_models = _decided(pairs, MODELS)
    of_states = _decided(pairs, STATES)
    differing = frozenset(
        (a, b)
        for i, a in enumerate(untouched)
        for b in untouched[i + 1 :]
        if of_models.get(frozenset((a, b)), 1.0) <= 1 - level and rows[a].rank < rows[b].rank
    )
    return Answer(
        criterion,
        metric,
        _group([rows[state] for state in untouched], of_models, level),
        tuple(
            _group([row for state, row in rows.items() if state[0] == model], of_states, level)
            for model in debiased
        ),
        bool(of_models),
        differing,
        level,
    )


def _decided(pairs: pd.DataFrame | None, family: str) -> Decided:
    if pairs is None:
        return {}
    return {
        frozenset(((row.model_a, row.debias_a), (row.model_b, row.debias_b))): row.p_adjusted
        for row in pairs[pairs["family"] == family].itertuples()
        if not isnan(row.p_adjusted)
    }


def _group(rows: Sequence, decided: Decided, level: float) -> tuple[Ranked, ...]:
    states = [(row.model, row.debias) for row in rows]
    known = [state for state, row in zip(states, rows, strict=True) if not isnan(row.rank)]
    differs = np.array(
        [[decided.get(frozenset((a, b)), 1.0) <= 1 - level for b in known] for a in known], dtype=bool
    ).reshape(len(known), len(known))
    groups = dict(zip(known, letters(differs), strict=True)) if decided else {}
    return tuple(
        Ranked(
            *state,
            float(row.rank),
            float(row.value),
            groups.get(state, ""),
            int(row.cells),
            int(row.cells_nan),
            decided.get(frozenset((state, known[0])), float("nan"))
            if known and state != known[0]
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
    decided    how many pairs some metric decides
    pairs      how many pairs there are of models that have a rank
    """

    order: tuple[str, ...]
    against: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...]
    decided: int
    pairs: int


def agreement(of_criterion: Iterable[Answer]) -> Agreement:
    """Whether the metrics of a criterion agree in what they decide of its untouched models."""
    by_pair: dict[tuple[str, str], list[str]] = {}
    models: dict[str, None] = {}
    for answer in of_criterion:
        models |= dict.fromkeys(state.model for state in answer.models if not isnan(state.rank))
        for (a, _), (b, _) in answer.differing:
            by_pair.setdefault((a, b), []).append(answer.metric)
    against = tuple(
        (a, b, tuple(metrics), tuple(by_pair[b, a]))
        for (a, b), metrics in sorted(by_pair.items())
        if (b, a) in by_pair and a < b
    )
    decided = len({frozenset(pair) for pair in by_pair})
    pairs = len(models) * (len(models) - 1) // 2
    order: tuple[str, ...] = ()
    if pairs and decided == pairs and not against:
        better = {model: sum(pair[0] == model for pair in by_pair) for model in models}
        # a circle of decisions is no order
        if sorted(better.values()) == list(range(len(models))):
            order = tuple(sorted(models, key=lambda model: -better[model]))
    return Agreement(order, against, decided, pairs)

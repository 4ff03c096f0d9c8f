"""The table of pairs of models: which of two is the less biased, all pairs tested together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..debias import UNTOUCHED
from ..statistics.aggregation import OVERALL
from ..statistics.pairs import compare_differences
from ..statistics.ranks import RESAMPLED, aggregates_of_resamples
from ..statistics.shared import FEW_SHARED, FEWEST_QUERIES, NO_VALUE, is_comparable
from ..verdicts.least_biased import MODELS, STATES
from . import rank_samples
from .keys import CRITERION, METRIC
from .rankings import aggregate_scores
from .scores import read_ranked
from .shared import Place, State, places_of
from .table import ANY, Column, Files, Table

FAMILIES = MODELS, STATES
KEYS = ["criterion", "metric", "family", "model_a", "debias_a", "model_b", "debias_b"]


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The pairs of each family, each compared on the rows that it shares (`tables.shared`), by resamples of words and
    queries together; on fewer than five queries, of words alone."""
    ranking = spec["ranking"]
    scores = read_ranked(inputs["scores"], ranking)
    samples, counts = rank_samples.value_samples(scores, inputs, spec)
    rows = []
    for place in places_of(scores, ranking["ranked"], ranking["coverage"], ranking["parts"]):
        if place.criterion == OVERALL or place.criterion in ranking["ranked"]:
            for family, members in _families(place.states):
                pairs = [_Pair(place, a, b) for a, b in combinations(members, 2)]
                rows += _compare(place, family, pairs, scores["value"].to_numpy(), samples, counts, spec)
    return pd.DataFrame(rows, columns=PAIRS.names).sort_values(KEYS, ignore_index=True)


class _Pair:
    """Two states of a criterion and metric: the places in the scores of the rows on which they are compared, of the
    first and of the second, and how many queries these are; or the reason why they cannot be."""

    def __init__(self, place: Place, a: State, b: State) -> None:
        self.states = a, b
        columns = [place.column(state) for state in self.states]
        has_value = place.has_value[:, columns]
        self.queries = place.count_queries(has_value.all(axis=1))
        if not has_value.any(axis=0).all():
            self.reason = NO_VALUE
        elif not is_comparable(self.queries, len(place.queries)):
            self.reason = FEW_SHARED
        else:
            self.reason = ""
            rows = place.rows_of_pair(a, b)
            self.places = [place.places[rows, column] for column in columns]
            self.queries = place.count_queries(rows)


def _compare(
    place: Place,
    family: str,
    pairs: Sequence[_Pair],
    values: np.ndarray,
    samples: np.ndarray,
    counts: np.ndarray,
    spec: Mapping[str, Any],
) -> Iterator[tuple[Any, ...]]:
    """The rows of the table of one family."""
    comparable = [pair for pair in pairs if not pair.reason]
    numbers = dict(zip(comparable, _numbers(place, comparable, values, samples, counts, spec), strict=True))
    for pair in pairs:
        (model_a, debias_a), (model_b, debias_b) = pair.states
        yield (
            *(place.criterion, place.metric, family, model_a, debias_a, model_b, debias_b),
            *numbers.get(pair, [math.nan] * 4),
            len(comparable),
            pair.queries,
            len(place.queries),
            pair.reason,
        )


def _numbers(
    place: Place,
    pairs: Sequence[_Pair],
    values: np.ndarray,
    samples: np.ndarray,
    counts: np.ndarray,
    spec: Mapping[str, Any],
) -> Iterator[tuple[float, ...]]:
    """Difference, ends of its interval and adjusted p-value of pairs that are tested together."""
    ranking = spec["ranking"]
    neutral, options = ranking["neutral"][place.metric], (ranking["aggregation"], ranking["by"])
    # most pairs share their rows with others: each state's aggregate on them is taken once
    units: dict[tuple[int, ...], int] = {}
    members = [[units.setdefault(tuple(places), len(units)) for places in pair.places] for pair in pairs]
    first, second = np.array(members, dtype=int).reshape(-1, 2).T
    places = [np.array(unit) for unit in units]
    observed = np.array([aggregate_scores(values[part], neutral, *options) for part in places])
    kinds = aggregates_of_resamples(
        values[:, None], samples, counts, [(part, neutral) for part in places], *options
    )
    is_few = np.array([pair.queries < FEWEST_QUERIES for pair in pairs], dtype=bool)[:, None]
    of_words, of_both = (kinds[RESAMPLED.index(kind)] for kind in ("words", "both"))
    draws = np.where(is_few, of_words[first] - of_words[second], of_both[first] - of_both[second])
    scale = np.fmax(np.abs(observed[first]), np.abs(observed[second]))
    return zip(
        *compare_differences(observed[first] - observed[second], draws, scale, spec["level"]), strict=True
    )


def _families(states: Sequence[State]) -> Iterator[tuple[str, list[State]]]:
    """What is compared with each other: the untouched models; and each model with its debiased states."""
    yield MODELS, [state for state in states if state[1] == UNTOUCHED]
    for model in dict.fromkeys(model for model, _ in states):
        yield STATES, [state for state in states if state[0] == model]


def _inputs(grid: Any) -> dict[str, Any]:
    return (
        rank_samples.inputs(grid) if grid.ranked_criteria and "bootstrap" in grid.config["inference"] else {}
    )


PAIRS = Table(
    "pairs",
    "One row per ranked criterion, metric and pair of models (or of states of one model): whether they differ.",
    (
        CRITERION,
        METRIC,
        Column(
            "family",
            "which pairs are tested together: of the untouched models, or of one model's states",
            values=FAMILIES,
        ),
        Column("model_a", "a model's key"),
        Column("debias_a", "its debias method"),
        Column("model_b", "another's, or the same"),
        Column("debias_b", "its debias method"),
        Column(
            "difference",
            "what model_a is ranked by on the (sub-)queries that count, less that of model_b: below 0, model_a is "
            "the less biased",
            "number",
            "the metric's",
            ANY,
        ),
        Column(
            "low",
            "lower end of its 95 % interval (bootstrap over words and queries, on fewer than five queries over words "
            "alone, for all pairs of the family at once)",
            "number",
            "the metric's",
            ANY,
        ),
        Column("high", "its upper end", "number", "the metric's", ANY),
        Column(
            "p_adjusted",
            "p-value of the difference, adjusted over all pairs of the family (single-step max-T)",
            "number",
            range=(0, 1),
        ),
        Column("pairs", "how many pairs of the family can be compared, and are tested together", "count"),
        Column(
            "queries",
            "how many queries count: of two ranked models, those that all ranked models have; else those that both "
            "have. A query counts where all of its sub-queries have values",
            "count",
        ),
        Column("queries_of", "how many queries there are", "count"),
        Column(
            "reason",
            "why the two cannot be compared: no value, or fewer than five queries that both have (or than all, where "
            "there are fewer)",
            values=("", NO_VALUE, FEW_SHARED),
        ),
    ),
    inputs=_inputs,
    spec=lambda grid: {
        **rank_samples.spec(grid),
        "level": grid.config["inference"]["bootstrap"]["level"],
    },
    make=make,
)
TABLES = (PAIRS,)

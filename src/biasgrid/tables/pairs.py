"""The table of pairs of models: which of two is the less biased, all pairs tested together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from ..debias import UNTOUCHED
from ..seeds import seed_of
from ..statistics.aggregation import OVERALL
from ..statistics.pairs import Parts, compare_pairs
from ..statistics.ranks import query_parts
from ..statistics.shared import FEW_SHARED, NO_VALUE, OTHER_QUERIES, THESE_QUERIES, is_comparable
from ..verdicts.least_biased import MODELS, STATES
from . import rank_samples
from .keys import CRITERION, METRIC
from .query_groups import subqueries_of
from .scores import read_ranked
from .shared import Place, State, places_of
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from ..planned import Planned


FAMILIES = MODELS, STATES


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The pairs of each family, each compared on the rows that it shares (`tables.shared`): for other words, and for
    other queries or these (`holds_for`). Queries that share attribute sets ask about one topic: such clusters are the
    sample of what might be asked.

    spec: that of `rank_samples.write`; "level"; "words": criterion -> metric -> (sub-)query -> words of its smallest
    set.
    """
    ranking = spec["ranking"]
    scores = read_ranked(inputs["scores"], ranking)
    samples, _ = rank_samples.value_samples(scores, inputs, spec)
    rows: list[tuple[Any, ...]] = []
    for place in places_of(
        scores, ranking["ranked"], ranking["coverage"], ranking["parts"], spec["clusters"]
    ):
        if place.criterion == OVERALL or place.criterion in ranking["ranked"]:
            for family, members in _families(place.states):
                pairs = [_Pair(place, a, b) for a, b in combinations(members, 2)]
                rows += _compare(place, family, pairs, scores, samples, spec)
    return PAIRS.finish(rows)


class _Pair:
    """Two states of a criterion and metric: the places in the scores of the rows on which they are compared, of the
    first and of the second, how many queries these are, and what the comparison holds for; or the reason why they
    cannot be."""

    holds_for = ""

    def __init__(self, place: Place, a: State, b: State) -> None:
        self.states = a, b
        columns = [place.column(state) for state in self.states]
        has_value = place.has_value[:, columns]
        self.queries = place.count_queries(np.all(has_value, axis=1))
        if not has_value.any(axis=0).all():
            self.reason = NO_VALUE
        elif not is_comparable(self.queries, len(place.queries)):
            self.reason = FEW_SHARED
        else:
            self.reason = ""
            self.rows = place.rows_of_pair(a, b)
            self.places = [place.places[self.rows, column] for column in columns]
            self.queries = place.count_queries(self.rows)
            self.holds_for = place.holds_for(self.rows)


def _compare(
    place: Place,
    family: str,
    pairs: Sequence[_Pair],
    scores: pd.DataFrame,
    samples: np.ndarray,
    spec: Mapping[str, Any],
) -> Iterator[tuple[Any, ...]]:
    """The rows of the table of one family."""
    comparable = [pair for pair in pairs if not pair.reason]
    numbers = dict(zip(comparable, _numbers(place, comparable, scores, samples, spec), strict=True))
    for pair in pairs:
        (model_a, debias_a), (model_b, debias_b) = pair.states
        yield (
            *(place.criterion, place.metric, family, model_a, debias_a, model_b, debias_b),
            *numbers.get(pair, [math.nan] * 4),
            len(comparable),
            pair.queries,
            len(place.queries),
            pair.reason,
            pair.holds_for,
        )


def _numbers(
    place: Place, pairs: Sequence[_Pair], scores: pd.DataFrame, samples: np.ndarray, spec: Mapping[str, Any]
) -> Iterable[tuple[float, ...]]:
    """Difference, ends of its interval and adjusted p-value of pairs that are tested together."""
    if not pairs:
        return []
    ranking = spec["ranking"]
    options = ranking["neutral"][place.metric], ranking["aggregation"], ranking["by"]
    values, cluster_of_row = scores["value"].to_numpy(), place.clusters.argmax(axis=0)
    # most pairs share their rows with others: what moves a state's aggregate on them is taken once
    units: dict[tuple[int, ...], Parts] = {}
    for pair in pairs:
        for places in pair.places:
            if tuple(places) not in units:
                units[tuple(places)] = query_parts(
                    values[places], samples[places], cluster_of_row[pair.rows], len(place.clusters), *options
                )
    sides = [[units[tuple(pair.places[side])] for pair in pairs] for side in (0, 1)]
    first, second = (Parts(*map(np.stack, zip(*side, strict=True))) for side in sides)
    criteria = scores["criterion"].to_numpy()[place.places.max(axis=1)]
    sizes = spec["words"]
    words = [
        sizes[criteria[row]][place.metric].get(place.names[row], math.inf) for row in range(len(criteria))
    ]
    first_row = place.clusters.argmax(axis=1)
    is_apart = all(len(set(criteria[cluster])) == 1 for cluster in place.clusters)
    outcome = compare_pairs(
        first,
        second,
        words=float(np.mean(words)),
        # criteria that share attribute sets are no samples of their own
        strata=criteria[first_row] if is_apart else None,
        of_queries=np.array([pair.holds_for == OTHER_QUERIES for pair in pairs]),
        sizes=np.array([place.sizes(pair.rows) for pair in pairs]),
        level=spec["level"],
        seed=seed_of(spec["seed"], f"pairs/{place.criterion}/{place.metric}"),
    )
    return zip(*outcome, strict=True)


def _families(states: Sequence[State]) -> Iterator[tuple[str, list[State]]]:
    """What is compared with each other: the untouched models; and each model with its debiased states."""
    yield MODELS, [state for state in states if state[1] == UNTOUCHED]
    for model in dict.fromkeys(model for model, _ in states):
        yield STATES, [state for state in states if state[0] == model]


def _spec(study: Planned) -> dict[str, Any]:
    words = {
        criterion: {
            key: {
                part.name: min(len(s.words) for s in (*part.target_sets, *part.attribute_sets))
                for parts in queries
                for part in parts
            }
            for key, queries in subqueries_of(study, criterion).items()
        }
        for criterion in sorted(study.ranked_criteria)
    }
    return {**rank_samples.spec(study), "words": words}


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
        Column("model_a", "a model's key", key="model"),
        Column("debias_a", "its debias method", key="debias"),
        Column("model_b", "another's, or the same", key="model"),
        Column("debias_b", "its debias method", key="debias"),
        Column.value(
            "difference",
            "what model_a is ranked by on the (sub-)queries that count, less that of model_b: below 0, model_a is "
            "the less biased",
        ),
        Column.value(
            "low",
            "lower end of its 95 % interval, for other words and what `holds_for` says, for all pairs of the family "
            "at once",
        ),
        Column.value("high", "its upper end"),
        Column.share(
            "p_adjusted", "p-value of the difference, adjusted over all pairs of the family (step-down max-T)"
        ),
        Column.count("pairs", "how many pairs of the family can be compared, and are tested together"),
        Column.count(
            "queries",
            "how many queries count: of two ranked models, those that all ranked models have; else those that both "
            "have. A query counts where all of its sub-queries have values",
        ),
        Column.count("queries_of", "how many queries there are"),
        Column(
            "reason",
            "why the two cannot be compared: no value, or fewer than five queries that both have (or than all, where "
            "there are fewer)",
            values=("", NO_VALUE, FEW_SHARED),
        ),
        Column(
            "holds_for",
            "what the comparison holds for, beside other words: other queries of this kind; or these queries alone, "
            "if fewer than five of them, or of the clusters of queries that share attribute sets, count. Empty where "
            "the two are not compared",
            values=("", OTHER_QUERIES, THESE_QUERIES),
        ),
    ),
    when="ranked and bootstrap",
    inputs=rank_samples.inputs,
    facts=("level",),
    spec=_spec,
    make=make,
    key=("criterion", "metric", "family", "model_a", "debias_a", "model_b", "debias_b"),
)
TABLES = (PAIRS,)

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
from ..statistics.two_models import ALIKE, CANNOT_TELL, DIFFERENT, FEW_CLUSTERS, FEWEST_CLUSTERS, MARGIN
from ..verdicts.least_biased import MODELS, STATES
from . import rank_samples
from .keys import CRITERION, METRIC
from .model_pairs import NO_BASELINE, StandardizedScores, compare_family
from .query_groups import set_sizes_of
from .scores import read_ranked
from .shared import Place, State, places_of
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from ..planned import Planned


FAMILIES = MODELS, STATES
ANSWERS = DIFFERENT, ALIKE, CANNOT_TELL
# of the columns of text, where a pair has no answer
TEXTS = {"reason": "", "holds_for": "", "answer": "", "other_answer": "", "other_reason": ""}


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Compare the pairs of each family.

    Scores of a metric that has standardised bias are compared on that scale, each pair by its own variance
    (`model_pairs`). Others, of metrics of sentences or in a study without random groups, are compared as raw values,
    all pairs of a family together; the columns of answers stay empty.
    Queries that share attribute sets ask about one topic: such clusters are the sample of what might be asked.

    spec: that of `rank_samples.write`; "level"; "words": criterion -> metric -> (sub-)query -> words of its smallest
    set.
    """
    ranking = spec["ranking"]
    scores = read_ranked(inputs["scores"], ranking)
    samples, _ = rank_samples.value_samples(scores, inputs, spec)
    rows: list[dict[str, Any]] = []
    standardized = StandardizedScores.read(scores, samples, inputs, ranking["neutral"])
    for place in places_of(
        scores, ranking["ranked"], ranking["coverage"], ranking["parts"], spec["clusters"]
    ):
        if place.criterion == OVERALL or place.criterion in ranking["ranked"]:
            rows_of_place = place.places[place.places >= 0]
            has_scale = not np.isnan(standardized.values[rows_of_place]).all()
            for family, members in _families(place.states):
                states = list(combinations(members, 2))
                if has_scale:
                    words = place.words(scores, spec["words"])
                    compared = compare_family(place, states, standardized, words, level=spec["level"])
                    rows += [_row(place, family, *pair) for pair in zip(states, compared, strict=True)]
                else:
                    pairs = [_Pair(place, a, b) for a, b in states]
                    rows += _compare(place, family, pairs, scores, samples, spec)
    return PAIRS.finish(rows)


def _row(place: Place, family: str, states: tuple[State, State], compared: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the table. Its first claim is about these queries."""
    keys = ("criterion", "metric", "family", "model_a", "debias_a", "model_b", "debias_b")
    values = (place.criterion, place.metric, family, *states[0], *states[1])
    holds_for = "" if compared["reason"] else THESE_QUERIES
    return (
        TEXTS
        | dict(zip(keys, values, strict=True))
        | {
            "queries_of": len(place.queries),
            **compared,
            "holds_for": holds_for,
        }
    )


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
) -> Iterator[dict[str, Any]]:
    """The rows of the table of one family, of raw values."""
    comparable = [pair for pair in pairs if not pair.reason]
    numbers = dict(zip(comparable, _numbers(place, comparable, scores, samples, spec), strict=True))
    for pair in pairs:
        difference, low, high, p_adjusted = numbers.get(pair, [math.nan] * 4)
        compared = {
            "difference": difference,
            "low": low,
            "high": high,
            "p_adjusted": p_adjusted,
            "pairs": len(comparable),
            "queries": pair.queries,
            "reason": pair.reason,
        }
        yield _row(place, family, pair.states, compared) | {"holds_for": pair.holds_for}


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
    first_row = place.clusters.argmax(axis=1)
    is_apart = all(len(set(criteria[cluster])) == 1 for cluster in place.clusters)
    outcome = compare_pairs(
        first,
        second,
        words=float(np.mean(place.words(scores, spec["words"]))),
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
    return {**rank_samples.spec(study), "words": set_sizes_of(study)}


def _of_other_queries() -> tuple[Column, ...]:
    """Return the columns of the second claim."""
    return (
        Column(
            "clusters",
            "how many clusters the queries form: queries that share attribute sets are one cluster",
            "optional count",
        ),
        Column.value(
            "other_difference",
            "the difference for other queries of this kind: the mean over clusters",
            "standard deviations",
        ),
        Column.value("other_low", "lower end of its 95 % interval", "standard deviations"),
        Column.value("other_high", "its upper end", "standard deviations"),
        Column.share("other_p", "p-value of the difference for other queries, not adjusted"),
        Column.share("other_p_adjusted", "the same, adjusted over the pairs of the family (Holm)"),
        Column("other_answer", "the answer for other queries", values=("", *ANSWERS)),
        Column.value(
            "other_smallest_difference",
            "the smallest difference for other queries that would be found with 80 % power",
            "standard deviations",
            0,
        ),
        Column(
            "other_needed",
            f"if the answer for other queries is {CANNOT_TELL!r}: how many queries would find a difference of "
            f"{MARGIN:g} with 80 % power",
            "optional count",
        ),
        Column(
            "other_reason",
            f"why there is no answer for other queries: fewer than {FEWEST_CLUSTERS} clusters",
            values=("", FEW_CLUSTERS),
        ),
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
        Column("model_a", "a model's key", key="model"),
        Column("debias_a", "its debias method", key="debias"),
        Column("model_b", "another's, or the same", key="model"),
        Column("debias_b", "its debias method", key="debias"),
        Column.value(
            "difference",
            "mean standardised bias of model_a on the queries that count, minus that of model_b: below 0, model_a is "
            "the less biased. Of scores without a baseline, the difference of what models are ranked by",
            "standard deviations",
        ),
        Column.value(
            "low",
            "lower end of its 95 % interval, for other words and what `holds_for` says. Of scores without a baseline "
            "it holds for all pairs of the family at once",
            "standard deviations",
        ),
        Column.value("high", "its upper end", "standard deviations"),
        Column.share(
            "p_adjusted",
            "p-value of the difference, adjusted over all pairs of the family (Holm; of scores without a baseline, "
            "step-down max-T)",
        ),
        Column.count("pairs", "how many pairs of the family can be compared, and are tested together"),
        Column.count(
            "queries",
            "how many queries count: those of which both have all values, with a baseline",
        ),
        Column.count("queries_of", "how many queries there are"),
        Column(
            "reason",
            "why the two cannot be compared: no value, no baseline of random groups, or fewer than five queries that "
            "both have (or than all, where there are fewer)",
            values=("", NO_VALUE, NO_BASELINE, FEW_SHARED),
        ),
        Column(
            "holds_for",
            "what the comparison holds for, beside other words: other queries of this kind; or these queries alone, "
            "if fewer than five of them, or of the clusters of queries that share attribute sets, count. Empty where "
            "the two are not compared",
            values=("", OTHER_QUERIES, THESE_QUERIES),
        ),
        Column.share("p", "p-value of the difference for these queries and other words, not adjusted"),
        Column(
            "answer",
            f"for these queries: {DIFFERENT!r} (p_adjusted is at most .05), {ALIKE!r} (the 90 % interval lies within "
            f"{MARGIN:g} standard deviations of 0) or {CANNOT_TELL!r}",
            values=("", *ANSWERS),
        ),
        Column.value(
            "smallest_difference",
            "the smallest difference that would be found with 80 % power, as the first of the family's pairs",
            "standard deviations",
            0,
        ),
        Column(
            "needed",
            f"if the answer is {CANNOT_TELL!r}: how many words a set would find a difference of {MARGIN:g} with 80 % "
            "power",
            "optional count",
        ),
        *_of_other_queries(),
    ),
    when="ranked and bootstrap",
    inputs=rank_samples.inputs,
    facts=("level",),
    spec=_spec,
    make=make,
    key=("criterion", "metric", "family", "model_a", "debias_a", "model_b", "debias_b"),
)
TABLES = (PAIRS,)

"""Table of pairs of models: which of two is less biased, or whether they are alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ..debias import UNTOUCHED
from ..measure.aggregation import OVERALL
from ..measure.statistics.scale import NO_BASELINE, NO_COMMON_ZERO
from ..measure.statistics.shared import FEW_SHARED, NO_VALUE
from ..measure.statistics.two_models import (
    ALIKE,
    CANNOT_TELL,
    DIFFERENT,
    FEW_CLUSTERS,
    FEWEST_CLUSTERS,
    LENGTHS,
    MODELS,
    RAW,
    STANDARDIZED,
    STATES,
)
from . import rank_samples
from .keys import CRITERION, METRIC
from .model_pairs import RawScores, StandardizedScores, compare_family
from .query_groups import set_sizes_of
from .scalars import SCALARS
from .scales import metrics_without_common_zero, pair_scales, scaled_metrics
from .scores import read_ranked
from .shared import Place, State, places_of
from .table import Column, Files, Table
from .vector_lengths import mean_lengths

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


FAMILIES = MODELS, STATES
ANSWERS = DIFFERENT, ALIKE, CANNOT_TELL
# Columns of text for a pair without an answer.
NO_ANSWER = {"answer": "", "other_answer": "", "other_reason": ""}


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Compare the pairs of each family, each pair by its own variance (`model_pairs`).

    Queries that share attribute sets ask about one topic. Such clusters are the sample of possible topics.

    Parameters
    ----------
    inputs
        The inputs of `rank_samples.write`, with "scalars".
    spec
        The spec of `rank_samples.write`, with "level"; "margin"; "scales", from `scales.pair_scales`; "scaled", the
        metrics that depend on the length of vectors; "no_common_zero", the metrics by which two models are not
        compared; "words", the argument of `Place.words`.
    """
    ranking = spec["ranking"]
    table = read_ranked(inputs["scores"], ranking)
    samples, _ = rank_samples.value_samples(table, inputs, spec)
    scores = {
        STANDARDIZED: StandardizedScores.read(table, samples, inputs, ranking["neutral"]),
        RAW: RawScores.read(table, samples, ranking["neutral"]),
    }
    lengths = mean_lengths(SCALARS.read(inputs["scalars"]), spec["scaled"])
    rows: list[dict[str, Any]] = []
    for place in places_of(table, ranking["ranked"], ranking["coverage"], ranking["parts"], spec["clusters"]):
        if place.criterion != OVERALL and place.criterion not in ranking["ranked"]:
            continue
        words = place.words(table, spec["words"])
        for family, members in _families(place.states):
            scale, pairs = spec["scales"][place.metric][family], list(combinations(members, 2))
            compared = compare_family(
                place,
                pairs,
                scores[scale],
                words,
                # The margin is in standard deviations.
                margin=spec["margin"] if scale == STANDARDIZED else None,
                level=spec["level"],
                # Different models have baselines with their own vector lengths.
                lengths=lengths if family == STATES else None,
                has_common_zero=family == STATES or place.metric not in spec["no_common_zero"],
            )
            rows += [_row(place, family, scale, *pair) for pair in zip(pairs, compared, strict=True)]
    return PAIRS.finish(rows)


def _row(
    place: Place, family: str, scale: str, states: tuple[State, State], compared: dict[str, Any]
) -> dict[str, Any]:
    keys = ("criterion", "metric", "family", "model_a", "debias_a", "model_b", "debias_b", "scale")
    values = (place.criterion, place.metric, family, *states[0], *states[1], scale)
    queries_of = {"queries_of": len(place.queries)}
    return NO_ANSWER | dict(zip(keys, values, strict=True)) | queries_of | compared


def _families(states: Sequence[State]) -> Iterator[tuple[str, list[State]]]:
    """Yield the families of pairs: the original models, and each model with its debiased variants."""
    yield MODELS, [state for state in states if state[1] == UNTOUCHED]
    for model in dict.fromkeys(model for model, _ in states):
        yield STATES, [state for state in states if state[0] == model]


def _spec(study: Planned) -> dict[str, Any]:
    return {
        **rank_samples.spec(study),
        "words": set_sizes_of(study),
        "margin": study.config.inference.margin,
        "scales": pair_scales(study),
        "scaled": scaled_metrics(study),
        "no_common_zero": metrics_without_common_zero(study),
    }


def _of_other_queries() -> tuple[Column, ...]:
    """Return the columns of the comparison for other queries."""
    return (
        Column(
            "clusters",
            "number of clusters of queries; queries that share attribute sets form one cluster",
            "optional count",
        ),
        Column.value(
            "other_difference",
            "difference for other queries like these: the mean over clusters",
            "standard deviations",
        ),
        Column.value("other_low", "lower end of its 95 % interval", "standard deviations"),
        Column.value("other_high", "upper end of the same interval", "standard deviations"),
        Column.share("other_p", "unadjusted p-value of the difference for other queries"),
        Column.share("other_p_adjusted", "the same p-value, adjusted for all pairs of the family (Holm)"),
        Column("other_answer", "answer for other queries, with the same three words", values=("", *ANSWERS)),
        Column.value(
            "other_smallest_difference",
            "smallest difference for other queries that would be detected with 80 % power",
            "standard deviations",
            0,
        ),
        Column(
            "other_needed",
            f"if the answer for other queries is {CANNOT_TELL!r}: how many queries would find a difference of the "
            "margin with 80 % power; only on the standardised scale",
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
    "Whether two models, or two variants of one, differ significantly. One row per ranked criterion, metric and "
    "pair of models (or of variants of one model).",
    (
        CRITERION,
        METRIC,
        Column(
            "family",
            "the pairs that are tested together: those of the original models, or those of one model's variants",
            values=FAMILIES,
        ),
        Column("model_a", "key of the first model", key="model"),
        Column("debias_a", "its debias method", key="debias"),
        Column("model_b", "key of the second, which may be the same", key="model"),
        Column("debias_b", "its debias method", key="debias"),
        Column.value(
            "difference",
            "mean bias of model_a minus mean bias of model_b on the queries that count. Below 0, model_a is "
            "less biased. In standard deviations, or as a raw distance if the scale is raw",
            "standard deviations",
        ),
        Column.value(
            "low",
            "lower end of its 95 % interval, for these queries with similar words",
            "standard deviations",
        ),
        Column.value("high", "upper end of the same interval", "standard deviations"),
        Column.share("p_adjusted", "p-value of the difference, adjusted for all pairs of the family (Holm)"),
        Column.count("pairs", "number of pairs of the family that can be compared; they are tested together"),
        Column.count(
            "queries",
            "number of queries that count. Both models must have all values of a query, with a random-word "
            "baseline on the standardised scale",
        ),
        Column.count("queries_of", "number of queries in the criterion"),
        Column(
            "reason",
            "why the two cannot be compared. A value or the random-word baseline is missing (`inference: "
            "random_groups`). The models also differ on random words, so they have no common zero (MAC). The "
            "vector lengths of two variants differ by more than a tenth, and the metric grows with them. Or "
            "both have values on fewer than five queries (fewer than all, if there are fewer than five)",
            values=("", NO_VALUE, NO_BASELINE, NO_COMMON_ZERO, LENGTHS, FEW_SHARED),
        ),
        Column.share("p", "unadjusted p-value of the difference, for these queries with similar words"),
        Column(
            "answer",
            f"answer for these queries. {DIFFERENT!r}: p_adjusted is at most .05. {ALIKE!r}: the 90 % interval lies "
            f"within the margin (`inference: margin`; only on the standardised scale). {CANNOT_TELL!r}: neither",
            values=("", *ANSWERS),
        ),
        Column.value(
            "smallest_difference",
            "smallest difference that the strictest step of the adjustment would detect with 80 % power",
            "standard deviations",
            0,
        ),
        Column(
            "needed",
            f"if the answer is {CANNOT_TELL!r}: number of words per set that would detect a difference of the margin "
            "with 80 % power; only on the standardised scale",
            "optional count",
        ),
        *_of_other_queries(),
        Column(
            "scale",
            "the scale of the comparison. standardized: standardised bias. raw: the distance from the no-bias "
            "value, for metrics of sentences and counts, and for variants of one model without random groups",
            values=(STANDARDIZED, RAW),
        ),
    ),
    when="ranked and bootstrap",
    reads=("scalars",),
    inputs=rank_samples.inputs,
    facts=("level",),
    spec=_spec,
    make=make,
    key=("criterion", "metric", "family", "model_a", "debias_a", "model_b", "debias_b"),
)
TABLES = (PAIRS,)

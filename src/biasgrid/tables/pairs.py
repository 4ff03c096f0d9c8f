"""The table of pairs of models: which of two is the less biased, or whether they are alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ..debias import UNTOUCHED
from ..statistics.aggregation import OVERALL
from ..statistics.scale import NO_BASELINE, NO_COMMON_ZERO
from ..statistics.shared import FEW_SHARED, NO_VALUE
from ..statistics.two_models import (
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

    from ..planned import Planned


FAMILIES = MODELS, STATES
ANSWERS = DIFFERENT, ALIKE, CANNOT_TELL
# the columns of text of a pair that has no answer
NO_ANSWER = {"answer": "", "other_answer": "", "other_reason": ""}


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Compare the pairs of each family, each pair by its own variance (`model_pairs`).

    Queries that share attribute sets ask about one topic: such clusters are the sample of what might be asked.

    spec: that of `rank_samples.write`; "level"; "margin"; "scales", as `scales.pair_scales` gives it; "scaled", the
    metrics that grow with the length of vectors; "no_common_zero", the metrics by which two models are not compared;
    "words": as `Place.words` takes it.
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
                # the margin is in standard deviations
                margin=spec["margin"] if scale == STANDARDIZED else None,
                level=spec["level"],
                # different models have baselines of their own lengths
                lengths=lengths if family == STATES else None,
                has_common_zero=family == STATES or place.metric not in spec["no_common_zero"],
            )
            rows += [_row(place, family, scale, *pair) for pair in zip(pairs, compared, strict=True)]
    return PAIRS.finish(rows)


def _row(
    place: Place, family: str, scale: str, states: tuple[State, State], compared: dict[str, Any]
) -> dict[str, Any]:
    """Return a row of the table."""
    keys = ("criterion", "metric", "family", "model_a", "debias_a", "model_b", "debias_b", "scale")
    values = (place.criterion, place.metric, family, *states[0], *states[1], scale)
    queries_of = {"queries_of": len(place.queries)}
    return NO_ANSWER | dict(zip(keys, values, strict=True)) | queries_of | compared


def _families(states: Sequence[State]) -> Iterator[tuple[str, list[State]]]:
    """Yield what is compared with each other: the original models; and each model with its debiased variants."""
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
            "which pairs are tested together: of the original models, or of one model's variants",
            values=FAMILIES,
        ),
        Column("model_a", "a model's key", key="model"),
        Column("debias_a", "its debias method", key="debias"),
        Column("model_b", "another's, or the same", key="model"),
        Column("debias_b", "its debias method", key="debias"),
        Column.value(
            "difference",
            "mean bias of model_a on the queries that count, minus that of model_b: below 0, model_a is the less "
            "biased. In standard deviations; a raw distance if the scale is raw",
            "standard deviations",
        ),
        Column.value(
            "low", "lower end of its 95 % interval, for these queries and other words", "standard deviations"
        ),
        Column.value("high", "its upper end", "standard deviations"),
        Column.share("p_adjusted", "p-value of the difference, adjusted over all pairs of the family (Holm)"),
        Column.count("pairs", "how many pairs of the family can be compared, and are tested together"),
        Column.count(
            "queries",
            "how many queries count: those of which both have all values, with a baseline if the scale is "
            "standardised",
        ),
        Column.count("queries_of", "how many queries there are"),
        Column(
            "reason",
            "why the two cannot be compared: no value; no baseline of random groups (`inference: random_groups`); "
            "no common zero, of a metric whose standardised bias of random words differs between models (MAC); "
            "vector lengths differ by more than a tenth, of two variants of a model, where the metric grows with "
            "them; or fewer than five queries that both have (or than all, where there are fewer)",
            values=("", NO_VALUE, NO_BASELINE, NO_COMMON_ZERO, LENGTHS, FEW_SHARED),
        ),
        Column.share("p", "p-value of the difference for these queries and other words, not adjusted"),
        Column(
            "answer",
            f"for these queries: {DIFFERENT!r} (p_adjusted is at most .05), {ALIKE!r} (the 90 % interval lies within "
            f"the margin, `inference: margin`; only on the standardised scale) or {CANNOT_TELL!r}",
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
            f"if the answer is {CANNOT_TELL!r}: how many words a set would find a difference of the margin with 80 % "
            "power; only on the standardised scale",
            "optional count",
        ),
        *_of_other_queries(),
        Column(
            "scale",
            "the scale that the two are compared on: standardised bias (`standardized`), or the distance from the "
            "no-bias value (`raw`: metrics of sentences and counts; variants of one model without random groups)",
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

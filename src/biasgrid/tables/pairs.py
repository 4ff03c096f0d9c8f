"""The table of pairs of models: which of two is the less biased, all pairs tested together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..debias import UNTOUCHED
from ..statistics.pairs import compare_pairs
from ..statistics.ranks import RESAMPLED
from . import rank_samples
from .keys import CRITERION, METRIC
from .rankings import rankings
from .scores import read_ranked
from .table import ANY, Column, Files, Table

FAMILIES = MODELS, STATES = "models", "states"


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The pairs of each family, by resamples of words and queries together."""
    ranking = spec["ranking"]
    scores = read_ranked(inputs["scores"], ranking)
    samples, counts = rank_samples.value_samples(scores, inputs, spec)
    options = {name: ranking[name] for name in ("ranked", "neutral", "aggregation", "by")}
    units, values = rank_samples.resampled_aggregates(scores, samples, counts, **options)
    aggregate_samples = values[RESAMPLED.index("both")]
    table = rankings(scores, **ranking).set_index(["criterion", "metric", "model", "debias"])["value"]
    by_metric: dict[tuple[str, str], dict[tuple[str, str], int]] = {}
    for row, (criterion, metric, *state) in enumerate(units):
        by_metric.setdefault((criterion, metric), {})[tuple(state)] = row
    rows = []
    for place, states in by_metric.items():
        for family, members in _families(list(states)):
            values = np.array([table[(*place, *state)] for state in members])
            pairs = compare_pairs(
                values, aggregate_samples[[states[state] for state in members]], spec["level"]
            )
            for (a, b), *numbers in zip(combinations(members, 2), *pairs, strict=True):
                rows.append((*place, family, *a, *b, *numbers, len(pairs.difference)))
    return pd.DataFrame(rows, columns=PAIRS.names).sort_values(PAIRS.names[:7], ignore_index=True)


def _families(states: list[tuple[str, str]]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
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
            "what model_a is ranked by, less that of model_b: below 0, model_a is the less biased",
            "number",
            "the metric's",
            ANY,
        ),
        Column(
            "low",
            "lower end of its 95 % interval (bootstrap over words and queries, for all pairs of the family at once)",
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
        Column("pairs", "how many pairs the family has", "count"),
    ),
    inputs=_inputs,
    spec=lambda grid: {
        **rank_samples.spec(grid),
        "level": grid.config["inference"]["bootstrap"]["level"],
    },
    make=make,
)
TABLES = (PAIRS,)

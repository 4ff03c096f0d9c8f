"""The ranking: per criterion, models by metrics, with rank, interval, value, and the p-value of the distance from the
first model."""

from __future__ import annotations

from math import isnan
from typing import Any

from ...debias import UNTOUCHED
from ...tables.rankings import fewer_scores
from .section import Material, Section

DOWNLOADED = ["rank", "rank_low", "rank_high", "value", "p_adjusted", "cells", "cells_nan"]
KEYS = ["criterion", "metric", "model", "debias"]


def make(material: Material) -> dict[str, Any]:
    tables, spec, names = material.tables, material.spec, material.names
    if "rankings" not in tables or tables["rankings"].empty:
        return {"criteria": []}
    answers = material.answers
    p_values = {
        (answer.criterion, answer.metric, state.model, state.debias): state.p_first
        for answer in answers
        for state in answer.rivals
    }
    rankings = tables["rankings"]
    places = rankings[KEYS].itertuples(index=False, name=None)
    rankings = rankings.assign(
        fewer=fewer_scores(rankings), p_adjusted=[p_values.get(place) for place in places]
    )
    states = material.states_of(rankings)
    return {
        "criteria": [
            {
                "name": criterion,
                "metrics": material.metrics_of(part := rankings[rankings["criterion"] == criterion]),
                # debiased models apart
                "groups": [
                    [state for state in material.states_of(part) if (state[1] != UNTOUCHED) == is_debiased]
                    for is_debiased in (False, True)
                ],
            }
            for criterion in material.criteria_of(rankings)
        ],
        "bar": bar,
        "rows": {tuple(getattr(row, key) for key in KEYS): row for row in rankings.itertuples()},
        # the models that p-values compare the others with
        "first": {
            (answer.criterion, answer.metric, state.model, state.debias)
            for answer in answers
            for state in answer.models[: answer.has_test]
        },
        "data": {
            "study": spec["study"],
            "criteria": material.criteria_of(rankings),
            "metrics": [{"key": key, "label": names.label(key)} for key in material.metrics_of(rankings)],
            "models": {model: names.label(model) for model, _ in states},
            "debias": {
                debias: "without debiasing" if debias == UNTOUCHED else names.label(debias)
                for _, debias in states
            },
            "columns": [*KEYS, *DOWNLOADED],
            "rankings": [
                [None if value is None or value != value else value for value in row]
                for row in rankings[[*KEYS, *DOWNLOADED]].astype(object).itertuples(index=False, name=None)
            ],
        },
    }


def bar(row: Any, states: int) -> tuple[float, float, float] | None:
    """The interval of a rank and the rank, as percentages of a bar on which each rank has an equal share: where it
    begins, how wide it is, and the rank's mark; None where there is none."""
    if isnan(row.rank_low) or isnan(row.rank):
        return None
    low, high, share = row.rank_low, row.rank_high, 100 / states
    return (
        round((low - 1) * share, 1),
        round((high - low + 1) * share, 1),
        round((row.rank - 0.5) * share, 1),
    )


SECTIONS = (
    Section(
        "ranking",
        "Ranking",
        ("rankings", "pairs"),
        make,
        "ranking.html",
        place=30,
        lead="WEFE's rank of raw values, interval, value and p of each model by metric, per criterion",
    ),
)

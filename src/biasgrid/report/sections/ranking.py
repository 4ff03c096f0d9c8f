"""Section on the ranking: per topic, each model's average bias and rank by metric, and the effect of debiasing."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import Any

from ...core.numbers import plain, typographic
from ...core.numbers import share as percentage
from ...debias import UNTOUCHED
from ...tables.conclusions.least_biased import before_and_after
from .. import sentences
from .section import ReportData, Section

DOWNLOADED = [
    *("rank", "rank_low", "rank_high", "value", "p_adjusted", "cells", "cells_nan"),
    *("rank_shared", "value_shared"),
]
KEYS = ["criterion", "metric", "model", "debias"]
EFFECTS = {"less": "less biased", "more": "more biased", "": "no clear change"}
KINDS = {effect: kind for kind, effect in EFFECTS.items()}


def make(material: ReportData) -> dict[str, Any]:
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
    rankings = rankings.assign(p_adjusted=[p_values.get(place) for place in places])
    states = material.states_of(rankings)
    rows = {tuple(getattr(row, key) for key in KEYS): row for row in rankings.itertuples()}
    effects = {
        (answer.criterion, answer.metric, state.model, state.debias): state.reason or EFFECTS[state.direction]
        for answer in answers
        for state in answer.debiased
    }
    return {
        "criteria": [
            {
                "name": criterion,
                "metrics": material.metrics_of(part := rankings[rankings["criterion"] == criterion]),
                # Separate debiased models.
                "groups": [
                    [state for state in material.states_of(part) if (state[1] != UNTOUCHED) == is_debiased]
                    for is_debiased in (False, True)
                ],
                "not_ranked": _not_ranked([answer for answer in answers if answer.criterion == criterion]),
            }
            for criterion in material.criteria_of(rankings)
        ],
        "cells": _cells(rows, effects),
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


def _not_ranked(answers: Any) -> dict[str, str]:
    """Return the models that no metric ranks, and on how many queries they could be measured."""
    unranked: dict[str, list[Any]] = {}
    for answer in answers:
        for state in answer.not_ranked:
            unranked.setdefault(state.model, []).append(state)
    ranked = {state.model for answer in answers for state in answer.models}
    return {
        model: sentences.of_lost_queries(of_model)
        for model, of_model in unranked.items()
        if ranked and model not in ranked
    }


def _cells(rows: Mapping[tuple, Any], effects: Mapping[tuple, str]) -> dict[tuple, dict[str, Any]]:
    """Return the contents of each cell: the value, the length of its bar, and the rank or change by debiasing."""
    values = {place: _shown(row, rows.get((*place[:3], UNTOUCHED))) for place, row in rows.items()}
    largest: dict[tuple, float] = {}
    for place, value in values.items():
        largest[place[:2]] = max(largest.get(place[:2], 0.0), 0.0 if isnan(value) else value)
    cells = {}
    for place, row in rows.items():
        before, effect = rows.get((*place[:3], UNTOUCHED)), effects.get(place, "")
        if place[3] == UNTOUCHED:
            note = _rank(row)
        else:
            moved = change(*before_and_after(before, row)) if before else ""
            note = "; ".join(filter(None, [moved, effect]))
        value, most = values[place], largest[place[:2]]
        cells[place] = {
            "value": value,
            "share": round(value / most, 3) if most and not isnan(value) else 0,
            "note": note,
            "kind": KINDS.get(effect, ""),
        }
    return cells


def _rank(row: Any) -> str:
    """Return the rank of an original model, with its interval if that is wider than a rank."""
    if isnan(row.rank_shared):
        return "not ranked"
    low, high = row.rank_shared_low, row.rank_shared_high
    return f"rank {plain(row.rank_shared)}" + (f" ({plain(low)} to {plain(high)})" if low < high else "")


def _shown(row: Any, original: Any) -> float:
    """Return a model's value on the queries that all ranked models have; without a rank, on its own queries."""
    return float(before_and_after(original or row, row)[1])


def change(before: float, after: float) -> str:
    """Return the change of a number in per cent: "-89 %", with a typographic sign; empty if it is unknown."""
    if isnan(before) or isnan(after) or not before:
        return ""
    share = after / before - 1
    return typographic(f"{'+' if share > 0 else '-' if share < 0 else ''}{percentage(abs(share))}")


SECTIONS = (
    Section(
        "ranking",
        "Ranking",
        ("rankings", "pairs"),
        make,
        "ranking.html",
        place=30,
        lead="average bias of each model by metric and topic, with WEFE's rank, and the effect of debiasing",
    ),
)

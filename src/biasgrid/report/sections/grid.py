"""Section with the second picture: the bias of each model on each topic, and comparisons of the models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...debias import UNTOUCHED
from ...measure.aggregation import OVERALL
from ...measure.evidence import phrase
from ...tables.conclusions.agreement import agreement
from ...tables.conclusions.decisive_queries import decisive_queries
from ...tables.conclusions.direction import directions
from ...tables.conclusions.least_biased import Answer
from ...tables.conclusions.overview import (
    BASELINE,
    Mark,
    coverage_text,
    how_to_read_models,
    models_axes,
    models_picture,
    topic_label,
)
from ...tables.shared import places_of
from .. import sentences
from ..names import Names
from ..picture import Axis, looks, value_text
from ..score_records import anchor
from .section import ReportData, Section

if TYPE_CHECKING:
    import pandas as pd

    from ...measure.aggregation import Aggregation
    from ...tables.shared import Parts

FEW_TICKS = 4
# Pixels between two models' marks.
LINE = 11


def make(material: ReportData) -> dict[str, Any]:
    tables, spec, names = material.tables, material.spec, material.names
    if "rankings" not in tables or tables["rankings"].empty:
        return {"single": "This study has no ranked topics, so its models are not compared."}
    criteria = material.criteria_of(tables["rankings"])
    answers = [answer for answer in material.answers if answer.criterion in criteria]
    cells = models_picture(
        answers,
        tables.get("aggregates"),
        spec["ranking"]["aggregation"],
        spec["labels"],
        spec["summary"]["margin"],
    )
    if not cells:
        return {"single": sentences.of_single(answers, names)}
    order = list(spec["models"])
    models = [key for key in order if any(mark.model == key for cell in cells for mark in cell.marks)]
    topics = [name for name in (*spec["criteria"], OVERALL) if name in criteria]
    metrics = [key for key in spec["metrics"] if any(cell.metric == key for cell in cells)]
    decisive = _decisive(tables["scores"], **spec["ranking"])
    signed = directions(tables["scores"], spec["summary"]["sides"])
    of_first = [answer for answer in answers if answer.criterion == criteria[0]]
    return {
        "single": "",
        "models": looks(models, order),
        "long": {model: spec["models"][model].get("label", model) for model in models},
        "place": {model: i for i, model in enumerate(models)},
        "height": LINE * len(models) + 4,
        "line": LINE,
        "metrics": metrics,
        "topics": [
            {
                "name": topic_label(name),
                "is_all": name == OVERALL,
                "note": coverage_text(
                    [answer for answer in answers if answer.criterion == name], spec["labels"]
                ),
                "cells": {cell.metric: cell for cell in cells if cell.criterion == name},
            }
            for name in topics
        ],
        "axes": {metric: Axis.of(ends, FEW_TICKS) for metric, ends in models_axes(cells).items()},
        "how": how_to_read_models(cells, spec["level"]),
        "says": lambda mark, axis: _says(mark, axis, names),
        "answers": [answer for name in topics for answer in answers if answer.criterion == name],
        "topic_label": topic_label,
        "texts": {(cell.criterion, cell.metric): cell.text for cell in cells},
        "drivers": _drivers(decisive, tables["scores"], names),
        "notes": [
            *filter(
                None,
                [
                    sentences.of_agreement(agreement(of_first), names, len(spec["criteria"]))
                    if len(of_first) > 1
                    else "",
                    sentences.of_directions(signed, [answer.metric for answer in of_first], names),
                ],
            ),
            *_coverage(answers, spec),
            *filter(None, [sentences.of_frequency(tables["scores"], 1 - spec["level"])]),
        ],
    }


def _says(mark: Mark, axis: str, names: Names) -> str:
    tested = f", {phrase(mark.evidence, mark.tests, mark.tests)}" if mark.tests and axis == BASELINE else ""
    return f"{names.label(mark.model)}: {value_text(mark, axis)}{tested}"


def _decisive(
    scores: pd.DataFrame,
    ranked: Sequence[str],
    neutral: Mapping[str, float],
    aggregation: Aggregation,
    by: str,
    ties: str,
    coverage: float,
    parts: Parts,
) -> dict[tuple[str, str], tuple[tuple[str, str], ...]]:
    """Return the queries that decide which model has the first rank; parameters as in `tables.rankings.rankings`."""
    untouched = scores[(scores["debias"] == UNTOUCHED) & scores["criterion"].isin(ranked)].reset_index(
        drop=True
    )
    places = places_of(untouched, ranked, coverage, parts)
    return decisive_queries(places, untouched["value"].to_numpy(), neutral, aggregation, by)


def _drivers(
    decisive: Mapping[tuple[str, str], Iterable[tuple[str, str]]], scores: pd.DataFrame, names: Names
) -> list[dict[str, Any]]:
    """Return the queries without which another model has the first rank on all topics, or on the only one."""
    together = {criterion for criterion, _ in decisive}
    criterion = OVERALL if OVERALL in together else next(iter(together), "")
    rows = scores.drop_duplicates("query").set_index("query")
    drivers: dict[str, dict[str, Any]] = {}
    for (name, metric), queries in decisive.items():
        for query, model in queries if name == criterion else ():
            driver = drivers.setdefault(
                query, {"anchor": anchor(rows.loc[query]["criterion"], query, metric), "first": []}
            )
            driver["first"].append(f"{names.state(model)} according to {names.label(metric)}")
    return [{"query": query, **driver} for query, driver in drivers.items()]


def _coverage(answers: Sequence[Answer], spec: Mapping[str, Any]) -> list[str]:
    """Return notes on how many queries, models and comparisons the section covers."""
    models = {model for answer in answers for model in answer.models_with_value}
    first = OVERALL if OVERALL in spec["queries"] else next(iter(spec["queries"]))
    conclusions = sum(bool(answer.comparable) for answer in answers)
    return sentences.of_coverage(spec["queries"][first], len(models), spec["inference"], conclusions)


READ = ("rankings", "pairs", "scores", "aggregates")
SECTIONS = (Section("grid", "Which model is least biased?", READ, make, "grid.html", place=20, nav="Models"),)

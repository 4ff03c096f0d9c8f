"""Inputs of tables and figures, by name: files, conditions on the study, and other values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..core.errors import BiasgridError, unknown_name
from ..core.validation import to_record
from ..measure.reliability_in_words import THRESHOLDS
from .cells import rating_cells
from .scales import neutrals, ranges, ranking, scaled_metrics

if TYPE_CHECKING:
    from ..core.in_memory import File
    from .planned import Cell, Planned

# Names of WHEN, joined by " and ", or a function of the study that returns whether the condition holds.
When = str | Callable[[Any], object]


def cell_files(study: Planned, cells: Iterable[Cell] | None = None) -> list[File]:
    """Return the files of a study's cells, or of some of them."""
    return [study.paths.cell_file(cell) for cell in (study.grid.cells.values() if cells is None else cells)]


def sample_files(study: Planned, holds: Callable[[Any], bool]) -> dict[str, list[File]]:
    """Return the files of resampled values and of inference for groups with a cell that fulfils a condition."""
    groups = [
        g for g in study.grid.inference_groups.values() if any(holds(inference.cell) for inference in g)
    ]
    return {
        "inferences": [study.paths.inference_file(group[0]) for group in groups],
        "samples": [study.paths.samples_file(group[0]) for group in groups],
    }


# Map inputs other than tables to their files.
SOURCES: dict[str, Callable[[Any], Any]] = {
    "cells": cell_files,
    "inferences": lambda study: [
        study.paths.inference_file(group[0]) for group in study.grid.inference_groups.values()
    ],
    # Only queries whose words are tested.
    "queries": lambda study: [
        study.paths.query_file(query)
        for query in dict.fromkeys(i.cell.query for i in study.grid.inferences.values())
    ],
    "evaluations": lambda study: [*map(study.paths.evaluation_file, study.grid.evaluations.values())],
    "frequencies": lambda study: [*map(study.paths.frequency_file, study.grid.models_with_frequencies)],
    "rank_samples": lambda study: study.paths.ranks_file,
    "aggregate_tests": lambda study: [
        study.paths.aggregates_file(study.grid.inference_groups[name][0])
        for name in sorted(study.grid.aggregate_criteria)
    ],
}
# Conditions on a study, by name.
WHEN: dict[str, Callable[[Any], object]] = {
    "ranked": lambda study: study.ranked_criteria,
    "inference": lambda study: study.grid.inferences,
    "bootstrap": lambda study: study.config.inference.bootstrap,
    "sensitivity": lambda study: study.config.inference.sensitivity,
    "reliability": lambda study: study.config.reliability,
    "query_ranks": lambda study: study.config.query_ranks,
    "aggregate tests": lambda study: study.grid.aggregate_criteria,
    "frequencies": lambda study: study.grid.models_with_frequencies,
    "ratings": rating_cells,
}
# Map inputs that some studies lack to the condition under which they exist.
LEFT_OUT = {
    "frequency": "frequencies",
    "intervals": "bootstrap",
    "pairs": "ranked and bootstrap",
    "rank_samples": "bootstrap",
    "ratings": "ratings",
    "aggregate_tests": "aggregate tests",
}
# JSON-compatible values that many specs have; None if the study lacks them.
FACTS: dict[str, Callable[[Any], Any]] = {
    "adjust": lambda study: study.config.inference.adjust,
    # The aggregation of models' scores in rankings.
    "aggregation": lambda study: study.config.aggregation,
    "bootstrap": lambda study: to_record(study.config.inference.bootstrap),
    # All criteria, and all metrics, in the config's order.
    "criteria": lambda study: list(study.config.criteria),
    "draws": lambda study: study.config.inference.resamples,
    # Labels of models, metrics and debias methods, by key.
    "labels": lambda study: dict(study.labels),
    "level": lambda study: study.config.inference.level,
    # The number of standard deviations within which two models are alike.
    "margin": lambda study: study.config.inference.margin,
    # The first type of correlation that the config lists.
    "method": lambda study: study.config.correlations[0],
    "metrics": lambda study: list(
        dict.fromkeys(key for criterion in study.config.criteria for key in study.metrics(criterion))
    ),
    # Entries are [criterion, metric, no-bias value].
    "neutral": lambda study: sorted([*names, value] for names, value in neutrals(study).items()),
    # Names by id.
    "queries": lambda study: {
        key: study.queries[key].name
        for key in dict.fromkeys(cell.query for cell in study.grid.cells.values())
    },
    "ranges": lambda study: sorted([*names, *ends] for names, ends in ranges(study).items()),
    "ranked": lambda study: sorted(study.ranked_criteria),
    "ranking": ranking,
    # The metrics of ranked criteria whose values depend on the length of vectors.
    "scaled": lambda study: {name: sorted(keys) for name, keys in sorted(scaled_metrics(study).items())},
    "seed": lambda study: study.config.seed,
    # [criterion, metric, meaning of a score's sign].
    "signs": lambda study: [
        [criterion, key, study.metric(criterion, key).sign]
        for criterion in study.ranked_criteria
        for key in study.metrics(criterion)
    ],
    # Thresholds of the assessments in reliability.csv.
    "thresholds": lambda study: (
        {name: getattr(study.config.reliability, name) for name in THRESHOLDS}
        if study.config.reliability
        else None
    ),
}


def _find(entries: Mapping[str, Callable[[Any], Any]], name: str, what: str) -> Callable[[Any], Any]:
    if name not in entries:
        raise BiasgridError(unknown_name(what, name, entries))
    return entries[name]


def holds(study: Planned, when: When) -> bool:
    """Return whether a study fulfils a condition."""
    if not isinstance(when, str):
        return bool(when(study))
    return all(_find(WHEN, name, "when")(study) for name in when.split(" and ") if name)


def files_of(study: Planned, reads: Iterable[str]) -> dict[str, Any]:
    """Return the files of inputs, by name; the names are keys of SOURCES, or tables."""
    return {
        name: SOURCES[name](study) if name in SOURCES else study.paths.table_file(name)
        for name in reads
        if holds(study, LEFT_OUT.get(name, ""))
    }


def facts_of(study: Planned, facts: Iterable[str]) -> dict[str, Any]:
    """Return the part of a spec that FACTS computes."""
    values = {name: _find(FACTS, name, "fact")(study) for name in facts}
    return {name: value for name, value in values.items() if value is not None}

"""Conclusions of a study: its table files are read, and `conclusions` decides what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..measure.evidence import COUNTING
from . import REGISTRY
from .conclusions.least_biased import Answer, answers
from .conclusions.summary import READ, Conclusion, conclude
from .inputs import FACTS, facts_of, holds
from .pairs import PAIRS
from .rankings import RANKINGS
from .scales import neutrals

if TYPE_CHECKING:
    from .planned import Planned


def answers_of(study: Planned) -> list[Answer]:
    """Return each metric's comparison of a study's models, by criterion.

    Raises BiasgridError if a table is missing.
    """
    pairs = PAIRS.read(study.paths.table_file("pairs")) if holds(study, PAIRS.when) else None
    metrics = list(dict.fromkeys(cell.metric for cell in study.grid.cells.values()))
    rankings = RANKINGS.read(study.paths.table_file("rankings"))
    return answers(rankings, pairs, metrics, **facts_of(study, ("level",)))


def conclusion_of(study: Planned) -> Conclusion:
    """Return the conclusions of a study. Tables that are missing, or that older code wrote, are left out."""
    tables = {
        name: REGISTRY[name].read(file)
        for name in READ
        if name in study.tables and REGISTRY[name].is_whole(file := study.paths.table_file(name))
    }
    return conclude(answers_of(study) if study.ranked_criteria else [], tables, summary_spec(study))


def sides_of(study: Planned) -> list[tuple[str, str, float]]:
    """Return (criterion, metric, no-bias value) of ranked criteria's metrics whose sign is a direction of bias."""
    return [
        (criterion, key, value)
        for (criterion, key), value in neutrals(study).items()
        if criterion in study.ranked_criteria and study.metric(criterion, key).is_directed
    ]


def summary_spec(study: Planned) -> dict[str, Any]:
    """Return the JSON-compatible values that `tables.conclusions.summary` needs in addition to the tables."""
    inference = [study.config.inference] + [
        entry.inference
        for name in study.config.criteria
        for entry in study.metrics(name).values()
        if entry.inference
    ]
    models = study.planned.models if study.absent else {}
    tests = [getattr(options, test.name) for options in inference for test in COUNTING.values()]
    cells = study.grid.cells.values()
    return {
        "title": study.title,
        "topics": FACTS["criteria"](study),
        "models": len({cell.model for cell in cells}),
        "recovery": any(evaluation.criterion for evaluation in study.grid.evaluations.values()),
        "absent": [model["label"] for key, model in models.items() if key in study.absent],
        "criteria": study.ranked_criteria,
        "labels": study.labels,
        "debias": {key: criterion for key, (criterion, _) in study.debias.items()},
        "sides": sides_of(study),
        **facts_of(study, ("adjust", "aggregation", "level", "margin", "metrics", "queries")),
        "random_groups": any(options.random_groups for options in inference),
        "draws": sorted({test.draws for test in tests if test} - {None}),
    }

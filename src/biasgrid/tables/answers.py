"""What a study's tables say of its models: rankings.csv and pairs.csv, read for `verdicts.least_biased`."""

from __future__ import annotations

from typing import Any

from ..verdicts.least_biased import Answer, answers
from .pairs import PAIRS
from .rankings import RANKINGS


def answers_of(study: Any) -> list[Answer]:
    """What each metric says of a study's models, by criterion; raises BiasgridError for a table that is missing."""
    bootstrap = study.config["inference"].get("bootstrap") or {}
    pairs = PAIRS.read(study.table_file("pairs")) if bootstrap and study.ranked_criteria else None
    metrics = list(dict.fromkeys(cell.metric for cell in study.cells.values()))
    level, draws = bootstrap.get("level", 0.95), bootstrap.get("draws", 0)
    return answers(RANKINGS.read(study.table_file("rankings")), pairs, metrics, level, draws)

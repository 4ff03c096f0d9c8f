"""On what scales a study's metrics measure, and what its rankings are made by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..validation import to_record
from .query_groups import parts_of

if TYPE_CHECKING:
    from ..planned import Planned


def neutrals(study: Planned) -> dict[tuple[str, str], float]:
    """The value that means no bias, by criterion and metric key, of all criteria."""
    return {
        (criterion, key): study.metric(criterion, key).neutral
        for criterion in study.config.criteria
        for key in study.metrics(criterion)
    }


def ranges(study: Planned) -> dict[tuple[str, str], tuple[float, float]]:
    """The closed interval that values lie in, by criterion and metric key, of all criteria."""
    return {(criterion, key): study.metric(criterion, key).range for criterion, key in neutrals(study)}


def scaled_metrics(study: Planned) -> dict[str, list[str]]:
    """Ranked criterion -> its metrics whose values grow with the length of vectors, if that is not normalised."""
    return {
        name: [
            key
            for key in study.metrics(name)
            if study.metric(name, key).scaled
            and not all(
                study.word_options(name, key, model).get("normalize")
                for model in study.grid.suitable_models(name, key)
            )
        ]
        for name in study.ranked_criteria
    }


def incomparable_metrics(study: Planned) -> dict[str, list[str]]:
    """`scaled_metrics` by which models do not compare: none where each model is read against random groups of its
    own, whatever the length of its vectors."""
    return {} if "random_groups" in study.config.inference.parts else scaled_metrics(study)


def ranking(study: Planned) -> dict[str, Any]:
    """What `tables.rankings` needs besides the scores."""
    return {
        "ranked": sorted(study.ranked_criteria),
        "neutral": {
            key: value for (name, key), value in neutrals(study).items() if name in study.ranked_criteria
        },
        "aggregation": study.config.aggregation,
        **to_record(study.config.ranking),
        "parts": parts_of(study),
    }

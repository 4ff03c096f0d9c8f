"""Scales on which a study's metrics measure, and settings of its rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.validation import to_record
from ..measure.statistics.two_models import MODELS, RAW, STANDARDIZED, STATES
from ..models.kinds import REGISTRY as KINDS
from .query_groups import parts_of

if TYPE_CHECKING:
    from .planned import Planned


def neutrals(study: Planned) -> dict[tuple[str, str], float]:
    """Return the no-bias value of each criterion and metric key."""
    return {
        (criterion, key): study.metric(criterion, key).neutral
        for criterion in study.config.criteria
        for key in study.metrics(criterion)
    }


def ranges(study: Planned) -> dict[tuple[str, str], tuple[float, float]]:
    """Return the closed range of values of each criterion and metric key."""
    return {(criterion, key): study.metric(criterion, key).range for criterion, key in neutrals(study)}


def scaled_metrics(study: Planned) -> dict[str, list[str]]:
    """Return the metrics of each ranked criterion whose values depend on the length of vectors, unless normalised."""
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


def pair_scales(study: Planned) -> dict[str, dict[str, str]]:
    """Return the scale on which two models, and two variants of a model, are compared: metric -> family -> scale.

    The choice does not depend on any value. `STANDARDIZED`: each model is compared with its own random groups.
    Without random groups two different models lack a baseline and are not compared, because raw distances of vectors
    also depend on geometry. `RAW`, the distance from the no-bias value: variants of one model without random groups.
    Metrics of sentences and of counts also have this scale, because their values mean the same for each model.
    """
    has_groups = "random_groups" in study.config.inference.parts
    kinds = {
        key: KINDS[study.metric(name, key).needs]
        for name in study.ranked_criteria
        for key in study.metrics(name)
    }
    return {
        key: {
            MODELS: STANDARDIZED if kind.has_vectors else RAW,
            STATES: STANDARDIZED if kind.random_groups and has_groups else RAW,
        }
        for key, kind in kinds.items()
    }


def metrics_without_common_zero(study: Planned) -> list[str]:
    """Return the metrics of vectors by which two models are not compared (`Metric.compares_models`)."""
    metrics = {key: study.metric(name, key) for name in study.ranked_criteria for key in study.metrics(name)}
    return [key for key, metric in metrics.items() if not metric.compares_models]


def ranking(study: Planned) -> dict[str, Any]:
    """Return the values that `tables.rankings` needs in addition to the scores."""
    return {
        "ranked": sorted(study.ranked_criteria),
        "neutral": {
            key: value for (name, key), value in neutrals(study).items() if name in study.ranked_criteria
        },
        "aggregation": study.config.aggregation,
        **to_record(study.config.ranking),
        "parts": parts_of(study),
    }

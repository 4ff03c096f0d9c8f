"""On what scales a study's metrics measure, and what its rankings are made by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..embeddings.kinds import REGISTRY as KINDS
from ..statistics.two_models import MODELS, RAW, STANDARDIZED, STATES
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


def pair_scales(study: Planned) -> dict[str, dict[str, str]]:
    """Return the scale that two models, and two variants of a model, are compared on: metric -> family -> scale.

    No value is looked at. `STANDARDIZED`: each model is read against random groups of its own. Without random groups
    two different models have no baseline, and are not compared: raw distances of vectors measure geometry, too.
    `RAW`, the distance from the no-bias value: variants of one model without random groups; and metrics of sentences
    and of counts, whose values mean the same for each model.
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

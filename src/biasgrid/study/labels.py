"""Labels for the keys of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.labels import short_labels

if TYPE_CHECKING:
    from ..tables.planned import Asked


def labels_of(study: Asked) -> dict[str, str]:
    """Return the labels of models, metrics and debias methods by their keys.

    A model's label is shortened to the part that distinguishes it from the other models (`short_labels`). Its entry
    in the config has the full label.
    """
    short = short_labels({key: model.label for key, model in study.config.models.items()})
    labels = {key: short[key] for key in study.models}
    for key, (_, entry) in study.debias.items():
        labels[key] = entry.label or study.method(entry.method).label
    for criterion in sorted(study.config.criteria, key=study.ranked_criteria.__contains__):
        # Ranked criteria come last: if two criteria use a key for different metrics, the ranked label wins.
        for key, entry in study.metrics(criterion).items():
            labels[key] = entry.label or study.metric(criterion, key).label
    return labels

"""What people read in place of the keys of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..labels import short_labels

if TYPE_CHECKING:
    from ..planned import Asked


def labels_of(study: Asked) -> dict[str, str]:
    """Return what people read in place of the key of a model, metric or debias method.

    A model's label is cut to what tells it from the others (`short_labels`); its entry in the config has all of it.
    """
    short = short_labels({key: model.label for key, model in study.config.models.items()})
    labels = {key: short[key] for key in study.models}
    for key, (_, entry) in study.debias.items():
        labels[key] = entry.label or study.method(entry.method).label
    for criterion in sorted(study.config.criteria, key=study.ranked_criteria.__contains__):
        # ranked criteria last: where two criteria use a key for different metrics, the ranked one's label counts
        for key, entry in study.metrics(criterion).items():
            labels[key] = entry.label or study.metric(criterion, key).label
    return labels

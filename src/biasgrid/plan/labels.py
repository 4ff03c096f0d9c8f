"""What people read in place of the keys of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..planned import Asked


def labels_of(study: Asked) -> dict[str, str]:
    """What figures print for a model's, metric's or debias method's key."""
    labels = {key: study.config.models[key].label for key in study.models}
    for key, (_, entry) in study.debias.items():
        labels[key] = entry.label or study.method(entry.method).label
    for criterion in sorted(study.config.criteria, key=study.ranked_criteria.__contains__):
        # ranked criteria last: where two criteria use a key for different metrics, the ranked one's label counts
        for key, entry in study.metrics(criterion).items():
            labels[key] = entry.label or study.metric(criterion, key).label
    return labels

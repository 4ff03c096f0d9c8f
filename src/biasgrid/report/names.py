"""Labels of models and metrics in the report."""

from __future__ import annotations

from collections.abc import Mapping

from ..debias import UNTOUCHED


class Names:
    """Labels of a study's keys; a key without a label is its own label.

    Parameters
    ----------
    labels
        Labels by key of a model, metric or debias method.
    """

    def __init__(self, labels: Mapping[str, str]):
        self.labels = dict(labels)

    def label(self, key: str) -> str:
        """Return the label of a key."""
        return self.labels.get(key, key)

    def state(self, model: str, debias: str = UNTOUCHED) -> str:
        """Return the label of a model, with the label of its debias method."""
        return self.label(model) if debias == UNTOUCHED else f"{self.label(model)}, {self.label(debias)}"

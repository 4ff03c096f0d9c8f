"""What the page calls models and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..debias import UNTOUCHED
from ..labels import short_labels


class Names:
    """Labels of a study's keys; a key without a label is its own.

    Parameters
    ----------
    labels
        By key of a model, metric or debias method.
    models
        The keys of models, whose labels are cut: see `short_labels`.
    """

    def __init__(self, labels: Mapping[str, str], models: Iterable[str] = ()):
        self.labels = dict(labels)
        self.shorter = short_labels({key: self.label(key) for key in models})

    def label(self, key: str) -> str:
        """The whole label."""
        return self.labels.get(key, key)

    def short(self, key: str) -> str:
        """The label of a model, cut."""
        return self.shorter.get(key, self.label(key))

    def state(self, model: str, debias: str = UNTOUCHED) -> str:
        """A model with its debias method, in short."""
        return self.short(model) if debias == UNTOUCHED else f"{self.short(model)}, {self.label(debias)}"

"""What the page calls models, metrics and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isnan

from ..debias import UNTOUCHED
from ..labels import short_labels

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


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


def number(value: float | None, digits: int = 3) -> str:
    """A number in so many significant digits, with the minus sign −; empty for NaN."""
    if value is None or isnan(value):
        return ""
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    if "e" in text:
        mantissa, _, power = text.partition("e")
        text = (
            f"{value:.0f}" if 0 < int(power) <= 5 else f"{mantissa} × 10{str(int(power)).translate(RAISED)}"
        )
    return text.replace("-", "−")


def p_value(p: float | None) -> str:
    """A p-value: "p = 0.03"; "p < 0.001"."""
    if p is None or isnan(p):
        return ""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"

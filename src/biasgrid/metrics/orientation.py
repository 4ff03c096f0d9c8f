"""Roles of a query's sets: which sets are the groups, and which are the words that are near to them or not.

Schroeder et al. (2021) measure how near theoretically neutral words W (occupations) are to protected groups A_1 ...
A_n (he and she words). In a query of WEFE the groups are the target sets and W the attribute sets. WEFE's
documentation (chapter 13, "Benchmark") does the opposite: its numbers measure the first target set's nearness to
the attribute sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeVar

import numpy as np

from ..core.geometry import cosines

PAPER: Final = "paper"
Orientation = Literal["paper", "wefe_benchmark"]

Sets = TypeVar("Sets")


def groups_and_words(targets: Sets, attributes: Sets, orientation: str) -> tuple[Sets, Sets]:
    """Return the groups, and the sets of words.

    "paper": target sets are the groups; the metric covers the words of all attribute sets together.
    "wefe_benchmark": attribute sets are the groups, and the metric covers the first target set (`sets_of_value`).
    """
    return (targets, attributes) if orientation == PAPER else (attributes, targets)


def sets_of_value(words: Sequence[Sets], orientation: str) -> Sequence[Sets]:
    """Return the sets of words that the metric's value covers."""
    return words if orientation == PAPER else words[:1]


def cosines_by_item(
    targets: list[np.ndarray], attributes: list[np.ndarray], *, orientation: str = PAPER, **_: Any
) -> list[list[tuple[float, np.ndarray]]]:
    """Return words' numbers by each word of two groups (`Metric.by_item`).

    This is for metrics whose numbers are a difference of mean cosines, up to one factor for all words. With more
    than two groups, the list is empty.
    """
    groups, words = groups_and_words(targets, attributes, orientation)
    if len(groups) != 2:
        return []
    first, second = groups
    return [[(1.0, cosines(vectors, first)), (-1.0, cosines(vectors, second))] for vectors in words]


def fields_of_orientation(orientation: str, template: tuple[Any, Any]) -> dict[str, Any]:
    """Return the fields of a metric (`Metric.variant`) that depend on its orientation: `template` is the paper's."""
    if orientation == PAPER:
        return {"template": template}
    return {
        "template": ("n", template[0]),
        "groups": "attributes",
        "exchanged": "attributes",
        "regrouped": "attributes",
    }

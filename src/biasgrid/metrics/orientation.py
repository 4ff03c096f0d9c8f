"""Which sets of a query are the groups, and which the words that are near to them or not.

Schroeder et al. (2021) ask how near theoretically neutral words W (occupations) are to protected groups A_1 ... A_n
(he and she words). In a query of WEFE the groups are the target sets and W the attribute sets. WEFE's documentation
(chapter 13, "Benchmark") takes it the other way round: its numbers are of the first target set's nearness to the
attribute sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeVar

import numpy as np

from ..geometry import cosines

PAPER: Final = "paper"
Orientation = Literal["paper", "wefe_benchmark"]

Sets = TypeVar("Sets")


def groups_and_words(targets: Sets, attributes: Sets, orientation: str) -> tuple[Sets, Sets]:
    """The groups, and the sets of words.

    "paper": target sets are the groups; the metric is of the words of all attribute sets together. "wefe_benchmark":
    attribute sets are the groups, and the metric is of the first target set (`sets_of_value`).
    """
    return (targets, attributes) if orientation == PAPER else (attributes, targets)


def sets_of_value(words: Sequence[Sets], orientation: str) -> Sequence[Sets]:
    """The sets of words that the metric's value is of."""
    return words if orientation == PAPER else words[:1]


def cosines_by_item(
    targets: list[np.ndarray], attributes: list[np.ndarray], *, orientation: str = PAPER, **_: Any
) -> list[list[tuple[float, np.ndarray]]]:
    """Words' numbers by each word of two groups (`Metric.by_item`), where they are a difference of mean cosines up to
    one factor for all words; nothing of more groups."""
    groups, words = groups_and_words(targets, attributes, orientation)
    if len(groups) != 2:
        return []
    first, second = groups
    return [[(1.0, cosines(vectors, first)), (-1.0, cosines(vectors, second))] for vectors in words]


def fields_of_orientation(orientation: str, template: tuple[Any, Any]) -> dict[str, Any]:
    """The fields of a metric (`Metric.variant`) that its orientation decides: `template` is the paper's."""
    if orientation == PAPER:
        return {"template": template}
    return {
        "template": ("n", template[0]),
        "groups": "attributes",
        "exchanged": "attributes",
        "regrouped": "attributes",
    }

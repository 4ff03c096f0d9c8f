"""Model variants whose vectors have other lengths: by some metrics, these variants are not comparable.

RND, RIPA and RNSB measure distances or projections, so a value grows with the length of vectors (`Metric.scaled`).
Some debias methods scale all vectors to length 1. Values then shrink, whatever the bias is. Each score of such a
metric has the mean length of its words' vectors, as measured: 1 if a study normalises them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..debias import UNTOUCHED
from ..measure.aggregation import OVERALL
from ..measure.result import LENGTH

if TYPE_CHECKING:
    import pandas as pd


# Largest ratio of two mean lengths that count as alike: a value that is proportional to length then changes by a
# tenth at most.
ALIKE = 1.1

# (Criterion, metric) -> model and debias method -> mean length.
Lengths = Mapping[tuple[str, str], Mapping[tuple[str, str], float]]


def mean_lengths(scalars: pd.DataFrame, scaled: Mapping[str, Sequence[str]]) -> Lengths:
    """Return the mean lengths of the vectors that metrics measured.

    Parameters
    ----------
    scalars
        The study's scalars.csv: rows of the quantity `LENGTH`.
    scaled
        Ranked criterion -> its metrics that depend on length (`tables.scales.scaled_metrics`). "Overall" is the mean
        over all of these criteria.
    """
    places = zip(scalars["criterion"], scalars["metric"], strict=True)
    is_scaled = np.array([metric in scaled.get(criterion, ()) for criterion, metric in places], dtype=bool)
    rows = scalars[(scalars["quantity"] == LENGTH) & is_scaled]
    lengths: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for table in (rows, rows.assign(criterion=OVERALL)):
        means = table.groupby(["criterion", "metric", "model", "debias"])["value"].mean()
        for (criterion, metric, *state), mean in means.items():
            lengths.setdefault((criterion, metric), {})[tuple(state)] = float(mean)
    return lengths


def have_other_lengths(
    lengths: Lengths, place: tuple[str, str], a: tuple[str, str], b: tuple[str, str]
) -> bool:
    """Return whether two variants' mean vector lengths differ too much for a metric that depends on them.

    They differ too much if one is longer by more than a tenth. Without known lengths, the result is False.
    """
    of_place = lengths.get(place, {})
    if a not in of_place or b not in of_place:
        return False
    return bool(max(of_place[a], of_place[b]) > ALIKE * min(of_place[a], of_place[b]))


def variants_of_other_lengths(lengths: Lengths) -> set[tuple[str, str, str, str]]:
    """Return (criterion, metric, model, debias method) of the debiased variants whose vector lengths have changed."""
    return {
        (*place, model, debias)
        for place, of_place in lengths.items()
        for model, debias in of_place
        if have_other_lengths(lengths, place, (model, debias), (model, UNTOUCHED))
    }

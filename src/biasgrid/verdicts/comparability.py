"""Which metrics do not compare across models: their values grow with the length of vectors, and lengths differ.

RND, RIPA and RNSB are of distances or projections, and a model with vectors twice as long has values about twice as
large. So by such a metric a model may come last for its length alone. Every cell of a metric of this kind
(`Metric.scaled`) has the mean length of its words' vectors, as they were measured: 1 where a study normalises them,
and after a debias method that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from ..debias import UNTOUCHED
from ..result import LENGTH
from ..statistics.aggregation import OVERALL

if TYPE_CHECKING:
    import pandas as pd

# the longest mean length over the shortest, up to which lengths count as alike: a value that is proportional to
# length changes by a tenth at most
ALIKE = 1.1


@dataclass(frozen=True)
class Incomparable:
    """What does not compare by a metric on a criterion.

    criterion, metric  their keys
    models         whether models without debiasing do not compare with each other
    states         debiased models that do not compare with the model without debiasing: (model, debias method)
    lengths        (model, debias method) -> mean length of the vectors; empty in results of older code, where they
                   count as different
    """

    criterion: str
    metric: str
    models: bool
    states: tuple[tuple[str, str], ...]
    lengths: Mapping[tuple[str, str], float]


def incomparable(scalars: pd.DataFrame | None, scaled: Mapping[str, Sequence[str]]) -> list[Incomparable]:
    """The metrics by which some models of a study do not compare, by criterion, "Overall" last.

    Parameters
    ----------
    scalars
        The study's scalars.csv: rows of quantity `LENGTH` are read. None: a study without it.
    scaled
        Ranked criterion -> its metrics that grow with length, on vectors that the study does not normalise
        (`tables.scales.scaled_metrics`). "Overall" is of all of these criteria.
    """
    place = ["criterion", "metric", "model", "debias"]
    lengths: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    if scalars is not None:
        rows = scalars[scalars["quantity"] == LENGTH]
        together = rows[rows["criterion"].isin(scaled)].assign(criterion=OVERALL)
        for table in (rows, together):
            for (criterion, metric, *state), mean in table.groupby(place)["value"].mean().items():
                lengths.setdefault((criterion, metric), {})[tuple(state)] = float(mean)
    overall = dict.fromkeys(metric for metrics in scaled.values() for metric in metrics)
    places = [
        (name, metric) for name, metrics in {**scaled, OVERALL: [*overall]}.items() for metric in metrics
    ]
    entries = [_incomparable(*key, lengths.get(key, {})) for key in places]
    return [entry for entry in entries if entry.models or entry.states]


def metrics_by_length(
    scalars: pd.DataFrame | None, scaled: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Criterion -> the metrics by which its models do not compare; see `incomparable`."""
    by_criterion: dict[str, list[str]] = {}
    for entry in incomparable(scalars, scaled):
        if entry.models:
            by_criterion.setdefault(entry.criterion, []).append(entry.metric)
    return by_criterion


def _incomparable(criterion: str, metric: str, lengths: Mapping[tuple[str, str], float]) -> Incomparable:
    untouched = [length for (_, debias), length in lengths.items() if debias == UNTOUCHED]
    states = tuple(
        (model, debias)
        for (model, debias), length in lengths.items()
        if debias != UNTOUCHED
        and (model, UNTOUCHED) in lengths
        and not are_alike([length, lengths[model, UNTOUCHED]])
    )
    return Incomparable(criterion, metric, not lengths or not are_alike(untouched), states, lengths)


def are_alike(lengths: Iterable[float]) -> bool:
    """Whether mean lengths of vectors are alike: the longest is at most a tenth longer than the shortest."""
    values = [length for length in lengths if isfinite(length)]
    return not values or max(values) <= ALIKE * min(values)

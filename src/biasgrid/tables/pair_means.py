"""Table of means over queries of sentence pairs, with equal weights for all pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measure.results import results
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Cell, Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per criterion, metric, model and debias method. inputs: "cells", their files."""
    values_of_units: dict[tuple, list[tuple[float, float]]] = {}
    for (criterion, _, metric, model, debias), _, result in results(inputs["cells"]):
        if result["value"] is not None:
            place = criterion, metric, model, debias
            values_of_units.setdefault(place, []).append((result["value"], result["scalars"]["pairs"]))
    rows = []
    for place, values_and_pairs in values_of_units.items():
        values, pairs = np.array(values_and_pairs).T
        rows.append((*place, len(values), int(pairs.sum()), values.mean(), values @ pairs / pairs.sum()))
    return PAIR_MEANS.finish(rows)


def _cells(study: Planned) -> list[Cell]:
    cells = []
    for cell in study.grid.cells.values():
        if study.metric(cell.criterion, cell.metric).paired and study.kind(cell.model).scores:
            cells.append(cell)
    queries = Counter(map(_place, cells))
    return [cell for cell in cells if queries[_place(cell)] > 1]


def _place(cell: Cell) -> tuple[str, ...]:
    return cell.criterion, cell.metric, cell.model, cell.debias


PAIR_MEANS = Table(
    "pair_means",
    "Mean scores of sentence pairs over all queries of a criterion. One row per criterion with several queries "
    "of sentences, metric, model and debias method. It has the mean over the queries, and the mean with equal "
    "weight for each pair of sentences, as over the bias types of CrowS-Pairs. In studies with language models.",
    (
        CRITERION,
        METRIC,
        MODEL,
        DEBIAS,
        Column.count("queries", "number of queries with a value"),
        Column.count("pairs", "number of their pairs of sentences (rows of their sets)"),
        Column.value("mean", "mean of the values"),
        Column.value("weighted_mean", "mean of the values, weighted by each query's number of pairs"),
    ),
    reads=("cells",),
    cells=_cells,
    make=make,
)
TABLES = (PAIR_MEANS,)

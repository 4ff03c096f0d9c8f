"""Table of the distributions fitted to the scores of sentences."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING, Any

import pandas as pd

from biasgrid.measure.results import results
from biasgrid.tables.keys import CELL
from biasgrid.tables.table import ANY, Column, Files, Table

from ..metrics.score_distributions import DISTRIBUTIONS, PARAMETERS, PLACES, fit_of

if TYPE_CHECKING:
    from biasgrid.tables.planned import Planned


NUMBERS = ("sse", "ks", "p_ks", "p_bootstrap", *PARAMETERS)


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Make one row per cell, set and distribution. `inputs` has "cells", the files of the cells."""
    rows = []
    for key, _, result in results(inputs["cells"]):
        scalars = result["scalars"]
        for place, name in zip(PLACES, result["detail"].get("score", ()), strict=False):
            for distribution in DISTRIBUTIONS:
                rank = fit_of(scalars, place, distribution, "rank")
                if rank == rank:
                    numbers = (fit_of(scalars, place, distribution, number) for number in NUMBERS)
                    rows.append((*key, name, distribution, int(rank), *numbers))
    table = pd.DataFrame(rows, columns=SCORE_FITS.names)
    table = table.astype({"rank": "int64"} | dict.fromkeys(NUMBERS, "float64"))
    return table.sort_values([*SCORE_FITS.names[:6], "rank", "distribution"], ignore_index=True)


def fitted_cells(study: Planned) -> list[Any]:
    """Return the cells that have fits."""
    cells = []
    for cell in study.grid.cells.values():
        entry = study.metrics(cell.criterion)[cell.metric]
        has_scores = study.metric(cell.criterion, cell.metric).name == "score_distributions"
        if has_scores and (entry.params or {}).get("fits"):
            cells.append(cell)
    return cells


SCORE_FITS = Table(
    "score_fits",
    "One row per score of `score_distributions` with `fits`, set of sentences and distribution that was fitted to "
    "the set's scores, as in tables 4.3 and 4.4 of Maddalozzo 2023.",
    (
        *CELL,
        Column("set", "the set's name"),
        Column("distribution", "its name in scipy.stats", values=DISTRIBUTIONS),
        Column("rank", "its rank by sse, 1 is the best", "count", range=(1, len(DISTRIBUTIONS))),
        Column(
            "sse",
            "sum of the squared differences between its density and a histogram of 100 bars",
            "number",
            range=(0, inf),
        ),
        Column.share("ks", "largest distance between its distribution function and the scores'"),
        Column.share(
            "p_ks", "p-value of ks as if the parameters had not been fitted to these scores: too large"
        ),
        Column.share("p_bootstrap", "p-value of ks by the parametric bootstrap, of genextreme; else empty"),
        Column("shape_1", "its first shape parameter, as scipy orders them, if any", "number", range=ANY),
        Column("shape_2", "its second, if any", "number", range=ANY),
        Column.value("loc", "its location", "nats"),
        Column.value("scale", "its scale", "nats", 0),
    ),
    reads=("cells",),
    make=make,
    cells=fitted_cells,
)
TABLES = (SCORE_FITS,)

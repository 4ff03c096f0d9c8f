"""Table of agreement between versions of pairs, by the width of the interval that counts as no bias."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from biasgrid.measure.results import results
from biasgrid.tables.keys import CELL
from biasgrid.tables.table import ANY, Column, Files, Table

from ..cells import interval_agreement_cells
from ..metrics.agreement import biases, compare_biases

if TYPE_CHECKING:
    from biasgrid.tables.planned import Planned


# Widths on either side of 0. Kwon & Mihindukulasooriya use .25, and the thesis uses 3.5.
WIDTHS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0)
NUMBERS = ("agreement", "chance", "kappa", "p_robust", "p_robust_binomial")


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Make one row per cell of `agreement` and width.

    Parameters
    ----------
    inputs
        "cells": the files of the cells.
    spec
        "robust": a list of [criterion, metric, share].
    """
    shares = {(criterion, metric): share for criterion, metric, share in spec["robust"]}
    rows = []
    for key, _, result in results(inputs["cells"]):
        if result["value"] is None:
            continue
        sets = [[*of_set.values()] for of_set in result["detail"]["difference"].values()]
        differences = np.array([sets[0], sets[2]])
        for width in WIDTHS:
            first, second = biases(differences, "interval", -width, width)
            statistics = compare_biases(first, second, shares[key[0], key[2]])
            statistics["agreement"] = statistics["agreed"] / statistics["pairs"]
            rows.append((*key, width, float((first == 0).mean()), *(statistics[name] for name in NUMBERS)))
    return pd.DataFrame(rows, columns=AGREEMENT_WIDTHS.names).sort_values(
        AGREEMENT_WIDTHS.names[:6], ignore_index=True
    )


def _spec(study: Planned) -> dict[str, Any]:
    places = sorted({(cell.criterion, cell.metric) for cell in interval_agreement_cells(study)})
    return {
        "robust": [
            [criterion, key, (study.metrics(criterion)[key].params or {}).get("robust", 0.8)]
            for criterion, key in places
        ]
    }


AGREEMENT_WIDTHS = Table(
    "agreement_widths",
    "One row per score of `agreement` by an interval, and width of the interval: how agreement depends on "
    "the interval's width.",
    (
        *CELL,
        Column.value("width", "differences of at most so much, on either side, are no bias", "nats", 0),
        Column.share("inside", "the share of pairs whose first version has no bias then"),
        Column.share("agreement", "the share of pairs that have one bias in both versions"),
        Column.share("chance", "that share if versions were in random order"),
        Column(
            "kappa",
            "Cohen's kappa: (agreement - chance) / (1 - chance); empty where chance is 1",
            "number",
            range=ANY,
        ),
        Column.share(
            "p_robust",
            "one-sided p-value of the z-test that the agreement is `robust` (.8 if left out): small is not robust",
        ),
        Column.share("p_robust_binomial", "that of the exact test"),
    ),
    reads=("cells",),
    spec=_spec,
    make=make,
    cells=interval_agreement_cells,
)
TABLES = (AGREEMENT_WIDTHS,)

"""Common parts of figures of debias methods: rows of the table of mitigation, and the order of methods.

`labels` map the keys of models, metrics, debias methods and measures to labels; a key without a label is its own
label; "none" is the original model. A criterion's methods have one order in its figures: by the share of the measured
bias that they remove, most on top.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .rows import rows_of, rows_where

if TYPE_CHECKING:
    import pandas as pd


def method_label(labels: Mapping[str, str], key: str) -> str:
    """Return the label of a debias method's key."""
    return labels.get(key, "original" if key == "none" else key)


def rows_of_group(table: pd.DataFrame, name: str, criterion: str, group: str) -> pd.DataFrame:
    """Return the rows of a criterion and a group of measures; an error about missing rows begins with `name`."""
    return rows_of(rows_of(table, name, criterion=criterion), f"{name}, {criterion}", group=group)


def removed_share(rows: pd.DataFrame) -> pd.Series:
    """Return the share of a metric's bias that a method removes; NaN without bias before."""
    return (1 - rows["after"] / rows["before"].where(rows["before"] > 0)).clip(lower=-1)


def ordered_methods(table: pd.DataFrame, criterion: str) -> list[str]:
    """Return the methods measured on a criterion by the share of bias that they remove, most first."""
    rows = rows_where(table, criterion=criterion)
    shares = removed_share(rows).where(rows["group"] == "metric").groupby(rows["debias"]).mean().fillna(-2)
    return sorted(shares.index, key=lambda method: (-shares[method], method))

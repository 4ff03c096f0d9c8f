"""Two models of a study or grid compared: `compare_models`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..debias import UNTOUCHED
from ..errors import InputError, unknown_name
from ..keywords import checked_keywords
from ..verdicts.least_biased import MODELS

if TYPE_CHECKING:
    import pandas as pd

    from .grid_frames import Grid

CLAIM = ("difference", "low", "high", "p", "p_adjusted", "answer", "smallest_difference", "needed")
COLUMNS = (
    *("criterion", "metric", *CLAIM, "queries", "reason"),
    *(f"other_{name}" for name in CLAIM),
    *("clusters", "other_reason"),
)


@checked_keywords()
def compare_models(grid: Grid, a: str, b: str) -> pd.DataFrame:
    """Compare two models: are they different, alike, or can the study not tell?

    Parameters
    ----------
    grid
        What `measure_grid` or `open_study` returned, with a bootstrap and random groups.
    a, b
        Keys of two models.

    Returns
    -------
    pandas.DataFrame
        One row per criterion and metric. `difference` is the mean standardised bias of `a` minus that of `b`, with
        its 95 % interval: below 0, `a` is less biased. `answer` is "different", "alike" or "cannot tell" for these
        queries and other words; the columns `other_...` answer for other queries. p-values are adjusted over all
        pairs of models of the grid. With "cannot tell", `smallest_difference` and `needed` say what the study could
        have found, and what it would take. docs/reference has the columns of pairs.csv.

    Raises
    ------
    BiasgridError
        For an unknown model, and a grid without a bootstrap.
    """
    models = list(grid.study.models)
    for name in (a, b):
        if name not in models:
            raise InputError(f"compare_models: {unknown_name('model', name, models)}")
    if a == b:
        raise InputError(f"compare_models: a and b are the same model, {a!r}")
    pairs = grid.frame("pairs")
    is_original = (pairs["family"] == MODELS) & (pairs["debias_a"] == UNTOUCHED)
    forward = is_original & (pairs["model_a"] == a) & (pairs["model_b"] == b)
    backward = is_original & (pairs["model_a"] == b) & (pairs["model_b"] == a)
    turned = pairs[backward].copy()
    for prefix in ("", "other_"):
        difference, low, high = (f"{prefix}{name}" for name in ("difference", "low", "high"))
        turned[difference] = -turned[difference]
        turned[[low, high]] = -turned[[high, low]].to_numpy()
    found = turned if backward.any() else pairs[forward]
    return found[list(COLUMNS)].reset_index(drop=True)

"""Comparison of two models of a study or grid: `compare_models`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.errors import InputError, unknown_name
from ...core.keywords import checked_keywords
from ...core.validation import validate
from ...debias import UNTOUCHED
from ...measure.statistics.two_models import MODELS
from ...tables.pairs import PAIRS
from ..config.inference import Inference, inference_of_tests

if TYPE_CHECKING:
    import pandas as pd

    from .grid import Grid

CLAIM = ("difference", "low", "high", "p", "p_adjusted", "answer", "smallest_difference", "needed")
COLUMNS = (
    *("criterion", "metric", "scale", *CLAIM, "queries", "reason"),
    *(f"other_{name}" for name in CLAIM),
    *("clusters", "other_reason"),
)


@checked_keywords()
def compare_models(grid: Grid, a: str, b: str, *, margin: float | None = None) -> pd.DataFrame:
    """Compare two models: they differ, they are alike, or the study cannot tell.

    Parameters
    ----------
    grid
        A grid from `measure_grid` or `open_study`, with a bootstrap; metrics of vectors also need random groups.
    a, b
        Keys of two models.
    margin
        Models are alike if their standardised bias differs by at most this much. Default: the study's own margin
        (`inference: margin`), which is .5 unless set.

    Returns
    -------
    pandas.DataFrame
        One row per criterion and metric. `difference` is the mean bias of `a` minus that of `b`, on the scale that
        `scale` names, with its 95 % interval: below 0, `a` is less biased. `answer` is "different", "alike" or
        "cannot tell" for these queries and other words; the columns `other_...` answer for other queries. p-values
        are adjusted over all pairs of models of the grid. With "cannot tell", `smallest_difference` is the smallest
        difference that the study could have found, and `needed` describes what a clear answer would require.
        docs/reference lists the columns of pairs.csv.

    Raises
    ------
    BiasgridError
        A model is unknown, the margin is not positive, or the grid does not have a bootstrap.
    """
    models = list(grid.study.models)
    for name in (a, b):
        if name not in models:
            raise InputError(f"compare_models: {unknown_name('model', name, models)}")
    if a == b:
        raise InputError(f"compare_models: a and b are the same model, {a!r}")
    pairs = grid.frame("pairs") if margin is None else _pairs_within(grid, margin)
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


def _pairs_within(grid: Grid, margin: float) -> pd.DataFrame:
    """Return the table of pairs with another margin."""
    margin = validate(inference_of_tests(Inference), {"margin": margin}, "compare_models").margin
    study = getattr(grid.study, "plain", grid.study)
    # A study without a bootstrap does not have this table.
    inputs = PAIRS.inputs_of(study)
    return (
        PAIRS.frame(inputs, PAIRS.spec_of(study) | {"margin": margin}) if inputs else grid.frame(PAIRS.name)
    )

"""Metrics on queries on models, measured in memory: `measure_grid`."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ..debias import UNTOUCHED
from ..errors import BiasgridError, not_allowed
from . import grid_config
from .grid_frames import By, Grid, Ties
from .lost import warn_lost_in_grid
from .measured import left_out
from .measuring import measured_outcomes

if TYPE_CHECKING:
    from .grid_frames import Aggregation

__all__ = ["Grid", "measure_grid"]


def measure_grid(
    metrics: Iterable[str | tuple[str, Mapping[str, Any]]] | Mapping[str, Mapping[str, Any]],
    queries: Any,
    models: Iterable[Any] | Mapping[str, Any],
    *,
    debias: Mapping[str, Any] | None = None,
    preprocessors: Sequence[Any] | None = None,
    strategy: Literal["first", "all"] | None = None,
    normalize: bool | None = None,
    lost_vocabulary_threshold: float | None = None,
    aggregation: Aggregation = "abs_avg",
    by: By = "distance",
    ties: Ties = "average",
    seed: int = 0,
    permutation: bool | Mapping[str, Any] | None = None,
    random_groups: bool | Mapping[str, Any] | None = None,
    bootstrap: bool | Mapping[str, Any] | None = None,
    sensitivity: bool | Mapping[str, Any] | None = None,
    interval: Literal["jackknife", "percentile", "bca"] = "jackknife",
    adjust: Literal["holm", "benjamini-hochberg"] = "holm",
    null_distributions: bool = False,
    n_jobs: int = 1,
    progress: bool = True,
) -> Grid:
    """Measure every metric on every query on every model.

    Values, p-values and intervals are those that a study gives for the same models, queries (by id), metrics and
    seed. A query that has more sets than a metric takes is measured by its sub-queries, as by WEFE's
    `generate_subqueries`; one that has too few is left out, a warning says so, and `Grid.left_out` says why.

    Parameters
    ----------
    metrics
        Names of metrics ("weat"), or pairs of a name and its options, or a mapping of names to options: the metric's
        parameters, and its own look-up options, `label`, and options of `permutation` and `random_groups`. With
        `metric` among the options, the name is a key of your own: {"cosine": {"metric": "rnd", "distance": "cos"}}.
    queries
        A list of queries, or a mapping of criteria ("gender") to lists of queries or to mappings of ids to queries.
    models
        A model, a list of models, or a mapping of names to models. Names differ.
    debias
        Debias method's name -> function of a model that gives its transform, or mapping of models' names to
        transforms. What is under a transform is measured beside the models.
    preprocessors, strategy, normalize, lost_vocabulary_threshold
        How words are looked up: `biasgrid.WordOptions`.
    aggregation, by, ties
        What `Grid.aggregate` and `Grid.rank` do by default.
    seed
        From 0; of metrics that draw at random, and of inference.
    permutation, random_groups, bootstrap, sensitivity
        Each True or a mapping of options: `p_value`, `p_groups`, the confidence interval `ci_low` to `ci_high`, and
        the influence of single words.
    interval
        Which confidence interval `ci_low` and `ci_high` are the ends of.
    adjust
        How p-values are adjusted for the number of tests of a criterion.
    null_distributions
        Whether what the tests compare each score with is kept, for `Grid.plot("null")`.
    n_jobs
        Processes; -1: one for each processor. No value depends on it.
    progress
        Whether a progress bar is shown on standard error.

    Returns
    -------
    Grid

    Raises
    ------
    BiasgridError
        For two models, queries or metrics of one name, and an option that does not exist or has a value that is not
        allowed.

    Examples
    --------
    >>> grid = measure_grid(["weat", "rnd"], [query], [model], progress=False)  # doctest: +SKIP
    >>> grid.table("weat")  # doctest: +SKIP
    """
    by_name = grid_config.models_by_name(models)
    under = grid_config.debiased_models(by_name, debias)
    study = grid_config.study_of(
        metrics,
        queries,
        by_name,
        under,
        words={
            "preprocessors": preprocessors,
            "strategy": strategy,
            "normalize": normalize,
            "lost_vocabulary_threshold": lost_vocabulary_threshold,
        },
        inference={
            "permutation": permutation,
            "random_groups": random_groups,
            "bootstrap": bootstrap,
            "sensitivity": sensitivity,
            "interval": interval,
            "adjust": adjust,
        },
        ranking={"by": by, "ties": ties},
        aggregation=aggregation,
        seed=seed,
    )
    reasons = [f"{metric}: {reason}" for _, _, metric, reason in left_out(study)]
    if reasons:
        more = f"; {len(reasons) - 1} more are in the grid's left_out" if len(reasons) > 1 else ""
        warnings.warn(f"not measured: {reasons[0]}{more}", stacklevel=2)
    if not isinstance(null_distributions, bool):
        raise BiasgridError(not_allowed("null_distributions", null_distributions, "True, False"))
    outcomes = measured_outcomes(
        study,
        {(name, UNTOUCHED): model for name, model in by_name.items()} | under,
        n_jobs=n_jobs,
        progress=progress,
        keep_null=null_distributions,
    )
    kept = [name for name, outcome in outcomes.items() if outcome.null is not None]
    config = study.config | {"null_distributions": kept}
    grid = Grid(dataclasses.replace(study, config=config, outcomes=outcomes))
    warn_lost_in_grid(grid)
    return grid

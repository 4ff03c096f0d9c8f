"""Measurement of metrics on queries and models in memory: `measure_grid`."""

from __future__ import annotations

import dataclasses
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ...core import wefe_names
from ...core.errors import BiasgridError, join_names, not_allowed, quote
from ...core.keywords import checked_keywords
from ...core.user_warnings import stacklevel
from ...debias import UNTOUCHED
from ...measure import significance
from ...measure.caveats import lookalike_text
from ...measure.value_warnings import LostWordsWarning
from ...models.checks import plain
from ..views.caveats_of_study import caveats
from ..views.frames import left_out
from ..views.grid import By, Grid, Ties
from . import study_from_arguments
from .evaluate_in_memory import evaluate_models
from .measure_cells import Outcome, infer_aggregates, measure_cells, results_of_cells

if TYPE_CHECKING:
    from ...metrics import Metric
    from ..views.grid import Aggregation

__all__ = ["Grid", "measure_grid"]


@checked_keywords(wefe_names.RUN_QUERIES, lambda: significance.REGISTRY)
def measure_grid(
    metrics: Iterable[str | Metric | tuple[str | Metric, Mapping[str, Any]]]
    | Mapping[str, Mapping[str, Any]],
    queries: Any,
    models: Iterable[Any] | Mapping[str, Any],
    *,
    debias: Mapping[str, Any] | None = None,
    evaluation: Mapping[str, Any] | None = None,
    preprocessors: Sequence[Any] | None = None,
    strategy: Literal["first", "all"] | None = None,
    normalize: bool | None = None,
    lost_vocabulary_threshold: float | None = None,
    aggregation: Aggregation = "abs_avg",
    by: By = "distance",
    ties: Ties = "average",
    coverage: float = 2 / 3,
    seed: int = 0,
    bootstrap: bool | Mapping[str, Any] | None = None,
    sensitivity: bool | Mapping[str, Any] | None = None,
    reliability: bool | Mapping[str, Any] | None = None,
    interval: Literal["jackknife", "percentile", "bca"] = "jackknife",
    adjust: Literal["holm", "benjamini-hochberg"] = "holm",
    null_distributions: bool = False,
    n_jobs: int = 1,
    progress: bool = True,
    **tests: bool | Mapping[str, Any] | None,
) -> Grid:
    """Measure every metric on every query on every model.

    Values, p-values and intervals equal those of a study with the same models, queries (by id), metrics and seed.
    A single call with the same seed draws other random numbers: a score's seed is computed from the grid's seed
    and the names of model, metric and query. If a query has more sets than a metric takes, its
    sub-queries are measured, as with WEFE's `generate_subqueries`. If it has too few, it is skipped with a
    warning, and `Grid.left_out` gives the reason. `Grid.lost_words` lists the words that models lack, and one
    warning counts them.

    Parameters
    ----------
    metrics
        Names of metrics ("weat"), or pairs of a name and its options, or a mapping of names to options: the metric's
        parameters, and its own look-up options, `label`, and options of the tests (`permutation`, ...). With
        `metric` among the options, the name is a key of your own: {"cosine": {"metric": "rnd", "distance": "cos"}}.
        A `biasgrid.metrics.Metric` of your own may replace a name; this session then also knows it by its name.
    queries
        A list of queries, or a mapping of criteria ("gender") to lists of queries or to mappings of ids to queries.
    models
        A model, a list of models, or a mapping of names to models. Names differ.
    debias
        Debias method's name -> function of a model that returns its transform, or mapping of models' names to
        transforms. The debiased models are measured as well as the original ones.
    evaluation
        Further measurements on each model, original and debiased, in the form of `evaluation:` of a study's
        criterion (docs/debias.md): {"hidden": {...}, "direct": {...}, "similarity": {name: file}, "analogies":
        {name: file}, "sembias": file}. `Grid.frame("mitigation")` has the results, and `Grid.plot` draws them as
        "before-after", "hidden-bias", "trade-off" and "word-map". An empty mapping measures how far words move.
    preprocessors, strategy, normalize, lost_vocabulary_threshold
        Options of the word look-up: see `biasgrid.WordOptions`.
    aggregation, by, ties
        Defaults of `Grid.aggregate` and `Grid.rank`.
    coverage
        The minimum share of the queries (of sub-queries) on which a ranked model needs a value: above 0 and up to
        1, compared to three decimals. `Grid.least_biased` ranks models on the queries that all of them have.
    seed
        An integer from 0, for inference and for metrics that draw at random.
    bootstrap, sensitivity
        Each True or a mapping of options: the confidence interval `ci_low` to `ci_high`, and the influence of single
        words.
    reliability
        Whether to compute how reliable each score is (`Grid.reliability`), which needs a bootstrap; or options,
        as in `reliability:` of a study's config.
    interval
        The kind of confidence interval that `ci_low` and `ci_high` give.
    adjust
        How p-values are adjusted for the number of tests of a criterion.
    null_distributions
        Whether to keep the null distributions of the tests, for `Grid.plot("null")`.
    n_jobs
        Number of processes; -1: one for each processor. No value depends on it.
    progress
        Whether a progress bar is shown on standard error.
    **tests
        Each True or a mapping of options: `permutation` gives `p_value`, `random_groups` `p_groups`,
        `frequency_bands` `p_bands`, `control_words` `p_controls`; a plugin's test also has its name.

    Returns
    -------
    Grid

    Raises
    ------
    BiasgridError
        Two models, queries or metrics have the same name; an option is unknown, or its value is not allowed.

    Examples
    --------
    >>> import biasgrid as bg
    >>> model = bg.load({"he": [1.0, 0.0], "she": [0.0, 1.0], "boss": [0.8, 0.6]}, name="tiny")
    >>> query = bg.Query([["he"], ["she"]], [["boss"]], ["He", "She"], ["Boss"])
    >>> grid = bg.measure_grid(["rnd"], [query], [model], progress=False)
    >>> round(float(grid.table("rnd").loc["tiny", "He and She wrt Boss"]), 3)
    -0.262
    """
    by_name = study_from_arguments.models_by_name(models)
    debiased = study_from_arguments.debiased_models(by_name, debias)
    study = study_from_arguments.study_of(
        metrics,
        queries,
        by_name,
        debiased,
        words={
            "preprocessors": preprocessors,
            "strategy": strategy,
            "normalize": normalize,
            "lost_vocabulary_threshold": lost_vocabulary_threshold,
        },
        inference={
            **tests,
            "bootstrap": bootstrap,
            "sensitivity": sensitivity,
            "interval": interval,
            "adjust": adjust,
        },
        evaluation=evaluation,
        reliability=reliability,
        ranking={"by": by, "ties": ties, "coverage": coverage},
        aggregation=aggregation,
        seed=plain(seed),
    )
    reasons = [f"{metric}: {reason}" for _, _, metric, reason in left_out(study)]
    if reasons:
        rest_note = f"; {len(reasons) - 1} more are in the grid's left_out" if len(reasons) > 1 else ""
        warnings.warn(f"not measured: {reasons[0]}{rest_note}", stacklevel=stacklevel())
    if not isinstance(null_distributions, bool):
        raise BiasgridError(not_allowed("null_distributions", null_distributions, "True, False"))
    states = {(name, UNTOUCHED): model for name, model in by_name.items()} | debiased
    with tempfile.TemporaryDirectory(prefix="biasgrid-") as shared:
        outcomes = measure_cells(
            study,
            states,
            n_jobs=n_jobs,
            shared=shared,
            progress=progress,
            keep_null=null_distributions,
        )
        if sentence := _describe_lost_words(outcomes):
            warnings.warn(sentence, LostWordsWarning, stacklevel=stacklevel())
        memory = results_of_cells(study, outcomes)
        cells_with_null = [name for name, outcome in outcomes.items() if outcome.null is not None]
        config = study.config.model_copy(update={"null_distributions": cells_with_null})
        measured_study = dataclasses.replace(study, config=config, memory=memory)
        for sentence in caveats(measured_study, _lowest_p_values(outcomes)):
            warnings.warn(sentence, stacklevel=stacklevel())
        # Tables read `memory`, so what follows is added to it.
        memory |= evaluate_models(measured_study, states, progress=progress)
        memory |= infer_aggregates(measured_study, states, n_jobs=n_jobs, shared=shared, progress=progress)
    return Grid(measured_study)


def _lowest_p_values(outcomes: Mapping[str, Outcome]) -> dict[tuple[str, str, str], float]:
    """Return the lowest p-value that all tests of a score can give, by metric, query and model."""
    lowest = {}
    for record in filter(None, (outcome.inference for outcome in outcomes.values())):
        for result in record["results"]:
            tests = [
                result[test]["p_lowest"]
                for test in significance.REGISTRY
                if "p_lowest" in result.get(test, {})
            ]
            if tests:
                lowest[record["metric"], result["query"], record["model"]] = max(tests)
    return lowest


def _describe_lost_words(outcomes: Mapping[str, Outcome]) -> str:
    """Return a sentence on missing words and the queries that could not be computed, or ""."""
    lost_words: dict[tuple[str, str], list[str]] = {}
    pairs_without_value = set()
    for record in (outcome.record for outcome in outcomes.values()):
        for result in record["results"]:
            pair = result["query"], record["model"]
            if words := [word for part in result["lost"].values() for word in part]:
                lost_words.setdefault(pair, words)
            if result["status"].startswith("lost_words"):
                pairs_without_value.add(pair)
    if not lost_words:
        return ""
    results = (result for outcome in outcomes.values() for result in outcome.record["results"])
    alike = next(filter(None, (lookalike_text(result.get("why_lost", {})) for result in results)), "")
    (query, model), words = next(iter(lost_words.items()))
    pairs = "pair" if len(lost_words) == 1 else "pairs"
    return (
        f"words are lost in {len(lost_words)} {pairs} of query and model, "
        f"{len(pairs_without_value)} of them without a value "
        f"for it; the first: {quote(query)} on {quote(model)} lacks {join_names(map(quote, words))}; the grid's "
        f"lost_words has all{f'. {alike}' if alike else ''}"
    )

"""Table of covariates: correlations of scores with word frequency, and with the bias of a corpus itself."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import TYPE_CHECKING, Any

from ..core.seeds import seed_of
from ..measure.statistics.correlation import METHODS, over_units
from .correlation_columns import correlation_columns
from .covariate_points import (
    BIASED,
    FEWEST,
    LOG,
    MEAN,
    NEARER,
    OF_GROUPS,
    OF_WORDS,
    OTHER,
    PMI,
    SETS,
    VARIANCE,
    WORDS,
    Points,
    has_covariates,
    metrics_spec,
    points_of,
)
from .keys import CRITERION, DEBIAS, METRIC, MODEL
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 1000
FEW = f"fewer than {FEWEST} different words or sets"
ALIKE, COVARIATE_ALIKE = "the scores are all alike", "the covariate is the same for all"
EXPLAINED = "what is given explains the scores or the covariate whole"


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Correlate scores with covariates: one row per metric, model, debias method, covariate and method.

    Parameters
    ----------
    inputs
        "cells": files of cells; "frequencies": files of frequencies; "scores": the table.
    spec
        As in `covariate_points.metrics_spec`, with the study's "seed".
    """
    seed = seed_of(spec["seed"], "covariates")
    rows = [
        (*key, method, len(points.units), *_correlate(points, method, seed))
        for key, points in points_of(inputs, spec).items()
        for method in METHODS
    ]
    return COVARIATES.finish(rows)


def _correlate(points: Points, method: str, seed: int) -> tuple[float, float, float, int, str]:
    """Return the correlation, the ends of its interval, its number of units, and the reason if it is missing."""
    units = int(points.units.max()) + 1
    scores, covariate, *_ = points.constant_rows
    reason = FEW if units < FEWEST else ALIKE if scores else COVARIATE_ALIKE if covariate else ""
    if reason:
        return nan, nan, nan, units, reason
    numbers = over_units(points.centred, points.units, method, seed, DRAWS)
    return *numbers, units, EXPLAINED if numbers[0] != numbers[0] else ""


COVARIATES = Table(
    "covariates",
    "Correlations of scores with word frequency, and with PMI in a corpus. One row per criterion, metric, "
    "model, debias method, covariate and method, for scores of words and of sets. In studies with models whose "
    "frequencies are known (see the table frequency).",
    (
        CRITERION,
        METRIC,
        MODEL,
        DEBIAS,
        Column(
            "of",
            "what is correlated. words: the number of each word, once per word and pair of groups; the mean "
            "over the words of the same groups is subtracted from number and covariate. sets: the values of "
            "queries or sub-queries",
            values=(WORDS, SETS),
        ),
        Column(
            "higher",
            "what a higher score means. nearer to the first group: if positive means the second group, as in "
            "RND, the number is multiplied by -1. more biased: the distance from the no-bias value. a higher "
            "number: the number has no direction. For the last two, PMI and differences lose their sign",
            values=(NEARER, BIASED, OTHER),
        ),
        Column(
            "covariate",
            "what the scores are correlated with. For words: log_frequency (natural logarithm), or pmi, the "
            "word's PMI with the same groups; a word that occurs with only one of them has no PMI. For sets: "
            "mean_log_frequency and variance_log_frequency of the words that are compared with the groups. "
            "difference_log_frequency: the mean of the first set of such words minus the mean of the second, "
            "such as the two sets of names in WEAT (van Loon et al. 2022). groups_difference_log_frequency: the "
            "same for the two groups. pmi: PMI of the same query; with two attribute sets, the first minus the "
            "second",
            values=(LOG, PMI, MEAN, VARIANCE, OF_WORDS, OF_GROUPS),
        ),
        Column(
            "given",
            "for a partial correlation, the variable that is controlled for; otherwise empty. A partial pearson "
            "correlates the residuals of two linear regressions on this variable; a partial spearman does the "
            "same with ranks",
            values=("", LOG, PMI),
        ),
        Column("corpus", "key of the corpus, if PMI is the covariate or is controlled for"),
        Column(
            "corpus_metric",
            "key of the PMI metric in that corpus; a study may have PMI with several parameters",
        ),
        Column(
            "source",
            "where the frequencies come from, as in the table frequency (wordfreq is a proxy); empty without "
            "frequencies",
            values=("counts", "wordfreq", "rank", ""),
        ),
        *correlation_columns(
            "scores and covariate",
            "number of scores that have the covariate",
            "words, or of what the covariate is of: sets, pairs of sets, (sub-)queries",
            "where `reason` says why",
            DRAWS,
        ),
        Column.count(
            "units",
            "number of different units that the bootstrap draws from. A unit brings all of its scores. The "
            "groups are fixed",
        ),
        Column("reason", "why there is no correlation", values=(FEW, ALIKE, COVARIATE_ALIKE, EXPLAINED, "")),
    ),
    reads=("cells", "frequencies", "scores"),
    when=lambda study: has_covariates(study, study.config.criteria),
    facts=("seed",),
    spec=metrics_spec,
    make=make,
    key=(
        *("criterion", "metric", "model", "debias", "of", "higher"),
        *("covariate", "given", "corpus", "corpus_metric", "source", "method"),
    ),
)
TABLES = (COVARIATES,)

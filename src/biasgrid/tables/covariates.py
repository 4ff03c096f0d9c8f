"""The table of covariates: do scores go with the frequency of words, and with the bias of a corpus itself?"""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import TYPE_CHECKING, Any

from ..seeds import seed_of
from ..statistics.correlation import METHODS, over_units
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
    """Correlations of scores with covariates: one row per metric, model, debias method, covariate and method.

    inputs: "cells", files of cells; "frequencies", files of frequencies; "scores", the table. spec: as of
    `covariate_points.metrics_spec`, and "seed", the study's.
    """
    seed = seed_of(spec["seed"], "covariates")
    rows = [
        (*key, method, len(points.units), *_correlate(points, method, seed))
        for key, points in points_of(inputs, spec).items()
        for method in METHODS
    ]
    return COVARIATES.finish(rows)


def _correlate(points: Points, method: str, seed: int) -> tuple[float, float, float, int, str]:
    """Correlation, the ends of its interval, how many units it is over, and why there is none."""
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
            "words: a word's own number, once per word and pair of groups, less the mean of those of the same "
            "groups, as is the covariate; sets: the values of (sub-)queries",
            values=(WORDS, SETS),
        ),
        Column(
            "higher",
            "what a higher score means. nearer to the first group: numbers of metrics in which positive means the "
            "second, such as RND, are multiplied by -1; more biased: it is the distance from the neutral value; a "
            "higher number: it has no direction. Of the last two, PMI and differences are taken without their sign",
            values=(NEARER, BIASED, OTHER),
        ),
        Column(
            "covariate",
            "of words log_frequency (natural logarithm) and pmi, the word's PMI between the same groups; a word that "
            "stands beside one of them alone has none. Of sets "
            "mean_log_frequency and variance_log_frequency, of the words that are compared with the groups; "
            "difference_log_frequency, the mean of the first set of such words less that of the second, such as "
            "the two sets of names of a WEAT (van Loon et al. 2022); groups_difference_log_frequency, the same of "
            "the two groups; and pmi, of the same (sub-)query, or of two attribute sets that of the first less that "
            "of the second",
            values=(LOG, PMI, MEAN, VARIANCE, OF_WORDS, OF_GROUPS),
        ),
        Column(
            "given",
            "of a partial correlation: what is held fixed; else empty. A partial pearson is the correlation of what "
            "two linear regressions on it leave; a partial spearman the same of ranks",
            values=("", LOG, PMI),
        ),
        Column("corpus", "where PMI is the covariate or is given: the corpus, a model's key"),
        Column("corpus_metric", "the key of PMI there: the study may have it with other parameters"),
        Column(
            "source",
            "what frequencies are known by, as in the table frequency (wordfreq is a proxy); empty without frequency",
            values=("counts", "wordfreq", "rank", ""),
        ),
        *correlation_columns(
            "scores and covariate",
            "scores that have the covariate",
            "words, or of what the covariate is of: sets, pairs of sets, (sub-)queries",
            "where `reason` says why",
            DRAWS,
        ),
        Column.count(
            "units",
            "how many different ones the bootstrap draws from, each with all of its scores. The groups are taken as "
            "given",
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

"""A study's config: its keys, their values, and their defaults."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ...core.validation import Line, Strict, field
from ...measure.options import Number, Reliability, Whole
from ...measure.statistics.shared import COVERAGE
from .common import INCLUDES, Distinct, FilePath, Folder, Key, Name, Params
from .criteria import Criteria
from .debias import Debias, Quality
from .figures import DEFAULT, Figures
from .inference import Inference, OfStudy, inference_of_tests
from .languages import OfLanguage
from .metrics import Metrics, Words
from .models import Archives, Models
from .trainings import Beside, Training

Paths = Annotated[list[FilePath], Distinct]
Threshold = Annotated[Number, Field(gt=0, lt=1)]
# `evaluation.Spec` checks these, with the words of word sets.
Evaluations = Annotated[Params, Field(min_length=1)]


class Run(Strict):
    """The keys that studies, simulations and injected-bias benchmarks share."""

    seed: Whole = field("seed of all that is drawn at random", 0, ge=0)
    results: Folder = field(
        "folder of the results; they are in a folder below it that has the run's name", "results"
    )
    plugins: Paths = field(
        "plugins that come with biasgrid, by name (`biasgrid list plugins`); and files, and folders of files, with "
        "metrics and the like of your own (CONTRIBUTING.md), below the folder that the command runs in: `./npm` is "
        "yours, where `npm` comes with biasgrid. A config with plugins is code: run only those you trust. They are "
        "loaded after all else is checked; reading results loads none",
        None,
    )


class Ranking(Strict):
    """Options of the ranking of models."""

    by: Literal["distance", "value"] = field(
        "`distance`: by the distance of a metric's value from its no-bias value; `value`: by the value, as WEFE does",
        "distance",
    )
    ties: Literal["average", "min", "max", "dense", "first"] = field(
        "rank of equal values: their mean, the lowest or the highest of their places, the lowest with no gap after "
        "it (`dense`), or by the order of models (`first`)",
        "average",
    )
    coverage: Annotated[float, Field(gt=0, le=1)] = field(
        "share of the queries, sub-queries counted each, on which a model needs values to be ranked beside others "
        "(`rank_shared`); compared to three decimals, so that 6 of 9 is 2/3. A model with values on fewer is not "
        "ranked, and models are ranked on the queries that all others have",
        COVERAGE,
    )


class ReliabilityCard(Reliability):
    """Options of the reliability of each score (docs/intervals.md). Conclusions use the ends of intervals."""

    acceptable: Threshold = field(
        "words are ordered acceptably where the whole interval lies above this", 0.7
    )
    good: Threshold = field("well", 0.8)
    excellent: Threshold = field("excellently", 0.9)
    holds: Threshold = field(
        "a sign, or an order of models, holds in at least this share of resampled lists", 0.95
    )


class StudyConfig(Run):
    """A study: every metric on every query on every model, before and after every debias method. Paths are
    relative to the folder that the command runs in."""

    study: Key = field("the study's name")
    title: Line = field("what the study is called where people read of it; left out: its name", None)
    embeddings: Folder = field(
        "folder of archives and stores; left out: that of the environment variable BIASGRID_EMBEDDINGS, else "
        "data/embeddings. No result depends on it",
        None,
    )
    word_sets: FilePath = field("folder of the word-set files", "data/word_sets")
    models: Annotated[Models, INCLUDES] = field(
        "models by key. A list may also hold names of shipped models (`biasgrid list models`) and paths of files of "
        "vectors; a file's model has the file's name without its ending as key and label"
    )
    words: Words = field("how words are looked up", Words)
    criteria: Annotated[Criteria, INCLUDES] = field(
        "criteria by name: the queries. Where several files have a criterion, its queries are put together; any "
        "other key of it is in one of the files, or the same in all"
    )
    languages: list[OfLanguage] = field(
        "languages, in which models are asked the same. Each has its models and criteria, beside the study's own",
        None,
    )
    metrics: Metrics = field(
        "metrics by key: what is measured of every criterion that has no metrics of its own"
    )
    aggregation: Literal["avg", "abs_avg", "sum", "abs_sum"] = field(
        "how a metric's values are aggregated over the queries of a criterion: mean or sum, of values or of absolute "
        "values",
        "abs_avg",
    )
    ranking: Ranking = field("how models are ranked", Ranking)
    correlations: Annotated[
        list[Literal["spearman", "kendall", "pearson"]], Field(min_length=1), Distinct
    ] = field(
        "correlations of the metrics' rankings; the first is drawn",
        lambda: ["spearman", "kendall", "pearson"],
    )
    query_ranks: bool = field(
        "whether each metric and model ranks the queries of its criteria, and the orders are compared "
        "(query_ranks.csv)",
        False,
    )
    debias: dict[str, Annotated[dict[Key, Debias], Field(min_length=1)]] = field(
        "criterion -> debias methods by key", dict
    )
    benchmarks: Annotated[Archives, INCLUDES] = field("archives of benchmarks, by key", dict)
    corpora: Annotated[Archives, INCLUDES] = field("corpora that models are trained on, by key", dict)
    encoders: Annotated[Archives, INCLUDES] = field(
        "encoders that make vectors of words in sentences (`type: encoded`), by key", None
    )
    quality: Annotated[Quality, INCLUDES] = field(
        "benchmarks on which every model is evaluated (docs/models.md)", Quality
    )
    evaluation: dict[str, Evaluations] = field(
        "criterion -> what debiasing costs and hides, or what else models are asked (docs/debias.md)", dict
    )
    trainings: Annotated[dict[Name, Training], Field(min_length=1)] = field(
        "by name, models that are trained with other parameters, whose values are compared (trainings.csv, of the "
        "plugin `training`)",
        None,
    )
    frequencies: Literal["own", "wordfreq"] = field(
        "where word frequencies are from. `own`: the model's counts of its corpus, else the order of its words where "
        "it is `sorted`, else unknown; `wordfreq`: of a model without counts, a proxy, the frequency in the texts of "
        "the package wordfreq (extra `frequency`) in the model's `language`, by default English",
        "own",
    )
    shuffled: Annotated[dict[Name, Beside], Field(min_length=1)] = field(
        "by name, models of real text and models of the same text shuffled, whose values are compared (shuffled.csv, "
        "of the plugin `training`)",
        None,
    )
    inference: OfStudy = field("how certain every value is", lambda: inference_of_tests(Inference)())
    reliability: ReliabilityCard = field(
        "how far each score can be trusted (reliability.csv); needs `inference: bootstrap`. Left out, it is not "
        "computed",
        None,
    )
    figures: Figures = field("kinds of figures that are drawn", lambda: [*DEFAULT])
    null_distributions: Paths = field(
        "cells whose null distribution is drawn, as model/debias/metric/query", list
    )
    published: Paths = field("CSV files of published numbers that the study is compared with", list)
    computed: Paths = field("CSV files of numbers that other code computed, to compare with", list)
    beside: dict[str, Key | Annotated[list[Key], Field(min_length=1), Distinct]] = field(
        "model's key -> a published model with other vectors, or several; the comparison shows their numbers "
        "but does not check them",
        dict,
    )

"""The config of a planted-bias benchmark: validation/planted_bias/README.md"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from biasgrid.core.validation import Line, Strict, field
from biasgrid.measure.options import Number, Whole
from biasgrid.study.config.common import INCLUDES, Distinct, Key, Params, Text
from biasgrid.study.config.criteria import reference
from biasgrid.study.config.metrics import Measured
from biasgrid.study.config.models import Archives
from biasgrid.study.config.study import Run

Mu = Annotated[list[Annotated[Number, Field(ge=0, le=1)]], Field(min_length=1), Distinct]
Sigma = Annotated[list[Annotated[Number, Field(ge=0, le=10)]], Field(min_length=1), Distinct]
Replicates = Annotated[Whole, Field(ge=1, le=10_000)]
Vectors = Annotated[
    list[Literal["word+context", "word", "contextual", "sentences", "input"]], Field(min_length=1), Distinct
]
MU = "probability of the male pronoun beside an occupation, mean over occupations"
SIGMA = "its standard deviation over occupations"
REPLICATES = (
    "corpora of each mean and standard deviation, with the same probabilities and sentences of their own"
)
VECTORS = (
    "what is measured of each model. Of ppmi and word2vec: `word`, words' own vectors; `word+context`, their sums "
    "with the vectors that words have as contexts. Of bert: `contextual`, the last layer of the word alone; "
    "`sentences`, its mean over the sentences of bleached.json; `input`, what a word is before the first layer"
)


class Trainer(Strict):
    """How models are trained."""

    algorithm: str = field("`ppmi`, `word2vec` or `bert`; left out: the key", None)
    label: Line = field("what tables and figures print", None)
    params: Params = field(
        "parameters: of ppmi `dimensions`, of word2vec gensim's, of bert `epochs`, `batch_size`, `learning_rate`",
        dict,
    )
    start: Key = field("of bert: the key of the weights to begin with, under `encoders`", None)
    mu: Mu = field(f"{MU}; left out: the benchmark's", None, "probability")
    sigma: Sigma = field(f"{SIGMA}; left out: the benchmark's", None, "probability")
    replicates: Replicates = field(f"{REPLICATES}; left out: the benchmark's", None)
    vectors: Vectors = field(f"{VECTORS}. Left out: the benchmark's", None)


class FineTuning(Strict):
    """Parameters of the trainer bert. The paper has 5 epochs of BERT base, and does not say how large steps are; a
    small model learns in larger ones."""

    epochs: Annotated[Whole, Field(ge=1, le=1000)] = field("how often the sentences are gone through", 3)
    batch_size: Annotated[Whole, Field(ge=1, le=100_000)] = field("sentences of a step", 64)
    learning_rate: Annotated[Number, Field(gt=0, le=1)] = field("of AdamW, the same in all steps", 0.0005)


class PlantedMetric(Measured):
    """Settings of a metric that are other than its own."""

    groups: Literal["targets", "attributes"] = field("the side of the query where the pronouns are", None)
    words: Text = field("which of the metric's details is a word's score", None)
    truth: Literal["mean", "sd", "absolute"] = field(
        "which statistic of the injected bias its value is compared with: mean or standard deviation over "
        "occupations, or how far the mean is from .5; left out: `mean` of a metric with a sign, else `absolute`",
        None,
    )


class FullMetric(PlantedMetric):
    """A metric with all of its settings."""

    split: bool = field("whether half of the words are a set against the other half")


class FactoryConfig(Run):
    """A benchmark of models with injected bias."""

    factory: Key = field("the benchmark's name")
    occupations: Annotated[str, AfterValidator(reference)] = field(
        "word set of the occupations", "schroeder.occupations"
    )
    templates: Key = field("file of sentences in data/templates, without .json", "schroeder")
    mu: Mu = field(MU, unit="probability")
    sigma: Sigma = field(SIGMA, unit="probability")
    replicates: Replicates = field(REPLICATES, 5)
    trained: Annotated[Number, Field(gt=0, le=1)] = field(
        "share of a corpus' sentences that models are trained on; the others are held out", 1.0
    )
    vectors: Vectors = field(
        f"{VECTORS}. Left out: `word+context` and `word`, or `contextual` and `input`", None
    )
    groups: Annotated[list[Annotated[str, AfterValidator(reference)]], Field(min_length=2, max_length=2)] = (
        field(
            "word sets of the male and the female group, word by word pairs, for bert alone; left out: the "
            "templates' pronouns",
            None,
        )
    )
    test_templates: Key = field(
        "of bert: file of sentences in data/templates that it is not trained on, and in which it is asked for the "
        "pronoun",
        "schroeder_test",
    )
    frames: Key = field(
        "of bert: file of sentences in data/templates in which another word tells the pronoun",
        "pronoun_frames",
    )
    halves: Annotated[Whole, Field(ge=0, le=10_000)] = field(
        "random halves of the occupations on which each metric is measured again; 0: none", 0
    )
    encoders: Annotated[Archives, INCLUDES] = field("weights that training begins with, by key", dict)
    trainers: Annotated[dict[Key, Trainer], Field(min_length=1)] = field("trainers by key")
    metrics: dict[Key, PlantedMetric] = field(
        "settings of metrics that are other than their own; all others that fit are measured, too", dict
    )

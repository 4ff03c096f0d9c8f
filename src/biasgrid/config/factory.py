"""The config of a planted-bias benchmark: docs/factory.md"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ..options import Number, Whole
from ..validation import Strict, field
from .common import Distinct, Key, Params, Text
from .criteria import reference
from .metrics import Measured
from .study import Run

Mu = Annotated[list[Annotated[Number, Field(ge=0, le=1)]], Field(min_length=1), Distinct]
Sigma = Annotated[list[Annotated[Number, Field(ge=0, le=10)]], Field(min_length=1), Distinct]
Replicates = Annotated[Whole, Field(ge=1, le=10_000)]
Vectors = Annotated[list[Literal["word", "word+context"]], Field(min_length=1), Distinct]
MU = "probability of the male pronoun beside an occupation, mean over occupations"
SIGMA = "its standard deviation over occupations"
REPLICATES = (
    "corpora of each mean and standard deviation, with the same probabilities and sentences of their own"
)
VECTORS = (
    "what is measured of each model: `word`, words' own vectors; `word+context`, their sums with the vectors that "
    "words have as contexts"
)


class Trainer(Strict):
    """How models are trained."""

    algorithm: str = field("`ppmi` or `word2vec`; left out: the key", None)
    label: Text = field("what tables and figures print", None)
    params: Params = field("parameters: of ppmi `dimensions`, of word2vec gensim's", dict)
    mu: Mu = field(f"{MU}; left out: the benchmark's", None, "probability")
    sigma: Sigma = field(f"{SIGMA}; left out: the benchmark's", None, "probability")
    replicates: Replicates = field(f"{REPLICATES}; left out: the benchmark's", None)
    vectors: Vectors = field(f"{VECTORS}; left out: the benchmark's", None)


class PlantedMetric(Measured):
    """Settings of a metric that are other than its own."""

    groups: Literal["targets", "attributes"] = field("the side of the query where the pronouns are", None)
    words: Text = field("which of the metric's details is a word's score", None)
    truth: Literal["mean", "sd", "absolute"] = field(
        "what of the planted bias its value is set against: mean or standard deviation over occupations, or how far "
        "the mean is from .5; left out: `mean` of a metric with a sign, else `absolute`",
        None,
    )


class FactoryConfig(Run):
    """A planted-bias benchmark."""

    factory: Key = field("the benchmark's name")
    occupations: Annotated[str, AfterValidator(reference)] = field(
        "word set of the occupations", "schroeder.occupations"
    )
    templates: Key = field("file of sentences in data/templates, without .json", "schroeder")
    mu: Mu = field(MU, unit="probability")
    sigma: Sigma = field(SIGMA, unit="probability")
    replicates: Replicates = field(REPLICATES, 5)
    vectors: Vectors = field(VECTORS, lambda: ["word+context", "word"])
    trainers: Annotated[dict[Key, Trainer], Field(min_length=1)] = field("trainers by key")
    metrics: dict[Key, PlantedMetric] = field(
        "settings of metrics that are other than their own; all others that fit are measured, too", dict
    )

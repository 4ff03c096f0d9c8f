"""A simulation's config: are p-values calibrated, and do intervals cover? docs/calibration.md"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from biasgrid.core.errors import BiasgridError
from biasgrid.core.registry import is_pending
from biasgrid.core.validation import Line, Strict, field
from biasgrid.measure.options import Number, Whole
from biasgrid.models.algorithms import REGISTRY as ALGORITHMS
from biasgrid.models.kinds import VECTORS
from biasgrid.study.config.common import INCLUDES, Distinct, Key, Params, partial
from biasgrid.study.config.metrics import Measured
from biasgrid.study.config.models import Models
from biasgrid.study.config.study import Run

MOST = 10_000_000
Kind = Literal["random", "coherent", "apart", "leaning", "mixed"]


class Population(Strict):
    """Where simulated words come from. Lengths are in units of the length that a word's own part has on average."""

    dimensions: Whole = field("dimensions of a vector", 50, ge=2, le=10_000)
    lean: Number = field(
        "how far the first set of the side that is not permuted lies in the direction of the bias",
        0.5,
        "length",
        ge=0,
    )
    topic: Number = field("how far all target words lie in the direction of a topic", 0.5, "length", ge=0)
    shared: Number = field(
        "for a metric of pairs, how much of a word's own part its pair has in common",
        0.5,
        "share of variance",
        ge=0,
        lt=1,
    )


class Null(Strict):
    """Permutation tests under the null hypothesis."""

    repetitions: Whole = field("tests of each cell", 1000, ge=2, le=MOST)
    draws: Whole = field("random permutations of each test", 199, ge=2, le=MOST)
    exact: Whole = field(
        "all permutations are enumerated where there are at most this many", 300, ge=0, le=MOST
    )


class Coverage(Strict):
    """How often intervals hold the true value."""

    repetitions: Whole = field("intervals of each cell", 500, ge=2, le=MOST)
    draws: Whole = field("bootstrap resamples of each interval", 500, ge=2, le=MOST)
    level: Number = field("how often an interval should hold the true value", 0.95, "share", gt=0, lt=1)
    truth: Whole = field("draws whose mean is the true value", 5000, ge=2, le=MOST)


OwnNull = partial(Null, "What is other than in the simulation's `null`.")
OwnCoverage = partial(Coverage, "What is other than in the simulation's `coverage`.")


class SimulatedMetric(Measured):
    """A metric of a simulation."""

    null: OwnNull = field("what is other than in the simulation's `null`", None)
    coverage: OwnCoverage = field("what is other than in the simulation's `coverage`", None)


class Calibration(Strict):
    """Both tests on queries that are drawn from real models."""

    kinds: Annotated[dict[Kind, Annotated[Whole, Field(ge=2, le=MOST)]], Field(min_length=1)] = field(
        "kind of query -> how many are drawn from each model",
        lambda: {"random": 400, "coherent": 400, "apart": 134, "leaning": 133, "mixed": 133},
    )
    words: Whole = field("words of each set", 8, ge=2, le=1000)
    vocabulary: Whole = field(
        "words are drawn from this many rows of a model, the first ones", 4000, ge=2, le=MOST
    )
    draws: Whole = field(
        "random permutations, and random groups, of each test at most; 20 as extreme as the score end a test of more "
        "than 199, and some random groups fail",
        999,
        ge=99,
        le=MOST,
    )
    metrics: Annotated[dict[Key, Measured], Field(min_length=1)] = field("metrics by key")


Width = Annotated[Number, Field(ge=1, le=10_000)]
Difference = Annotated[list[Annotated[Number, Field(gt=0, le=10_000)]], Field(min_length=2, max_length=2)]
FREQUENCY = (
    "how many times as frequent the first target set is as the second, and the first attribute set as the second, in "
    "the middle"
)


class Planted(Strict):
    """A bias that is injected into a shuffled corpus."""

    frequency: Difference = field(FREQUENCY, lambda: [1, 1])
    share: Number = field(
        "beside so many of all occurrences of a word of the first target set, the word before or after it changes "
        "places with a word of the first attribute set; of the second sets likewise",
        0.1,
        "share",
        gt=0,
        le=1,
    )


class CorpusTraining(Strict):
    """How vectors are trained on shuffled corpora."""

    label: Line = field("what figures print; left out, the key", None)
    algorithm: Key = field("what trains them, as of a model that a study trains")
    params: Params = field(
        "its parameters (plugins/training/README.md); the seed is the number of the corpus", dict
    )

    @model_validator(mode="after")
    def _trainable(self):
        if "seed" in self.params:
            raise BiasgridError("params: seed: is the number of the corpus; leave it out")
        of_vectors = [name for name, algorithm in ALGORITHMS.items() if algorithm.kind == VECTORS]
        if self.algorithm not in of_vectors:
            if is_pending():
                return self
            raise BiasgridError(f"algorithm: {ALGORITHMS.unknown(self.algorithm, of_vectors)}")
        try:
            ALGORITHMS[self.algorithm].check(self.params)
        except BiasgridError as error:
            raise BiasgridError(f"params: {error}") from None
        return self


class BandedMetric(Measured):
    """A metric whose tests are tried on shuffled corpora."""

    widths: Annotated[list[Width], Field(min_length=1), Distinct] = field(
        "widths of the frequency bands: one test within bands for each width", None
    )


class FrequencyTests(Strict):
    """Tests on vectors of shuffled corpora: words whose frequencies differ, and an injected bias."""

    corpus: Key = field("the corpus that is shuffled: the key of a model of kind `corpus`")
    corpora: Whole = field("shuffled corpora without bias, and as many with one", 5, ge=2, le=1000)
    trainings: Annotated[dict[Key, CorpusTraining], Field(min_length=1)] = field("what is trained on each")
    words: Whole = field("words per set", 8, ge=2, le=1000)
    occurrences: Number = field(
        "of a word of a query in the corpus: the geometric mean of what the two sets of a side have in the middle",
        60,
        "count",
        ge=1,
        le=MOST,
    )
    spread: Number = field(
        "how many times as frequent a word one standard deviation above its set's middle is", 3, ge=1, le=1000
    )
    least: Whole = field("occurrences that a word has at least", 10, ge=1, le=MOST)
    unbiased: Annotated[dict[Key, Difference], Field(min_length=1)] = field(
        f"kind of query in corpora without bias -> {FREQUENCY}", lambda: {"both": [4, 4]}
    )
    biased: dict[Key, Planted] = field("kind of query in the other corpora -> the bias", dict)
    queries: Whole = field("queries of each kind per corpus without bias", 40, ge=1, le=MOST)
    biased_queries: Whole = field("queries of each kind per corpus with one", 15, ge=1, le=MOST)
    draws: Whole = field("random permutations, and sets of control words, of each test", 199, ge=99, le=MOST)
    widths: Annotated[list[Width], Field(min_length=1), Distinct] = field(
        "widths of the frequency bands; a metric may have its own", lambda: [4]
    )
    metrics: Annotated[dict[Key, BandedMetric], Field(min_length=1)] = field("metrics by key")

    @model_validator(mode="after")
    def _check_counts(self):
        for key, training in self.trainings.items():
            if training.params.get("min_count", 5) > self.least:
                raise BiasgridError(f"trainings: {key}: min_count: is more than `least`, {self.least}")
        shared_names = self.unbiased.keys() & self.biased.keys()
        if shared_names:
            raise BiasgridError(f"biased: {min(shared_names)!r} is also the name of an unbiased kind")
        return self


class SimulationConfig(Run):
    """A simulation."""

    simulation: Key = field("the simulation's name")
    metrics: dict[Key, SimulatedMetric] = field("metrics by key", dict)
    words: Annotated[list[Annotated[Whole, Field(ge=2, le=10_000)]], Distinct] = field(
        "words of each set: a cell for each number, metric and bias", list
    )
    bias: Annotated[list[Annotated[Number, Field(ge=0)]], Distinct] = field(
        "how far the first set is moved in the direction of the bias",
        list,
        unit="mean lengths of a word's own part",
    )
    population: Population = field("where simulated words come from", Population)
    null: Null = field("permutation tests under the null hypothesis", Null)
    coverage: Coverage = field("how often intervals hold the true value", Coverage)
    models: Annotated[Models, INCLUDES] = field("real models, by key", dict)
    calibration: Calibration = field("both tests on queries that are drawn from real models", None)
    frequency: FrequencyTests = field("tests on vectors of shuffled corpora", None)

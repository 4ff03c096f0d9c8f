"""A simulation's config: are p-values calibrated, and do intervals cover? docs/simulation.md"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ..options import Number, Whole
from ..validation import Strict, field
from .common import Distinct, Key
from .metrics import Measured, partial
from .models import Models
from .study import Run, included

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
    """Permutation tests where there is nothing to find."""

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
    draws: Whole = field("random permutations, and random groups, of each test", 199, ge=99, le=MOST)
    metrics: Annotated[dict[Key, Measured], Field(min_length=1)] = field("metrics by key")


class SimulationConfig(Run):
    """A simulation."""

    simulation: Key = field("the simulation's name")
    metrics: Annotated[dict[Key, SimulatedMetric], Field(min_length=1)] = field("metrics by key")
    words: Annotated[list[Annotated[Whole, Field(ge=2, le=10_000)]], Field(min_length=1), Distinct] = field(
        "words of each set: a cell for each number, metric and bias"
    )
    bias: Annotated[list[Annotated[Number, Field(ge=0)]], Field(min_length=1), Distinct] = field(
        "how far the first set is moved in the direction of the bias",
        unit="mean lengths of a word's own part",
    )
    population: Population = field("where simulated words come from", Population)
    null: Null = field("permutation tests where there is nothing to find", Null)
    coverage: Coverage = field("how often intervals hold the true value", Coverage)
    models: included(Models) = field("real models, by key", dict)
    calibration: Calibration = field("both tests on queries that are drawn from real models", None)

"""Checked records in files of results: cells and their inference, models, frequencies and tests of aggregates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import ConfigDict, Field, model_validator

from ..core.errors import quote
from ..core.in_memory import File, InMemory
from ..core.schema import not_whole, read
from ..core.validation import Strict, validate

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Whole(Strict):
    """A record that has at least these keys."""

    model_config = ConfigDict(extra="allow")


Number = float | None  # finite, or missing
Ends = Annotated[list[Number], Field(min_length=2, max_length=2)]
# By set and word: a number, or several by name, such as one for each attribute set.
WordNumbers = dict[str, dict[str, Number | dict[str, Number]]]


class _Histogram(Whole):
    counts: list[Count]
    low: Number
    high: Number


class _Scale(Whole):
    neutral: Number
    mean: Number
    sd: Number
    variances: Annotated[list[Number], Field(min_length=3, max_length=3)]
    draws: Count
    topics: Count


class _TestOfScore(Whole):
    """The result of a test of a score: a p-value, or the reason why it is missing."""

    p_value: Share | None = None
    p_low: Share | None = None
    p_high: Share | None = None
    p_lowest: Share | None = None
    p_normal: Share | None = None
    draws: Count | None = None
    partitions: Count | None = None
    observed: Number = None
    scale: _Scale | None = None
    neutral: Number = None
    alternative: str | None = None
    method: str | None = None
    frequency: str | None = None
    test_of: str | None = None
    reason: str | None = None
    histogram: _Histogram | None = None
    middle: Annotated[list[Number], Field(min_length=3, max_length=3)] | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> _TestOfScore:
        if self.p_value is not None and None in (self.p_lowest, self.draws, self.method):
            raise ValueError("a p-value without p_lowest, draws and method")
        return self


class _Units(Whole):
    percentile: Ends
    standard_error: Number


class _Bootstrap(Whole):
    jackknife: Ends | None = None
    percentile: Ends | None = None
    bca: Ends | None = None
    standard_error: Number = None
    z: Number = None
    level: Share | None = None
    draws: Count | None = None
    undefined: Count | None = None
    reasons: dict[str, str] = Field(default_factory=dict)
    units: _Units | None = None


class _Coefficient(Whole):
    set: str
    coefficient: str
    value: Number
    low: Number
    high: Number
    items: Count
    words: Count


class _Result(Whole):
    query: str
    status: str
    value: Number = None
    words_used: Count = 0
    words_lost: Count = 0
    forms: dict[str, dict[str, str]] = Field(default_factory=dict)
    why_lost: dict[str, dict[str, str]] = Field(default_factory=dict)


class _Contrast(Whole):
    first: str
    second: str | None
    words: str | None
    values: dict[str, Number]


class _Measured(_Result):
    value: Number
    scalars: dict[str, Number]
    detail: dict[str, WordNumbers] = Field(default_factory=dict)
    # By set and word: the matching entries of the vocabulary.
    found: dict[str, dict[str, Annotated[list[str], Field(min_length=1)]]] = Field(default_factory=dict)
    lost: dict[str, list[str]] = Field(default_factory=dict)
    same_vector: dict[str, list[list[str]]] = Field(default_factory=dict)
    contrasts: list[_Contrast] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_value_or_reason(self) -> _Measured:
        if (self.status == "ok") != (self.value is not None):
            raise ValueError(f"the value is {quote(self.value)}, and the status {quote(self.status)}")
        return self


class _Inferred(_Result):
    bootstrap: _Bootstrap | None = None
    influence: dict[str, dict[str, Number]] = Field(default_factory=dict)
    halves: dict[str, Number] = Field(default_factory=dict)
    reliability: list[_Coefficient] = Field(default_factory=list)


class _Cell(Whole):
    criterion: str
    query: str
    metric: str
    model: str
    debias: str
    function: str
    params: dict[str, Any]
    words: dict[str, Any]
    versions: dict[str, str] = Field(default_factory=dict)


class _MeasuredCell(_Cell):
    results: Annotated[list[_Measured], Field(min_length=1)]


class _InferredCell(_Cell):
    inference: dict[str, Any]
    results: Annotated[list[_Inferred], Field(min_length=1)]

    @model_validator(mode="after")
    def _has_whole_tests(self) -> _InferredCell:
        for result in self.results:
            for name, test in (result.model_extra or {}).items():
                if name in self.inference:
                    validate(_TestOfScore, test, name)
        if not isinstance(self.inference.get("bootstrap", {}), dict):
            raise ValueError(f"inference: bootstrap: {quote(self.inference['bootstrap'])} is not a mapping")
        return self


def check_cell(cell: Mapping[str, Any]) -> None:
    """Raise BiasgridError if a record is not a cell, or the inference of a cell, as a run writes it."""
    validate(_InferredCell if isinstance(cell, dict) and "inference" in cell else _MeasuredCell, cell)


class _Set(Whole):
    criterion: str
    query: str
    set: str
    words: Count
    known: Count
    mean: float | None
    variance: float | None
    mean_rank: float | None
    median_rank: float | None
    share: Share | None
    mean_log: float | None
    variance_log: float | None


class _Word(Whole):
    count: Count | None
    log_frequency: float | None


class _Frequencies(Whole):
    model: str
    source: str
    sets: list[_Set]
    words: dict[str, _Word]


class _Test(Whole):
    criterion: str
    scores: Count
    scores_in_test: Count
    p_value: Share | None = None
    p_lowest: Share | None = None
    draws: Count | None = None


class _Aggregates(Whole):
    aggregates: list[_Test]


class _Model(Whole):
    name: str
    sha256: dict[str, str] = Field(default_factory=dict)
    shape: list[int] | None = None


def read_as(shape: type[Strict], file: File, what: str) -> dict[str, Any]:
    """Read the record in a file of results, and check it against `shape`. Raises BiasgridError."""
    record = read(file, what)
    try:
        if not isinstance(file, InMemory):
            validate(shape, record)
    except (ValueError, RecursionError) as error:
        raise not_whole(file, what, error) from None
    return record


def read_frequencies(file: File) -> dict[str, Any]:
    """Read a file that `frequency.write` wrote. Raises BiasgridError."""
    return read_as(_Frequencies, file, "a file of frequencies")


def read_aggregates(file: File) -> list[dict[str, Any]]:
    """Read the records of criteria that `measure.aggregates.write_aggregates` wrote. Raises BiasgridError."""
    return read_as(_Aggregates, file, "a file of tests of aggregates")["aggregates"]


def read_model(file: File) -> dict[str, Any]:
    """Read the record of a model's store. Raises BiasgridError."""
    return read_as(_Model, file, "a model's record")

"""Records of models, of frequencies and of tests of aggregates in files of results, whose shape is checked."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from .in_memory import File
from .schema import read
from .validation import Strict

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Whole(Strict):
    """What is read has these keys; it may have others."""

    model_config = ConfigDict(extra="allow")


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


def read_frequencies(file: File) -> dict[str, Any]:
    """What `frequency.write` wrote. Raises BiasgridError."""
    return read(file, "a file of frequencies", _Frequencies)


def read_aggregates(file: File) -> list[dict[str, Any]]:
    """What `inference.aggregates.write_aggregates` wrote, a record per criterion. Raises BiasgridError."""
    return read(file, "a file of tests of aggregates", _Aggregates)["aggregates"]


def read_model(file: File) -> dict[str, Any]:
    """The record of a model's store. Raises BiasgridError."""
    return read(file, "a model's record", _Model)

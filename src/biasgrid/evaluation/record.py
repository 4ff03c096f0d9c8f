"""Records of evaluations, in the format of their files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, create_model, model_validator

from ..core.errors import BiasgridError
from ..core.in_memory import File
from ..core.validation import Strict
from ..measure.records import read_as
from .evaluation import REGISTRY, evaluations


class Measure(Strict):
    """Measure in a record (`evaluate.evaluate`)."""

    model_config = ConfigDict(extra="allow")

    group: str
    measure: str
    value: float | None
    n: int
    status: str
    total: int | None = None
    ratings: list[float] | None = None
    cosines: list[float | None] | None = None
    right: list[int | None] | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Measure:
        for items in (self.ratings, self.cosines, self.right):
            if items is not None and (not items or len(items) != self.total):
                raise BiasgridError(f"has {len(items)} of {self.total} pairs or questions")
        if (self.ratings is None) != (self.cosines is None):
            raise BiasgridError("has either ratings or cosines of pairs, and not both")
        return self


class Record(Strict):
    """File of an evaluation; `_record` adds the entries of the registered evaluations."""

    model_config = ConfigDict(extra="allow")

    criterion: str | None = None
    model: str
    debias: str
    measures: list[Measure]


@lru_cache(maxsize=4)
def _record(names: tuple[str, ...]) -> type[Record]:
    """Return the model of a record with the entries of the registered evaluations."""
    # An evaluation that the spec does not name has empty entries.
    empty = BeforeValidator(lambda entry: None if entry == {} else entry)
    entries: dict[str, Any] = {
        name: (Annotated[kind | None, empty], None) for e in evaluations() for name, kind in e.entries.items()
    }
    return create_model("Record", __base__=Record, **entries)


def word_maps(evaluations: Iterable[File]) -> list[tuple[str, str, dict[str, Any], float | None]]:
    """Return model, debias key, map and 2-means accuracy of evaluations of hidden bias."""
    maps = []
    for path in evaluations:
        record = read_evaluation(path, "map")
        values = {m["measure"]: m["value"] for m in record["measures"] if m["group"] == "hidden"}
        maps.append((record["model"], record["debias"], record["map"], values.get("cluster_accuracy")))
    return maps


def read_evaluation(path: File, *entry_names: str) -> dict[str, Any]:
    """Read an evaluation's record. Raises BiasgridError for another file, or one that lacks one of these entries."""
    record = read_as(_record(tuple(REGISTRY)), path, "an evaluation file")
    for entry in entry_names:
        if not record.get(entry):
            raise BiasgridError(f"{path}: the evaluation has no {entry!r}; make it again")
    return {"criterion": None} | record

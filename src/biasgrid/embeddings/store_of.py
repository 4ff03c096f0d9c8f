"""A store that a study names, and what it must have been made of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BiasgridError
from .kinds import REGISTRY, VECTORS

MODEL = "model.json"


def open_folder(path: Path, name: str | None = None, kind: str = VECTORS) -> Any:
    """The model in a folder, of whichever kind it is; of this `kind` where its model.json is none. Raises
    BiasgridError for a folder that is none."""
    try:
        own_kind = json.loads((path / MODEL).read_text(encoding="utf-8")).get("kind", VECTORS)
    except (OSError, ValueError, AttributeError, RecursionError):
        own_kind = None  # the error of opening it says what is wrong
    model_kind = REGISTRY[own_kind if isinstance(own_kind, str) and own_kind in REGISTRY else kind]
    return model_kind.open(path, name)


def is_made_of(record: Mapping[str, Any], origin: Mapping[str, Any]) -> bool:
    """Whether a store with this model.json was made of an origin: entries that model.json must have. Checksums that
    were added to its source change nothing: it has those of its files."""
    others = {key for key, value in origin.items() if key not in record or record[key] != value}
    if others != {"source"}:
        return not others
    from .sources import is_same  # late: cells read stores, and seldom need it

    return is_same(record.get("source"), origin["source"])


@dataclass(frozen=True)
class StoreOf:
    """Where a model's store lies (`path`), what a study says that it was made of (`made_of`): entries of its
    model.json, as JSON; and its `kind`."""

    path: Path
    made_of: str = "{}"
    kind: str = VECTORS

    def open(self) -> Any:
        """The model. Raises BiasgridError if it is not there, or was made from another source than the study names,
        or otherwise."""
        store = REGISTRY[self.kind].open(self.path)
        if not is_made_of(store.metadata, json.loads(self.made_of)):
            raise BiasgridError(
                f"{self.path}: was made from a different source than the study's {self.path.name}, or otherwise: "
                "make the stores again (snakemake stores), or rename one of the models"
            )
        return store

"""Stores that a study names, and checks that they were made from the study's sources."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import BiasgridError
from .kinds import REGISTRY, VECTORS

MODEL = "model.json"


def open_folder(path: Path, name: str | None = None, kind: str = VECTORS) -> Any:
    """Open the model in a folder, according to the kind in its model.json, or else to `kind`.

    Raise BiasgridError if the folder does not contain a model.
    """
    try:
        own_kind = json.loads((path / MODEL).read_text(encoding="utf-8")).get("kind", VECTORS)
    except (OSError, ValueError, AttributeError, RecursionError):
        own_kind = None  # opening it raises the error that explains the problem
    model_kind = REGISTRY[own_kind if isinstance(own_kind, str) and own_kind in REGISTRY else kind]
    return model_kind.open(path, name)


def is_made_of(record: Mapping[str, Any], origin: Mapping[str, Any]) -> bool:
    """Return whether a store with this model.json was made from an origin: entries that model.json must have.

    Checksums that were added to its source later do not count, because the store has the checksums of its
    files.
    """
    others = {key for key, value in origin.items() if key not in record or record[key] != value}
    if others != {"source"}:
        return not others
    from .sources import is_same  # imported late, as measuring a score rarely needs it

    return is_same(record.get("source"), origin["source"])


@dataclass(frozen=True)
class StoreOf:
    """The store of a model in a study.

    Attributes
    ----------
    path
        The store's folder.
    made_of
        The entries of model.json that the study requires, as JSON.
    kind
        The kind of model.
    """

    path: Path
    made_of: str = "{}"
    kind: str = VECTORS

    def open(self) -> Any:
        """Open the model.

        Raise BiasgridError if it is missing, or if it was made from a source or with options other than the
        study's.
        """
        store = REGISTRY[self.kind].open(self.path)
        if not is_made_of(store.metadata, json.loads(self.made_of)):
            raise BiasgridError(
                f"{self.path}: was made from a different source than the study's {self.path.name}, or otherwise: "
                "make the stores again (snakemake stores), or rename one of the models"
            )
        return store

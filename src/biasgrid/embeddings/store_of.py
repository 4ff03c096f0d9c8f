"""A store that a study names, and what it must have been made of."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from ..errors import BiasgridError
from .store import EmbeddingStore


@dataclass(frozen=True)
class StoreOf:
    """Where a model's store lies (`path`), and what a study says that it was made of (`made_of`): entries of its
    model.json, as JSON."""

    path: Path
    made_of: str = "{}"

    def open(self) -> EmbeddingStore:
        """The store. Raises BiasgridError if it is not there, or was made from another source than the study names,
        or otherwise."""
        store = EmbeddingStore.open(self.path)
        if not store.metadata.items() >= json.loads(self.made_of).items():
            raise BiasgridError(
                f"{self.path}: was made from another source than the study's {self.path.name}, or otherwise: make "
                "the stores again (snakemake stores), or name one of the models otherwise"
            )
        return store

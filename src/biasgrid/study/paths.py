"""Folders of a study, or of an experiment with its own config."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from ..core.resources import PLACE
from ..core.validation import to_record
from ..tables.planned import Paths
from .config.study import Run

# This folder of results has the stores of models that contain only a study's words.
ENCODED_STORES = "encoded"


@dataclass(frozen=True)
class Folders:
    """Folders of the study or experiment that a checked config describes. `KEY` is the config key of its name."""

    KEY: ClassVar[str]
    # The command that pins what was downloaded.
    PIN: ClassVar[str] = "biasgrid fetch --pin"
    config: Run

    @property
    def name(self) -> str:
        """Return the name of the study or experiment, which is also the name of its results folder."""
        return getattr(self.config, self.KEY)

    @cached_property
    def results(self) -> Path:
        """Return the folder of the results."""
        return Path(self.config.results) / self.name

    @property
    def own_embeddings(self) -> str | None:
        """Return the folder of archives and stores that the config names, or None."""
        return getattr(self.config, "embeddings", None)

    @cached_property
    def paths(self) -> Paths:
        """Return the paths of the result files."""
        return Paths(self.results)

    @property
    def embeddings(self) -> Path:
        """Return the folder of archives (raw/) and stores. No result depends on its path.

        It is the folder that the config names. Otherwise it is the folder in the environment variable
        BIASGRID_EMBEDDINGS, which studies share. The default is data/embeddings.
        """
        return Path(self.own_embeddings or os.environ.get(PLACE) or "data/embeddings").expanduser()

    @property
    def shares_embeddings(self) -> bool:
        """Return whether studies of other projects may also use the folder of stores."""
        return self.own_embeddings is None and bool(os.environ.get(PLACE))

    def store_folder(self, model: str) -> Path:
        """Return the folder of a model's store."""
        return self.embeddings

    @property
    def models(self) -> dict[str, dict[str, Any]]:
        """Return the config entry of each model, by key."""
        return to_record(getattr(self.config, "models", {}))

    @property
    def sources(self) -> dict[str, dict[str, Any]]:
        """Return the entries that are fetched, by name. By default these are the models."""
        return self.models

    @property
    def trained_models(self) -> list[str]:
        """Return the models that are trained here. By default there are none."""
        return []

"""Where the files of a study, or of an experiment that has a config of its own, lie."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from .config.study import Run
from .validation import to_record

PLACE = "BIASGRID_EMBEDDINGS"  # environment variable: where archives and stores of all studies are


@dataclass(frozen=True)
class Folders:
    """The folders of what a checked config describes. `KEY` is the key of its name in the config."""

    KEY: ClassVar[str]
    COMMAND: ClassVar[str] = "biasgrid"  # by which a user works with such a config
    config: Run

    @property
    def name(self) -> str:
        """Its name, that of the folder of its results."""
        return getattr(self.config, self.KEY)

    @cached_property
    def results(self) -> Path:
        """The folder of its results."""
        return Path(self.config.results) / self.name

    @property
    def own_embeddings(self) -> str | None:
        """The folder of archives and stores that the config itself names, if it does."""
        return getattr(self.config, "embeddings", None)

    @property
    def embeddings(self) -> Path:
        """The folder of archives (raw/) and stores: the config's, else that of the environment variable
        BIASGRID_EMBEDDINGS, which studies share, else data/embeddings. No result depends on the place."""
        return Path(self.own_embeddings or os.environ.get(PLACE) or "data/embeddings").expanduser()

    @property
    def shares_embeddings(self) -> bool:
        """Whether other projects' studies may be at work in the folder of stores."""
        return self.own_embeddings is None and bool(os.environ.get(PLACE))

    @property
    def models(self) -> dict[str, dict[str, Any]]:
        """What each model is made of, by key."""
        return to_record(getattr(self.config, "models", {}))

    @property
    def sources(self) -> dict[str, dict[str, Any]]:
        """What is fetched, by name: the models."""
        return self.models

    @property
    def trained_models(self) -> list[str]:
        """The models that are trained here: none."""
        return []

    def store_folder(self, model: str) -> Path:
        """The folder that a model's store is in."""
        return self.embeddings

    def model_file(self, model: str) -> Path:
        """Where the record of a model's store is, a copy of its model.json: what the results were computed on."""
        return self.results / "models" / f"{model}.json"

    def pool_file(self, model: str) -> Path:
        """The file of the words that a model's random groups are drawn from."""
        return self.results / "pools" / f"{model}.npz"

    def query_file(self, key: str) -> Path:
        """Where a query's file is."""
        return self.results / "queries" / f"{key}.json"

    def transform_file(self, model: str, debias: str) -> Path:
        """Where a fitted debias method is."""
        return self.results / "debias" / model / f"{debias}.npz"

    def frequency_file(self, model: str) -> Path:
        """The file of the frequencies of the words of a model's queries."""
        return self.results / "frequency" / f"{model}.json"

    def sentence_scores_file(self, model: str, sentences: str) -> Path:
        """The file of the scores that a language model gives to sentences: a query's, or those of a file."""
        return self.results / "sentence_scores" / model / f"{sentences}.json"

    @property
    def report_file(self) -> Path:
        """The file of the report."""
        return self.results / "report.html"

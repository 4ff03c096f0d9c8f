"""Paths of the files of a study, or of an experiment with its own config."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..core.resources import PLACE
from ..core.validation import to_record
from .config.study import Run

if TYPE_CHECKING:
    from ..tables.planned import Cell, Evaluation, Inference

# This folder of results has the stores of models that contain only a study's words.
ENCODED_STORES = "encoded"


@dataclass(frozen=True)
class Paths:
    """Paths of result files, inside the folder `results`."""

    results: Path

    def query_file(self, key: str) -> Path:
        """Return the path of a query's file."""
        return self.results / "queries" / f"{key}.json"

    def model_file(self, model: str) -> Path:
        """Return the path of the record of a model's store, a copy of the model.json of the measured model."""
        return self.results / "models" / f"{model}.json"

    def source_file(self, name: str) -> Path:
        """Return the path of the record of a fetched archive: a copy of its manifest.json, or the download error."""
        return self.results / "sources" / f"{name}.json"

    def pool_file(self, model: str) -> Path:
        """Return the path of the words from which a model's random groups are drawn."""
        return self.results / "pools" / f"{model}.npz"

    def frequency_file(self, model: str) -> Path:
        """Return the path of the frequencies of the words of a model's queries."""
        return self.results / "frequency" / f"{model}.json"

    def transform_file(self, model: str, debias: str) -> Path:
        """Return the path of a fitted debias method."""
        return self.results / "debias" / model / f"{debias}.npz"

    def sentence_scores_file(self, model: str, sentences: str) -> Path:
        """Return the path of a language model's scores of the sentences of a query or of a file."""
        return self.results / "sentence_scores" / model / f"{sentences}.json"

    def cell_file(self, cell: Cell) -> Path:
        """Return the path of a cell's results."""
        name = cell.name
        if name not in self._cell_files:
            self._cell_files[name] = self.results / "cells" / f"{name}.json"
        return self._cell_files[name]

    @cached_property
    def _cell_files(self) -> dict[str, Path]:
        """Cache the paths, because a plan of thousands of cells needs each path dozens of times."""
        return {}

    def null_file(self, cell: Cell) -> Path:
        """Return the path of a cell's null distributions."""
        return self.results / "null" / f"{cell.name}.npz"

    def inference_file(self, inference: Inference) -> Path:
        """Return the path of the p-values, intervals and sensitivity of a cell and of its metric's other queries."""
        return self.results / "inference" / f"{inference.group}.json"

    def samples_file(self, inference: Inference) -> Path:
        """Return the path of the bootstrap resamples of a group, an array (sub-queries of all queries, draws)."""
        return self.results / "inference" / f"{inference.group}.npy"

    def aggregates_file(self, inference: Inference) -> Path:
        """Return the path of the tests of a metric's aggregates on one original or debiased model."""
        return self.results / "aggregates" / f"{inference.group}.json"

    def evaluation_file(self, evaluation: Evaluation) -> Path:
        """Return the path of an evaluation's results."""
        return self.results / "evaluation" / f"{evaluation.name}.json"

    @property
    def ranks_file(self) -> Path:
        """Return the path of the ranks in bootstrap resamples (`tables.rank_samples`)."""
        return self.results / "rank_samples.npy"

    def table_file(self, name: str) -> Path:
        """Return the path of a table."""
        return self.results / f"{name}.csv"

    @property
    def report_file(self) -> Path:
        """Return the path of the report."""
        return self.results / "report.html"


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

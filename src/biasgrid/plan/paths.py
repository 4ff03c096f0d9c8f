"""Where the files of a study, or of an experiment that has a config of its own, lie."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..config.study import Run
from ..resources import PLACE
from ..validation import to_record

if TYPE_CHECKING:
    from ..planned import Cell, Evaluation, Inference

ENCODED_STORES = "encoded"  # the folder of results that has the stores of models of a study's words alone


@dataclass(frozen=True)
class Paths:
    """The files of results, below their folder `results`."""

    results: Path

    def query_file(self, key: str) -> Path:
        """Where a query's file is."""
        return self.results / "queries" / f"{key}.json"

    def model_file(self, model: str) -> Path:
        """Where the record of a model's store is, a copy of its model.json: what the results were computed on."""
        return self.results / "models" / f"{model}.json"

    def source_file(self, name: str) -> Path:
        """Return the record of a fetched archive: a copy of its manifest.json, or why it could not be downloaded."""
        return self.results / "sources" / f"{name}.json"

    def pool_file(self, model: str) -> Path:
        """The file of the words that a model's random groups are drawn from."""
        return self.results / "pools" / f"{model}.npz"

    def frequency_file(self, model: str) -> Path:
        """The file of the frequencies of the words of a model's queries."""
        return self.results / "frequency" / f"{model}.json"

    def transform_file(self, model: str, debias: str) -> Path:
        """Where a fitted debias method is."""
        return self.results / "debias" / model / f"{debias}.npz"

    def sentence_scores_file(self, model: str, sentences: str) -> Path:
        """The file of the scores that a language model gives to sentences: a query's, or those of a file."""
        return self.results / "sentence_scores" / model / f"{sentences}.json"

    def cell_file(self, cell: Cell) -> Path:
        """Where a cell's results are."""
        name = cell.name
        if name not in self._cell_files:
            self._cell_files[name] = self.results / "cells" / f"{name}.json"
        return self._cell_files[name]

    @cached_property
    def _cell_files(self) -> dict[str, Path]:
        """A plan of thousands of cells asks for each of them dozens of times."""
        return {}

    def null_file(self, cell: Cell) -> Path:
        """Where the numbers of a cell's null distributions are."""
        return self.results / "null" / f"{cell.name}.npz"

    def inference_file(self, inference: Inference) -> Path:
        """Where a cell's p-value, intervals and sensitivity are, among those of its metric's other queries."""
        return self.results / "inference" / f"{inference.group}.json"

    def samples_file(self, inference: Inference) -> Path:
        """Where the values of a cell's bootstrap resamples are, in an array (sub-queries of all queries, draws)."""
        return self.results / "inference" / f"{inference.group}.npy"

    def aggregates_file(self, inference: Inference) -> Path:
        """Where the tests of the aggregates of a metric on a state of a model are, where it has any."""
        return self.results / "aggregates" / f"{inference.group}.json"

    def evaluation_file(self, evaluation: Evaluation) -> Path:
        """Where an evaluation's results are."""
        return self.results / "evaluation" / f"{evaluation.name}.json"

    @property
    def ranks_file(self) -> Path:
        """Where the ranks in bootstrap resamples are, where there are any (`tables.rank_samples`)."""
        return self.results / "rank_samples.npy"

    def table_file(self, name: str) -> Path:
        """Where a table is."""
        return self.results / f"{name}.csv"

    @property
    def report_file(self) -> Path:
        """The file of the report."""
        return self.results / "report.html"


@dataclass(frozen=True)
class Folders:
    """The folders of what a checked config describes. `KEY` is the key of its name in the config."""

    KEY: ClassVar[str]
    PIN: ClassVar[str] = "biasgrid fetch --pin"  # the command that pins what was downloaded
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

    @cached_property
    def paths(self) -> Paths:
        """The files of its results."""
        return Paths(self.results)

    @property
    def embeddings(self) -> Path:
        """The folder of archives (raw/) and stores: the config's, else that of the environment variable
        BIASGRID_EMBEDDINGS, which studies share, else data/embeddings. No result depends on the place."""
        return Path(self.own_embeddings or os.environ.get(PLACE) or "data/embeddings").expanduser()

    @property
    def shares_embeddings(self) -> bool:
        """Whether other projects' studies may be at work in the folder of stores."""
        return self.own_embeddings is None and bool(os.environ.get(PLACE))

    def store_folder(self, model: str) -> Path:
        """The folder that a model's store is in."""
        return self.embeddings

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

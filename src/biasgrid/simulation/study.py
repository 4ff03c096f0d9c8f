"""A simulation's config, checked: its cells, its models, and where its files lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import metrics
from ..config import load
from ..config.models import MADE_HERE
from ..config.names import check_names
from ..config.simulation import SimulationConfig
from ..configs import sort_keys
from ..embeddings.training import version as training_version
from ..errors import BiasgridError
from ..folders import Folders
from ..seeds import seed_of

UNBIASED, BIASED = "unbiased", "biased"  # shuffled corpora


@dataclass(frozen=True)
class Cell:
    """A metric, a number of words per set and a bias. `spec` is everything that its results depend on."""

    metric: str
    words: int
    bias: float
    spec: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Metric/words/bias, its path below the simulation's cells."""
        return f"{self.metric}/{self.words}/{self.bias:g}"


@dataclass(frozen=True)
class RealCell:
    """Queries of a kind, drawn from a real model. `spec` is everything that its results depend on."""

    model: str
    kind: str
    spec: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Model/kind, its path below the simulation's real cells."""
        return f"{self.model}/{self.kind}"


@dataclass(frozen=True)
class FrequencyCell:
    """Vectors that are trained on a shuffled corpus, and tests on them. `of_vectors` and `of_tests` are everything
    that these depend on."""

    training: str
    corpora: str
    number: int
    of_vectors: Mapping[str, Any]
    of_tests: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Training/corpora/number, its path below the simulation's cells of frequency."""
        return f"{self.training}/{self.corpora}/{self.number}"


@dataclass(frozen=True)
class Simulation(Folders):
    """A checked config of a simulation. Build it with `Simulation.of`."""

    KEY = "simulation"

    @classmethod
    def of(cls, config: Mapping[str, Any], where: str = "config", root: Path = Path(".")) -> Simulation:
        """A config whose files of models are relative to `root`.

        Raises BiasgridError naming the key that is wrong and what is allowed there.
        """
        return load.with_plugins(lambda: cls._resolve(config, where, root), config, where, root)

    @classmethod
    def _resolve(cls, config: Mapping[str, Any], where: str, root: Path) -> Simulation:
        config = load.complete(SimulationConfig, config, where, root)
        if bool(config["metrics"]) != bool(config["words"]) or bool(config["words"]) != bool(config["bias"]):
            raise BiasgridError(f"{where}: of `metrics`, `words` and `bias`, all or none must be there")
        if not config["metrics"] and "frequency" not in config:
            raise BiasgridError(f"{where}: it has neither `metrics` nor `frequency`: nothing to simulate")
        if "frequency" in config:
            _check_frequency(config, f"{where}: frequency")
        if "calibration" in config and not config["models"]:
            raise BiasgridError(f"{where}: calibration: it needs models, whose words it draws")
        for model, entry in config["models"].items():
            if entry["source"]["type"] in MADE_HERE:
                raise BiasgridError(f"{where}: models: {model}: a simulation trains no models; name others")
        for key, entry in config.get("calibration", {}).get("metrics", {}).items():
            try:
                metrics.metric(entry.get("metric", key)).under(entry["params"])
            except BiasgridError as error:
                raise type(error)(f"{where}: calibration: metrics: {key}: {error}") from None
        for key, entry in config["metrics"].items():
            try:
                metric = metrics.metric(entry.get("metric", key)).under(entry["params"])
                if metric.of_model:
                    raise BiasgridError(
                        "it needs more than the words' vectors, and a simulation has no model"
                    )
            except BiasgridError as error:
                raise type(error)(f"{where}: metrics: {key}: {error}") from None
            for part in ("null", "coverage"):
                # the metric's own settings, else the simulation's
                entry[part] = config[part] | entry.get(part, {})
        return cls(config)

    @classmethod
    def read(cls, path: Path | str) -> Simulation:
        """A simulation from its config file (YAML)."""
        return cls.of(load.read(path), str(path))

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """All cells by name."""
        cells = {}
        for key, entry in self.config["metrics"].items():
            for words in map(int, self.config["words"]):
                for bias in map(float, self.config["bias"]):
                    spec = {name: value for name, value in entry.items() if name != "label"}
                    spec |= {"metric": metrics.metric(entry.get("metric", key)).name}
                    spec |= {"population": self.config["population"], "words": words, "bias": bias}
                    spec["seed"] = seed_of(self.config["seed"], f"{key}/{words}/{bias:g}")
                    cell = Cell(key, words, bias, sort_keys(spec))
                    cells[cell.name] = cell
        return cells

    @property
    def labels(self) -> dict[str, str]:
        """What figures print for a metric's key."""
        return _labels(self.config["metrics"])

    @cached_property
    def real_cells(self) -> dict[str, RealCell]:
        """A cell for each real model and kind of query, by name."""
        cells = {}
        calibration = self.config.get("calibration", {})
        # in the config's order, which is the table's
        entries = [
            [key, {name: value for name, value in entry.items() if name != "label"}]
            for key, entry in calibration.get("metrics", {}).items()
        ]
        for model in self.models if calibration else ():
            for kind, queries in calibration["kinds"].items():
                spec = {"model": model, "kind": kind, "metrics": entries, "queries": int(queries)}
                spec |= {name: int(calibration[name]) for name in ("words", "vocabulary", "draws")}
                spec["seed"] = seed_of(self.config["seed"], f"{model}/{kind}")
                cell = RealCell(model, kind, spec)
                cells[cell.name] = cell
        return cells

    @property
    def real_labels(self) -> dict[str, str]:
        """What the figure of real vectors prints for a metric's or model's key."""
        models = {key: model.get("label", key) for key, model in self.models.items()}
        return _labels(self.config["calibration"]["metrics"]) | models

    @cached_property
    def frequency_cells(self) -> dict[str, FrequencyCell]:
        """A cell for each training and shuffled corpus, by name."""
        section = self.config.get("frequency")
        if section is None:
            return {}
        # in the config's order, which is the table's
        entries = [
            [key, {"widths": section["widths"]} | {k: v for k, v in entry.items() if k != "label"}]
            for key, entry in section["metrics"].items()
        ]
        kinds = {
            UNBIASED: [
                [key, {"frequency": ratios, "share": 0}] for key, ratios in section["unbiased"].items()
            ],
            BIASED: [[key, dict(kind)] for key, kind in section["biased"].items()],
        }
        of_words = {key: section[key] for key in ("words", "occurrences", "spread", "least")}
        queries = {UNBIASED: section["queries"], BIASED: section["biased_queries"]}
        cells = {}
        for training, recipe in section["trainings"].items():
            for corpora in (UNBIASED, BIASED) if section["biased"] else (UNBIASED,):
                for number in range(1, section["corpora"] + 1):
                    of_vectors = {key: recipe[key] for key in ("algorithm", "params")}
                    of_vectors |= {"trained_by": training_version(recipe["algorithm"]), "number": number}
                    of_vectors |= {"kinds": kinds[corpora], "queries": queries[corpora], "of_words": of_words}
                    # all trainings have the same corpora and queries
                    of_vectors["seed"] = seed_of(self.config["seed"], f"{corpora}/{number}")
                    of_tests = {"training": training, "corpora": corpora, "number": number}
                    of_tests |= {"metrics": entries, "draws": section["draws"]}
                    cell = FrequencyCell(training, corpora, number, of_vectors, of_tests)
                    cells[cell.name] = cell
        return cells

    @property
    def frequency_labels(self) -> dict[str, str]:
        """What figures of tests on shuffled corpora print for a metric's or training's key."""
        section = self.config["frequency"]
        trainings = {key: entry.get("label", key) for key, entry in section["trainings"].items()}
        return _labels(section["metrics"]) | trainings

    @property
    def models(self) -> dict[str, dict[str, Any]]:
        """The real models by key."""
        return self.config["models"]

    @property
    def sources(self) -> dict[str, dict[str, Any]]:
        """What is fetched, by name: the models."""
        return self.models

    @property
    def trained_models(self) -> list[str]:
        """The models that are trained here: none."""
        return []

    def cell_file(self, cell: Cell) -> Path:
        """Where a cell's results are."""
        return self.results / "cells" / f"{cell.name}.json"

    def real_file(self, cell: RealCell) -> Path:
        """Where the p-values of queries from a real model are."""
        return self.results / "real" / f"{cell.name}.json"

    def frequency_vectors_file(self, cell: FrequencyCell) -> Path:
        """Where the vectors of a shuffled corpus are."""
        return self.results / "frequency" / f"{cell.name}.npz"

    def frequency_cell_file(self, cell: FrequencyCell) -> Path:
        """Where the p-values of tests on a shuffled corpus are."""
        return self.results / "frequency" / f"{cell.name}.json"


def _check_frequency(config: Mapping[str, Any], where: str) -> None:
    """Raises BiasgridError for an unknown corpus, and for a metric that is not measured on vectors."""
    section = config["frequency"]
    corpora = [key for key, entry in config["models"].items() if entry.get("kind") == "corpus"]
    check_names("corpus", [section["corpus"]], corpora, where)
    for key, entry in section["metrics"].items():
        try:
            metric = metrics.metric(entry.get("metric", key)).under(entry["params"])
            if metric.needs != "vectors":
                raise BiasgridError("it is measured on corpora, and not on vectors")
        except BiasgridError as error:
            raise type(error)(f"{where}: metrics: {key}: {error}") from None


def _labels(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {
        key: entry.get("label", metrics.metric(entry.get("metric", key)).label)
        for key, entry in entries.items()
    }

"""A simulation's config, checked: its cells, its models, and where its files lie."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from biasgrid import metrics
from biasgrid.config.models import MADE_HERE
from biasgrid.config.names import check_names
from biasgrid.configs import sort_keys
from biasgrid.embeddings.training import version as training_version
from biasgrid.errors import BiasgridError
from biasgrid.plan.step import Step
from biasgrid.seeds import seed_of

from ..experiment import Cell, Experiment, Rule
from . import steps
from .config import SimulationConfig

UNBIASED, BIASED = "unbiased", "biased"  # shuffled corpora


class Simulation(Experiment):
    """A checked config of a simulation. Build it with `Simulation.of`."""

    KEY = "simulation"
    CONFIG = SimulationConfig
    TABLES = ("validation.calibration.tables", "validation.calibration.frequency_table")

    @classmethod
    def check(cls, config: dict[str, Any], where: str) -> None:
        """Raises BiasgridError naming the key that is wrong; gives each metric its settings in full."""
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

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """A cell for each metric, number of words per set and bias, by name."""
        cells = {}
        for key, entry in self.config["metrics"].items():
            for words in map(int, self.config["words"]):
                for bias in map(float, self.config["bias"]):
                    spec = {name: value for name, value in entry.items() if name != "label"}
                    spec |= {"metric": metrics.metric(entry.get("metric", key)).name}
                    spec |= {"population": self.config["population"], "words": words, "bias": bias}
                    spec["seed"] = seed_of(self.config["seed"], f"{key}/{words}/{bias:g}")
                    cell = Cell({"metric": key, "words": words, "bias": bias}, sort_keys(spec))
                    cells[cell.name] = cell
        return cells

    @property
    def labels(self) -> dict[str, str]:
        """What figures print for a metric's key."""
        return _labels(self.config["metrics"])

    @cached_property
    def real_cells(self) -> dict[str, Cell]:
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
                cell = Cell({"model": model, "kind": kind}, spec)
                cells[cell.name] = cell
        return cells

    @property
    def real_labels(self) -> dict[str, str]:
        """What the figure of real vectors prints for a metric's or model's key."""
        models = {key: model.get("label", key) for key, model in self.models.items()}
        return _labels(self.config["calibration"]["metrics"]) | models

    @cached_property
    def frequency_cells(self) -> dict[str, Cell]:
        """A cell for each training and shuffled corpus, by name: the specs of its vectors and of tests on them."""
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
                    place = {"training": training, "corpora": corpora, "number": number}
                    of_tests = {**place, "metrics": entries, "draws": section["draws"]}
                    cell = Cell(place, {"vectors": of_vectors, "tests": of_tests})
                    cells[cell.name] = cell
        return cells

    @property
    def frequency_labels(self) -> dict[str, str]:
        """What figures of tests on shuffled corpora print for a metric's or training's key."""
        section = self.config["frequency"]
        trainings = {key: entry.get("label", key) for key, entry in section["trainings"].items()}
        return _labels(section["metrics"]) | trainings

    def cell_file(self, name: str) -> Path:
        """Where a cell's results are."""
        return self.results / "cells" / f"{name}.json"

    def real_file(self, name: str) -> Path:
        """Where the p-values of queries from a real model are."""
        return self.results / "real" / f"{name}.json"

    def frequency_vectors_file(self, name: str) -> Path:
        """Where the vectors of a shuffled corpus are."""
        return self.results / "frequency" / f"{name}.npz"

    def frequency_cell_file(self, name: str) -> Path:
        """Where the p-values of tests on a shuffled corpus are."""
        return self.results / "frequency" / f"{name}.json"

    def cell_rules(self) -> list[Rule]:
        """The steps that compute."""
        return steps.cell_rules(self)

    def figure_steps(self) -> dict[str, Step]:
        """The steps that draw the figures, by the figure's name."""
        return steps.figure_steps(self)


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

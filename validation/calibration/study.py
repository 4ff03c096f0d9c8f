"""A simulation from a checked config: its cells, its models, and the paths of its files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from biasgrid import metrics
from biasgrid.core.configs import sort_keys
from biasgrid.core.errors import BiasgridError
from biasgrid.core.seeds import seed_of
from biasgrid.core.validation import to_record
from biasgrid.models.algorithms import REGISTRY as ALGORITHMS
from biasgrid.study.config.metrics import Measured
from biasgrid.study.config.names import check_names

from ..experiment import Cell, Experiment
from .config import SimulationConfig

# Names of shuffled corpora.
UNBIASED, BIASED = "unbiased", "biased"


class Simulation(Experiment):
    """A checked config of a simulation. Build it with `Simulation.of`."""

    KEY = "simulation"
    CONFIG = SimulationConfig
    TABLES = ("validation.calibration.tables", "validation.calibration.frequency_table")
    STEPS = "validation.calibration.steps"

    @classmethod
    def check(cls, config: SimulationConfig, where: str) -> SimulationConfig:
        """Fill in the settings of each metric. Raises BiasgridError, which names the wrong key."""
        if bool(config.metrics) != bool(config.words) or bool(config.words) != bool(config.bias):
            raise BiasgridError(f"{where}: of `metrics`, `words` and `bias`, all or none must be there")
        if not (config.metrics or config.frequency or config.calibration):
            raise BiasgridError(f"{where}: it has neither `metrics` nor `frequency`: nothing to simulate")
        if config.frequency:
            _check_frequency(config, f"{where}: frequency")
        if config.calibration and not config.models:
            raise BiasgridError(f"{where}: calibration: it needs models, whose words it draws")
        for key, model in config.models.items():
            if model.is_made_here:
                raise BiasgridError(f"{where}: models: {key}: a simulation trains no models; name others")
        for key, entry in config.calibration.metrics.items() if config.calibration else ():
            try:
                entry.definition(key)
            except BiasgridError as error:
                raise type(error)(f"{where}: calibration: metrics: {key}: {error}") from None
        full_metrics = {}
        for key, entry in config.metrics.items():
            try:
                if entry.definition(key).of_model:
                    raise BiasgridError(
                        "it needs more than the words' vectors, and a simulation has no model"
                    )
            except BiasgridError as error:
                raise type(error)(f"{where}: metrics: {key}: {error}") from None
            # The metric's own settings override the settings of the simulation.
            full = {
                part: getattr(config, part).model_copy(update=to_record(getattr(entry, part)) or {})
                for part in ("null", "coverage")
            }
            full_metrics[key] = entry.model_copy(update=full)
        return config.model_copy(update={"metrics": full_metrics})

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """Return a cell for each metric, number of words per set and bias, by name."""
        cells = {}
        for key, entry in self.config.metrics.items():
            for words in map(int, self.config.words):
                for bias in map(float, self.config.bias):
                    spec = _without_label(entry) | {"metric": entry.definition(key).name}
                    spec |= {"population": to_record(self.config.population), "words": words, "bias": bias}
                    spec["seed"] = seed_of(self.config.seed, f"{key}/{words}/{bias:g}")
                    cell = Cell({"metric": key, "words": words, "bias": bias}, sort_keys(spec))
                    cells[cell.name] = cell
        return cells

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of metrics in figures, by key."""
        return _labels(self.config.metrics)

    @cached_property
    def real_cells(self) -> dict[str, Cell]:
        """Return a cell for each real model and kind of query, by name."""
        cells = {}
        calibration = self.config.calibration
        if calibration is None:
            return {}
        # Keep the order of the config, which is also the order of the table.
        entries = [[key, _without_label(entry)] for key, entry in calibration.metrics.items()]
        for model in self.models:
            for kind, queries in calibration.kinds.items():
                spec = {"model": model, "kind": kind, "metrics": entries, "queries": int(queries)}
                spec |= {name: int(getattr(calibration, name)) for name in ("words", "vocabulary", "draws")}
                spec["seed"] = seed_of(self.config.seed, f"{model}/{kind}")
                cell = Cell({"model": model, "kind": kind}, spec)
                cells[cell.name] = cell
        return cells

    @property
    def real_labels(self) -> dict[str, str]:
        """Return the labels of metrics and models in the figure of real vectors, by key."""
        models = {key: model.label for key, model in self.config.models.items()}
        return _labels(self.config.calibration.metrics) | models

    @cached_property
    def frequency_cells(self) -> dict[str, Cell]:
        """Return a cell for each training and shuffled corpus, by name, with specs of its vectors and their tests."""
        section = self.config.frequency
        if section is None:
            return {}
        # Keep the order of the config, which is also the order of the table.
        entries = [
            [key, {"widths": section.widths} | _without_label(entry)]
            for key, entry in section.metrics.items()
        ]
        kinds = {
            UNBIASED: [[key, {"frequency": ratios, "share": 0}] for key, ratios in section.unbiased.items()],
            BIASED: [[key, to_record(kind)] for key, kind in section.biased.items()],
        }
        of_words = {key: getattr(section, key) for key in ("words", "occurrences", "spread", "least")}
        queries = {UNBIASED: section.queries, BIASED: section.biased_queries}
        cells = {}
        for training, recipe in section.trainings.items():
            for corpora in (UNBIASED, BIASED) if section.biased else (UNBIASED,):
                for number in range(1, section.corpora + 1):
                    of_vectors = {"algorithm": recipe.algorithm, "params": recipe.params}
                    of_vectors |= {"trained_by": ALGORITHMS[recipe.algorithm].version(), "number": number}
                    of_vectors |= {"kinds": kinds[corpora], "queries": queries[corpora], "of_words": of_words}
                    # Use the same seed for all trainings, so that they have the same corpora and queries.
                    of_vectors["seed"] = seed_of(self.config.seed, f"{corpora}/{number}")
                    place = {"training": training, "corpora": corpora, "number": number}
                    of_tests = {**place, "metrics": entries, "draws": section.draws}
                    cell = Cell(place, {"vectors": of_vectors, "tests": of_tests})
                    cells[cell.name] = cell
        return cells

    @property
    def frequency_labels(self) -> dict[str, str]:
        """Return the labels of metrics and trainings in figures of tests on shuffled corpora, by key."""
        section = self.config.frequency
        trainings = {key: entry.label or key for key, entry in section.trainings.items()}
        return _labels(section.metrics) | trainings

    def cell_file(self, name: str) -> Path:
        """Return the path of a cell's results."""
        return self.results / "cells" / f"{name}.json"

    def real_file(self, name: str) -> Path:
        """Return the path of the p-values of queries from a real model."""
        return self.results / "real" / f"{name}.json"

    def frequency_vectors_file(self, name: str) -> Path:
        """Return the path of the vectors of a shuffled corpus."""
        return self.results / "frequency" / f"{name}.npz"

    def frequency_cell_file(self, name: str) -> Path:
        """Return the path of the p-values of tests on a shuffled corpus."""
        return self.results / "frequency" / f"{name}.json"


def _check_frequency(config: SimulationConfig, where: str) -> None:
    """Raise BiasgridError for an unknown corpus, and for a metric that is not measured on vectors."""
    corpora = [key for key, model in config.models.items() if model.kind == "corpus"]
    check_names("corpus", [config.frequency.corpus], corpora, where)
    for key, entry in config.frequency.metrics.items():
        try:
            if entry.definition(key).needs != "vectors":
                raise BiasgridError("it is measured on corpora, and not on vectors")
        except BiasgridError as error:
            raise type(error)(f"{where}: metrics: {key}: {error}") from None


def _without_label(entry: Measured) -> dict[str, Any]:
    """Return the entry of a metric for a spec, without its label."""
    return {name: value for name, value in to_record(entry).items() if name != "label"}


def _labels(entries: Mapping[str, Measured]) -> dict[str, str]:
    return {key: entry.label or metrics.metric(entry.metric or key).label for key, entry in entries.items()}

"""A study: its models, queries and metrics with their parameters, from a checked and resolved config."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import debias, tables
from ..core.errors import BiasgridError, unknown_name
from ..core.registry import is_pending
from ..core.validation import to_record
from ..debias import Method
from ..evaluation.spec import Spec
from ..figures import Drawing, plan_figures
from ..measure import significance
from ..metrics import Metric
from ..models import not_downloaded
from ..models.building import store_of
from ..models.kinds import Kind
from ..models.store_of import StoreOf
from ..queries.query import Query
from ..tables.planned import Paths
from .config import load
from .config.check import check, metrics_of
from .config.debias import Debias
from .config.encoded import Encoded
from .config.made_of import resolve_model
from .config.metrics import Metric as MetricEntry
from .config.metrics import look_up
from .config.models import Trained, frequency_source_of
from .config.study import StudyConfig
from .labels import labels_of
from .memory_paths import MemoryPaths
from .paths import ENCODED_STORES, Folders
from .planned_grid import StudyGrid

# Sections of a config that a plugin's table of the same name compares.
SECTIONS = ("trainings", "shuffled")


@dataclass(frozen=True)
class Study(Folders):
    """A checked config with resolved includes, and its queries. Build it with `Study.of`.

    The plan is computed on first access: `grid` has all scores, fits and evaluations, `paths` the paths of files, and
    `labels` the labels of keys. `tables` and `figures` have the files from which each is made.

    `memory` has results that are read in place of files: the arguments of `Paths.file` -> the content, as readers
    return it. For a grid in memory, these are all results. None: all results are files, which steps write.
    """

    KEY = "study"
    config: StudyConfig
    queries: dict[str, Query]
    memory: dict[tuple[str, ...], Any] | None = field(default=None, kw_only=True)

    @classmethod
    def of(cls, config: Mapping[str, Any], where: str = "config", root: Path = Path(".")) -> Study:
        """Check a config and resolve its queries; paths in it are relative to `root`.

        Raises BiasgridError, which names the wrong key and the allowed values.
        """

        def resolve() -> Study:
            study = cls(*load.study(config, where, root))
            study._check(where)
            return study

        return load.with_plugins(resolve, config, where, root)

    @classmethod
    def read(cls, path: Path | str, root: Path = Path(".")) -> Study:
        """Read a study from its config file (YAML or the resolved JSON)."""
        return cls.of(load.read(path), str(path), root)

    def _check(self, where: str) -> None:
        check(self.config, self.queries, where)
        cells = self.grid.cells
        for name in self.config.null_distributions:
            inference = self.grid.inferences.get(name)
            if name not in cells:
                raise BiasgridError(f"{where}: null_distributions: {unknown_name('cell', name, cells)}")
            cell = cells[name]
            metric = self.metric(cell.criterion, cell.metric)
            asked = inference.spec["inference"] if inference else ()
            if reason := significance.reason_without(metric, asked):
                raise BiasgridError(f"{where}: null_distributions: {name}: {reason}")
        try:
            for table in SECTIONS:
                # The plugin that has the table checks the section.
                if getattr(self.config, table) and not is_pending():
                    tables.REGISTRY.find(table).inputs_of(self)
        except BiasgridError as error:
            raise type(error)(f"{where}: {error}") from None
        try:
            self.figures  # noqa: B018
        except BiasgridError as error:
            raise type(error)(f"{where}: figures: {error}") from None

    @cached_property
    def paths(self) -> Paths:
        """Return the paths of the result files, or results in memory."""
        return Paths(self.results) if self.memory is None else MemoryPaths(self.results, self, self.memory)

    @cached_property
    def models(self) -> dict[str, dict[str, Any]]:
        """Return the resolved entry of each model, by key (`models.building`).

        For a model that is made here, the source has all options on which the model depends.
        """
        return {
            key: resolve_model(key, self.config, self.queries)
            for key in self.config.models
            if key not in self.absent
        }

    def store_folder(self, model: str) -> Path:
        """Return the folder of a model's store.

        A store with only the words of this study is inside the study's results, so that studies with other words do
        not replace it.
        """
        is_encoded = isinstance(self.config.models[model].source, Encoded)
        return self.results / ENCODED_STORES if is_encoded else self.embeddings

    @cached_property
    def stores(self) -> dict[str, StoreOf]:
        """Return the paths of the models' stores, and the sources from which they must have been made."""
        return {m: store_of(self.store_folder(m), m, entry) for m, entry in self.models.items()}

    def kind(self, model: str) -> Kind:
        """Return the model type of a model."""
        return self._kinds[model]

    @cached_property
    def _kinds(self) -> dict[str, Kind]:
        return {model: entry.of_kind for model, entry in self.config.models.items()}

    @property
    def ranked_criteria(self) -> list[str]:
        """Return the criteria that rankings, correlations and the overall scores include."""
        return [name for name, entry in self.config.criteria.items() if entry.ranked]

    @property
    def averaged_criteria(self) -> list[str]:
        """Return the criteria whose mean over queries is tested against random groups."""
        return [name for name, entry in self.config.criteria.items() if entry.ranked or entry.phenomena]

    def metrics(self, criterion: str) -> dict[str, MetricEntry]:
        """Return the metrics of a criterion: its own metrics if it has any, otherwise the study's metrics."""
        return metrics_of(self.config, criterion)

    def metric(self, criterion: str, key: str) -> Metric:
        """Return the registered metric of a study's metric key, with its parameters."""
        place = criterion, key
        if place not in self._metric_cache:
            self._metric_cache[place] = self.metrics(criterion)[key].definition(key)
        return self._metric_cache[place]

    @cached_property
    def _metric_cache(self) -> dict[tuple[str, str], Metric]:
        """Cache the results of `metric`, which is called for every cell and checks the parameters each time."""
        return {}

    @cached_property
    def debias(self) -> dict[str, tuple[str, Debias]]:
        """Return the criterion and the config entry of each debias key."""
        return {
            key: (criterion, entry)
            for criterion, entries in self.config.debias.items()
            for key, entry in entries.items()
        }

    def method(self, name: str) -> Method:
        """Return the registered debias method of a name."""
        return debias.method(name)

    def word_options(self, criterion: str, key: str | None, model: str) -> dict[str, Any]:
        """Return the look-up options of a cell.

        Options of the study come first. Options of the criterion, of the metric (if `key` is given) and of the model
        override them, in this order.
        """
        of_metric = self.metrics(criterion)[key].words if key else None
        config = self.config
        places = (config.words, config.criteria[criterion].words, of_metric, config.models[model].words)
        return look_up(self.kind(model), *places)

    def frequency_source(self, model: str) -> str | None:
        """Return the source of a model's word frequencies: "counts", "wordfreq", "rank", or None if unknown."""
        return frequency_source_of(self.config.models[model], self.config.frequencies)

    @cached_property
    def evaluation_specs(self) -> dict[str | None, Spec]:
        """Return the evaluations to run, by criterion. The key None has the benchmarks of quality of all models."""
        entries: list[tuple[str | None, Any]] = [
            *self.config.evaluation.items(),
            (None, to_record(self.config.quality)),
        ]
        return {
            criterion: Spec.of(not_downloaded.without_files(entry, self.absent))
            for criterion, entry in entries
        }

    @cached_property
    def trained_models(self) -> list[str]:
        """Return the models that are trained or encoded here."""
        return [key for key in self.models if isinstance(self.config.models[key].source, Trained | Encoded)]

    @cached_property
    def sources(self) -> dict[str, dict[str, Any]]:
        """Return the entries that are fetched: models, archives of benchmarks, corpora and encoders, by name."""
        config = self.config
        models = {key: model for key, model in self.models.items() if not config.models[key].is_made_here}
        return models | to_record(config.benchmarks | config.corpora | (config.encoders or {}))

    @property
    def planned(self) -> Study:
        """Return the study including the models and archives that could not be downloaded."""
        return Study(self.config, self.queries)

    @cached_property
    def absent(self) -> dict[str, str]:
        """Return the models and archives of benchmarks that could not be downloaded (`absence`) -> the reason.

        A planned study does not leave out anything, so this is empty.
        """
        return {}

    def present(self) -> Study:
        """Return the study without the models and archives that are already known to be not downloaded.

        Return the study itself if nothing is absent.
        """
        # A `PresentStudy` already leaves them out.
        if type(self) is not Study:
            return self
        absent = not_downloaded.models_of(self) | not_downloaded.benchmarks_of(self)
        if not absent:
            return self
        study = PresentStudy(self.config, self.queries)
        # Fix what is absent: later failed downloads do not change the plan of this study.
        vars(study)["absent"] = absent
        # Share one study among all steps of a run, because its plan is cached.
        return self._presents.setdefault(tuple(absent), study)

    @cached_property
    def _presents(self) -> dict[tuple[str, ...], Study]:
        return {}

    @cached_property
    def grid(self) -> StudyGrid:
        """Return the grid: all scores, fits, inferences and evaluations."""
        return StudyGrid(self)

    @property
    def title(self) -> str:
        """Return the title that is shown to readers in place of the study's name."""
        return self.config.title or self.name

    @cached_property
    def labels(self) -> dict[str, str]:
        """Return the labels of models, metrics and debias methods by their keys."""
        return labels_of(self)

    @cached_property
    def tables(self) -> dict[str, Mapping[str, Any]]:
        """Return the tables of the study -> the files from which each is made."""
        return {name: files for name, table in tables.REGISTRY.items() if (files := table.inputs_of(self))}

    @cached_property
    def figures(self) -> dict[str, Drawing]:
        """Return the figures by name, with their input files."""
        return plan_figures(self, self.config.figures)

    def to_json(self) -> str:
        """Return the config with defaults and includes resolved, in the form that `read` accepts."""
        return load.to_json_text(self.config)

    @property
    def digest(self) -> str:
        """Compute a digest that changes with any part of the resolved config."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def query_digest(self, key: str) -> str:
        """Compute a digest that changes only with a word, a name or the order of the query's sets."""
        return hashlib.sha256(self.queries[key].to_json().encode()).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        # Leave out cached values: some hold functions that cannot be pickled, and all are computed quickly.
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True)
class PresentStudy(Study):
    """A study without the models and archives that could not be downloaded; tables, figures and the report use it."""

    @cached_property
    def absent(self) -> dict[str, str]:
        return not_downloaded.models_of(self) | not_downloaded.benchmarks_of(self)

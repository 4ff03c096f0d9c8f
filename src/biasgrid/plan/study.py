"""A study: which models, queries and metrics, with which parameters - the config, checked and resolved."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import absence, debias, tables
from ..config import load
from ..config.check import check, metrics_of
from ..config.debias import Debias
from ..config.encoded import Encoded
from ..config.made_of import resolve_model
from ..config.metrics import Metric as MetricEntry
from ..config.metrics import look_up
from ..config.models import Trained, frequency_source_of
from ..config.study import StudyConfig
from ..debias import Method
from ..embeddings.building import store_of
from ..embeddings.kinds import Kind
from ..embeddings.store_of import StoreOf
from ..errors import BiasgridError, unknown_name
from ..evaluation.spec import Spec
from ..figures import Drawing, plan_figures
from ..inference import significance
from ..metrics import Metric
from ..query import Query
from ..validation import to_record
from .grid import StudyGrid
from .labels import labels_of
from .paths import ENCODED_STORES, Folders


@dataclass(frozen=True)
class Study(Folders):
    """What is asked: a checked config, in which includes are resolved, and its queries. Build it with `Study.of`.

    What that comes to is planned when it is asked for: `grid`, all that is measured; `paths`, where its files are;
    `labels`, its names for people; `tables` and `figures`.
    """

    KEY = "study"
    config: StudyConfig
    queries: dict[str, Query]

    @classmethod
    def of(cls, config: Mapping[str, Any], where: str = "config", root: Path = Path(".")) -> Study:
        """Check a config and resolve its queries; paths in it are relative to `root`.

        Raises BiasgridError naming the key that is wrong and what is allowed there.
        """

        def resolve() -> Study:
            study = cls(*load.study(config, where, root))
            study._check(where)
            return study

        return load.with_plugins(resolve, config, where, root)

    @classmethod
    def read(cls, path: Path | str, root: Path = Path(".")) -> Study:
        """A study from its config file (YAML or the resolved JSON)."""
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
            self.figures  # noqa: B018
        except BiasgridError as error:
            raise type(error)(f"{where}: figures: {error}") from None

    @cached_property
    def models(self) -> dict[str, dict[str, Any]]:
        """What each model is made of, by key (`embeddings.building`). Of one that is made here the source says all of
        that."""
        return {
            key: resolve_model(key, self.config, self.queries)
            for key in self.config.models
            if key not in self.absent
        }

    def store_folder(self, model: str) -> Path:
        """The folder that a model's store is in. One of the words of this study alone is below its results, so that
        studies of other words do not replace each other's."""
        is_encoded = isinstance(self.config.models[model].source, Encoded)
        return self.results / ENCODED_STORES if is_encoded else self.embeddings

    @cached_property
    def stores(self) -> dict[str, StoreOf]:
        """Where the models' stores are, and what they must have been made of."""
        return {m: store_of(self.store_folder(m), m, entry) for m, entry in self.models.items()}

    def kind(self, model: str) -> Kind:
        """The kind of a model."""
        return self.config.models[model].of_kind

    @property
    def ranked_criteria(self) -> list[str]:
        """The criteria that rankings, correlations and the overall scores are made of."""
        return [name for name, entry in self.config.criteria.items() if entry.ranked]

    @property
    def averaged_criteria(self) -> list[str]:
        """The criteria whose mean over queries is tested against random groups."""
        return [name for name, entry in self.config.criteria.items() if entry.ranked or entry.phenomena]

    def metrics(self, criterion: str) -> dict[str, MetricEntry]:
        """The metrics of a criterion: its own where it has any, else the study's."""
        return metrics_of(self.config, criterion)

    def metric(self, criterion: str, key: str) -> Metric:
        """The registered metric behind a study's metric key, under its parameters."""
        place = criterion, key
        if place not in self._metric_cache:
            self._metric_cache[place] = self.metrics(criterion)[key].definition(key)
        return self._metric_cache[place]

    @cached_property
    def _metric_cache(self) -> dict[tuple[str, str], Metric]:
        """Metrics that `metric` has looked up: it is called for every cell, and each look-up checks parameters."""
        return {}

    @cached_property
    def debias(self) -> dict[str, tuple[str, Debias]]:
        """Debias key -> the criterion it is named under, and its entry."""
        return {
            key: (criterion, entry)
            for criterion, entries in self.config.debias.items()
            for key, entry in entries.items()
        }

    def method(self, name: str) -> Method:
        """The registered debias method of a name."""
        return debias.method(name)

    def word_options(self, criterion: str, key: str | None, model: str) -> dict[str, Any]:
        """Look-up options of a cell: the study's, then the criterion's, those of a metric if any, the model's."""
        of_metric = self.metrics(criterion)[key].words if key else None
        config = self.config
        places = (config.words, config.criteria[criterion].words, of_metric, config.models[model].words)
        return look_up(self.kind(model), *places)

    def frequency_source(self, model: str) -> str | None:
        """What a model's frequencies are known by: "counts", "wordfreq", "rank"; None: they are not known."""
        return frequency_source_of(self.config.models[model], self.config.frequencies)

    @cached_property
    def evaluation_specs(self) -> dict[str | None, Spec]:
        """What to evaluate, by criterion; None: the quality of all models."""
        entries: list[tuple[str | None, Any]] = [
            *self.config.evaluation.items(),
            (None, to_record(self.config.quality)),
        ]
        return {criterion: Spec.of(absence.without_files(entry, self.absent)) for criterion, entry in entries}

    @cached_property
    def trained_models(self) -> list[str]:
        """The models that are trained or encoded here."""
        return [key for key in self.models if isinstance(self.config.models[key].source, Trained | Encoded)]

    @cached_property
    def sources(self) -> dict[str, dict[str, Any]]:
        """What is fetched: models, archives of benchmarks, corpora and encoders, by name."""
        config = self.config
        models = {key: model for key, model in self.models.items() if not config.models[key].is_made_here}
        return models | to_record(config.benchmarks | config.corpora | (config.encoders or {}))

    @property
    def planned(self) -> Study:
        """The study with what could not be downloaded."""
        return Study(self.config, self.queries)

    @cached_property
    def absent(self) -> dict[str, str]:
        """What it is without, as it could not be downloaded (`absence`): models and archives of benchmarks -> why.
        Nothing of what is planned."""
        return {}

    def present(self) -> Study:
        """The study without what could not be downloaded, as far as its run has found that out; itself where nothing
        is absent."""
        if type(self) is not Study:  # it knows what is absent
            return self
        absent = absence.models_of(self) | absence.benchmarks_of(self)
        if not absent:
            return self
        study = PresentStudy(self.config, self.queries)
        vars(study)["absent"] = absent  # what is found out later changes nothing in what it plans
        # one for all steps of a run: what it has planned is kept
        return self._presents.setdefault(tuple(absent), study)

    @cached_property
    def _presents(self) -> dict[tuple[str, ...], Study]:
        return {}

    @cached_property
    def grid(self) -> StudyGrid:
        """What is measured, fitted, inferred and evaluated."""
        return StudyGrid(self)

    @property
    def title(self) -> str:
        """What people read in place of the study's name."""
        return self.config.title or self.name

    @cached_property
    def labels(self) -> dict[str, str]:
        """What people read in place of the key of a model, metric or debias method."""
        return labels_of(self)

    @cached_property
    def tables(self) -> dict[str, Mapping[str, Any]]:
        """The tables that the study has -> the files that each is made from."""
        return {name: files for name, table in tables.REGISTRY.items() if (files := table.inputs_of(self))}

    @cached_property
    def figures(self) -> dict[str, Drawing]:
        """The figures by name, and what each is drawn from."""
        return plan_figures(self, self.config.figures)

    def to_json(self) -> str:
        """The config with defaults and includes resolved, in the form that `read` reads."""
        return load.to_json_text(self.config)

    @property
    def digest(self) -> str:
        """Changes when anything in the resolved config does."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def query_digest(self, key: str) -> str:
        """Changes exactly when a word, a name or the order of the query's sets does."""
        return hashlib.sha256(self.queries[key].to_json().encode()).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        # cached values are quickly computed again, and hold functions that cannot be pickled
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True)
class PresentStudy(Study):
    """A study without what could not be downloaded: what tables, figures and the page are made of."""

    @cached_property
    def absent(self) -> dict[str, str]:
        return absence.models_of(self) | absence.benchmarks_of(self)

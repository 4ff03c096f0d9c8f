"""A study: which models, queries and metrics, with which parameters - the config, checked and resolved."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import absence, debias, metrics, tables
from ..config import load
from ..config.check import check
from ..config.common import one_language
from ..config.models import MADE_HERE, frequency_source_of, resolve_model
from ..configs import sort_keys
from ..debias import UNTOUCHED
from ..embeddings.frequencies import ENGLISH, WORDFREQ
from ..embeddings.kinds import Kind, kind_of
from ..errors import BiasgridError, unknown_name
from ..evaluation.spec import Spec
from ..figures import Drawing, plan_figures
from ..grid import Cell, Evaluation, Fit, Inference
from ..options import BY_FREQUENCY, OF_WORDS
from ..options import PARTS as INFERRED
from ..query import Query
from ..seeds import seed_of
from ..statistics.aggregation import OVERALL
from .paths import Folders


@dataclass(frozen=True)
class Study(Folders):
    """A checked config. Build it with `Study.of`; `config` has its defaults filled in and its includes resolved."""

    KEY = "study"
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

    @cached_property
    def models(self) -> dict[str, dict[str, Any]]:
        """The models by key. Of one that is made here the source says all that it is made of."""
        return {
            key: resolve_model(key, self.config, self.queries)
            for key in self.config["models"]
            if key not in self.absent
        }

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

    def of_kind(self, holds: Callable[[Kind], bool], criterion: str) -> list[str]:
        """The models of kinds of which something holds that are in no other language than a criterion."""
        entry = self.config["criteria"][criterion]
        return [m for m in self.models if holds(self.kind(m)) and one_language(entry, self.models[m])]

    @cached_property
    def trained_models(self) -> list[str]:
        """The models that are trained or encoded here."""
        return [
            key for key, model in self.models.items() if model["source"]["type"] in ("trained", "encoded")
        ]

    @cached_property
    def sources(self) -> dict[str, dict[str, Any]]:
        """What is fetched: models, archives of benchmarks, corpora and encoders, by name."""
        keys_made_here = {key for key, model in self.models.items() if model["source"]["type"] in MADE_HERE}
        models = {key: model for key, model in self.models.items() if key not in keys_made_here}
        return models | self.config["benchmarks"] | self.config["corpora"] | self.config.get("encoders", {})

    @cached_property
    def evaluation_specs(self) -> dict[str | None, Spec]:
        """What to evaluate, by criterion; None: the quality of all models."""
        entries = {**self.config["evaluation"], None: self.config["quality"]}
        return {
            criterion: Spec.of(absence.without_files(entry, self.absent))
            for criterion, entry in entries.items()
        }

    @cached_property
    def aggregate_criteria(self) -> dict[str, list[str]]:
        """Groups of inference whose aggregates are tested against random groups -> the ranked criteria that they are
        of, and "Overall" where the state is measured on all that the metric has."""
        if "random_groups" not in self.config["inference"]:
            return {}
        criteria_of_metrics: dict[str, set[str]] = {}
        for cell in self.cells.values():
            if cell.criterion in self.ranked_criteria:
                criteria_of_metrics.setdefault(cell.metric, set()).add(cell.criterion)
        criteria_of_groups = {}
        for name, group in self.inference_groups.items():
            first = group[0].cell
            criteria = {inference.cell.criterion for inference in group}.intersection(self.ranked_criteria)
            if criteria and self.kind(first.model).random_groups:
                is_complete = first.debias == UNTOUCHED or criteria == criteria_of_metrics[first.metric]
                criteria_of_groups[name] = [*sorted(criteria), *([OVERALL] if is_complete else [])]
        return criteria_of_groups

    @cached_property
    def tables(self) -> dict[str, dict[str, Any]]:
        """The tables that the study has -> the files that each is made from."""
        return {name: files for name, table in tables.REGISTRY.items() if (files := table.inputs(self))}

    @cached_property
    def figures(self) -> dict[str, Drawing]:
        """The figures by name, and what each is drawn from."""
        return plan_figures(self, self.config["figures"])

    @property
    def ranked_criteria(self) -> list[str]:
        """The criteria that rankings, correlations and the overall scores are made of."""
        return [name for name, entry in self.config["criteria"].items() if entry["ranked"]]

    def metrics(self, criterion: str) -> dict[str, dict[str, Any]]:
        """The metrics of a criterion: its own where it has any, else the study's."""
        return self.config["criteria"][criterion].get("metrics") or self.config["metrics"]

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """All cells of the grid by name."""
        return {cell.name: cell for cell in self._cells()}

    @cached_property
    def inferences(self) -> dict[str, Inference]:
        """What is inferred, by the name of the cell, where the config asks for it."""
        inferences = {}
        for name, cell in self.cells.items():
            if options := self._inference_options(cell):
                # one seed for all: cells that have the same sets of words draw alike
                options["draw_seed"] = seed_of(self.config["seed"], "inference")
                inferences[name] = Inference(cell, {**cell.spec, "inference": options})
        return inferences

    @cached_property
    def inference_groups(self) -> dict[str, list[Inference]]:
        """What is inferred in one step, by its name, in the order of the cells."""
        groups: dict[str, list[Inference]] = {}
        for inference in self.inferences.values():
            groups.setdefault(inference.group, []).append(inference)
        return groups

    def __getstate__(self) -> dict[str, Any]:
        # cached values are quickly computed again, and hold functions that cannot be pickled
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def _inference_options(self, cell: Cell) -> dict[str, dict[str, Any]]:
        """What a cell's file of inference depends on of `inference`: the metric's, else the study's."""
        metric_options = self.metrics(cell.criterion)[cell.metric].get("inference", {})
        excluded_parts = OF_WORDS if self.kind(cell.model).scores else ()
        parts = {part: self.config["inference"].get(part) for part in INFERRED if part not in excluded_parts}
        options = {
            part: entry | metric_options.get(part, {}) for part, entry in parts.items() if entry is not None
        }
        if self.config["frequencies"] == WORDFREQ and self.frequency_source(cell.model) == WORDFREQ:
            proxy = {"frequency": WORDFREQ, "language": self.models[cell.model].get("language", ENGLISH)}
            options |= {part: options[part] | proxy for part in BY_FREQUENCY if part in options}
        return options

    @cached_property
    def debias(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Debias key -> the criterion it is named under, and its entry."""
        return {
            key: (criterion, entry)
            for criterion, entries in self.config["debias"].items()
            for key, entry in entries.items()
        }

    @cached_property
    def fits(self) -> dict[tuple[str, str], Fit]:
        """All fitted debias methods by model and debias key."""
        fits = {}
        for key, (criterion, entry) in self.debias.items():
            for model in entry.get("models", self.of_kind(lambda kind: kind.is_model, criterion)):
                if model in self.absent:
                    continue
                spec = {
                    "method": self.method(entry["method"]).name,
                    "words": entry["words"],
                    "params": entry["params"],
                    "seed": seed_of(self.config["seed"], f"{model}/{key}"),
                }
                fits[model, key] = Fit(criterion, key, model, sort_keys(spec))
        return fits

    @cached_property
    def evaluations(self) -> dict[str, Evaluation]:
        """What is evaluated, by name: each criterion's debias methods, and the models untouched."""
        evaluations = {}
        for criterion, entry in self.config["evaluation"].items():
            seed = seed_of(self.config["seed"], f"evaluation/{criterion}")
            fits = [fit for fit in self.fits.values() if fit.criterion == criterion]
            states = dict.fromkeys((f.model, d) for f in fits for d in (UNTOUCHED, f.debias))
            # a criterion whose debiased models are all absent does not become one without debias methods
            if not fits and not (self.absent and self.config["debias"].get(criterion)):
                models = self.config["criteria"][criterion].get(
                    "models", self.of_kind(lambda kind: kind.is_model, criterion)
                )
                states = dict.fromkeys((model, UNTOUCHED) for model in models)
            for model, key in states:
                if model in self.absent:
                    continue
                spec = self._evaluated_on(model, entry, seed)
                evaluation = Evaluation(criterion, key, model, spec)
                evaluations[evaluation.name] = evaluation
        return evaluations

    @cached_property
    def quality(self) -> dict[str, Evaluation]:
        """Evaluations on the benchmarks of `quality`, by name: of all vectors, untouched and under the
        debias methods that rank beside the models. Nothing in them is drawn at random."""
        quality = absence.without_files(self.config["quality"], self.absent)
        has_benchmarks = not self.absent or any(map(quality.get, ("similarity", "analogies")))
        if not quality or not has_benchmarks:
            return {}
        entry = quality | {"items": True}
        evaluations = [
            Evaluation(None, debias, model, self._evaluated_on(model, entry, 0))
            for model, debias in self._ranked_states()
            if self.kind(model).is_model
        ]
        return {evaluation.name: evaluation for evaluation in evaluations}

    def _evaluated_on(self, model: str, entry: Mapping[str, Any], seed: int) -> dict[str, Any]:
        """The spec of a model's evaluation."""
        # said only of models that are not: an entry's evaluations stay what they were
        order = {} if self.models[model].get("sorted", True) else {"sorted": False}
        return sort_keys({"spec": absence.without_files(entry, self.absent) | order, "seed": seed})

    @cached_property
    def labels(self) -> dict[str, str]:
        """What figures print for a model's, metric's or debias method's key."""
        labels = {key: model["label"] for key, model in self.models.items()}
        for key, (_, entry) in self.debias.items():
            labels[key] = entry.get("label") or self.method(entry["method"]).label
        for criterion in sorted(self.config["criteria"], key=self.ranked_criteria.__contains__):
            # ranked criteria last: where two criteria use a key for different metrics, the ranked one's label counts
            for key, entry in self.metrics(criterion).items():
                labels[key] = entry.get("label", self.metric(criterion, key).label)
        return labels

    @property
    def models_with_frequencies(self) -> list[str]:
        """The measured models whose words' frequencies are known."""
        models = dict.fromkeys(cell.model for cell in self.cells.values())
        return [model for model in models if self.frequency_source(model)]

    def frequency_source(self, model: str) -> str | None:
        """What a model's frequencies are known by: "counts", "wordfreq", "rank"; None: they are not known."""
        return frequency_source_of(self.models[model], self.config["frequencies"])

    def metric(self, criterion: str, key: str) -> metrics.Metric:
        """The registered metric behind a study's metric key, under its parameters."""
        place = criterion, key
        if place not in self._metric_cache:
            entry = self.metrics(criterion)[key]
            self._metric_cache[place] = metrics.metric(entry.get("metric", key)).under(
                entry.get("params", {})
            )
        return self._metric_cache[place]

    @cached_property
    def _metric_cache(self) -> dict[tuple[str, str], metrics.Metric]:
        """Metrics that `metric` has looked up: it is called for every cell, and each look-up checks parameters."""
        return {}

    def word_options(self, criterion: str, key: str | None, model: str) -> dict[str, Any]:
        """Look-up options of a cell: the study's, then the criterion's, those of a metric if any, the model's."""
        return {
            **self.config["words"],
            **self.config["criteria"][criterion].get("words", {}),
            **(self.metrics(criterion)[key].get("words", {}) if key else {}),
            **self.models[model].get("words", {}),
        }

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

    def _cells(self) -> Iterable[Cell]:
        for criterion, entry in self.config["criteria"].items():
            for key, metric in self.metrics(criterion).items():
                template = self.metric(criterion, key).template
                queries = [q for q in entry["queries"] if self.queries[q].fits(template)]
                params = sort_keys(metric.get("params", {}))
                for model in self.suitable_models(criterion, key):
                    words = sort_keys(self.word_options(criterion, key, model))
                    for query in queries:
                        # a debiased model draws what the untouched one draws: they differ by the method alone
                        seed = seed_of(self.config["seed"], f"{model}/{UNTOUCHED}/{key}/{query}")
                        for state in (UNTOUCHED, *self._debias_keys(criterion, model)):
                            place = {"criterion": criterion, "query": query, "metric": key, "model": model}
                            # the study's key of a metric; `function` is the registered metric behind it
                            of_metric = {"function": metric.get("metric", key), "params": params}
                            spec = {**place, "debias": state, **of_metric, "words": words, "seed": seed}
                            yield Cell(criterion, query, key, model, state, spec)

    def method(self, name: str) -> debias.Method:
        """The registered debias method of a name."""
        return debias.method(name)

    def kind(self, model: str) -> Kind:
        """The kind of a model."""
        return kind_of(self.models[model])

    def suitable_models(self, criterion: str, key: str) -> list[str]:
        """The models of a criterion that a metric can be measured on: those of the kind that it needs."""
        needs = self.metric(criterion, key).needs
        models = self.of_kind(lambda kind: kind.name == needs, criterion)
        return [m for m in self.config["criteria"][criterion].get("models", models) if m in models]

    def _debias_keys(self, criterion: str, model: str) -> list[str]:
        """The debias methods under which a model is measured on a criterion."""
        return [
            key
            for key, (fit_criterion, entry) in self.debias.items()
            if (model, key) in self.fits and criterion in entry.get("criteria", [fit_criterion])
        ]

    def _ranked_states(self) -> list[tuple[str, str]]:
        """Model and debias key of what ranks beside each other: the models (without a ranked criterion: all), and
        those under a debias method that are measured on all ranked criteria (as in `tables.rankings`)."""
        ranked_criteria = set(self.ranked_criteria)
        criteria: dict[str, set[str]] = {}
        criteria_of_state: dict[tuple[tuple[str, str], str], set[str]] = {}
        for cell in self.cells.values():
            if cell.criterion in ranked_criteria:
                criteria.setdefault(cell.metric, set()).add(cell.criterion)
                state = cell.model, cell.debias
                criteria_of_state.setdefault((state, cell.metric), set()).add(cell.criterion)
        complete_states = {
            state for (state, metric), names in criteria_of_state.items() if names == criteria[metric]
        }
        ranking = {model for (model, _), _ in criteria_of_state} or self.models
        states = [(m, key) for m in self.models if m in ranking for key in (UNTOUCHED, *self.debias)]
        return [state for state in states if state[1] == UNTOUCHED or state in complete_states]

    def _check(self, where: str) -> None:
        check(self.config, self.queries, where)
        for name in self.config["null_distributions"]:
            inference = self.inferences.get(name)
            if name not in self.cells:
                raise BiasgridError(f"{where}: null_distributions: {unknown_name('cell', name, self.cells)}")
            cell = self.cells[name]
            metric = self.metric(cell.criterion, cell.metric)
            if reason := metric.reason_without_test(inference.spec["inference"] if inference else ()):
                raise BiasgridError(f"{where}: null_distributions: {name}: {reason}")
        try:
            self.figures  # noqa: B018
        except BiasgridError as error:
            raise type(error)(f"{where}: figures: {error}") from None


@dataclass(frozen=True)
class PresentStudy(Study):
    """A study without what could not be downloaded: what tables, figures and the page are made of."""

    @cached_property
    def absent(self) -> dict[str, str]:
        return absence.models_of(self) | absence.benchmarks_of(self)

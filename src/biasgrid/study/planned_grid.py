"""The grid of a study: its scores, fitted debias methods, inferences and evaluations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..core.configs import sort_keys
from ..core.seeds import seed_of
from ..core.validation import to_record
from ..debias import UNTOUCHED
from ..measure import significance
from ..measure.aggregation import OVERALL
from ..measure.options import Reliability
from ..models import not_downloaded
from ..models.frequencies import ENGLISH, WORDFREQ
from ..tables.planned import Cell, Evaluation, Fit, Inference
from .config.common import one_language

if TYPE_CHECKING:
    from ..models.kinds import Kind
    from ..tables.planned import Asked


@dataclass(frozen=True)
class StudyGrid:
    """The scores, fits, inferences and evaluations that a study's config describes."""

    study: Asked

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """Return all cells of the grid by name."""
        return {cell.name: cell for cell in self._cells()}

    def _cells(self) -> Iterable[Cell]:
        for criterion, entry in self.study.config.criteria.items():
            for key, metric in self.study.metrics(criterion).items():
                template = self.study.metric(criterion, key).template
                queries = [q for q in entry.queries if self.study.queries[q].fits(template)]
                params = sort_keys(metric.params or {})
                for model in self.suitable_models(criterion, key):
                    words = sort_keys(self.study.word_options(criterion, key, model))
                    for query in queries:
                        # Give debiased models the seed of the original model, so that only the method differs.
                        seed = seed_of(self.study.config.seed, f"{model}/{UNTOUCHED}/{key}/{query}")
                        for state in (UNTOUCHED, *self._debias_keys(criterion, model)):
                            place = {"criterion": criterion, "query": query, "metric": key, "model": model}
                            # `metric` is the study's key of the metric; `function` names the registered metric.
                            of_metric = {"function": metric.metric or key, "params": params}
                            spec = {**place, "debias": state, **of_metric, "words": words, "seed": seed}
                            yield Cell(criterion, query, key, model, state, spec)

    def _debias_keys(self, criterion: str, model: str) -> list[str]:
        """Return the keys of the debias methods with which a model is measured on a criterion."""
        return [
            key
            for key, (fit_criterion, entry) in self.study.debias.items()
            if (model, key) in self.fits and criterion in (entry.criteria or [fit_criterion])
        ]

    def suitable_models(self, criterion: str, key: str) -> list[str]:
        """Return the models of a criterion that have the model type that a metric needs."""
        needs = self.study.metric(criterion, key).needs
        models = self._of_kind(lambda kind: kind.name == needs, criterion)
        return [m for m in self.study.config.criteria[criterion].models or models if m in models]

    def _of_kind(self, holds: Callable[[Kind], bool], criterion: str) -> list[str]:
        """Return the models in the language of a criterion whose model type satisfies `holds`."""
        entry = self.study.config.criteria[criterion]
        return [
            m
            for m in self.study.models
            if holds(self.study.kind(m)) and one_language(entry, self.study.config.models[m])
        ]

    @cached_property
    def fits(self) -> dict[tuple[str, str], Fit]:
        """Return all fitted debias methods by model and debias key."""
        fits = {}
        for key, (criterion, entry) in self.study.debias.items():
            models = entry.models
            if models is None:
                models = self._of_kind(lambda kind: kind.is_model, criterion)
            for model in models:
                if model in self.study.absent:
                    continue
                spec = {
                    # A transform that was fitted elsewhere, for a grid in memory, has no method.
                    "method": entry.method and self.study.method(entry.method).name,
                    "words": entry.words,
                    "params": entry.params,
                    "seed": seed_of(self.study.config.seed, f"{model}/{key}"),
                }
                fits[model, key] = Fit(criterion, key, model, sort_keys(spec))
        return fits

    @cached_property
    def inferences(self) -> dict[str, Inference]:
        """Return the inferences that the config requests, by the name of the cell."""
        inferences = {}
        for name, cell in self.cells.items():
            if options := self._inference_options(cell):
                # Use one seed for all cells, so that cells with the same word sets have the same draws.
                options["draw_seed"] = seed_of(self.study.config.seed, "inference")
                inferences[name] = Inference(cell, {**cell.spec, "inference": options})
        return inferences

    @cached_property
    def inference_groups(self) -> dict[str, list[Inference]]:
        """Return the inferences of each step, by the step's group, in the order of the cells."""
        groups: dict[str, list[Inference]] = {}
        for inference in self.inferences.values():
            groups.setdefault(inference.group, []).append(inference)
        return groups

    def _inference_options(self, cell: Cell) -> dict[str, Any]:
        """Return the options of `inference` for a cell. Options of the metric override options of the study."""
        own = to_record(self.study.metrics(cell.criterion)[cell.metric].inference) or {}
        tests, has_sentences = self._tests, self.study.kind(cell.model).scores
        options = {
            part: entry | own.get(part, {})
            for part, entry in self._parts.items()
            if not (has_sentences and part in tests and tests[part].of_words)
        }
        if self.study.config.frequencies == WORDFREQ and self.study.frequency_source(cell.model) == WORDFREQ:
            proxy = {
                "frequency": WORDFREQ,
                "language": self.study.config.models[cell.model].language or ENGLISH,
            }
            by_frequency = (part for part in options if part in tests and tests[part].by_frequency)
            options |= {part: options[part] | proxy for part in by_frequency}
        return options

    @cached_property
    def _tests(self) -> dict[str, significance.Test]:
        return dict(significance.REGISTRY)

    @cached_property
    def _parts(self) -> dict[str, dict[str, Any]]:
        """Return the options of the parts of inference that the config requests."""
        config = self.study.config
        parts = {part: to_record(entry) for part, entry in config.inference.parts.items()}
        # Leave out the thresholds of `reliability`, because no number depends on them.
        names = set(Reliability.model_fields)
        card = {"reliability": config.reliability.model_dump(include=names)} if config.reliability else {}
        return parts | card if parts else {}

    @cached_property
    def needs_pool(self) -> bool:
        """Return whether a part of inference draws words from a model's pool."""
        return significance.needs_pool(self._parts)

    @cached_property
    def aggregate_criteria(self) -> dict[str, list[str]]:
        """Return the criteria whose aggregates are tested against random groups, for each group of inference.

        These are the ranked criteria and the criteria with phenomena. "Overall" is added if the original or debiased
        model is measured on all ranked criteria of the metric.
        """
        if "random_groups" not in self.study.config.inference.parts:
            return {}
        criteria_of_metrics: dict[str, set[str]] = {}
        for cell in self.cells.values():
            if cell.criterion in self.study.ranked_criteria:
                criteria_of_metrics.setdefault(cell.metric, set()).add(cell.criterion)
        criteria_of_groups = {}
        for name, group in self.inference_groups.items():
            first = group[0].cell
            measured = {inference.cell.criterion for inference in group}
            criteria, ranked = (
                measured.intersection(names)
                for names in (self.study.averaged_criteria, self.study.ranked_criteria)
            )
            if criteria and self.study.kind(first.model).random_groups:
                is_complete = first.debias == UNTOUCHED or ranked == criteria_of_metrics.get(first.metric)
                has_overall = bool(ranked) and is_complete
                criteria_of_groups[name] = [*sorted(criteria), *([OVERALL] if has_overall else [])]
        return criteria_of_groups

    @cached_property
    def evaluations(self) -> dict[str, Evaluation]:
        """Return the evaluations by name: of each criterion's debias methods, and of the original models."""
        evaluations = {}
        for criterion, entry in self.study.config.evaluation.items():
            seed = seed_of(self.study.config.seed, f"evaluation/{criterion}")
            fits = [fit for fit in self.fits.values() if fit.criterion == criterion]
            states = dict.fromkeys((f.model, d) for f in fits for d in (UNTOUCHED, f.debias))
            # Treat a criterion as one without debias methods only if no debiased model is absent.
            if not fits and not (self.study.absent and self.study.config.debias.get(criterion)):
                models = self.study.config.criteria[criterion].models or self._of_kind(
                    lambda kind: kind.is_model, criterion
                )
                states = dict.fromkeys((model, UNTOUCHED) for model in models)
            for model, key in states:
                if model in self.study.absent:
                    continue
                evaluation = self._evaluation(criterion, key, model, entry, seed)
                evaluations[evaluation.name] = evaluation
        return evaluations

    @cached_property
    def quality(self) -> dict[str, Evaluation]:
        """Return the evaluations on the benchmarks of `quality`, by name.

        They cover the original models and the debiased models that are ranked with them. They do not draw at random.
        """
        quality = not_downloaded.without_files(to_record(self.study.config.quality), self.study.absent)
        has_benchmarks = not self.study.absent or any(map(quality.get, ("similarity", "analogies")))
        if not quality or not has_benchmarks:
            return {}
        entry = quality | {"items": True}
        evaluations = [
            self._evaluation(None, debias, model, entry, 0)
            for model, debias in self._ranked_states()
            if self.study.kind(model).is_model
        ]
        return {evaluation.name: evaluation for evaluation in evaluations}

    def _evaluation(
        self, criterion: str | None, debias: str, model: str, entry: Mapping[str, Any], seed: int
    ) -> Evaluation:
        # Add `sorted` only for unsorted models, so that the specs of other models do not change.
        order = {} if self.study.models[model].get("sorted", True) else {"sorted": False}
        spec = sort_keys(not_downloaded.without_files(entry, self.study.absent) | order)
        place = {"criterion": criterion, "model": model, "debias": debias}
        return Evaluation(criterion, debias, model, {**place, "seed": seed, "spec": spec})

    def _ranked_states(self) -> list[tuple[str, str]]:
        """Return model and debias key of all models, original or debiased, that are ranked together.

        Without a ranked criterion, all models are ranked. Debiased models are ranked if they are measured on all
        ranked criteria, as in `tables.rankings`.
        """
        ranked_criteria = set(self.study.ranked_criteria)
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
        ranking = {model for (model, _), _ in criteria_of_state} or self.study.models
        states = [
            (m, key) for m in self.study.models if m in ranking for key in (UNTOUCHED, *self.study.debias)
        ]
        return [state for state in states if state[1] == UNTOUCHED or state in complete_states]

    @property
    def models_with_frequencies(self) -> list[str]:
        """Return the measured models whose word frequencies are known."""
        models = dict.fromkeys(cell.model for cell in self.cells.values())
        return [model for model in models if self.study.frequency_source(model)]

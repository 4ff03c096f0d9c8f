"""A query's words in a model, looked up once for a value and all its inference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..core.errors import join_names, quote
from ..metrics.one_word import KEEP
from ..metrics.registry import Detail, Score
from ..models.kinds import REGISTRY as KINDS
from ..models.model import Model
from ..models.multiword import InParts
from ..models.preprocessing import in_parts
from ..models.words import UNKNOWN, WordVectors, find, whole_pairs
from ..queries.query import Query
from ..queries.word_set import WordSet
from . import significance
from .caveats import WHY_ONE_WORD, degenerate
from .measurement_spec import MeasurementSpec, check_kind
from .result import LENGTH, VECTORS, Result, Wording


@dataclass(frozen=True, eq=False)
class MetricInput:
    """The input of a metric for a (sub-)query and a model.

    Attributes
    ----------
    model
        A model of the metric's type; None if the words are made up.
    query
        The sub-query; `whole` is the query that it is a part of.
    targets, attributes
        Its sets. For a metric of pairs, the target sets contain only whole pairs.
    status
        "ok", or the sets with too many missing words.
    found
        The sets of the whole query as found in the model, by name.
    """

    request: MeasurementSpec
    model: Any
    query: Query
    targets: list[WordVectors]
    attributes: list[WordVectors]
    status: str
    whole: Query
    found: Mapping[str, WordVectors]

    @property
    def vectors(self) -> list[list[np.ndarray]]:
        """Return the vectors of each target set, and of each attribute set."""
        return [[s.vectors for s in side] for side in (self.targets, self.attributes)]

    @property
    def sizes(self) -> list[list[int]]:
        """Return the numbers of vectors of the target sets and of the attribute sets."""
        return [[len(s.vectors) for s in side] for side in (self.targets, self.attributes)]

    @property
    def groups(self) -> list[WordVectors]:
        """Return the sets that a test of random groups replaces (`Metric.regrouped`)."""
        return self.targets if self.request.metric.regrouped == "targets" else self.attributes

    @property
    def words(self) -> list[WordVectors]:
        """Return the sets on the other side, which the groups are compared with."""
        return self.attributes if self.request.metric.regrouped == "targets" else self.targets

    def sides(self, of_groups: Any, of_words: Any) -> tuple[Any, Any]:
        """Order the groups' and the words' objects as targets and attributes, or the other way round."""
        first = self.request.metric.regrouped == "targets"
        return (of_groups, of_words) if first else (of_words, of_groups)

    def rows_of(self, sets: Iterable[WordSet]) -> np.ndarray:
        """Return the distinct rows of the vocabulary in which words of these sets of the whole query were found."""
        return np.unique(np.concatenate([self.found[s.name].rows for s in sets]))

    def ask_model(self, targets: Sequence[WordVectors], attributes: Sequence[WordVectors]) -> dict[str, Any]:
        """Return the metric's input from the model for these sets (`Metric.of_model`)."""
        of_model = self.request.metric.of_model
        return of_model(self.model, targets, attributes, **self.request.arguments) if of_model else {}

    @cached_property
    def model_arguments(self) -> dict[str, Any]:
        """Return the metric's input from the model apart from the words' vectors."""
        return self.ask_model(self.targets, self.attributes)

    @cached_property
    def score(self) -> Score:
        """Return the metric's score."""
        # A zero vector causes a division by zero and NaN. The status reports it, so NumPy need not warn.
        with np.errstate(all="ignore"):
            arguments = {**self.request.arguments, **self.model_arguments}
            return self.request.metric.function(*self.vectors, **arguments)

    @property
    def undefined(self) -> str:
        """Return the status if the metric is undefined for the query."""
        is_fixed = self.request.metric.is_fixed(*self.sizes)
        return degenerate(
            WHY_ONE_WORD if is_fixed and self.request.parameters.get("one_word") != KEEP else ""
        )

    def result(self) -> Result:
        """Return the value with all further results of the metric."""
        metric, status, score = self.request.metric, self.status, Score(math.nan)
        sets = [self.found[s.name] for s in (*self.query.target_sets, *self.query.attribute_sets)]
        extra = dict(getattr(self.model, "held_out_quality", {}))
        if metric.paired:
            pair_count = len(np.unique(self.targets[0].slots // self.request.variants))
            longest = max(len(s.words) for s in self.query.target_sets)
            extra |= {"pairs": pair_count, "pairs_lost": longest - pair_count}
        same_vector = {s.name: same for s in sets if (same := s.same_vector)}
        if same_vector:
            extra[VECTORS] = sum(len(np.unique(s.rows)) for s in self.targets + self.attributes)
        if status == "ok":
            score = self.score
            status = "ok" if math.isfinite(score.value) else self.undefined
            if metric.scaled:
                vectors = np.concatenate([s.vectors for s in self.targets + self.attributes])
                extra[LENGTH] = float(np.linalg.norm(vectors, axis=1).mean())
        return Result(
            query=self.query.name,
            value=float(score.value) if status == "ok" else math.nan,
            status=status,
            words_used=sum(map(sum, self.sizes)),
            words_lost=sum(len(s.lost) for s in sets),
            scalars=score.scalars | extra,
            detail={
                name: _by_word(detail, self.targets, self.attributes) for name, detail in score.detail.items()
            },
            found={s.name: s.found for s in sets},
            lost={s.name: list(s.lost) for s in sets},
            forms={s.name: s.forms for s in sets if s.forms},
            why_lost={s.name: s.why_lost for s in sets if s.why_lost},
            same_vector=same_vector,
            contrasts=self._name_contrasts(score) if metric.contrasts else None,
            metric=metric.name,
            model=getattr(self.model, "name", ""),
            is_fixed=status == "ok" and metric.is_fixed(*self.sizes),
            tests=significance.columns(),
            wording=self._wording,
        )

    @property
    def _wording(self) -> Wording:
        metric = self.request.metric
        targets, attributes = (
            tuple(s.name for s in side) for side in (self.query.target_sets, self.query.attribute_sets)
        )
        poles = metric.poles(targets, attributes)
        return Wording(
            label=metric.label,
            neutral=metric.neutral,
            above=metric.sentence(metric.above, targets, attributes),
            below=metric.sentence(metric.below, targets, attributes),
            ends=(poles[2], poles[1]) if poles else (),
            targets=targets,
            attributes=attributes,
            exchanged=metric.exchanged,
            regrouped=metric.regrouped,
        )

    def _name_contrasts(self, score: Score) -> list[dict[str, Any]]:
        """Return a score's contrasts with the sets' names instead of their numbers."""
        groups, words = self.query.target_sets, self.query.attribute_sets
        if self.request.metric.groups == "attributes":
            groups, words = words, groups
        return [
            {
                "first": groups[contrast.first].name,
                "second": None if contrast.second is None else groups[contrast.second].name,
                "words": None if contrast.words is None else words[contrast.words].name,
                "values": contrast.values,
            }
            for contrast in score.contrasts
        ]


def look_up(request: MeasurementSpec, query: Query, model: Any) -> list[MetricInput]:
    """Return a sample for each sub-query of the metric's template, in WEFE's order; each set is looked up once.

    If the query itself has the template, there is one sample. Raises BiasgridError if the model has another
    type than the metric needs, or if the query has too few sets.
    """
    metric, words = request.metric, request.words
    check_kind(metric, model)
    if in_parts(words.preprocessors) and isinstance(model, Model):
        model = InParts.of(model)
    roles = (("target", query.target_sets), ("attribute", query.attribute_sets))
    counted = query.repetitions == "count"
    found = {
        s.name: find(s.name, s.words, model, words, in_pairs=counted or (metric.paired and role == "target"))
        for role, sets in roles
        for s in sets
    }
    threshold = 1.0 if KINDS[metric.needs].complete else words.lost_vocabulary_threshold
    samples = []
    for part in query.subqueries(metric.template):
        targets, attributes = (
            [found[s.name] for s in side] for side in (part.target_sets, part.attribute_sets)
        )
        targets, attributes = _without_unscored(request, model, targets, attributes)
        sets = targets + attributes
        failed_sets = [s.name for s in sets if s.lost_share > threshold or not len(s.vectors)]
        targets = whole_pairs(targets) if metric.paired else targets
        if metric.paired and not failed_sets and not len(targets[0].slots):
            failed_sets = [s.name for s in sets if s.lost]  # every pair lacks a word
        status = "lost_words:" + ";".join(failed_sets) if failed_sets else "ok"
        found_here = {**found, **{s.name: s for s in sets}}
        samples.append(MetricInput(request, model, part, targets, attributes, status, query, found_here))
    return samples


def _without_unscored(
    request: MeasurementSpec, model: Any, targets: list[WordVectors], attributes: list[WordVectors]
) -> tuple[list[WordVectors], list[WordVectors]]:
    """Return the sets without the texts that the model cannot score, which count as missing."""
    metric = request.metric
    whole = whole_pairs(targets) if metric.paired else targets
    if metric.unscored is None or not all(len(s.slots) for s in (*whole, *attributes)):
        return targets, attributes
    unscored = metric.unscored(model, whole, attributes, **request.arguments)
    sets = [
        s.without({int(asked.slots[place]): why for place, why in of_set.items()})
        for s, asked, of_set in zip(targets + attributes, [*whole, *attributes], unscored, strict=True)
    ]
    # In the remaining pairs, both texts have the same unknown tokens.
    unknown = model.unknown([key for s in sets for key in s.keys]) if metric.paired else {}
    sets = [_with_unknown(s, unknown) if unknown else s for s in sets]
    return sets[: len(targets)], sets[len(targets) :]


def _with_unknown(found: WordVectors, unknown: Mapping[str, Sequence[str]]) -> WordVectors:
    """Return the set with a note in `forms` on each text with tokens that the tokenizer does not know."""
    parts = {word: unknown[key] for word, key in zip(found.words, found.keys, strict=True) if key in unknown}
    notes = {word: f"{UNKNOWN}: {join_names(map(quote, dict.fromkeys(of)))}" for word, of in parts.items()}
    return replace(found, forms={**found.forms, **notes})


def _by_word(
    detail: Detail, targets: list[WordVectors], attributes: list[WordVectors]
) -> dict[str, dict[str, Any]]:
    rows, other_sets = (targets, attributes) if detail.role == "target" else (attributes, targets)
    columns = detail.columns or [s.name for s in other_sets]
    by_set = {}
    for s, values in zip(rows, detail.values, strict=True):
        values = np.asarray(values)
        cells = values.tolist()
        if values.ndim == 2:
            cells = [dict(zip(columns, row, strict=True)) for row in cells]
        by_set[s.name] = dict(zip(s.keys, cells, strict=True))
    return by_set

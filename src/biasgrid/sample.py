"""A query's words as a model knows them, looked up once: what a value and all its inference are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .caveats import WHY_ONE_WORD, degenerate
from .embeddings.in_parts import InParts
from .embeddings.kinds import REGISTRY as KINDS
from .embeddings.model import Model
from .errors import join_names, quote
from .metrics.one_word import KEEP
from .metrics.registry import Detail, Score
from .preprocessing import in_parts
from .query import Query
from .request import Request, check_kind
from .result import LENGTH, VECTORS, Result, Wording
from .word_set import WordSet
from .words import UNKNOWN, FoundSet, find, whole_pairs


@dataclass(frozen=True, eq=False)
class Sample:
    """What a metric takes of a (sub-)query on a model.

    model                of the metric's kind; None where the words are made up
    query                the sub-query; `whole` is the query that it is a part of
    targets, attributes  its sets; for a metric of pairs, the target sets are cut to whole pairs: what lost a partner
                         is not used
    status               "ok", or which sets lost too many words
    found                name -> set as it was found, of all sets of the whole query
    """

    request: Request
    model: Any
    query: Query
    targets: list[FoundSet]
    attributes: list[FoundSet]
    status: str
    whole: Query
    found: Mapping[str, FoundSet]

    @property
    def vectors(self) -> list[list[np.ndarray]]:
        """Those of each target set, and of each attribute set."""
        return [[s.vectors for s in side] for side in (self.targets, self.attributes)]

    @property
    def sizes(self) -> list[list[int]]:
        """How many vectors the target sets have, and the attribute sets."""
        return [[len(s.vectors) for s in side] for side in (self.targets, self.attributes)]

    @property
    def groups(self) -> list[FoundSet]:
        """The sets that a test of random groups replaces (`Metric.regrouped`)."""
        return self.targets if self.request.metric.regrouped == "targets" else self.attributes

    @property
    def words(self) -> list[FoundSet]:
        """The sets on the other side, which the groups are compared with."""
        return self.attributes if self.request.metric.regrouped == "targets" else self.targets

    def sides(self, of_groups: Any, of_words: Any) -> tuple[Any, Any]:
        """What is of the groups and what is of the words, in the order of targets and attributes; and the reverse."""
        first = self.request.metric.regrouped == "targets"
        return (of_groups, of_words) if first else (of_words, of_groups)

    def rows_of(self, sets: Iterable[WordSet]) -> np.ndarray:
        """The rows of the vocabulary in which words of these sets of the whole query were found, each once."""
        return np.unique(np.concatenate([self.found[s.name].rows for s in sets]))

    def ask_model(self, targets: Sequence[FoundSet], attributes: Sequence[FoundSet]) -> dict[str, Any]:
        """What the metric needs of the model for these sets (`Metric.of_model`)."""
        of_model = self.request.metric.of_model
        return of_model(self.model, targets, attributes, **self.request.arguments) if of_model else {}

    @cached_property
    def model_arguments(self) -> dict[str, Any]:
        """What the metric needs of the model besides the words' vectors."""
        return self.ask_model(self.targets, self.attributes)

    @cached_property
    def score(self) -> Score:
        """The metric's."""
        # a zero vector divides by zero on its way to NaN; the status says so, and warnings are process-wide
        with np.errstate(all="ignore"):
            arguments = {**self.request.arguments, **self.model_arguments}
            return self.request.metric.function(*self.vectors, **arguments)

    @property
    def undefined(self) -> str:
        """The status where the metric leaves the query undefined."""
        is_fixed = self.request.metric.is_fixed(*self.sizes)
        return degenerate(
            WHY_ONE_WORD if is_fixed and self.request.parameters.get("one_word") != KEEP else ""
        )

    def result(self) -> Result:
        """The value, and all that the metric says besides."""
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
        """A score's contrasts with the sets' names for their numbers."""
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


def look_up(request: Request, query: Query, model: Any) -> list[Sample]:
    """A sample for each sub-query of the metric's template, in WEFE's order; one where the query has it itself. Each
    set is looked up once.

    Raises BiasgridError for a model of another kind than the metric's and a query that has too few sets.
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
        targets, attributes = _scored(request, model, targets, attributes)
        sets = targets + attributes
        failed_sets = [s.name for s in sets if s.lost_share > threshold or not len(s.vectors)]
        targets = whole_pairs(targets) if metric.paired else targets
        if metric.paired and not failed_sets and not len(targets[0].slots):
            failed_sets = [s.name for s in sets if s.lost]  # no pair is whole
        status = "lost_words:" + ";".join(failed_sets) if failed_sets else "ok"
        found_here = {**found, **{s.name: s for s in sets}}
        samples.append(Sample(request, model, part, targets, attributes, status, query, found_here))
    return samples


def _scored(
    request: Request, model: Any, targets: list[FoundSet], attributes: list[FoundSet]
) -> tuple[list[FoundSet], list[FoundSet]]:
    """Return the sets without the texts that the model cannot score, which are lost."""
    metric = request.metric
    whole = whole_pairs(targets) if metric.paired else targets
    if metric.unscored is None or not all(len(s.slots) for s in (*whole, *attributes)):
        return targets, attributes
    unscored = metric.unscored(model, whole, attributes, **request.arguments)
    sets = [
        s.without({int(asked.slots[place]): why for place, why in of_set.items()})
        for s, asked, of_set in zip(targets + attributes, [*whole, *attributes], unscored, strict=True)
    ]
    # what is left of pairs has unknown tokens that its partner has, too
    unknown = model.unknown([key for s in sets for key in s.keys]) if metric.paired else {}
    sets = [_with_unknown(s, unknown) if unknown else s for s in sets]
    return sets[: len(targets)], sets[len(targets) :]


def _with_unknown(found: FoundSet, unknown: Mapping[str, Sequence[str]]) -> FoundSet:
    """Return the set with a note in `forms` on each text of which the tokenizer does not know every token."""
    parts = {word: unknown[key] for word, key in zip(found.words, found.keys, strict=True) if key in unknown}
    notes = {word: f"{UNKNOWN}: {join_names(map(quote, dict.fromkeys(of)))}" for word, of in parts.items()}
    return replace(found, forms={**found.forms, **notes})


def _by_word(
    detail: Detail, targets: list[FoundSet], attributes: list[FoundSet]
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

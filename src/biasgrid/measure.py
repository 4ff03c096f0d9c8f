"""One cell: a metric with its parameters, on a query, on a model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .embeddings.store import DebiasedModel, EmbeddingStore
from .errors import BiasgridError, not_allowed
from .metrics.registry import Detail, Metric, Score
from .query import Query
from .words import FoundSet, WordOptions, find, matched


@dataclass(frozen=True)
class Result:
    """What a metric says of one query on one model.

    value        NaN where `status` is not "ok"
    status       "ok"; "lost_words:<set>[;<set>]", the sets that lost too many words; "degenerate", the metric is
                 undefined for these vectors
    words_used   vectors found for its sets, those of whole pairs for a metric of pairs
    words_lost   distinct words of the sets that the model does not have
    scalars      further numbers of the metric
    detail       name -> set -> vocabulary entry -> value, or column -> value
    found, lost  set -> word -> the entries it was found as; set -> words
    p_value      of the permutation test, and the ends of the bootstrap interval: NaN where none was asked for, or
    ci_low       the metric has none
    ci_high
    inference    all that was asked for: permutation, bootstrap, influence, halves, as docs/inference.md has them;
                 None where nothing was
    contrasts    of one group against another or the others: {"first", "second", "words", "values"}, the sets' names,
                 None for the others together and for all words together; None of a metric that has no contrasts
    p_groups     of the test against random groups; NaN where none was asked for, or none can be made
    """

    query: str
    value: float
    status: str
    words_used: int
    words_lost: int
    scalars: dict[str, float]
    detail: dict[str, dict[str, dict[str, Any]]]
    found: dict[str, dict[str, list[str]]]
    lost: dict[str, list[str]]
    p_value: float = math.nan
    ci_low: float = math.nan
    ci_high: float = math.nan
    inference: dict[str, Any] | None = None
    contrasts: list[dict[str, Any]] | None = None
    p_groups: float = math.nan

    @property
    def words(self) -> dict[str, dict[str, list[str]]]:
        """Which word was found as what: set -> word -> vocabulary entries; a lost word has none."""
        return {s: self.found[s] | {word: [] for word in self.lost[s]} for s in self.found}


def measure(
    metric: Metric,
    query: Query,
    model: EmbeddingStore | DebiasedModel,
    parameters: Mapping[str, Any] | None = None,
    words: WordOptions | None = None,
    seed: int = 0,
) -> list[Result]:
    """A result for each sub-query of the metric's template, in WEFE's order; one where the query has it itself.

    Raises BiasgridError for a parameter that the metric does not have and a query that has too few sets.
    """
    parameters = dict(parameters or {})
    metric = metric.under(parameters)
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BiasgridError(not_allowed("seed", seed, "whole numbers from 0 on"))
    if metric.seeded:
        parameters["seed"] = seed
    words = words or WordOptions()
    found = look_up(metric, query, model, words)
    return [_measure(metric, q, model, found, parameters, words) for q in query.subqueries(metric.template)]


def look_up(
    metric: Metric, query: Query, model: EmbeddingStore | DebiasedModel, words: WordOptions
) -> dict[str, FoundSet]:
    """The query's sets by name, as the model knows them."""
    roles = (("target", query.target_sets), ("attribute", query.attribute_sets))
    return {
        s.name: find(s.name, s.words, model, words, paired=metric.paired and role == "target")
        for role, sets in roles
        for s in sets
    }


def subquery(
    metric: Metric, query: Query, found: Mapping[str, FoundSet], words: WordOptions
) -> tuple[list[FoundSet], list[FoundSet], str]:
    """What the metric takes of a (sub-)query: target sets, attribute sets, and "ok" or which lost too many words.

    For a metric of pairs the target sets are cut to whole pairs: what lost a partner is not used.
    """
    targets, attributes = (
        [found[s.name] for s in side] for side in (query.target_sets, query.attribute_sets)
    )
    failed = [
        s.name
        for s in targets + attributes
        if s.lost_share > words.lost_vocabulary_threshold or not len(s.vectors)
    ]
    if metric.paired:
        targets = matched(targets)
    return targets, attributes, "lost_words:" + ";".join(failed) if failed else "ok"


def split_options(metric: Metric, options: Mapping[str, Any]) -> tuple[dict[str, Any], WordOptions]:
    """Options by name, parted into the metric's parameters and those of the word look-up."""
    known = [f.name for f in fields(WordOptions)]
    look_up = set(known) & set(options)
    parameters = {name: value for name, value in options.items() if name not in look_up}
    metric.check_parameters(parameters, known)
    return parameters, WordOptions(**{name: options[name] for name in look_up})


def as_json(result: Result) -> dict[str, Any]:
    """The result as a cell file and the command line give it: NaN becomes null; inference only where it was asked
    for, as a study has it in files of its own."""
    left_out = (
        () if result.inference is not None else ("p_value", "ci_low", "ci_high", "inference", "p_groups")
    )
    left_out += ("contrasts",) if result.contrasts is None else ()
    record = {f.name: getattr(result, f.name) for f in fields(result) if f.name not in left_out}
    return as_finite(record)


def dumps(record: Any, **options) -> str:
    """JSON text of a record, the same on every machine: UTF-8, floats by repr, no NaN."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, **options)


def _measure(
    metric: Metric,
    query: Query,
    model: EmbeddingStore | DebiasedModel,
    found: Mapping[str, FoundSet],
    parameters: Mapping[str, Any],
    words: WordOptions,
) -> Result:
    sets = [found[s.name] for s in query.target_sets + query.attribute_sets]
    targets, attributes, status = subquery(metric, query, found, words)
    extra = {}
    if metric.paired:
        whole = len(np.unique(targets[0].slots // variants(words)))
        longest = max(len(s.words) for s in query.target_sets)
        extra = {"pairs": whole, "pairs_lost": longest - whole}
    score = Score(math.nan)
    if status == "ok":
        # a zero vector divides by zero on its way to NaN; the status says so, and warnings are process-wide
        with np.errstate(all="ignore"):
            vectors = [s.vectors for s in targets], [s.vectors for s in attributes]
            further = metric.of_model(model, targets, attributes, **parameters) if metric.of_model else {}
            score = metric.function(*vectors, **parameters, **further)
        status = "ok" if math.isfinite(score.value) else "degenerate"
    return Result(
        query=query.name,
        value=float(score.value) if status == "ok" else math.nan,
        status=status,
        words_used=sum(len(s.vectors) for s in targets + attributes),
        words_lost=sum(len(s.lost) for s in sets),
        scalars=score.scalars | extra,
        detail={name: _by_word(detail, targets, attributes) for name, detail in score.detail.items()},
        found={s.name: s.found for s in sets},
        lost={s.name: list(s.lost) for s in sets},
        contrasts=_named(score, metric, query) if metric.contrasts else None,
    )


def variants(words: WordOptions) -> int:
    """How many slots a word of a set has: `FoundSet.slots // variants` is its place in the set."""
    return len(words.preprocessors) if words.strategy == "all" else 1


def _named(score: Score, metric: Metric, query: Query) -> list[dict[str, Any]]:
    """A score's contrasts with the sets' names for their numbers."""
    groups, words = query.target_sets, query.attribute_sets
    if metric.groups == "attributes":
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


def _by_word(
    detail: Detail, targets: list[FoundSet], attributes: list[FoundSet]
) -> dict[str, dict[str, Any]]:
    rows, others = (targets, attributes) if detail.role == "target" else (attributes, targets)
    columns = detail.columns or [s.name for s in others]
    by_set = {}
    for s, values in zip(rows, detail.values, strict=True):
        values = np.asarray(values)
        cells = values.tolist()
        if values.ndim == 2:
            cells = [dict(zip(columns, row, strict=True)) for row in cells]
        by_set[s.name] = dict(zip(s.keys, cells, strict=True))
    return by_set


def as_finite(value: Any) -> Any:
    """A record for JSON: numbers that are not finite become None."""
    if isinstance(value, dict):
        return {key: as_finite(v) for key, v in value.items()}
    if isinstance(value, list):
        return [as_finite(v) for v in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value

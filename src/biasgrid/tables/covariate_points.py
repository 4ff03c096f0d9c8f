"""Scores of words and sets, with word frequency and a corpus' own bias: the data of `tables.covariates`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measure.records import read_frequencies
from ..measure.results import results
from .table import Files

if TYPE_CHECKING:
    from ..queries.query import Arity, Query
    from .planned import Planned


LOG, PMI = "log_frequency", "pmi"
MEAN, VARIANCE = "mean_log_frequency", "variance_log_frequency"
OF_WORDS, OF_GROUPS = "difference_log_frequency", "groups_difference_log_frequency"
NEARER, BIASED, OTHER = "nearer to the first group", "more biased", "a higher number"
WORDS, SETS = "words", "sets"
# Smallest number of different words or sets of a correlation.
FEWEST = 5

# Criterion, metric, model and debias method.
Place = tuple[str, str, str, str]
# A score, a covariate, and the controlled variable, if there is one.
Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Points:
    """Data of one correlation.

    Attributes
    ----------
    numbers
        (2, n): scores and the covariate; or (3, n), with the controlled variable.
    units
        (n,) number of each point's word or set, from 0 on.
    groups
        (n,) number of each point's group, from 0 on; scores are compared within groups.
    """

    numbers: np.ndarray
    units: np.ndarray
    groups: np.ndarray

    @classmethod
    def of(cls, points: Sequence[tuple[Numbers, Any, Any]]) -> Points:
        """Create points from (numbers, word or set, group) of each point; leave out points that lack a number."""
        complete = [point for point in points if not any(map(isnan, point[0]))]
        numbers = np.array([point[0] for point in complete], dtype=float).T
        units, groups = (_number_labels(point[i] for point in complete) for i in (1, 2))
        return cls(numbers.reshape(len(points[0][0]), -1), units, groups)

    @property
    def centred(self) -> np.ndarray:
        """Subtract from the numbers the means of their groups."""
        sizes = np.bincount(self.groups)
        means = np.stack([np.bincount(self.groups, row) / sizes for row in self.numbers])
        return self.numbers - means[:, self.groups]

    @property
    def constant_rows(self) -> list[bool]:
        """Return, for each row of numbers, whether all numbers within each group are equal."""
        masks = [self.groups == group for group in np.unique(self.groups)]
        spreads = [max(np.ptp(row[mask]) for mask in masks) for row in self.numbers]
        return [
            bool(spread <= 1e-12 * np.abs(row).max())
            for spread, row in zip(spreads, self.numbers, strict=True)
        ]


def _number_labels(labels: Iterable[Any]) -> np.ndarray:
    """Number the labels in the order in which they appear."""
    places: dict[Any, int] = {}
    return np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int64)


def has_covariates(study: Planned, criteria: Iterable[str]) -> bool:
    """Return whether a correlation with frequencies is possible in one of some criteria.

    It is if frequencies are known there, and if one metric has enough different words or (sub-)queries.
    """
    criteria, counted_models = set(criteria), set(study.grid.models_with_frequencies)
    metric_keys = {
        (c.criterion, c.metric)
        for c in study.grid.cells.values()
        if c.model in counted_models and c.criterion in criteria
    }
    for criterion, key in metric_keys:
        template = study.metric(criterion, key).template
        parts: dict[str, Query] = {}
        for key_of_query, part in _subqueries(study, criterion, template):
            parts.setdefault(part.name, study.queries[key_of_query])
        sets = [s for query in parts.values() for s in (*query.target_sets, *query.attribute_sets)]
        if len(parts) >= FEWEST or any(len(set(s.words)) >= FEWEST for s in sets):
            return True
    return False


def _subqueries(study: Planned, criterion: str, template: tuple[Arity, Arity]) -> Iterator[tuple[str, Query]]:
    """Yield a criterion's (sub-)queries for a metric of this template, each after its query's key."""
    for key in study.config.criteria[criterion].queries:
        if study.queries[key].fits(template):
            for part in study.queries[key].subqueries(template):
                yield key, part


def metrics_spec(study: Planned) -> dict[str, Any]:
    """Return the JSON-compatible values that the points depend on, apart from files.

    "metrics" has an entry for each criterion and metric. It has the detail with the words' scores, its part and its
    sign (`Metric.scored_by`, `Metric.nearer`). It also has the no-bias value, whether the metric is PMI, and its
    (sub-)queries by name. "prefixes" has the prefixes of the words of models, and "corpora" the models that are
    corpora.
    """
    entries = []
    for criterion in study.config.criteria:
        set_numbers: dict[tuple, int] = {}
        for key in sorted(
            key for key in study.metrics(criterion) if study.grid.suitable_models(criterion, key)
        ):
            metric = study.metric(criterion, key)
            parts: dict[str, dict[str, Any]] = {}
            for query, part in _subqueries(study, criterion, metric.template):
                parts.setdefault(part.name, {"id": query, **_part(part, metric, set_numbers)})
            detail, selection = metric.scored_by
            entry = {
                "criterion": criterion,
                "metric": key,
                "detail": detail,
                "taken": selection,
                "parts": parts,
            }
            entry |= {"sign": -1 if metric.nearer == "second" else 1, "neutral": metric.neutral}
            entries.append({**entry, "pmi": metric.name == "pmi"})
    prefixes = {key: prefix for key in study.models if (prefix := study.config.models[key].vocab_prefix)}
    corpora = sorted(model for model in study.models if study.kind(model).text)
    return {"metrics": entries, "prefixes": prefixes, "corpora": corpora}


def _part(part: Any, metric: Any, set_numbers: dict[tuple, int]) -> dict[str, Any]:
    """Return the entry of a (sub-)query in the spec.

    The entry has the names of its groups and of its other sets, and a number for the words of each. It has the
    meaning of a higher score of a word and of a set. It also has the (sub-)queries of PMI with the same question; if
    there are two, the value of the second is subtracted from the value of the first.
    """
    sides = part.target_sets, part.attribute_sets
    groups, words = sides if metric.groups == "targets" else sides[::-1]
    leans = bool(metric.nearer) and len(groups) == 2
    of_pmi: Sequence[Any] = ()
    if metric.groups == "targets" and part.template == (2, 1):
        of_pmi = [part]
    elif metric.template == (2, 2):
        # Compare X and Y between A and B, as in `tables.corpus_correlations`.
        of_pmi = part.subqueries((2, 1))
    return {
        "groups": [s.name for s in groups],
        "words": [s.name for s in words],
        "numbers": [
            set_numbers.setdefault(tuple(s.words for s in part_or_sets), len(set_numbers))
            for part_or_sets in (groups, words)
        ],
        "higher": {
            WORDS: NEARER if leans else OTHER,
            SETS: BIASED if metric.bias != "two-sided" else NEARER if leans else OTHER,
        },
        "pmi": [part_or_sets.name for part_or_sets in of_pmi],
    }


class Frequencies:
    """Log frequencies of the words and sets of models, read from their files.

    Attributes
    ----------
    sources
        Source of each model's frequencies.
    """

    def __init__(self, files: Iterable[Any]):
        records = list(map(read_frequencies, files))
        self.sources: dict[str, str] = {record["model"]: record["source"] for record in records}
        self._words = {record["model"]: record["words"] for record in records}
        self._sets = {
            (record["model"], of_set["criterion"], of_set["query"], of_set["set"]): of_set
            for record in records
            for of_set in record["sets"]
        }

    def word(self, model: str, word: str) -> float:
        """Return the log frequency of a vocabulary entry; NaN if it is unknown."""
        log = self._words[model].get(word, {}).get("log_frequency")
        return nan if log is None else log

    def sets(self, model: str, criterion: str, query: str, names: Sequence[str]) -> tuple[float, float]:
        """Return the mean and the variance of the log frequencies of the words of some sets of a query."""
        known_sets = [self._sets.get((model, criterion, query, name), {"known": 0}) for name in names]
        known_sets = [of_set for of_set in known_sets if of_set["known"]]
        count = sum(of_set["known"] for of_set in known_sets)
        if not count:
            return nan, nan
        mean = sum(of_set["known"] * of_set["mean_log"] for of_set in known_sets) / count
        squares = sum(
            of_set["known"] * (of_set["variance_log"] + (of_set["mean_log"] - mean) ** 2)
            for of_set in known_sets
        )
        return mean, squares / count

    def difference(self, model: str, criterion: str, query: str, names: Sequence[str]) -> float:
        """Return the difference of the mean log frequencies of two sets of a query; NaN if there are not two sets."""
        if len(names) != 2:
            return nan
        first, second = (self.sets(model, criterion, query, [name])[0] for name in names)
        return first - second


def points_of(inputs: Files, spec: Mapping[str, Any]) -> dict[tuple[str, ...], Points]:
    """Return the points of each correlation, by the columns of the table from criterion to source.

    `inputs`: "cells", "frequencies" and "scores"; `spec`: as in `metrics_spec`.
    """
    frequencies = Frequencies(inputs["frequencies"])
    points_by_key: dict[tuple[str, ...], list[tuple[Numbers, Any, Any]]] = defaultdict(list)
    for key, point in _word_points(inputs["cells"], spec, frequencies):
        points_by_key[key].append(point)
    for key, point in _set_points(inputs["scores"], spec, frequencies):
        points_by_key[key].append(point)
    points = {key: Points.of(key_points) for key, key_points in points_by_key.items()}
    # Leave out keys without points: the model lacks the frequencies, or the PMI, of the measured words.
    return {key: key_points for key, key_points in points.items() if len(key_points.units)}


def _word_points(
    files: Iterable[Any], spec: Mapping[str, Any], frequencies: Frequencies
) -> Iterator[tuple[tuple[str, ...], tuple[Numbers, Any, Any]]]:
    scores = _word_scores(files, spec)
    biases: dict[str, dict[tuple[str, str], dict[tuple[int, str], float]]] = {}
    for entry in spec["metrics"]:
        for (criterion, metric, model, debias), scores_of_words in scores.items():
            if entry["pmi"] and (criterion, metric, debias) == (entry["criterion"], entry["metric"], "none"):
                biases_of_words = {
                    (groups, word.lower()): score for (groups, word, _), score in scores_of_words.items()
                }
                biases.setdefault(criterion, {})[model, metric] = biases_of_words
    for place, scores_of_words in scores.items():
        criterion, _, model, _ = place
        source, prefix = frequencies.sources.get(model, ""), spec["prefixes"].get(model, "")
        corpora = biases.get(criterion, {}) if model not in spec["corpora"] else {}
        for (groups, word, higher), score in scores_of_words.items():
            key = (*place, WORDS, higher)
            log = frequencies.word(model, word) if source else nan
            if source:
                yield (*key, LOG, "", "", "", source), ((score, log), word, groups)
            for corpus, biases_of_words in corpora.items():
                bias = biases_of_words.get((groups, word.removeprefix(prefix).lower()))
                if bias is None:
                    continue
                bias = bias if higher == NEARER else abs(bias)
                yield (*key, PMI, "", *corpus, ""), ((score, bias), word, groups)
                if source:
                    yield (*key, LOG, PMI, *corpus, source), ((score, log, bias), word, groups)
                    yield (*key, PMI, LOG, *corpus, source), ((score, bias, log), word, groups)


def _word_scores(
    files: Iterable[Any], spec: Mapping[str, Any]
) -> dict[Place, dict[tuple[int, str, str], float]]:
    """Return the score of each word, by pair of groups and meaning of a higher score, for each place.

    If a metric draws at random and has several scores for a word, the mean is returned.
    """
    entries = {(entry["criterion"], entry["metric"]): entry for entry in spec["metrics"]}
    scores: dict[Place, dict[tuple[int, str, str], list[float]]] = {}
    for (criterion, query, metric, model, debias), _, result in results(files):
        entry = entries[criterion, metric]
        part = entry["parts"][query]
        higher, groups = part["higher"][WORDS], part["numbers"][0]
        of_place = scores.setdefault((criterion, metric, model, debias), {})
        for by_word in result["detail"].get(entry["detail"], {}).values():
            for word, value in by_word.items():
                score = _score(value, entry["taken"])
                if not isnan(score):
                    directed_score = score * entry["sign"] if higher == NEARER else score
                    of_place.setdefault((groups, word, higher), []).append(directed_score)
    return {
        place: {key: fmean(values) if values[1:] else values[0] for key, values in scores_of_words.items()}
        for place, scores_of_words in scores.items()
    }


def _score(value: Any, selection: str) -> float:
    """Return a word's score from its number, or from several numbers by name; NaN if a number is missing."""
    # Most words have one number.
    if not isinstance(value, dict):
        return nan if value is None else value
    numbers = list(value.values())
    if None in numbers or (len(numbers) > 1 and not selection):
        return nan
    if selection == "difference":
        return numbers[0] - numbers[1]
    return fmean(numbers) if selection == "mean" else numbers[0]


def _set_points(
    file: Any, spec: Mapping[str, Any], frequencies: Frequencies
) -> Iterator[tuple[tuple[str, ...], tuple[Numbers, Any, Any]]]:
    # Import late: the module imports pandas.
    from . import read as read_table

    scores = read_table(file).dropna(subset="value")
    columns = ["criterion", "metric", "model", "debias", "query", "value"]
    values: dict[Place, dict[str, float]] = {}
    for *place, query, value in scores[columns].itertuples(index=False, name=None):
        values.setdefault(tuple(place), {})[query] = value
    entries = {(entry["criterion"], entry["metric"]): entry for entry in spec["metrics"]}
    for place, of_place in values.items():
        criterion, metric, model, _ = place
        entry, source = entries[criterion, metric], frequencies.sources.get(model, "")
        corpora = {
            (corpus, key): by_query
            for (other_criterion, key, corpus, debias), by_query in values.items()
            if (other_criterion, debias) == (criterion, "none")
            and entries[other_criterion, key]["pmi"]
            and model not in spec["corpora"]
        }
        for query, value in of_place.items():
            part = entry["parts"][query]
            higher, (groups, words) = part["higher"][SETS], part["numbers"]
            score = {NEARER: entry["sign"] * value, BIASED: abs(value - entry["neutral"])}.get(higher, value)
            # A score without a direction is compared with the absolute difference.
            magnitude = float if higher == NEARER else abs
            key = (*place, SETS, higher)
            if source:
                place_of_part = model, criterion, part["id"]
                mean, variance = frequencies.sets(*place_of_part, part["words"])
                for covariate, number, unit in (
                    (MEAN, mean, words),
                    (VARIANCE, variance, words),
                    (OF_WORDS, magnitude(frequencies.difference(*place_of_part, part["words"])), words),
                    (OF_GROUPS, magnitude(frequencies.difference(*place_of_part, part["groups"])), groups),
                ):
                    yield (*key, covariate, "", "", "", source), ((score, number), unit, 0)
            for corpus, by_query in corpora.items():
                if part["pmi"] and all(name in by_query for name in part["pmi"]):
                    first, *second = (by_query[name] for name in part["pmi"])
                    yield (*key, PMI, "", *corpus, ""), ((score, magnitude(first - sum(second))), query, 0)

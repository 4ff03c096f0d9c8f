"""Measurement of a metric on a model, with scores of words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from biasgrid import metrics
from biasgrid.core.errors import BiasgridError
from biasgrid.measure.measurement_spec import MeasurementSpec, check_template, split_options
from biasgrid.measure.metric_input import look_up
from biasgrid.models.store import EmbeddingStore
from biasgrid.queries.query import Query

GROUPS = ("male", "female")


def measure(
    entry: Mapping[str, Any],
    model: EmbeddingStore,
    groups: Sequence[Sequence[str]],
    occupations: Sequence[str],
    truth: np.ndarray,
    seed: int = 0,
    halves: int = 0,
) -> dict[str, Any]:
    """Measure a metric of the config on a model: value (or NaN), status, and scores of occupations (or None).

    Occupations are one set. For a metric that takes two sets, they are divided into truly male occupations (share
    above .5) and truly female ones. An occupation of exactly .5 is in neither set. With `halves` > 0, the result also
    has "halves": the mean distance of the values on that many random halves of the occupations from the value on all.
    It is NaN if a half does not have a value. The seed determines the halves, which are the same for all metrics.
    Raises BiasgridError if the entry's `words` is not a detail of the metric.
    """
    measurement = _measure(entry, model, groups, occupations, truth, seed)
    if halves:
        distances = []
        for half in random_halves(len(occupations), halves, seed):
            part = [occupations[place] for place in half]
            of_half = _measure(entry, model, groups, part, truth[half], seed)
            distances.append(abs(of_half["value"] - measurement["value"]))
        measurement["halves"] = float(np.mean(distances))
    return measurement


def random_halves(words: int, halves: int, seed: int) -> list[np.ndarray]:
    """Draw `halves` random halves of words as sorted indices; they depend only on the seed."""
    rng = np.random.default_rng(seed)
    return [np.sort(rng.permutation(words)[: words // 2]) for _ in range(halves)]


def _measure(
    entry: Mapping[str, Any],
    model: EmbeddingStore,
    groups: Sequence[Sequence[str]],
    occupations: Sequence[str],
    truth: np.ndarray,
    seed: int,
) -> dict[str, Any]:
    metric = metrics.metric(entry["metric"])
    sets = {"occupations": list(occupations)}
    if entry["split"]:
        sides = {"male occupations": truth > 0.5, "female occupations": truth < 0.5}
        sets = {
            name: [w for w, is_in in zip(occupations, side, strict=True) if is_in]
            for name, side in sides.items()
        }
        empty = [name for name, words in sets.items() if not words]
        if empty:
            return {"value": np.nan, "status": f"no {empty[0]}", "words": None}
    arguments = [(list(groups), list(sets.values())), (list(GROUPS), list(sets))]
    if entry["groups"] == "attributes":
        arguments = [pair[::-1] for pair in arguments]
    query = Query(*arguments[0], *arguments[1])
    try:
        parameters, words = split_options(metric, entry["params"])
        spec = MeasurementSpec(metric, parameters, words, seed)
        check_template(spec.metric, query)
        (sample,) = look_up(spec, query, model)
        result = sample.result()
    except BiasgridError as error:
        # Some metrics cannot be measured here, such as a metric of the change by a debias method.
        return {"value": np.nan, "status": str(error), "words": None}
    name = entry.get("words")
    if name and result.detail and name not in result.detail:
        details = ", ".join(result.detail)
        raise BiasgridError(f"metrics: {metric.name}: words: it has no detail {name!r}; it has {details}")
    scores = _word_scores(result.detail, sets, name)
    by_word = None if scores is None else [scores.get(word, np.nan) for word in occupations]
    return {"value": result.value, "status": result.status, "words": by_word}


def _word_scores(
    detail: Mapping[str, Mapping[str, Mapping[str, Any]]], sets: Iterable[str], name: str | None
) -> dict[str, float] | None:
    """Return the score of each occupation from the first detail with one number per word, or with a mean.

    If the config names a detail (`words`), it may also have one number per group, whose mean is the score.
    """
    for candidate in [name] if name else detail:
        by_set = detail.get(candidate, {})
        if not set(sets) <= set(by_set):
            continue
        by_word = {word: value for one in sets for word, value in by_set[one].items()}
        first = next(iter(by_word.values()))
        if not isinstance(first, dict):
            return by_word
        if "mean" in first:
            return {word: values["mean"] for word, values in by_word.items()}
        if name:
            return {word: float(np.mean(list(values.values()))) for word, values in by_word.items()}
    return None

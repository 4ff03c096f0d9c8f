"""The table of WEAT's effect size within grammatical genders: each target word less the mean of its gender."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..inference.bootstrap import jackknife
from ..metrics.sets import effect_size, whole_sets
from ..results import results
from .keys import CELL
from .table import Column, Files, Table

if TYPE_CHECKING:
    from ..planned import Cell, Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """A row per cell of WEAT's effect size with words of a gender in each target set, in criteria with `genders`.

    inputs: "cells", their files. spec: "genders", criterion -> gender -> words; "ddof", a list of [criterion, metric,
    ddof]; "level", of the intervals.
    """
    ddof = {(criterion, metric): number for criterion, metric, number in spec["ddof"]}
    tail = (1 - spec["level"]) / 2
    rows = []
    for key, _, result in results(inputs["cells"]):
        sets = _by_gender(result, spec["genders"][key[0]])
        if len(sets) != 2 or not all(any(words) for words in sets.values()):
            continue
        place = (*key, sum(len(words) for genders in sets.values() for words in genders))
        missing = [
            f"{name} has no {gender} word"
            for name, genders in sets.items()
            for gender, words in zip(spec["genders"][key[0]], genders, strict=True)
            if not words
        ]
        numbers = [np.nan] * 6
        if not missing:
            associations = [np.concatenate(genders) for genders in sets.values()]
            genders = [np.repeat(range(len(words)), [*map(len, words)]) for words in sets.values()]
            numbers = [
                *_with_interval(_effect_size, associations, genders, ddof[key[0], key[2]], tail),
                *_with_interval(_within, associations, genders, ddof[key[0], key[2]], tail),
            ]
        rows.append((*place, *numbers, "; ".join(missing)))
    return WITHIN_GENDER.finish(rows)


def _by_gender(
    result: Mapping[str, Any], genders: Mapping[str, Sequence[str]]
) -> dict[str, list[list[float]]]:
    """Target set -> of each gender, the associations of its words."""
    by_set = {}
    for of_set, associations in result["detail"].get("association", {}).items():
        found = result["found"].get(of_set, {})
        entries = [
            dict.fromkeys(entry for word in words for entry in found.get(word, ()) if entry in associations)
            for words in genders.values()
        ]
        by_set[of_set] = [[associations[entry] for entry in of_gender] for of_gender in entries]
    return by_set


def _effect_size(associations: Sequence[np.ndarray], _: Sequence[np.ndarray], ddof: int) -> float:
    x, y = whole_sets(map(len, associations))
    return float(effect_size(x, y, np.concatenate(associations), ddof))


def _within(associations: Sequence[np.ndarray], genders: Sequence[np.ndarray], ddof: int) -> float:
    both, gender = np.concatenate(associations), np.concatenate(genders)
    means = np.bincount(gender, both) / np.maximum(np.bincount(gender), 1)
    return _effect_size(np.split(both - means[gender], [len(associations[0])]), genders, ddof)


def _with_interval(
    value_of: Callable[..., float],
    associations: Sequence[np.ndarray],
    genders: Sequence[np.ndarray],
    ddof: int,
    tail: float,
) -> list[float]:
    """A value, and its interval over the target words by the jackknife; none where a set has one word."""

    def without(i: int, place: int) -> float:
        parts = (
            [np.delete(array, place) if j == i else array for j, array in enumerate(arrays)]
            for arrays in (associations, genders)
        )
        return value_of(*parts, ddof)

    value = value_of(associations, genders, ddof)
    if min(map(len, associations)) == 1:
        return [value, math.nan, math.nan]
    left_out = [np.array([without(i, place) for place in range(len(a))]) for i, a in enumerate(associations)]
    return [value, *jackknife(value, left_out, tail)]


def _cells(study: Planned) -> list[Cell]:
    criteria = {name for name, entry in study.config.criteria.items() if entry.genders}
    return [
        cell
        for cell in study.grid.cells.values()
        if cell.criterion in criteria and study.metric(cell.criterion, cell.metric).name == "weat_es"
    ]


def _spec(study: Planned) -> dict[str, Any]:
    places = sorted({(cell.criterion, cell.metric) for cell in _cells(study)})
    ddof = [
        [criterion, key, (study.metrics(criterion)[key].params or {}).get("ddof", 0)]
        for criterion, key in places
    ]
    genders = {name: entry.genders for name, entry in study.config.criteria.items() if entry.genders}
    return {"genders": genders, "ddof": ddof}


UNIT = "standard deviations"
WITHIN_GENDER = Table(
    "within_gender",
    "One row per score of WEAT's effect size in criteria with `genders` whose target sets have words of a gender: "
    "the value of these words, and that of each word less the mean of its gender. Only where each set has words of "
    "every gender. A repeated word counts once. Intervals are over the target words alone.",
    (
        *CELL,
        Column.count("words", "target words of a gender"),
        Column.value("value", "their effect size", UNIT),
        Column.value("ci_low", "the lower end of its interval", UNIT),
        Column.value("ci_high", "the upper end", UNIT),
        Column.value("within", "their effect size, each less the mean of its gender", UNIT),
        Column.value("within_low", "the lower end of its interval", UNIT),
        Column.value("within_high", "the upper end", UNIT),
        Column("reason", "why there is no value"),
    ),
    reads=("cells",),
    facts=("level",),
    spec=_spec,
    make=make,
    cells=_cells,
)
TABLES = (WITHIN_GENDER,)

"""Table of WEAT's effect size within grammatical genders: each target word minus the mean of its gender."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..measure.bootstrap import jackknife
from ..measure.results import results
from ..metrics.sets import WeightedSet, effect_size
from .cells import ddof_of, effect_size_cells
from .keys import CELL
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per cell of WEAT's effect size with gendered words in both target sets.

    Parameters
    ----------
    inputs
        "cells": their files.
    spec
        "genders": criterion -> gender -> words, for criteria with `genders`; "ddof": a list of [criterion, metric,
        ddof]; "level": the level of the intervals.
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
            numbers = _effect_sizes(associations, genders, ddof[key[0], key[2]], tail)
        rows.append((*place, *numbers, "; ".join(missing)))
    return WITHIN_GENDER.finish(rows)


def _by_gender(
    result: Mapping[str, Any], genders: Mapping[str, Sequence[str]]
) -> dict[str, list[list[float]]]:
    """Return, for each target set, the associations of the words of each gender."""
    by_set = {}
    for of_set, associations in result["detail"].get("association", {}).items():
        found = result["found"].get(of_set, {})
        entries = [
            dict.fromkeys(entry for word in words for entry in found.get(word, ()) if entry in associations)
            for words in genders.values()
        ]
        by_set[of_set] = [[associations[entry] for entry in of_gender] for of_gender in entries]
    return by_set


def _effect_sizes(
    associations: Sequence[np.ndarray], genders: Sequence[np.ndarray], ddof: int, tail: float
) -> list[float]:
    """Compute the effect size of the words, and the effect size after subtracting the mean of each word's gender.

    Each comes with its jackknife interval over the words, which is missing if a set has one word.
    """
    values, gender = np.concatenate(associations), np.concatenate(genders)
    is_first = np.arange(len(values)) < len(associations[0])
    # Weight all words, and then all but one.
    weights = np.vstack([np.ones(len(values)), 1 - np.eye(len(values))])
    is_of_gender = np.eye(1 + gender.max())[gender]
    counts = np.maximum(weights @ is_of_gender, 1)
    means = (weights * values) @ is_of_gender / counts
    numbers = []
    for of_words in (values[None], values - means[:, gender]):
        with np.errstate(invalid="ignore"):
            sets = WeightedSet(weights * is_first), WeightedSet(weights * ~is_first)
            value, *left_out = effect_size(*sets, of_words, ddof)
        ends = [math.nan, math.nan]
        if min(map(len, associations)) > 1:
            ends = jackknife(value, np.split(np.array(left_out), [len(associations[0])]), tail)
        numbers += [value, *ends]
    return numbers


_cells = partial(effect_size_cells, asked="genders")


def _spec(study: Planned) -> dict[str, Any]:
    genders = {name: entry.genders for name, entry in study.config.criteria.items() if entry.genders}
    return {"genders": genders, "ddof": ddof_of(study, _cells(study))}


UNIT = "standard deviations"
WITHIN_GENDER = Table(
    "within_gender",
    "WEAT's effect size within the words of each gender. One row per score of WEAT's effect size in criteria "
    "with `genders`, if each target set has words of every gender. It has the value of these words, and the value "
    "after the mean of its gender is subtracted from each word. A repeated word counts once. Intervals are over "
    "the target words alone.",
    (
        *CELL,
        Column.count("words", "number of target words of a gender"),
        Column.value("value", "effect size of these words", UNIT),
        Column.value("ci_low", "lower end of its interval", UNIT),
        Column.value("ci_high", "upper end of the same interval", UNIT),
        Column.value("within", "effect size after subtracting each gender's mean", UNIT),
        Column.value("within_low", "lower end of its interval", UNIT),
        Column.value("within_high", "upper end of the same interval", UNIT),
        Column("reason", "why there is no value"),
    ),
    reads=("cells",),
    facts=("level",),
    spec=_spec,
    make=make,
    cells=_cells,
)
TABLES = (WITHIN_GENDER,)

"""Table of validity: correlations of the numbers of words with external measures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.core.resources import find_file
from biasgrid.core.seeds import seed_of
from biasgrid.core.validation import to_record
from biasgrid.measure.results import KEYS, results
from biasgrid.measure.statistics import correlation
from biasgrid.tables.inputs import sample_files
from biasgrid.tables.keys import CELL
from biasgrid.tables.table import Column, Files, Table
from biasgrid.tables.word_scores import spec_of, word_scores

from ..correlation import disattenuated
from ..measures import measures_of, read

if TYPE_CHECKING:
    import pandas as pd

    from biasgrid.tables.planned import Cell, Planned

ALL, EXACT = WORDS = ("all", "exact")
FEWEST_UNITS = 5
FEW_UNITS = f"fewer than {FEWEST_UNITS} units"
ALIKE = "numbers are all alike"


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Make one row per set of words, measure, choice of words and method.

    Parameters
    ----------
    inputs
        "cells": the files of the cells. "inferences", if the study has reliability: the files of their inferences.
    spec
        "measures": criterion -> name -> the fields of a `measures.Measure`. "words": see `word_scores.spec_of`.
        "prefixes": model -> the prefix of its words. "seed": the seed of the study.
    """
    measures = {
        criterion: {name: read(measure) for name, measure in by_name.items()}
        for criterion, by_name in spec["measures"].items()
    }
    of_words = {(criterion, metric): entry for criterion, metric, entry in spec["words"]}
    reliabilities = _reliabilities(inputs.get("inferences", ()))
    seed = seed_of(spec["seed"], "validity")
    rows = []
    for key, _, result in results(inputs["cells"]):
        criterion, _, metric, model, _ = key
        if not (entry := of_words[criterion, metric]):
            continue
        for name, scores in word_scores(result, entry).items():
            prefix = spec["prefixes"].get(model, "")
            scores = {
                word.removeprefix(prefix): score for word, score in scores.items() if math.isfinite(score)
            }
            place = dict(zip(KEYS, key, strict=True)) | {"set": name}
            place["reliability"] = reliabilities.get((key, name), math.nan)
            for measure, numbers in measures[criterion].items():
                rows += [place | {"measure": measure} | row for row in _correlations(scores, numbers, seed)]
    return TABLE.finish(map(_with_corrected, rows), first=True)


def _reliabilities(files: Any) -> dict[tuple[tuple, str], float]:
    """Return the reliability of the order of the words of each set, if the study has it."""
    return {
        (key, part["set"]): part["value"]
        for key, _, result in results(files)
        for part in result.get("reliability", ())
        if part["value"] is not None
    }


def _correlations(
    scores: Mapping[str, float], numbers: Mapping[str, tuple[float, str, bool]], seed: int
) -> Iterable[dict[str, Any]]:
    for choice in WORDS:
        words = [word for word in scores if word in numbers and (choice == ALL or numbers[word][2])]
        if choice == EXACT and all(is_exact for *_, is_exact in numbers.values()):
            return
        units = {unit: place for place, unit in enumerate(dict.fromkeys(numbers[word][1] for word in words))}
        row: dict[str, Any] = {"words": choice, "n": len(words), "units": len(units)}
        if len(units) < FEWEST_UNITS:
            yield from (row | {"method": method, "note": FEW_UNITS} for method in correlation.METHODS)
            continue
        pairs = np.array([[scores[word] for word in words], [numbers[word][0] for word in words]])
        places = [units[numbers[word][1]] for word in words]
        for method in correlation.METHODS:
            value, low, high = correlation.over_units(pairs, places, method, seed)
            note = "" if math.isfinite(value) else ALIKE
            yield row | {"method": method, "correlation": value, "ci_low": low, "ci_high": high, "note": note}


def _with_corrected(row: dict[str, Any]) -> dict[str, Any]:
    if row["method"] == "pearson" and "correlation" in row:
        row["corrected"] = disattenuated(row["correlation"], row["reliability"])
    return {"note": "", **row}


def cells_with_measures(study: Planned) -> list[Cell]:
    """Return the cells of criteria that have measures."""
    measures = measures_of(study)
    return [cell for cell in study.grid.cells.values() if cell.criterion in measures]


def _spec(study: Planned) -> dict[str, Any]:
    prefixes = {key: prefix for key in study.models if (prefix := study.config.models[key].vocab_prefix)}
    return {"measures": to_record(measures_of(study)), "words": spec_of(study), "prefixes": prefixes}


def _inputs(study: Planned) -> dict[str, Any]:
    measures = measures_of(study)
    files = {measure.file for by_name in measures.values() for measure in by_name.values()}
    inferences = {}
    if study.config.reliability:
        samples = sample_files(study, lambda cell: cell.criterion in measures)
        inferences = {"inferences": samples["inferences"]}
    return {"measures": [str(find_file(file)) for file in sorted(files)], **inferences}


TABLE = Table(
    "validity",
    "Rows per set of words, measure from outside and method: how a metric's numbers of the words go with it.",
    (
        *CELL,
        Column("set", "whose words"),
        Column("measure", "its name in the config"),
        Column("words", "`all`, or those alone that the measure's file calls `exact`", values=WORDS),
        Column("method", "pearson, or spearman: the same of ranks", values=correlation.METHODS),
        Column.count("n", "words with both numbers"),
        Column.count("units", "different units of the measure, such as titles, that the words share"),
        Column.correlation("correlation", "positive: higher for words that are nearer to the first group"),
        Column.correlation(
            "ci_low", "lower end of its 95 % interval (percentiles of 2,000 resamples of units)"
        ),
        Column.correlation("ci_high", "its upper end"),
        Column(
            "reliability",
            "how reliably the metric orders the words of the set (reliability.csv)",
            "number",
            range=(-math.inf, 1),
        ),
        Column(
            "corrected",
            "of pearson: the correlation corrected for that, where it is .5 or more (Spearman 1904); not cut at 1. "
            "The measure's own reliability is not known, and taken for 1",
            "number",
            range=(-math.inf, math.inf),
        ),
        Column("note", "why there is no correlation"),
    ),
    reads=("cells",),
    inputs=_inputs,
    facts=("seed",),
    spec=_spec,
    make=make,
    cells=cells_with_measures,
)
TABLES = (TABLE,)

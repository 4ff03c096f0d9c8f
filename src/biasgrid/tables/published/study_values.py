"""A study's own numbers for the published ones, from its tables, cells, inference and evaluations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import metrics
from ...core.errors import BiasgridError
from ...core.in_memory import File, InMemory
from ...debias import UNTOUCHED
from ...evaluation.record import read_evaluation
from ...measure.aggregation import AGGREGATIONS, groups
from ...measure.records import read_frequencies
from ...measure.results import cells_in, scalars
from ...measure.statistics.correlation import correlate_columns
from ...measure.statistics.one_sample import z_test
from ...models.words import NGRAMS
from .published import CORRELATIONS, Z_TEST

if TYPE_CHECKING:
    import pandas as pd

# Beginning of the note on a p-value that cannot be smaller.
LOWEST = "no smaller p-value than"
# Scalars of a cell whose value is a mean of random runs.
RUN_SD, RUNS = "standard_deviation", "n_iterations"


@dataclass(frozen=True)
class StudyValue:
    """A number of the study.

    Attributes
    ----------
    value
        The number; NaN if it is missing.
    reason
        The reason why it is missing.
    in_study
        Whether the study measures it.
    runs
        The number of random runs in its mean; infinite without randomness.
    run_sd
        The standard deviation of one run; NaN if the study does not measure it.
    words_lost
        The number of missing words of its query.
    """

    value: float = math.nan
    reason: str = ""
    in_study: bool = True
    runs: float = math.inf
    run_sd: float = math.nan
    words_lost: int = 0


def unit(model: str, debias: str) -> str:
    return model if debias == UNTOUCHED else f"{model} under {debias}"


def number(value: float | None, missing: str) -> StudyValue:
    """Return a number of a table; `missing` is the reason if the table lacks its row."""
    if value is None:
        return StudyValue(reason=missing, in_study=False)
    return StudyValue(float(value), "ours is NaN" if math.isnan(value) else "")


def numbers(
    aggregates: pd.DataFrame, rankings: pd.DataFrame, correlations: pd.DataFrame
) -> dict[tuple, float]:
    """Return the tables' numbers by criterion, metric, model and quantity; a correlation's model is ""."""
    columns = ["criterion", "metric", "model"]
    aggregates, rankings = (
        t.assign(model=[unit(m, d) for m, d in zip(t["model"], t["debias"], strict=True)])
        for t in (aggregates, rankings)
    )
    aggregate_values = aggregates[[*columns, "aggregation", "value"]]
    ranks = rankings.assign(quantity="rank")[[*columns, "quantity", "rank"]]
    numbers = {tuple(place): value for *place, value in aggregate_values.itertuples(index=False)}
    numbers |= {tuple(place): rank for *place, rank in ranks.itertuples(index=False)}
    for quantity, method in CORRELATIONS.items():
        for row in correlations[correlations["method"] == method].itertuples(index=False):
            numbers[row.criterion, f"{row.metric_a}~{row.metric_b}", "", quantity] = row.correlation
    return numbers


def run_deviations(cells: Iterable[File], ranked_criteria: Sequence[str]) -> dict[tuple, tuple[float, float]]:
    """Compute the standard deviations between runs for `compare` from those of cells, whose runs are independent."""
    table = scalars(cells)
    index = [name for name in table.columns if name not in ("quantity", "value")]
    wide = table.pivot(index=index, columns="quantity", values="value").reset_index()
    if not {RUN_SD, RUNS} <= set(wide.columns):
        return {}
    deviations = {}
    for (criterion, metric, model, debias), places in groups(wide, ranked_criteria):
        part = wide.loc[places].dropna(subset=[RUN_SD])
        if part.empty:
            continue
        total = float(np.sqrt((part[RUN_SD] ** 2).sum()))
        for name in AGGREGATIONS:
            sd = total / len(part) if name.endswith("avg") else total
            deviations[criterion, metric, unit(model, debias), name] = sd, float(part[RUNS].min())
    return deviations


def read_measures(evaluations: Iterable[File]) -> dict[tuple, StudyValue]:
    """Return the study's number for each measure, by criterion, model, debias and group/measure."""
    measures = {}
    for record in map(read_evaluation, evaluations):
        for measure in record["measures"]:
            place = record["criterion"], record["model"], record["debias"]
            value, status = measure["value"], measure["status"]
            study_value = (
                StudyValue(float(value)) if value is not None else StudyValue(reason=f"ours is NaN: {status}")
            )
            measures[*place, f"{measure['group']}/{measure['measure']}"] = study_value
    return measures


def _only_result(path: File | None) -> dict[str, Any] | None:
    """Return the single result in a cell file, or None if the file is missing."""
    return _single_result(next(iter(_cells(path)), None), path)


def _inference_record(files: Mapping[str, File], cell: str) -> dict[str, Any] | None:
    """Return a cell's record (model/debias/metric/query) in its metric's inference file, or None if it is missing."""
    group, _, query = cell.rpartition("/")
    return {cell["query"]: cell for cell in _cells(files.get(group))}.get(query)


def _cells(path: File | None) -> list[dict[str, Any]]:
    """Return the cells in a file, or an empty list if the file is missing."""
    return cells_in(path) if isinstance(path, InMemory) or (path and Path(path).exists()) else []


def _single_result(record: Mapping[str, Any] | None, path: Any) -> dict[str, Any] | None:
    if record is None:
        return None
    results: list[dict[str, Any]] = record["results"]
    if len(results) != 1:
        raise BiasgridError(
            f"{path}: {len(results)} sub-queries; a published number needs a query of the metric's template"
        )
    return results[0]


def cell_value(path: File | None, quantity: str) -> StudyValue:
    """Return a number of a cell file."""
    result = _only_result(path)
    if result is None:
        return StudyValue(reason="the study has no such cell", in_study=False)
    if result["status"] != "ok":
        return StudyValue(reason=f"ours is NaN: {result['status']}")
    value = number_at(result, quantity)
    if value is None:
        return StudyValue(reason=f"the cell has no number at {quantity}")
    scalars = result.get("scalars", {})
    spread = scalars.get(RUN_SD, math.nan) if quantity == "value" else math.nan
    return StudyValue(
        value,
        runs=scalars.get(RUNS, math.inf),
        run_sd=spread,
        words_lost=result.get("words_lost", 0),
    )


def attribute_frequencies(
    files: Iterable[File], attribute_sets: Mapping[str, Sequence[str]]
) -> dict[tuple[str, str], float]:
    """Compute the mean frequency of the attribute words of a query, by model and query.

    `files` contain frequencies, and `attribute_sets` are the names of each query's sets. The mean of a query
    is missing if the count of every word is unknown.
    """
    means = {}
    for record in map(read_frequencies, files):
        sets: dict[str, list[tuple[float, int]]] = {}
        for of_set in record["sets"]:
            if of_set["set"] in attribute_sets[of_set["query"]] and of_set["mean"] is not None:
                sets.setdefault(of_set["query"], []).append((of_set["mean"], of_set["known"]))
        for query, parts in sets.items():
            means[record["model"], query] = sum(mean * n for mean, n in parts) / sum(n for _, n in parts)
    return means


def over_queries(
    cells: Mapping[str, File],
    places: Mapping[str, str],
    quantity: str,
    frequencies: Mapping[str, float],
) -> StudyValue:
    """Compute the z-test of a criterion's scores, or their correlation with the frequency of the attribute words.

    Parameters
    ----------
    cells : mapping
        The study's files of cells, by model/debias/metric/query.
    places : mapping
        Query -> the name of its cell.
    quantity : str
        One of `published.OVER_QUERIES`.
    frequencies : mapping
        Query -> the mean frequency of its attribute words.
    """
    found = {query: next(iter(_cells(cells.get(place))), None) for query, place in places.items()}
    records = {query: record for query, record in found.items() if record is not None}
    if not records:
        return StudyValue(reason="the study has no such scores", in_study=False)
    results = {query: _single_result(record, places[query]) for query, record in records.items()}
    scores = {q: result["value"] for q, result in results.items() if result and result["value"] is not None}
    if quantity == Z_TEST:
        record = next(iter(records.values()))
        neutral = metrics.metric(record["function"]).under(record["params"]).neutral
        value = z_test(np.array([*scores.values()]), neutral)[1]
    else:
        both = [query for query in scores if query in frequencies]
        columns = ([numbers[query] for query in both] for numbers in (scores, frequencies))
        first, second = (np.array(column, dtype=float)[:, None] for column in columns)
        value = float(correlate_columns(first, second, "pearson")[0])
    return StudyValue(value, f"over {len(scores)} of {len(places)} queries" * (len(scores) < len(places)))


def has_words_of_ngrams(path: File | None) -> bool:
    """Return whether words of a cell's query are outside the vocabulary and have vectors from n-grams."""
    return any(
        form.endswith(NGRAMS)
        for cell in _cells(path)
        for result in cell["results"]
        for of_set in result.get("forms", {}).values()
        for form in of_set.values()
    )


def p_value(files: Mapping[str, File], cells: Mapping[str, File], cell: str, quantity: str) -> StudyValue:
    """Return a p-value of a cell; the reason mentions if its test cannot give a smaller one."""
    result = _single_result(_inference_record(files, cell), cell)
    if result is None:
        return StudyValue(reason="the study has no such p-value", in_study=False)
    test = result.get("permutation", {})
    if test.get(quantity) is None:
        reason = result["status"]
        if reason == "ok" and quantity == "p_normal" and test.get("p_value") is not None:
            reason = "all partitions have one value, of which there is no normal curve"
        elif reason == "ok":
            reason = test.get("reason", "a partition has no value")
        return StudyValue(reason=f"ours is NaN: {reason}")
    value, lost = test[quantity], (_only_result(cells.get(cell)) or {}).get("words_lost", 0)
    reason = ""
    if quantity == "p_value" and value <= test["p_lowest"]:
        noun = "partitions" if test["method"] == "exact" else "draws"
        values = "so many pairs" if test["method"] == "binomial" else f"{test['draws']:,} {noun}"
        reason = f"{LOWEST} {value:.2g} can come out of {values}"
    return StudyValue(value, reason, words_lost=lost)


def robustness(files: Mapping[str, File], cells: Mapping[str, File], cell: str, side: str) -> StudyValue:
    """Return the mean change of a cell's value on half of a side's words, as a share of its metric's range."""
    record = _inference_record(files, cell)
    result = _single_result(record, cell)
    if record is None or result is None or (result["status"] == "ok" and "halves" not in result):
        return StudyValue(reason="the study has no such halves", in_study=False)
    if result["status"] != "ok":
        return StudyValue(reason=f"ours is NaN: {result['status']}")
    low, high = metrics.metric(record["function"]).under(record["params"]).range
    if not math.isfinite(high - low):
        return StudyValue(reason="the metric's range has no length")
    distance = result["halves"][side]
    if distance is None:
        return StudyValue(reason="ours is NaN: half the words have no value")
    lost = (_only_result(cells.get(cell)) or {}).get("words_lost", 0)
    return StudyValue(
        distance / (high - low), runs=record["inference"]["sensitivity"]["halves"], words_lost=lost
    )


def number_at(result: Mapping[str, Any], quantity: str) -> float | None:
    """Return the number of a cell's result at a quantity ("value", or a JSON pointer, RFC 6901), or None."""
    value: Any = result
    for key in quantity.removeprefix("/").split("/"):
        key = key.replace("~1", "/").replace("~0", "~")
        value = value.get(key) if isinstance(value, dict) else None
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)

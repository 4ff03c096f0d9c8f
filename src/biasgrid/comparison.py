"""A study's numbers beside the published ones: what was printed, what we get, whether they agree."""

from __future__ import annotations

import csv
import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from . import metrics, ratings, tables
from .errors import BiasgridError
from .mitigation import read_evaluation
from .study import UNTOUCHED, Study

# a file of published numbers; data/published/README.md says what each column holds
PUBLISHED = ["source", "table", "criterion", "query", "metric", "model", "quantity"]
PUBLISHED += ["published", "digits", "relative_tolerance", "known", "note"]
# a wider tolerance than this says that two draws agree, not that a number was reproduced
CLOSE = 0.03
OTHER_VECTORS = "other vectors"
VERDICTS = ("reproduced", "explained", "differs", OTHER_VECTORS)
# group and measure of an evaluation
MEASURE = re.compile(r"[a-z_]+/[A-Za-z0-9_.-]+")
# in the column `digits`: the number is printed as a power of ten
POWER = "log10"
# a known value beside such a row agrees within this share of a power of ten
NEAR = 0.1
# of a cell's inference: of its permutation test, and how far half the words move the value
TESTED = ("p_value", "p_normal")
HALVED = {"robustness_targets": "targets", "robustness_attributes": "attributes"}
INFERRED = (*TESTED, *HALVED)
# the correlation of a cell's biases of words with ratings by people
RATED = tuple(f"rating_{method}" for method in ratings.METHODS)
# how the note of a p-value begins that cannot be smaller
LOWEST = "no smaller p-value than"
# from so many random draws on a p-value's chance error says something of the printed one
DRAWS = 100_000
COMPARISON = ["source", "table", "criterion", "metric", "model", "quantity"]
COMPARISON += ["published", "ours", "difference", "verdict", "note"]


def of_study(study: Study) -> pd.DataFrame:
    """`compare` for a study's tables, cells, inference and evaluations, and the published numbers that it names."""
    made = [tables.read(study.results / f"{name}.csv") for name in ("aggregates", "rankings", "correlations")]
    return compare(
        read(study.config["published"]),
        *made,
        study.results / "cells",
        study.published_as,
        inference=study.results / "inference",
        evaluations=map(study.evaluation_file, study.evaluations.values()),
        beside=study.config["beside"],
        rated=_rated(study) if study.rated else None,
    )


def read(paths: Iterable[Path | str]) -> pd.DataFrame:
    """Files of published numbers as one table: text as it stands, numbers as float (`known`: None if empty).

    Raises BiasgridError with file and line for a column that is missing or unknown, a number that is none, a
    quantity that does not exist, and a tolerance or a known value without a note that gives the reason.
    """
    rows = []
    for path in paths:
        try:
            with open(path, encoding="utf-8", newline="") as file:
                lines = list(csv.reader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise BiasgridError(f"{path}: cannot read the published numbers: {error}") from None
        if not lines or lines[0] != PUBLISHED:
            raise BiasgridError(f"{path}: line 1: the columns must be {', '.join(PUBLISHED)}")
        rows += [_published(line, f"{path}: line {number}") for number, line in enumerate(lines[1:], 2)]
    # dtype object: nothing known (None) must not become a known NaN
    return pd.DataFrame(rows, columns=PUBLISHED, dtype=object)


def compare(
    published: pd.DataFrame,
    aggregates: pd.DataFrame,
    rankings: pd.DataFrame,
    correlations: pd.DataFrame,
    cells: Path | str,
    published_as: Mapping[tuple[str, str], str],
    inference: Path | str = "",
    evaluations: Iterable[Path] = (),
    beside: Mapping[str, str] | None = None,
    rated: Mapping[tuple, float] | None = None,
) -> pd.DataFrame:
    """One row for each published number of a model that the study has, sorted, with its verdict.

    published     as `read` gives it
    cells         the study's folder of cell files
    published_as  (model, debias key) -> the model whose published numbers it is compared with: for every model of
                  the study as it is ("none") itself, or the model that it is a part of; for one under a debias
                  method, which is called "<model> under <key>" here, the published debiased model, if any
    inference     the study's folder of the cells' p-values
    evaluations   the study's evaluation files
    beside        model -> a published model of other vectors, whose numbers are set beside it and not judged

    Verdicts: "reproduced", ours is the printed number in every printed digit or within the row's relative
    tolerance of at most 3 %, or rounds to the printed power of ten, or both are NaN; "explained", it is not, but
    ours is within a wider tolerance, which chance alone makes, or is the value that is known to come out today, and
    the note says why, or is a p-value of 100,000 or more draws whose 95 % interval has the known one, or the smallest
    that such draws, or all partitions of sets that lost no word, can give, and the printed one is below it;
    "differs", anything else, also where we have no value. "other vectors" is none: the number was printed for vectors
    that ours does not claim to be. `quantity` is led by the query's id. Ranks and
    their correlations depend on all models that are ranked: they are compared only where the study ranks exactly
    the models whose ranks the same source prints. Else, if it ranks all of these, a warning says so.
    """
    numbers = _numbers(aggregates, rankings, correlations)
    measured = _measured(evaluations)
    # a model under a debias method ranks beside the others, so its presence counts
    ranked = rankings[["model", "debias"]].drop_duplicates().itertuples(index=False)
    ranked = sorted(published_as.get((m, d), _unit(m, d)) for m, d in ranked)
    rows = []
    for source, part in published.groupby("source", sort=False):
        printed = set(part.loc[part["quantity"] == "rank", "model"])
        whole = ranked == sorted(printed)
        if printed and printed <= set(ranked) and not whole:
            more = ", ".join(name for name, n in Counter(ranked).items() if n > (name in printed))
            warnings.warn(
                f"{source}: its ranks and their correlations are not compared, as the study ranks more models than "
                f"these: {more}",
                stacklevel=2,
            )
        for row in part.itertuples(index=False):
            if row.quantity == "correlation":
                units = [("", UNTOUCHED)] if whole else []
            else:
                units = [unit for unit, other in published_as.items() if row.model in (_unit(*unit), other)]
                units += [(model, UNTOUCHED) for model, other in (beside or {}).items() if row.model == other]
                if row.quantity == "rank" and not whole:
                    units = []
            for model, debias in units:
                cell = Path(model) / debias / row.metric / f"{row.query}.json"
                tested: dict[str, Any] = {}
                if row.quantity in HALVED:
                    ours, why = _of_halves(Path(inference), cell, HALVED[row.quantity])
                elif row.quantity in TESTED:
                    ours, why, tested = _of_inference(Path(inference), Path(cells), cell, row.quantity)
                elif row.quantity in RATED:
                    ours = (rated or {}).get((model, debias, row.metric, row.query, row.quantity))
                    why = "the study has no such ratings" if ours is None else ""
                elif row.query:
                    ours, why = _of_cell(Path(cells) / cell, row.quantity)
                elif MEASURE.fullmatch(row.quantity):
                    missing = None, "the study evaluates no such measure"
                    ours, why = measured.get((row.criterion, model, debias, row.quantity), missing)
                else:
                    ours = numbers.get((row.criterion, row.metric, _unit(model, debias), row.quantity))
                    why = "the study has no such number" if ours is None else ""
                other = debias == UNTOUCHED and (beside or {}).get(model) == row.model
                rows.append(_compared(row, _unit(model, debias), ours, why, other, tested))
    return pd.DataFrame(rows, columns=COMPARISON).sort_values(COMPARISON[:7], ignore_index=True)


def verdict(
    published: float, ours: float, digits: int | str, relative_tolerance: float, known: float | None
) -> str:
    """See `compare`. `digits` are the decimals that were printed, or "log10" for a power of ten."""
    if digits == POWER:
        if _near(published, ours, 0.5):
            return "reproduced"
        return "explained" if known is not None and _near(known, ours, NEAR) else "differs"
    if _agree(published, ours, 0.5 * 10.0**-digits + 1e-12, min(relative_tolerance, CLOSE)):
        return "reproduced"
    if known is not None and _agree(known, ours, 1e-12, 1e-4):
        return "explained"
    if _agree(published, ours, 0, relative_tolerance):
        return "explained"
    return "differs"


def _unit(model: str, debias: str) -> str:
    return model if debias == UNTOUCHED else f"{model} under {debias}"


def _agree(expected: float, ours: float, absolute: float, relative: float) -> bool:
    if math.isnan(expected) or math.isnan(ours):
        return math.isnan(expected) and math.isnan(ours)
    return abs(ours - expected) <= max(absolute, relative * abs(expected))


def _near(expected: float, ours: float, powers: float) -> bool:
    """Whether two positive numbers are at most so many powers of ten apart."""
    if math.isnan(expected) or math.isnan(ours):
        return math.isnan(expected) and math.isnan(ours)
    return ours > 0 and abs(math.log10(ours / expected)) <= powers


def _compared(
    row: Any, model: str, ours: float | None, why: str, other_vectors: bool, tested: Mapping[str, Any]
) -> tuple:
    """The row of the comparison. `ours` is None where the study has no such number, `tested` the test that it is the
    p-value of, if it is one."""
    judged = "differs"
    if other_vectors:
        judged = OTHER_VECTORS
    elif ours is not None:
        judged = verdict(row.published, ours, row.digits, row.relative_tolerance, row.known)
        if judged == "differs" and tested and (excuse := _excuse(row, ours, tested)):
            judged, why = "explained", excuse
    other = f"printed for {row.model}" if model not in (row.model, "") else ""
    ours = math.nan if ours is None else float(ours)
    quantity = f"{row.query}: {row.quantity}" if row.query else row.quantity
    # a note on the printed number's tolerance says nothing of other vectors
    note = "; ".join(filter(None, (why, other, "" if other_vectors else row.note)))
    place = (row.source, row.table, row.criterion, row.metric, model, quantity)
    return (*place, row.published, ours, ours - row.published, judged, note)


def _excuse(row: Any, ours: float, tested: Mapping[str, Any]) -> str:
    """What in its test makes a p-value another than the printed one; "" if nothing does."""
    draws, drawn, lowest = tested["draws"], tested["method"] != "exact", tested["p_lowest"]
    if drawn and draws < DRAWS:
        return ""
    if drawn and row.known is not None and tested["p_low"] <= row.known <= tested["p_high"]:
        return f"95 % interval of {draws:,} draws: {tested['p_low']:.2g} to {tested['p_high']:.2g}"
    # all partitions of the whole sets may be more
    if row.published < ours <= lowest and (drawn or tested["words_lost"] == 0):
        return f"{LOWEST} {lowest:.2g} can come out of {draws:,} {'draws' if drawn else 'partitions'}"
    return ""


def _numbers(
    aggregates: pd.DataFrame, rankings: pd.DataFrame, correlations: pd.DataFrame
) -> dict[tuple, float]:
    """What is not of one cell, by criterion, metric, model and quantity; correlations are of no model."""
    columns = ["criterion", "metric", "model"]
    aggregates, rankings = (
        t.assign(model=[_unit(m, d) for m, d in zip(t["model"], t["debias"], strict=True)])
        for t in (aggregates, rankings)
    )
    of_models = aggregates[[*columns, "aggregation", "value"]]
    ranks = rankings.assign(quantity="rank")[[*columns, "quantity", "rank"]]
    numbers = {tuple(place): value for *place, value in of_models.itertuples(index=False)}
    numbers |= {tuple(place): rank for *place, rank in ranks.itertuples(index=False)}
    for row in correlations[correlations["method"] == "spearman"].itertuples(index=False):
        numbers[row.criterion, f"{row.metric_a}~{row.metric_b}", "", "correlation"] = row.correlation
    return numbers


def _measured(evaluations: Iterable[Path]) -> dict[tuple, tuple[float, str]]:
    """A measure's value, and why it is NaN, by criterion, model, debias and group/measure."""
    found = {}
    for record in map(read_evaluation, evaluations):
        for measure in record["measures"]:
            place = record["criterion"], record["model"], record["debias"]
            value, status = measure["value"], measure["status"]
            known = (float(value), "") if value is not None else (math.nan, f"ours is NaN: {status}")
            found[*place, f"{measure['group']}/{measure['measure']}"] = known
    return found


def _rated(study: Study) -> dict[tuple, float]:
    """Correlations with ratings, by model, debias, metric, query's id and quantity."""
    table = tables.read(study.results / "ratings.csv")
    ids = {study.queries[cell.query].name: cell.query for cell in study.rated}
    return {
        (row.model, row.debias, row.metric, ids[row.query], f"rating_{row.method}"): row.correlation
        for row in table.itertuples()
    }


def _only_result(path: Path) -> dict[str, Any] | None:
    """The result in a cell file of one, None where there is no file."""
    return _of_one(_record(path, "a cell file"), path)


def _inferred(folder: Path, cell: Path) -> dict[str, Any] | None:
    """The record of a cell (model/debias/metric/query.json) in the file of inference of its metric, None where there
    is none."""
    path = folder / cell.parent.with_name(f"{cell.parent.name}.json")
    record = _record(path, "a file of inference")
    cells = {} if record is None else {c["query"]: c for c in record.get("cells", [])}
    return cells.get(cell.stem)


def _record(path: Path, what: str) -> dict[str, Any] | None:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BiasgridError(f"{path}: not {what}: {error}") from None


def _of_one(record: Mapping[str, Any] | None, path: Path) -> dict[str, Any] | None:
    if record is None:
        return None
    results = record.get("results")
    if not isinstance(results, list):
        raise BiasgridError(f"{path}: not a cell file: it has no results")
    if len(results) != 1:
        raise BiasgridError(
            f"{path}: {len(results)} sub-queries; a published number needs a query of the metric's template"
        )
    return results[0]


def _of_cell(path: Path, quantity: str) -> tuple[float | None, str]:
    """A number of a cell file, and where it is None (not there) or NaN (the cell is undefined) why."""
    result = _only_result(path)
    if result is None:
        return None, "the study has no such cell"
    if result["status"] != "ok":
        return math.nan, f"ours is NaN: {result['status']}"
    value = result
    for key in ["value"] if quantity == "value" else _pointer(quantity):
        value = value.get(key) if isinstance(value, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None, f"the cell has no number at {quantity}"
    return float(value), ""


def _of_inference(
    folder: Path, cells: Path, cell: Path, quantity: str
) -> tuple[float | None, str, dict[str, Any]]:
    """A p-value of a cell as `_of_cell` gives numbers, and, unless it is a curve's, its test, with the number of
    words that the cell lost."""
    result = _of_one(_inferred(folder, cell), folder / cell)
    if result is None:
        return None, "the study has no such p-value", {}
    test = result.get("permutation", {})
    if test.get(quantity) is None:
        why = result["status"]
        if why == "ok" and quantity == "p_normal" and test.get("p_value") is not None:
            why = "all partitions have one value, of which there is no normal curve"
        elif why == "ok":
            why = test.get("reason", "a partition has no value")
        return math.nan, f"ours is NaN: {why}", {}
    measured = _only_result(cells / cell) or {}
    tested = test | {"words_lost": measured.get("words_lost")}
    return test[quantity], "", tested if quantity == "p_value" else {}


def _of_halves(folder: Path, cell: Path, side: str) -> tuple[float | None, str]:
    """The mean distance of a cell's value on half the words of a side, as a share of its metric's range."""
    record = _inferred(folder, cell)
    result = _of_one(record, folder / cell)
    if result is None or (result["status"] == "ok" and "halves" not in result):
        return None, "the study has no such halves"
    if result["status"] != "ok":
        return math.nan, f"ours is NaN: {result['status']}"
    low, high = metrics.metric(record["function"]).under(record["params"]).range
    if not math.isfinite(high - low):
        return None, "the metric's range has no length"
    distance = result["halves"][side]
    if distance is None:
        return math.nan, "ours is NaN: half the words have no value"
    return distance / (high - low), ""


def _pointer(text: str) -> list[str]:
    """The keys of a JSON pointer (RFC 6901)."""
    return [key.replace("~1", "/").replace("~0", "~") for key in text[1:].split("/")]


def _published(line: list[str], where: str) -> list:
    if len(line) != len(PUBLISHED):
        raise BiasgridError(f"{where}: {len(line)} fields; there are {len(PUBLISHED)} columns")
    row = dict(zip(PUBLISHED, line, strict=True))
    quantity = row["quantity"]
    of_query = quantity in ("value", *INFERRED, *RATED) or quantity.startswith("/")
    of_evaluation = MEASURE.fullmatch(quantity) is not None
    if not (of_query or of_evaluation) and quantity not in (*tables.AGGREGATIONS, "rank", "correlation"):
        allowed = ", ".join([*tables.AGGREGATIONS, "rank", "correlation", "value", *INFERRED, *RATED])
        raise BiasgridError(
            f"{where}: quantity {quantity!r}; allowed are {allowed}, a JSON pointer (/scalars/...) "
            "and a measure of an evaluation (direct/direct_bias)"
        )
    if of_evaluation and not row["criterion"]:
        raise BiasgridError(
            f"{where}: {quantity!r} needs a criterion that is evaluated; benchmarks of `quality` are not compared"
        )
    if of_evaluation and row["metric"]:
        raise BiasgridError(f"{where}: {quantity!r} is a measure of an evaluation, and is of no metric")
    if of_query != bool(row["query"]):
        raise BiasgridError(f"{where}: {quantity!r} {'needs a' if of_query else 'is of no'} query")
    if (row["known"] or row["relative_tolerance"]) and not row["note"]:
        raise BiasgridError(f"{where}: a tolerance or a known value needs a note that says why")
    try:
        row["published"] = float(row["published"])
        row["digits"] = POWER if row["digits"] == POWER else int(row["digits"])
        row["relative_tolerance"] = float(row["relative_tolerance"] or 0)
        row["known"] = float(row["known"]) if row["known"] else None
    except ValueError as error:
        raise BiasgridError(f"{where}: {error}") from None
    if row["digits"] == POWER:
        if f"{row['published']:e}".partition("e")[0].strip("0.") != "1":
            raise BiasgridError(f"{where}: {row['published']:g} is no power of ten")
        if row["relative_tolerance"] or (row["known"] is not None and row["known"] <= 0):
            raise BiasgridError(
                f"{where}: beside a power of ten there is no tolerance, and a known value is above 0"
            )
    elif math.isinf(row["published"]) or row["digits"] < 0 or not 0 <= row["relative_tolerance"] < 1:
        raise BiasgridError(
            f"{where}: a number is finite, has no negative digits, and a tolerance from 0 to 1"
        )
    return list(row.values())

"""A study's numbers beside published ones, and ones that other code computed: do they agree?"""

from __future__ import annotations

import csv
import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from . import metrics, ratings, tables
from .errors import BiasgridError
from .mitigation import read_evaluation
from .study import UNTOUCHED, Study

# a file of published numbers; data/published/README.md says what each column holds
PUBLISHED = ["source", "table", "criterion", "query", "metric", "model", "quantity"]
PUBLISHED += ["published", "digits", "runs", "run_sd", "test", "note"]
PRINTED, COMPUTED = "printed", "computed by other code"
# in order of precedence
NOT_ASKED, NO_VALUE, OTHER_VECTORS = UNJUDGED = ("not asked", "no value", "other vectors")
VERDICTS = (*UNJUDGED, "reproduced", "compatible", "explained", "differs")
# so many standard deviations from a printed run, or from a mean of runs, are put down to chance ...
WITHIN = 2
# ... and a normal distribution has this share of its draws further away
MISSES = "4.6 %"
# a test of the suite, as pytest names it
TEST = re.compile(r"tests/test_[a-z0-9_]+\.py::test_[a-z0-9_]+")
# group and measure of an evaluation
MEASURE = re.compile(r"[a-z_]+/[A-Za-z0-9_.-]+")
# in the column `digits`: the number is printed as a power of ten
POWER = "log10"
# of a cell's inference: of its permutation test, and how far half the words move the value
TESTED = ("p_value", "p_normal")
HALVED = {"robustness_targets": "targets", "robustness_attributes": "attributes"}
INFERRED = (*TESTED, *HALVED)
# the correlation of a cell's biases of words with ratings by people
RATED = tuple(f"rating_{method}" for method in ratings.METHODS)
# how the note of a p-value begins that cannot be smaller
LOWEST = "no smaller p-value than"
# the scalars of a cell that is a mean of random runs
RUN_SD, RUNS = "standard_deviation", "n_iterations"
COMPARISON = ["source", "table", "criterion", "metric", "model", "quantity"]
COMPARISON += ["published", "ours", "difference", "verdict", "note", "origin", "runs", "sd", "test"]


@dataclass(frozen=True)
class Ours:
    """A number of the study. `runs`: the random runs that it is the mean of, none where there is no chance in it;
    `run_sd`: the standard deviation of one of them, NaN where the study does not measure it; `words_lost`: of its
    query."""

    value: float = math.nan
    why: str = ""
    asked: bool = True
    runs: float = math.inf
    run_sd: float = math.nan
    words_lost: int = 0


def of_study(study: Study) -> pd.DataFrame:
    """`compare` for a study's tables, cells, inference and evaluations, and the numbers that it names."""
    made = [tables.read(study.results / f"{name}.csv") for name in ("aggregates", "rankings", "correlations")]
    numbers = read(study.config["published"], study.config["computed"])
    return compare(
        numbers,
        *made,
        study.results / "cells",
        study.published_as,
        inference=study.results / "inference",
        evaluations=map(study.evaluation_file, study.evaluations.values()),
        beside=study.config["beside"],
        rated=_rated(study) if study.rated else None,
        run_sds=_run_sds(study, set(numbers.loc[numbers["runs"].notna(), "metric"])),
    )


def read(published: Iterable[Path | str], computed: Iterable[Path | str] = ()) -> pd.DataFrame:
    """Files of published numbers, and of numbers that other code computed, as one table.

    Returns
    -------
    pandas.DataFrame
        The columns `PUBLISHED`, text as it stands, numbers as float (`runs`: None if empty, `run_sd`: NaN), and
        `origin`: "printed" or "computed by other code".

    Raises
    ------
    BiasgridError
        With file and line, for a column that is missing or unknown, a number that is none, a quantity that does
        not exist, the standard deviation of a run without runs, and a test without a note that gives the cause.
    """
    rows = []
    for path, origin in [(path, PRINTED) for path in published] + [(path, COMPUTED) for path in computed]:
        try:
            with open(path, encoding="utf-8", newline="") as file:
                lines = list(csv.reader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise BiasgridError(f"{path}: cannot read the published numbers: {error}") from None
        if not lines or lines[0] != PUBLISHED:
            raise BiasgridError(f"{path}: line 1: the columns must be {', '.join(PUBLISHED)}")
        rows += [
            [*_published(line, f"{path}: line {number}"), origin] for number, line in enumerate(lines[1:], 2)
        ]
    # dtype object: None must not become NaN
    return pd.DataFrame(rows, columns=[*PUBLISHED, "origin"], dtype=object)


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
    run_sds: Mapping[tuple, tuple[float, float]] | None = None,
) -> pd.DataFrame:
    """One row for each published number of a model that the study has, sorted, with its verdict.

    Verdicts, the first that holds:

    - "not asked": the study leaves the number out (no such metric, cell, test or measure);
    - "no value": it has no value for it, and the note says why;
    - "other vectors": the number was printed for vectors that ours does not claim to be;
    - "reproduced", "compatible", "explained", "differs": see `verdict`.

    `quantity` is led by the query's id. Ranks and their correlations depend on all models that are ranked: they are
    compared only where the study ranks exactly the models whose ranks the same source prints. Else, if it ranks all
    of these, a warning says so. A number over all criteria is asked only of a study that has all that the source
    prints it for.

    Parameters
    ----------
    published : pandas.DataFrame
        As `read` gives it.
    aggregates, rankings, correlations : pandas.DataFrame
        The study's tables.
    cells, inference : Path or str
        The study's folders of cell files and of the cells' p-values.
    published_as : mapping
        (model, debias key) -> the model whose published numbers it is compared with: for every model of the study
        as it is ("none") itself, or the model that it is a part of; for one under a debias method, which is called
        "<model> under <key>" here, the published debiased model, if any.
    evaluations : iterable of Path
        The study's evaluation files.
    beside : mapping
        Model -> a published model of other vectors, whose numbers are set beside it and not judged.
    rated : mapping
        Correlations with ratings, by model, debias, metric, query's id and quantity.
    run_sds : mapping
        Of aggregates that hold chance, by criterion, metric, model and quantity: the standard deviation of one run,
        and how many runs ours is the mean of.
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
        # what "Overall" is made of
        criteria = set(part.loc[part["query"] == "", "criterion"]) - {tables.OVERALL}
        for row in part.itertuples(index=False):
            if row.quantity == "correlation":
                units = [("", UNTOUCHED)] if whole else []
            else:
                units = [unit for unit, other in published_as.items() if row.model in (_unit(*unit), other)]
                units += [(model, UNTOUCHED) for model, other in (beside or {}).items() if row.model == other]
                if row.quantity == "rank" and not whole:
                    units = []
            for model, debias in units:
                unit = _unit(model, debias)
                cell = Path(model) / debias / row.metric / f"{row.query}.json"
                if row.quantity in HALVED:
                    ours = _of_halves(Path(inference), Path(cells), cell, HALVED[row.quantity])
                elif row.quantity in TESTED:
                    ours = _of_inference(Path(inference), Path(cells), cell, row.quantity)
                elif row.quantity in RATED:
                    correlation = (rated or {}).get((model, debias, row.metric, row.query, row.quantity))
                    ours = _number(correlation, "the study has no such ratings")
                elif row.query:
                    ours = _of_cell(Path(cells) / cell, row.quantity)
                elif MEASURE.fullmatch(row.quantity):
                    missing = Ours(why="the study evaluates no such measure", asked=False)
                    ours = measured.get((row.criterion, model, debias, row.quantity), missing)
                else:
                    place = row.metric, unit, row.quantity
                    ours = _number(numbers.get((row.criterion, *place)), "the study has no such number")
                    if row.criterion == tables.OVERALL and not all((c, *place) in numbers for c in criteria):
                        ours = Ours(why="the study has not all criteria that this is over", asked=False)
                    elif chance := (run_sds or {}).get((row.criterion, *place)):
                        ours = Ours(ours.value, ours.why, run_sd=chance[0], runs=chance[1])
                other = debias == UNTOUCHED and (beside or {}).get(model) == row.model
                rows.append(_compared(row, unit, ours, other))
    return pd.DataFrame(rows, columns=COMPARISON).sort_values(COMPARISON[:7], ignore_index=True)


def verdict(
    published: float,
    ours: float,
    digits: int | str,
    runs: float | None = None,
    sd: float = math.nan,
    explained: bool = False,
) -> str:
    """What a value of ours says of a printed number; nothing of it depends on what ours was before.

    Parameters
    ----------
    published, ours : float
        The printed number, and ours.
    digits : int or "log10"
        The decimals that were printed, or that a power of ten was.
    runs : float, optional
        How many random runs the printed number is a mean of; None where there is no chance in it.
    sd : float
        Measured: the standard deviation of a run, where one was printed, or of the difference of the printed mean
        and ours; NaN where it is not known.
    explained : bool
        Whether a test of the suite recomputes the printed number from the cause of the difference.

    Returns
    -------
    str
        "reproduced": ours rounds to the printed number, or to the printed power of ten, or the printed mean of
        several runs is, but for its rounding, within two standard deviations of the difference; "compatible": a
        single run was printed, and is within two of its standard deviations (never "reproduced": that ours, a mean,
        has its digits is luck); "explained"; "differs".
    """
    if digits == POWER:
        agrees = ours > 0 and abs(math.log10(ours / published)) <= 0.5
    else:
        # without chance, or where it was not measured, the digits decide; of a single run they say nothing
        chance = 0.0 if runs is None or (runs > 1 and math.isnan(sd)) else WITHIN * sd
        agrees = abs(ours - published) <= _rounding(digits) + chance
    if agrees:
        return "compatible" if runs == 1 else "reproduced"
    return "explained" if explained else "differs"


def _rounding(digits: int) -> float:
    """How far a number may be from what is printed of it."""
    return 0.5 * 10.0**-digits + 1e-12


def _unit(model: str, debias: str) -> str:
    return model if debias == UNTOUCHED else f"{model} under {debias}"


def _number(value: float | None, missing: str) -> Ours:
    """A number of a table, `missing` where the table has not its row."""
    if value is None:
        return Ours(why=missing, asked=False)
    return Ours(float(value), "ours is NaN" if math.isnan(value) else "")


def _compared(row: Any, model: str, ours: Ours, other_vectors: bool) -> tuple:
    """The row of the comparison."""
    notes, sd = [ours.why], math.nan
    if not ours.asked:
        judged = NOT_ASKED
    elif math.isnan(ours.value):
        judged = NO_VALUE
    elif other_vectors:
        judged = OTHER_VECTORS
    else:
        if row.runs is not None:
            sd, note = _chance(row, ours)
            notes.append(note)
        judged = verdict(row.published, ours.value, row.digits, row.runs, sd, bool(row.test))
        if judged == "differs" and ours.words_lost:
            notes.append(f"ours lacks {ours.words_lost} of the query's words")
    notes.append(f"printed for {row.model}" if model not in (row.model, "") else "")
    # what is said of the printed number's agreement says nothing of other vectors
    test = row.test if judged == "explained" else ""
    notes += [] if judged == OTHER_VECTORS else [row.note, f"recomputed by {test}" if test else ""]
    quantity = f"{row.query}: {row.quantity}" if row.query else row.quantity
    place = (row.source, row.table, row.criterion, row.metric, model, quantity)
    runs = math.nan if row.runs is None else row.runs
    numbers = row.published, ours.value, ours.value - row.published
    return (*place, *numbers, judged, "; ".join(filter(None, notes)), row.origin, runs, sd, test)


def _chance(row: Any, ours: Ours) -> tuple[float, str]:
    """The standard deviation that a printed random number is judged by, and a note that says how far ours is off."""
    run_sd = ours.run_sd if math.isnan(row.run_sd) else row.run_sd
    if math.isnan(run_sd):
        return math.nan, "what a run varies by was not measured on these vectors"
    if row.runs == 1:
        what, sd = "a single run was printed", run_sd
    else:
        # ours is a mean, too
        what, sd = (
            f"a mean of {row.runs:g} runs was printed",
            run_sd * math.sqrt(1 / row.runs + 1 / ours.runs),
        )
    off = max(abs(ours.value - row.published) - _rounding(row.digits), 0.0)
    off = f"{off / sd:.1f} standard deviations ({sd:.2g})" if sd > 0 else f"{off:.2g} (no run differed)"
    return sd, f"{what}: {off} from ours, {MISSES} are expected beyond {WITHIN}"


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


def _run_sds(study: Study, keys: set[str]) -> dict[tuple, tuple[float, float]]:
    """`compare`'s run_sds, of these metrics: as the cells measure them, whose runs are drawn independently."""
    cells = [study.cell_file(cell) for cell in study.cells.values() if cell.metric in keys]
    scalars = tables.scalars(cells)
    index = [name for name in scalars.columns if name not in ("quantity", "value")]
    wide = scalars.pivot(index=index, columns="quantity", values="value").reset_index()
    if not {RUN_SD, RUNS} <= set(wide.columns):
        return {}
    found = {}
    for (criterion, metric, model, debias), places in tables.groups(wide, study.ranked):
        part = wide.loc[places].dropna(subset=[RUN_SD])
        if part.empty:
            continue
        total = float(np.sqrt((part[RUN_SD] ** 2).sum()))
        for name in tables.AGGREGATIONS:
            sd = total / len(part) if name.endswith("avg") else total
            found[criterion, metric, _unit(model, debias), name] = sd, float(part[RUNS].min())
    return found


def _measured(evaluations: Iterable[Path]) -> dict[tuple, Ours]:
    """A measure, by criterion, model, debias and group/measure."""
    found = {}
    for record in map(read_evaluation, evaluations):
        for measure in record["measures"]:
            place = record["criterion"], record["model"], record["debias"]
            value, status = measure["value"], measure["status"]
            ours = Ours(float(value)) if value is not None else Ours(why=f"ours is NaN: {status}")
            found[*place, f"{measure['group']}/{measure['measure']}"] = ours
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


def _of_cell(path: Path, quantity: str) -> Ours:
    """A number of a cell file."""
    result = _only_result(path)
    if result is None:
        return Ours(why="the study has no such cell", asked=False)
    if result["status"] != "ok":
        return Ours(why=f"ours is NaN: {result['status']}")
    value = at(result, quantity)
    if value is None:
        return Ours(why=f"the cell has no number at {quantity}")
    scalars = result.get("scalars", {})
    spread = scalars.get(RUN_SD, math.nan) if quantity == "value" else math.nan
    return Ours(
        value,
        runs=scalars.get(RUNS, math.inf),
        run_sd=spread,
        words_lost=result.get("words_lost", 0),
    )


def _of_inference(folder: Path, cells: Path, cell: Path, quantity: str) -> Ours:
    """A p-value of a cell; one that its test cannot give smaller says so."""
    result = _of_one(_inferred(folder, cell), folder / cell)
    if result is None:
        return Ours(why="the study has no such p-value", asked=False)
    test = result.get("permutation", {})
    if test.get(quantity) is None:
        why = result["status"]
        if why == "ok" and quantity == "p_normal" and test.get("p_value") is not None:
            why = "all partitions have one value, of which there is no normal curve"
        elif why == "ok":
            why = test.get("reason", "a partition has no value")
        return Ours(why=f"ours is NaN: {why}")
    value, lost = test[quantity], (_only_result(cells / cell) or {}).get("words_lost", 0)
    why = ""
    if quantity == "p_value" and value <= test["p_lowest"]:
        drawn = "partitions" if test["method"] == "exact" else "draws"
        why = f"{LOWEST} {value:.2g} can come out of {test['draws']:,} {drawn}"
    return Ours(value, why, words_lost=lost)


def _of_halves(folder: Path, cells: Path, cell: Path, side: str) -> Ours:
    """The mean distance of a cell's value on half the words of a side, as a share of its metric's range."""
    record = _inferred(folder, cell)
    result = _of_one(record, folder / cell)
    if result is None or (result["status"] == "ok" and "halves" not in result):
        return Ours(why="the study has no such halves", asked=False)
    if result["status"] != "ok":
        return Ours(why=f"ours is NaN: {result['status']}")
    low, high = metrics.metric(record["function"]).under(record["params"]).range
    if not math.isfinite(high - low):
        return Ours(why="the metric's range has no length")
    distance = result["halves"][side]
    if distance is None:
        return Ours(why="ours is NaN: half the words have no value")
    lost = (_only_result(cells / cell) or {}).get("words_lost", 0)
    return Ours(distance / (high - low), runs=record["inference"]["sensitivity"]["halves"], words_lost=lost)


def at(result: Mapping[str, Any], quantity: str) -> float | None:
    """The number of a cell's result that a quantity ("value", or a JSON pointer, RFC 6901) means, None if there is
    none."""
    value: Any = result
    for key in quantity.removeprefix("/").split("/"):
        key = key.replace("~1", "/").replace("~0", "~")
        value = value.get(key) if isinstance(value, dict) else None
    return None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)


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
    if row["test"] and not (TEST.fullmatch(row["test"]) and row["note"]):
        raise BiasgridError(
            f"{where}: test {row['test']!r}: needed are tests/test_<file>.py::test_<name>, which recomputes the "
            "number, and a note that gives the cause"
        )
    try:
        row["published"] = float(row["published"])
        row["digits"] = POWER if row["digits"] == POWER else int(row["digits"])
        row["runs"] = int(row["runs"]) if row["runs"] else None
        row["run_sd"] = float(row["run_sd"] or math.nan)
    except ValueError as error:
        raise BiasgridError(f"{where}: {error}") from None
    if not math.isfinite(row["published"]) or (row["digits"] != POWER and row["digits"] < 0):
        raise BiasgridError(f"{where}: a number is finite and has no negative digits")
    if row["digits"] == POWER:
        if f"{row['published']:e}".partition("e")[0].strip("0.") != "1":
            raise BiasgridError(f"{where}: {row['published']:g} is no power of ten")
        if row["runs"] is not None:
            raise BiasgridError(f"{where}: a power of ten is of no random runs")
    if row["runs"] is not None and row["runs"] < 1:
        raise BiasgridError(f"{where}: {row['runs']} runs; allowed are whole numbers from 1, or none")
    if not math.isnan(row["run_sd"]) and (row["runs"] is None or not 0 <= row["run_sd"] < math.inf):
        raise BiasgridError(f"{where}: run_sd needs runs, and is 0 or more")
    return list(row.values())

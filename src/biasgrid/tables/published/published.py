"""Reading of published numbers, and of numbers that other code computed, from their files."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...core.errors import BiasgridError, quote
from ...core.in_memory import File, InMemory
from ...core.printable import check_texts
from ...core.resources import find_file
from ...measure.aggregation import AGGREGATIONS
from ...measure.statistics.correlation import METHODS
from .queries import Queries, read_queries

if TYPE_CHECKING:
    import pandas as pd

# Columns of a file of published numbers, which data/published/README.md describes.
PUBLISHED = ["source", "table", "criterion", "query", "metric", "model", "quantity"]
PUBLISHED += ["published", "digits", "runs", "run_sd", "test", "note"]
PRINTED, COMPUTED = "printed", "computed by other code"
# The name of a test of the suite in pytest.
TEST = re.compile(r"tests/test_[a-z0-9_]+\.py::test_[a-z0-9_]+")
# Group and measure of an evaluation.
MEASURE = re.compile(r"[a-z_]+/[A-Za-z0-9_.-]+")
# Beginning of the note on a number that is known to be wrong; the error follows.
ERROR = "error: "
# Beginning of the note on a number for fastText's vectors that includes vectors from n-grams.
NGRAMS = "with n-grams: "
# Beginning of the note on a number for some of the query's words, which were drawn without a seed.
DRAWN = "words drawn: "
# Value of the column `digits` for a number that is printed as a power of ten.
POWER = "log10"
# Quantities of a cell's inference: p-values of its permutation test, and changes of the value on half of the words.
TESTED = ("p_value", "p_normal")
HALVED = {"robustness_targets": "targets", "robustness_attributes": "attributes"}
INFERRED = (*TESTED, *HALVED)
# Correlations between a cell's biases of words and ratings by people.
RATED = tuple(f"rating_{method}" for method in METHODS)
# Methods of the printed rank correlations, by quantity.
CORRELATIONS = {"correlation": "spearman", "correlation_kendall": "kendall"}
# Quantities over the queries of a criterion, such as phenomena: the p-value of the z-test that the mean score equals
# the no-bias value, and the correlation of scores with the frequency of the attribute words.
Z_TEST, OF_FREQUENCY = OVER_QUERIES = ("p_z", "frequency_pearson")
# The mean frequency of a query's attribute words.
FREQUENCY = "frequency_attributes"
# Minimum and maximum of each quantity.
RANGES = {
    **dict.fromkeys((*TESTED, Z_TEST), (0, 1)),
    **dict.fromkeys((*RATED, *CORRELATIONS, OF_FREQUENCY), (-1, 1)),
    FREQUENCY: (0, math.inf),
    "rank": (1, math.inf),
}


def read(published: Iterable[File], computed: Iterable[File] = ()) -> pd.DataFrame:
    """Read files of published numbers, and of numbers that other code computed, as one table.

    In memory, they are DataFrames with the same columns.

    Returns
    -------
    pandas.DataFrame
        The columns `PUBLISHED`, texts unchanged, numbers as float (`runs`: None if empty, `run_sd`: NaN);
        `origin`: "printed" or "computed by other code"; `queries`: the queries of the number, by key
        (`tables.published.queries`), or None if no file lists them.

    Raises
    ------
    BiasgridError
        See `rows_of`.
    """
    import pandas as pd

    # With dtype object, None does not become NaN.
    return pd.DataFrame(rows_of(published, computed), columns=[*PUBLISHED, "origin", "queries"], dtype=object)


def rows_of(published: Iterable[File], computed: Iterable[File] = ()) -> list[list[Any]]:
    """Return the rows of `read`'s table, for checks of files at the start of a run, which does not need pandas.
    Raises BiasgridError, with file and line, for a missing or unknown column, an unknown quantity, or a number
    that cannot be read; also for the standard deviation of a run without runs, and a test without a note on the
    cause.
    """
    rows = []
    for path, origin in [(path, PRINTED) for path in published] + [(path, COMPUTED) for path in computed]:
        queries: dict[str, dict[str, str]] = {}
        if isinstance(path, InMemory):
            lines, path = _frame_lines(path.content), path.parts[-1]
        else:
            queries = read_queries(find_file(path))
            try:
                with open(find_file(path), encoding="utf-8-sig", newline="") as file:
                    lines = list(csv.reader(file))
            except (OSError, UnicodeDecodeError, csv.Error) as error:
                raise BiasgridError(f"{path}: cannot read the published numbers: {error}") from None
        if not lines or lines[0] != PUBLISHED:
            raise BiasgridError(f"{path}: line 1: the columns must be {', '.join(PUBLISHED)}")
        for number, line in enumerate(lines[1:], 2):
            check_texts(line, f"{path}: line {number}")
            row = _parse_line(line, f"{path}: line {number}")
            rows.append([*row, origin, _queries_of(dict(zip(PUBLISHED, row, strict=True)), queries)])
    return rows


def _queries_of(row: Mapping[str, Any], queries: Mapping[str, Queries]) -> Queries | None:
    """Return the queries of a number (one, or all of its criterion), or None if they are unknown."""
    of_criterion, query = queries.get(row["criterion"]), row["query"]
    if of_criterion is None or not query:
        return of_criterion
    return {query: of_criterion[query]} if query in of_criterion else None


def _frame_lines(frame: pd.DataFrame) -> list[list[str]]:
    """Return a DataFrame as the lines of its file; pandas reads whole numbers in a column with gaps as float."""
    import pandas as pd

    def text(value: Any) -> str:
        if pd.isna(value):
            return ""
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

    rows = ([text(value) for value in row] for row in frame.itertuples(index=False, name=None))
    return [list(map(str, frame.columns)), *rows]


def _parse_line(line: list[str], where: str) -> list:
    if len(line) != len(PUBLISHED):
        raise BiasgridError(f"{where}: {len(line)} fields; there are {len(PUBLISHED)} columns")
    row: dict[str, Any] = dict(zip(PUBLISHED, line, strict=True))
    quantity = row["quantity"]
    is_of_query = quantity in ("value", *INFERRED, *RATED, FREQUENCY) or quantity.startswith("/")
    is_of_evaluation = MEASURE.fullmatch(quantity) is not None
    of_criterion = (*AGGREGATIONS, "rank", *CORRELATIONS, *OVER_QUERIES)
    if not (is_of_query or is_of_evaluation) and quantity not in of_criterion:
        quantities = ", ".join([*of_criterion, "value", *INFERRED, *RATED, FREQUENCY])
        raise BiasgridError(
            f"{where}: quantity {quote(quantity)}; allowed are {quantities}, a JSON pointer (/scalars/...) "
            "and a measure of an evaluation (direct/direct_bias)"
        )
    if is_of_evaluation and not row["criterion"]:
        raise BiasgridError(
            f"{where}: {quote(quantity)} needs a criterion that is evaluated; benchmarks of `quality` are not "
            "compared"
        )
    if is_of_evaluation and row["metric"]:
        raise BiasgridError(f"{where}: {quote(quantity)} is a measure of an evaluation, so it has no metric")
    if is_of_query != bool(row["query"]):
        raise BiasgridError(f"{where}: {quote(quantity)} {'needs a' if is_of_query else 'is of no'} query")
    if row["test"] and not (TEST.fullmatch(row["test"]) and row["note"]):
        raise BiasgridError(
            f"{where}: test {quote(row['test'])}: needed are tests/test_<file>.py::test_<name>, which recomputes the "
            "number, and a note that gives the cause"
        )
    try:
        row["published"] = float(row["published"])
        row["digits"] = POWER if row["digits"] == POWER else int(row["digits"])
        row["runs"] = int(row["runs"]) if row["runs"] else None
        row["run_sd"] = float(row["run_sd"] or math.nan)
    except ValueError as error:
        raise BiasgridError(f"{where}: {error!s:.200}") from None
    has_no_runs = row["runs"] is None and math.isnan(row["run_sd"])
    if math.isnan(row["published"]) and quantity == "value" and row["digits"] == 0 and has_no_runs:
        return list(row.values())
    if not math.isfinite(row["published"]) or (row["digits"] != POWER and row["digits"] < 0):
        raise BiasgridError(
            f"{where}: a number is finite and has no negative digits; of a value that is printed as missing, "
            "published is nan, digits 0 and runs empty"
        )
    low, high = RANGES.get(quantity, (-math.inf, math.inf))
    if not low <= row["published"] <= high:
        allowed = f"from {low:g} on" if high == math.inf else f"from {low:g} to {high:g}"
        raise BiasgridError(f"{where}: {quantity} {row['published']:g} is not allowed; allowed: {allowed}")
    if row["digits"] == POWER:
        if f"{row['published']:e}".partition("e")[0].strip("0.") != "1":
            raise BiasgridError(f"{where}: {row['published']:g} is not a power of ten")
        if row["runs"] is not None:
            raise BiasgridError(f"{where}: a power of ten has no random runs")
    if row["runs"] is not None and row["runs"] < 1:
        raise BiasgridError(f"{where}: {row['runs']} runs; allowed are whole numbers from 1, or none")
    if not math.isnan(row["run_sd"]) and (row["runs"] is None or not 0 <= row["run_sd"] < math.inf):
        raise BiasgridError(f"{where}: run_sd needs runs, and is 0 or more")
    return list(row.values())

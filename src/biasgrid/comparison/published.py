"""Published numbers, and numbers that other code computed, from their files."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import BiasgridError, quote
from ..in_memory import File, InMemory
from ..printable import check_texts
from ..resources import find_file
from ..statistics.aggregation import AGGREGATIONS
from ..statistics.correlation import METHODS
from .queries import Queries, read_queries

if TYPE_CHECKING:
    import pandas as pd

# a file of published numbers; data/published/README.md says what each column holds
PUBLISHED = ["source", "table", "criterion", "query", "metric", "model", "quantity"]
PUBLISHED += ["published", "digits", "runs", "run_sd", "test", "note"]
PRINTED, COMPUTED = "printed", "computed by other code"
# a test of the suite, as pytest names it
TEST = re.compile(r"tests/test_[a-z0-9_]+\.py::test_[a-z0-9_]+")
# group and measure of an evaluation
MEASURE = re.compile(r"[a-z_]+/[A-Za-z0-9_.-]+")
# what a note begins with of a number that is known to be wrong; what is wrong follows
ERROR = "error: "
# what a note begins with of a number on fastText's vectors with those that it makes of n-grams
NGRAMS = "with n-grams: "
# what a note begins with of a number on some of the query's words, which were drawn without a seed
DRAWN = "words drawn: "
# in the column `digits`: the number is printed as a power of ten
POWER = "log10"
# of a cell's inference: of its permutation test, and how far half the words move the value
TESTED = ("p_value", "p_normal")
HALVED = {"robustness_targets": "targets", "robustness_attributes": "attributes"}
INFERRED = (*TESTED, *HALVED)
# the correlation of a cell's biases of words with ratings by people
RATED = tuple(f"rating_{method}" for method in METHODS)
# the quantity of a printed rank correlation -> how it is computed
CORRELATIONS = {"correlation": "spearman", "correlation_kendall": "kendall"}
# over the queries of a criterion, such as phenomena: the p-value of the z-test that the mean score is the no-bias
# value, and the correlation of scores with the frequency of the attribute words
Z_TEST, OF_FREQUENCY = OVER_QUERIES = ("p_z", "frequency_pearson")
# the mean frequency of a query's attribute words
FREQUENCY = "frequency_attributes"
# quantity -> the least and the greatest value that it can have
RANGES = {
    **dict.fromkeys((*TESTED, Z_TEST), (0, 1)),
    **dict.fromkeys((*RATED, *CORRELATIONS, OF_FREQUENCY), (-1, 1)),
    FREQUENCY: (0, math.inf),
    "rank": (1, math.inf),
}


def read(published: Iterable[File], computed: Iterable[File] = ()) -> pd.DataFrame:
    """Files of published numbers, and of numbers that other code computed, as one table.

    In memory they are DataFrames of the same columns.

    Returns
    -------
    pandas.DataFrame
        The columns `PUBLISHED`, text as it stands, numbers as float (`runs`: None if empty, `run_sd`: NaN);
        `origin`: "printed" or "computed by other code"; `queries`: the queries that the number is over, by key
        (`comparison.queries`), None where no file says which.

    Raises
    ------
    BiasgridError
        See `rows_of`.
    """
    import pandas as pd

    # dtype object: None must not become NaN
    return pd.DataFrame(rows_of(published, computed), columns=[*PUBLISHED, "origin", "queries"], dtype=object)


def rows_of(published: Iterable[File], computed: Iterable[File] = ()) -> list[list[Any]]:
    """The rows of `read`'s table, for a run that checks its files where it begins, and needs no table.

    Raises BiasgridError, with file and line, for a column that is missing or unknown, a number that is none, a
    quantity that does not exist, the standard deviation of a run without runs, and a test without a note that gives
    the cause.
    """
    rows = []
    for path, origin in [(path, PRINTED) for path in published] + [(path, COMPUTED) for path in computed]:
        queries: dict[str, dict[str, str]] = {}
        if isinstance(path, InMemory):
            lines, path = _lines(path.content), path.parts[-1]
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
    """The queries that a number is over: one, or those of its criterion; None where that is not known."""
    of_criterion, query = queries.get(row["criterion"]), row["query"]
    if of_criterion is None or not query:
        return of_criterion
    return {query: of_criterion[query]} if query in of_criterion else None


def _lines(frame: pd.DataFrame) -> list[list[str]]:
    """A DataFrame as the lines of its file: what pandas reads as a float, because others are missing, is whole."""
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

"""Table of intervals: every confidence interval of every score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..measure.options import INTERVALS, Bootstrap
from ..measure.results import KEYS, cells, key_of
from .keys import CELL
from .table import Column, Files, Table
from .tests import NO_VALUE, with_counts

if TYPE_CHECKING:
    import pandas as pd

# The kind of intervals over a corpus' sentences or windows.
UNITS = "units"
COLUMNS = ["kind", "low", "high", "standard_error", "level", "draws", "undefined", "reason"]


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per score and kind of interval, with the reason if an interval is missing."""
    rows = []
    for cell, results in cells(inputs["inferences"]):
        level = cell["inference"]["bootstrap"].get("level", Bootstrap.model_fields["level"].default)
        for result in results:
            intervals = _intervals(result.get("bootstrap"), level)
            rows += [(*key_of(cell, result), *interval) for interval in intervals]
    # As in the scores, a sub-query of several queries belongs to the first.
    return with_counts(TABLE.finish(rows, first=True), ["draws", "undefined"])


def _intervals(bootstrap: Mapping[str, Any] | None, level: float) -> Iterator[tuple]:
    """Yield the intervals of a score, with the columns `COLUMNS`."""
    reasons = (bootstrap or {}).get("reasons", {})
    record = bootstrap or {}
    numbers = [level, record.get("draws"), record.get("undefined")]
    for kind in INTERVALS:
        reason = NO_VALUE if bootstrap is None else reasons.get(kind)
        yield kind, *record.get(kind, (None, None)), record.get("standard_error"), *numbers, reason
    if units := record.get(UNITS):
        yield UNITS, *units["percentile"], units["standard_error"], level, record.get("draws"), None, None


def standard_errors(table: pd.DataFrame) -> pd.DataFrame:
    """Return the standard error of each score over words, with the columns `KEYS`."""
    return table.loc[table["kind"] == INTERVALS[0], [*KEYS, "standard_error"]]


TABLE = Table(
    "intervals",
    "Confidence intervals of scores. One row per score and kind of interval, or why there is none.",
    (
        *CELL,
        Column(
            "kind",
            "kind of interval. jackknife, percentile and bca resample words; units is the percentile interval "
            "over the sentences or windows of a corpus",
            values=(*INTERVALS, UNITS),
        ),
        Column.value("low", "lower end of the interval"),
        Column.value("high", "upper end of the interval"),
        Column.value(
            "standard_error", "standard error of the score (bootstrap over words, or over units)", least=0
        ),
        Column(
            "level",
            "confidence level: how often such an interval should cover the true value",
            "number",
            "share",
            (0, 1),
        ),
        Column("draws", "number of bootstrap resamples", "optional count"),
        Column("undefined", "number of resamples without a value", "optional count"),
        Column("reason", "why there is no interval"),
    ),
    reads=("inferences",),
    when="bootstrap",
    make=make,
    key=(*KEYS, "kind"),
)
TABLES = (TABLE,)

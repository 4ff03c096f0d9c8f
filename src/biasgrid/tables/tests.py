"""Table of tests: every test of every score in full."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from ..measure.results import KEYS, cells, key_of
from ..measure.significance import tests
from .keys import CELL
from .scores import adjust, equal_tests
from .table import Column, Files, Table

if TYPE_CHECKING:
    import pandas as pd

NO_VALUE = "the score has no value"
# Fields of a test's record.
NUMBERS = ("p_value", "p_low", "p_high", "p_lowest", "p_normal", "partitions", "draws")
TEXTS = ("alternative", "method", "reason", "test_of", "frequency")
MIDDLE = ("compared_low", "compared_median", "compared_high")
METHODS = {"p_holm": "holm", "p_benjamini_hochberg": "benjamini-hochberg"}


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row per score and requested test, with both adjustments, or why the p-value is missing.

    p-values are adjusted for the number of tests in their criterion.
    """
    cells_inferred = list(cells(inputs["inferences"]))
    known_tests = tests()
    rows = []
    for cell, results in cells_inferred:
        asked = [test.name for test in known_tests if test.name in cell["inference"]]
        for result, test_name in product(results, asked):
            record = result.get(test_name, {"reason": NO_VALUE})
            row = dict(zip(KEYS, key_of(cell, result), strict=True)) | {"test": test_name}
            row |= {name: record.get(name) for name in (*NUMBERS, *TEXTS)}
            rows.append(row | dict(zip(MIDDLE, record.get("middle") or (None,) * 3, strict=True)))
    # As in the scores, a sub-query of several queries belongs to the first.
    table = TABLE.finish(rows, first=True)
    of_tests = equal_tests(cells_inferred, inputs["queries"])
    for test in known_tests:
        part = table[table["test"] == test.name]
        for name, method in METHODS.items():
            table.loc[part.index, name] = adjust(part, method, of_tests.get(test.column), column="p_value")
    return with_counts(table, ["partitions", "draws"])


def with_counts(table: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Convert these columns to counts, some of which are missing."""
    import pandas as pd

    return table.assign(**{name: pd.Series([_count(v) for v in table[name]], dtype=object) for name in names})


def _count(value: float | None) -> int | float | None:
    """Return a count as an integer, or as a float if it is too large (permutations of many words)."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    value = int(value)
    try:
        return value if value <= 2**53 else float(value)
    except OverflowError:
        return math.inf


TABLE = Table(
    "tests",
    "P-values of every test of a score. One row per score and test, with the p-value in full, or why there is "
    "none.",
    (
        *CELL,
        Column("test", "the part of `inference` in the config (docs/p-values.md)"),
        Column.share("p_value", "p-value of the test, as in scores.csv"),
        Column.share(
            "p_low", "lower end of the 95 % interval of the p-value that all possible draws would give"
        ),
        Column.share("p_high", "upper end of the same interval"),
        Column.share(
            "p_lowest",
            "smallest p-value that the test can reach with its number of draws, words and topics",
        ),
        Column.share("p_holm", "p_value, adjusted by Holm's method"),
        Column.share("p_benjamini_hochberg", "p_value, adjusted by Benjamini and Hochberg's method"),
        Column.share(
            "p_normal",
            "p-value from a normal distribution fitted to the values that the score is compared with",
        ),
        Column(
            "alternative",
            "which values count as at least as biased. `distance`: values at least as far from the no-bias "
            "value",
            values=("greater", "less", "two-sided", "distance", ""),
        ),
        Column(
            "method",
            "how the p-value is computed. exact: from all permutations. binomial: from all permutations of "
            "pairs of sentences, with the binomial distribution. monte_carlo: from randomly drawn permutations. "
            "drawn: from random draws that are not permutations",
            values=("exact", "binomial", "monte_carlo", "drawn", ""),
        ),
        Column("partitions", "number of possible permutations of the words", "optional count"),
        Column("draws", "number of values that the score was compared with", "optional count"),
        Column("reason", "why there is no p-value"),
        Column(
            "test_of",
            "what a permutation test permutes: words, or the labels of a classifier's training words",
            values=("words", "labels", ""),
        ),
        Column(
            "frequency",
            "where the test's word frequencies come from: counts in the model's corpus, wordfreq (a proxy), or "
            "the rank in a model that is sorted by frequency",
            values=("counts", "wordfreq", "rank", ""),
        ),
        Column.value("compared_low", "2.5 % quantile of the values of control words"),
        Column.value("compared_median", "median of the values of control words"),
        Column.value("compared_high", "97.5 % quantile of the values of control words"),
    ),
    reads=("inferences", "queries"),
    when=lambda study: (
        study.grid.inferences and any(test.name in study.config.inference.parts for test in tests())
    ),
    make=make,
    key=(*KEYS, "test"),
)
TABLES = (TABLE,)

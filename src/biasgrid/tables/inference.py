"""The table of inference: tests, intervals and sensitivity of every score in full."""

from __future__ import annotations

import math
from collections.abc import Mapping
from math import inf
from typing import Any

import pandas as pd

from ..options import P_VALUES
from ..results import KEYS, cells, results_of
from .influence import changes
from .keys import CELL
from .scores import adjust, equal_tests
from .table import ANY, Column, Files, Table

TESTED = ["alternative", "method", "partitions", "draws", "p_value", "p_low", "p_high", "p_normal", "reason"]
AS_VALUE = {"unit": "the metric's", "range": ANY}  # of the ends of an interval of the score
INTERVALS = ("percentile", "bca", "jackknife")
# of the test against random groups
GROUPS = {"draws": "groups_draws", "p_value": "p_groups", "p_low": "p_groups_low", "p_high": "p_groups_high"}
GROUPS["reason"] = "groups_reason"
# of the one within bands of frequency
BANDS = {"partitions": "bands_partitions", "draws": "bands_draws", "p_value": "p_bands"}
BANDS |= {"p_low": "p_bands_low", "p_high": "p_bands_high", "reason": "bands_reason"}
# and of the one against control words
CONTROLS = {"draws": "controls_draws", "p_value": "p_controls", "p_low": "p_controls_low"}
CONTROLS |= {"p_high": "p_controls_high", "reason": "controls_reason"}


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """A row of scores.csv in full: its permutation test and its test against random groups, each with both
    adjustments for the number of tests of its criterion; its bootstrap, and why an interval is missing; the word
    whose leaving out changes it most; and how far half the words move it. A field is empty where the study leaves
    the part out, or where it does not exist.

    spec: "ranges", the interval of values, as [criterion, metric, low, high].
    """
    ranges = {(criterion, metric): (low, high) for criterion, metric, low, high in spec["ranges"]}
    rows: dict[tuple, dict] = {}
    cells_inferred = list(cells(inputs["inferences"]))
    for key, _, result in results_of(cells_inferred):
        if key in rows:  # as in the scores: a sub-query of several queries is the first one's
            continue
        test, bootstrap = result.get("permutation", {}), result.get("bootstrap", {})
        row = dict(zip(KEYS, key, strict=True)) | {"value": result.get("value")}
        row |= {name: test.get(name) for name in (*TESTED, "test_of")}
        groups = result.get("random_groups", {})
        row |= {column: groups.get(name) for name, column in GROUPS.items()}
        bands, controls = result.get("frequency_bands", {}), result.get("control_words", {})
        row |= {column: bands.get(name) for name, column in BANDS.items()}
        row |= {column: controls.get(name) for name, column in CONTROLS.items()}
        middle = controls.get("middle") or (None, None, None)
        row |= dict(zip(("controls_low", "controls_median", "controls_high"), middle, strict=True))
        row["frequency"] = bands.get("frequency") or controls.get("frequency")
        row |= {name: bootstrap.get(name) for name in ("standard_error", "undefined")}
        for name in INTERVALS:
            row[f"{name}_low"], row[f"{name}_high"] = bootstrap.get(name, (None, None))
        of_units = bootstrap.get("units", {})
        row["units_standard_error"] = of_units.get("standard_error")
        row["units_low"], row["units_high"] = of_units.get("percentile", (None, None))
        row["interval_reason"] = _reasons(bootstrap.get("reasons", {}))
        word_changes = [(*names, change) for *names, change in changes(result) if change is not None]
        most = max(word_changes, key=lambda entry: abs(entry[2]), default=(None, None, None))
        row["set"], row["word"], row["influence"] = most
        low, high = ranges[key[0], key[2]]
        for side in ("targets", "attributes"):
            distance = result.get("halves", {}).get(side)
            row[f"halves_{side}"] = distance
            comparable = distance is not None and math.isfinite(high - low)
            row[f"robustness_{side}"] = distance / (high - low) if comparable else None
        rows[key] = row
    table = pd.DataFrame(rows.values(), columns=INFERENCE.names).sort_values(KEYS, ignore_index=True)
    numbers = [column.name for column in INFERENCE.columns if column.dtype == "number"]
    table = table.astype(dict.fromkeys(numbers, "float64"))
    for column in INFERENCE.columns:
        if column.dtype == "optional count":
            counts = [_count(value) for value in table[column.name]]
            table[column.name] = pd.Series(counts, dtype=object)
    tests = equal_tests(cells_inferred, inputs["queries"])
    for method, name in (("holm", "holm"), ("benjamini-hochberg", "benjamini_hochberg")):
        for column in P_VALUES:
            prefix = "p" if column == "p_value" else column
            table[f"{prefix}_{name}"] = adjust(table, method, column, tests)
    return table


def _reasons(reasons: Mapping[str, str]) -> str | None:
    """Why intervals are missing, in one text: those that lack for one reason stand before it."""
    kinds: dict[str, list[str]] = {}
    for name in INTERVALS:
        if name in reasons:
            kinds.setdefault(reasons[name], []).append(name)
    return "; ".join(f"{', '.join(names)}: {reason}" for reason, names in kinds.items()) or None


def _count(value: float | None) -> int | float | None:
    """A count in digits; one of more digits than a float has (permutations of many words), as a float."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    value = int(value)
    try:
        return value if value <= 2**53 else float(value)
    except OverflowError:
        return math.inf


def _ends(interval: str, prefix: str, **of_numbers: Any) -> tuple[Column, Column]:
    return (
        Column(f"{prefix}_low", f"lower end of {interval}", "number", **of_numbers),
        Column(f"{prefix}_high", "its upper end", "number", **of_numbers),
    )


def _p_values(column: str, test: str) -> tuple[Column, ...]:
    return (
        Column(column, f"p-value of {test}", "number", range=(0, 1)),
        *_ends("its 95 % interval", column, range=(0, 1)),
        Column(f"{column}_holm", f"{column}, adjusted by Holm's method", "number", range=(0, 1)),
        Column(
            f"{column}_benjamini_hochberg",
            f"{column}, adjusted by Benjamini and Hochberg's",
            "number",
            range=(0, 1),
        ),
    )


INFERENCE = Table(
    "inference",
    "One row per score: its tests, bootstrap and sensitivity in full, or why there are none.",
    (
        *CELL,
        Column("value", "the score", "number", "the metric's", ANY),
        Column(
            "alternative",
            "which values count as more biased; empty without a test",
            values=("greater", "less", "two-sided", ""),
        ),
        Column(
            "method",
            "of the permutation test: exact, of all permutations, or monte_carlo, of drawn ones",
            values=("exact", "monte_carlo", ""),
        ),
        Column(
            "partitions", "how many permutations there are of the words between the sets", "optional count"
        ),
        Column("draws", "how many of them the test looked at", "optional count"),
        Column("p_value", "p-value of the permutation test", "number", range=(0, 1)),
        *_ends("the 95 % interval of a drawn test's p-value", "p", range=(0, 1)),
        Column(
            "p_normal", "p-value by a normal curve through the permutations' values", "number", range=(0, 1)
        ),
        Column("p_holm", "p_value, adjusted by Holm's method", "number", range=(0, 1)),
        Column(
            "p_benjamini_hochberg", "p_value, adjusted by Benjamini and Hochberg's", "number", range=(0, 1)
        ),
        Column("reason", "why there is no permutation test"),
        Column(
            "standard_error", "of the value, by the bootstrap over words", "number", "the metric's", (0, inf)
        ),
        Column("undefined", "bootstrap resamples without a value", "optional count"),
        *_ends("the percentile interval", "percentile", **AS_VALUE),
        *_ends("the BCa interval", "bca", **AS_VALUE),
        *_ends("the jackknife interval", "jackknife", **AS_VALUE),
        Column("set", "the set that the most influential word is in"),
        Column("word", "the word without which the value changes most"),
        Column("influence", "how it changes", "number", "the metric's", ANY),
        Column(
            "halves_targets",
            "mean distance of the value on half the target words from the score",
            "number",
            "the metric's",
            (0, inf),
        ),
        Column("halves_attributes", "the same, of the attribute words", "number", "the metric's", (0, inf)),
        Column(
            "robustness_targets", "halves_targets as a share of the metric's range", "number", range=(0, 1)
        ),
        Column(
            "robustness_attributes",
            "halves_attributes as a share of the metric's range",
            "number",
            range=(0, 1),
        ),
        Column(
            "test_of",
            "what the permutation test is about: words, or labels of a classifier's training words",
            values=("words", "labels", ""),
        ),
        Column("groups_draws", "how many random groups the test against them drew", "optional count"),
        *_p_values("p_groups", "the test against random groups"),
        Column("groups_reason", "why there is no test against random groups"),
        Column("interval_reason", "why an interval is missing"),
        Column(
            "units_standard_error",
            "of the value, by the bootstrap over a corpus' sentences (or windows)",
            "number",
            "the metric's",
            (0, inf),
        ),
        *_ends("the percentile interval over them", "units", **AS_VALUE),
        Column(
            "frequency",
            "what the next two tests know the words' frequencies by: counts in the model's corpus, wordfreq (a "
            "proxy), or the rank in a model that is sorted by frequency",
            values=("counts", "wordfreq", "rank", ""),
        ),
        Column(
            "bands_partitions",
            "how many permutations there are of the words within bands of frequency",
            "optional count",
        ),
        Column("bands_draws", "how many of them the test looked at", "optional count"),
        *_p_values("p_bands", "the permutation test within bands of frequency"),
        Column("bands_reason", "why there is no such test"),
        Column("controls_draws", "how many sets of control words were drawn", "optional count"),
        *_p_values("p_controls", "the test against control words"),
        Column("controls_reason", "why there is no such test"),
        Column(
            "controls_low",
            "2.5 % of the draws of control words have a lower value",
            "number",
            "the metric's",
            ANY,
        ),
        Column("controls_median", "the median of their values", "number", "the metric's", ANY),
        Column("controls_high", "2.5 % of them have a higher value", "number", "the metric's", ANY),
    ),
    reads=("inferences", "queries"),
    when="inference",
    facts=("ranges",),
    make=make,
)
TABLES = (INFERENCE,)

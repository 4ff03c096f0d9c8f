"""The tables of a finished study, and how a page writes their numbers."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from biasgrid.core import numbers
from biasgrid.core.phrases import join_names
from biasgrid.measure.evidence import ALL, GROUPS, NONE, OUT_OF_REACH, PERMUTATION, UNTESTED

WIDTH = 120
BY = {
    ALL: "every test",
    PERMUTATION: "the permutation test alone",
    GROUPS: "the test against random groups alone",
    NONE: "no test",
    OUT_OF_REACH: "out of reach",
    UNTESTED: "not tested",
}
# verdicts of published numbers that no number of a study is compared with
OTHER = ("other vectors", "not asked")
# what scores are evidence for, by the tests that their metric can have
TESTS = BOTH, PERMUTED, RANDOM = (
    "either test",
    "the only test, by permutation",
    "the only test, against random groups",
)
SAID = {
    ALL: "Evidence of bias by {}",
    PERMUTATION: "Weak evidence, by the permutation test alone",
    GROUPS: "Weak evidence, by the test against random groups alone",
    NONE: "No evidence of bias in {}",
    OUT_OF_REACH: "Too few words or draws to tell",
    UNTESTED: "Not tested",
}


class Results:
    """A study's folder of results, whose tables are read once."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._tables: dict[str, pd.DataFrame] = {}

    def table(self, name: str, **where: Any) -> pd.DataFrame:
        """Return the rows of a table that have these values."""
        if name not in self._tables:
            # pandas would take a word such as "null" for a missing value
            table = pd.read_csv(
                self.folder / f"{name}.csv", keep_default_na=False, na_values=[""], low_memory=False
            )
            self._tables[name] = table
        table = self._tables[name]
        for column, value in where.items():
            table = table[table[column] == value]
        return table

    def row(self, name: str, **where: Any) -> pd.Series:
        """Return the one row that has these values; raise ValueError where there is none, or more than one."""
        rows = self.table(name, **where)
        if len(rows) != 1:
            raise ValueError(f"{self.folder.name}/{name}.csv has {len(rows)} rows with {where}")
        return rows.iloc[0]

    def json(self, name: str) -> Any:
        return json.loads((self.folder / name).read_text(encoding="utf-8"))

    @property
    def comparison(self) -> pd.DataFrame:
        return self.table("comparison")


def _bare(text: str) -> str:
    return text.replace("0.", ".", 1) if text.lstrip("\N{MINUS SIGN}").startswith("0.") else text


def short(value: float | None, digits: int = 3) -> str:
    """Write a number without the zero before the point, and nothing for a missing one: ".073", "−1.2"."""
    return _bare(numbers.typeset(value, digits))


def places(value: float | None, n: int = 2) -> str:
    """Write a number with so many decimals, without the zero before the point."""
    return _bare(numbers.typeset(value, n, form=numbers.decimal))


def printed(value: float) -> str:
    """Write a published number without trailing zeros: ".08"."""
    return _bare(numbers.typeset(value, form=numbers.plain))


def p(value: float | None) -> str:
    """Write a p-value in two digits, and nothing for a missing one."""
    return "" if value is None or math.isnan(value) else numbers.p_number(value)


def tiny(value: float | None) -> str:
    """Write a p-value in two digits however small it is: ".027", "2.6e−8", "7e−23"."""
    if value is not None and 0 < value < numbers.NOISE:
        return numbers.typographic(f"{value:.0e}")
    return short(value, 2)


def interval(low: float, high: float, form: Callable[..., str] = short, *digits: int) -> str:
    return "" if math.isnan(low) else f"[{form(low, *digits)}, {form(high, *digits)}]"


def with_interval(
    value: float, low: float, high: float, form: Callable[..., str] = short, *digits: int
) -> str:
    return f"{form(value, *digits)} {interval(low, high, form, *digits)}".strip()


def numeric(value: float, digits: int = 3) -> str:
    """Write a number for a CSV file: significant digits, empty where it is missing."""
    if 0 < abs(value) < numbers.NOISE:
        digits = 1
    return "" if math.isnan(value) else f"{value:.{digits}g}"


def csv_text(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the text of a CSV file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *rows])
    return text.getvalue()


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(re.sub(r"\|  (?=\|)", "| ", f"| {' | '.join(cells)} |") for cells in lines)


def paragraph(*sentences: str) -> str:
    return textwrap.fill(
        " ".join(filter(None, sentences)), WIDTH, break_long_words=False, break_on_hyphens=False
    )


def items(*texts: str) -> str:
    """Return a Markdown list of the texts that are not empty."""
    return "\n".join(
        textwrap.fill(
            f"- {text}", WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        for text in texts
        if text
    )


def standardized(score: pd.Series) -> str:
    """Write a score's standardised bias with its interval; the reason where it has none."""
    if math.isnan(score["standardized"]):
        return "no baseline" if isinstance(score["no_baseline"], str) else ""
    ends = (score[f"standardized_{end}"] for end in ("low", "high"))
    return with_interval(score["standardized"], *ends, places, 1)


STANDARDIZED = ("standardized", "standardized_low", "standardized_high")


def standardized_numbers(score: pd.Series) -> list[str]:
    """Return a score's standardised bias and the ends of its interval for a CSV file."""
    return [numeric(score[name]) for name in STANDARDIZED]


def _said(evidence: str, tests: str) -> str:
    return SAID[evidence].format("both tests" if (evidence, tests) == (ALL, BOTH) else tests)


def conclusions(scores: Iterable[tuple[str, pd.Series]]) -> str:
    """Return the conclusions from the tests of scores, (name, row of scores.csv), as a list.

    There is evidence only where every test that the metric can have is significant. `scores.csv` decides it.
    """
    of: dict[tuple[str, str], list[str]] = {}
    without: dict[str, list[str]] = {}
    for name, score in scores:
        tests = BOTH
        if score["tests"] == 1:
            tests = PERMUTED if math.isnan(score.get("p_groups", math.nan)) else RANDOM
        of.setdefault((score["evidence"], tests), []).append(name)
        if isinstance(score.get("no_baseline"), str):
            without.setdefault(score["no_baseline"], []).append(name)
    lines = [
        f"{_said(evidence, tests)}: {'; '.join(of[evidence, tests])}."
        for evidence in SAID
        for tests in TESTS
        if (evidence, tests) in of
    ]
    reasons = [
        f"No random-word baseline for {' and '.join(names)}. Reason: {why}." for why, names in without.items()
    ]
    return items(*lines, *reasons)


def verdicts(comparison: pd.DataFrame, ignore: Sequence[str] = OTHER) -> str:
    """Say how many published numbers have each verdict: "22 are reproduced, 1 is explained and 1 differs"."""
    counts = comparison.loc[~comparison["verdict"].isin(ignore), "verdict"].value_counts()
    words = {
        "reproduced": ("is reproduced", "are reproduced"),
        "compatible": ("is compatible", "are compatible"),
        "explained": ("is explained", "are explained"),
        "differs": ("differs", "differ"),
        "no value": ("has no value here", "have no value here"),
    }
    if unknown := set(counts.index) - set(words):
        raise ValueError(f"no words for the verdicts {sorted(unknown)}")
    said = [
        f"{counts[verdict]} {words[verdict][int(counts[verdict] > 1)]}"
        for verdict in words
        if verdict in counts
    ]
    return join_names(said)

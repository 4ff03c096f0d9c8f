"""External measures of words: the options of a criterion that name them, and their files."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from biasgrid.core.errors import BiasgridError, quote
from biasgrid.core.resources import find_file
from biasgrid.core.validation import Line, Strict, field, validate
from biasgrid.study.config.common import FilePath, Name

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from biasgrid.tables.planned import Planned

PLUGIN = "psychometrics"


class Measure(Strict):
    """External numbers of words, with which a metric's numbers of the words are correlated."""

    file: FilePath = field("CSV file of words (data/measures/README.md)")
    word: Line = field("its column of words", "word")
    value: Line = field("its column of numbers")
    unit: Line = field(
        "its column of units, such as titles, whose words share a number; resampled whole", None
    )
    exact: Line = field("its column that is `exact` for words that stand for their unit alone", None)


class Options(Strict):
    """Options of a criterion: `plugin_options: {psychometrics: ...}`."""

    measures: Annotated[dict[Name, Measure], Field(min_length=1)] = field("measures by name", None)


def measures_of(study: Planned) -> dict[str, dict[str, Measure]]:
    """Return the measures of each criterion that has any, by name.

    Raises BiasgridError for options that are not valid.
    """
    options = {
        name: validate(Options, entry.plugin_options[PLUGIN], f"criteria: {name}: plugin_options: {PLUGIN}")
        for name, entry in study.config.criteria.items()
        if PLUGIN in (entry.plugin_options or ())
    }
    return {name: entry.measures for name, entry in options.items() if entry.measures}


def read(measure: Mapping[str, Any]) -> dict[str, tuple[float, str, bool]]:
    """Read a file of measures: word -> number, unit and whether it is exact. Words without a number are left out.

    Raises BiasgridError if the file cannot be read, lacks a column, or has a value that is not a number.
    """
    path = measure["file"]
    columns = [measure.get(role) for role in ("word", "value", "unit", "exact")]
    try:
        with open(find_file(path), encoding="utf-8-sig", newline="") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BiasgridError(f"{path}: cannot read the measures: {error}") from None
    if missing := [column for column in columns if column and column not in (lines or [{}])[0]]:
        raise BiasgridError(f"{path}: has no column {quote(missing[0])}")
    word, value, unit, exact = columns
    numbers: dict[str, tuple[float, str, bool]] = {}
    for number, line in enumerate(lines, 2):
        if not (text := line[value]):
            continue
        try:
            numbers[line[word]] = float(text), line[unit or word], not exact or line[exact] == "exact"
        except ValueError:
            raise BiasgridError(f"{path}: line {number}: {value}: {quote(text)} is not a number") from None
    return numbers

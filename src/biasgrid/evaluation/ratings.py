"""Ratings of words by people."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from ..core.errors import BiasgridError
from ..core.printable import check_texts
from ..core.resources import find_file


def read(path: Path | str) -> dict[str, float]:
    """Read ratings by word from a CSV file with the columns word and rating.

    Raises BiasgridError, with file and line, for other columns, a rating that is not a number, or a duplicate
    word.
    """
    try:
        with open(find_file(path), encoding="utf-8-sig", newline="") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BiasgridError(f"{path}: cannot read the ratings: {error}") from None
    if not lines or lines[0] != ["word", "rating"]:
        raise BiasgridError(f"{path}: line 1: the columns must be word, rating")
    ratings: dict[str, float] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            word, rating = line
            value = float(rating)
        except ValueError:
            value = math.nan
        check_texts(line, f"{path}: line {number}")
        if not math.isfinite(value):
            raise BiasgridError(f"{path}: line {number}: expected a word and a number")
        if word in ratings:
            raise BiasgridError(f"{path}: line {number}: duplicate word {word!r}")
        ratings[word] = value
    return ratings

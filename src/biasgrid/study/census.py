"""Occupations of the collection eds by their shares in a census that the user gives: the tables of Garg et
al. 2018."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import (
    ArgumentTypeError,
    BiasgridError,
    InputError,
    did_you_mean,
    not_allowed,
    quote,
    unknown_name,
)

if TYPE_CHECKING:
    import pandas as pd

GENDER = "occupation_percentages_gender_occ1950.csv"
RACE = "occupation_percentages_race_occ1950.csv"
GROUPS = ("white", "black", "asian", "hispanic")
YEAR, OCCUPATION = "Census year", "Occupation"


def occupations(folder: Path | str, year: int, number: int) -> dict[str, list[str]]:
    """Return the occupations of a census year, by gender and by group, chosen as in WEFE.

    Parameters
    ----------
    folder
        A folder with the two tables, under the names of the authors' repository.
    year
        The census year.
    number
        The number of occupations per group. They have the group's lowest shares; ties keep the order of the file.

    Raises
    ------
    BiasgridError
        A table is missing, has other columns, or lacks the year.
    """
    if not isinstance(folder, (str, os.PathLike)):
        raise ArgumentTypeError(f"census_folder: expected a folder, not {quote(folder)}")
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise InputError(not_allowed("top_n_race_occupations", number, "whole numbers from 1 on"))
    gender = _read(Path(folder) / GENDER, ("Male", "Female"), year)
    race = _read(Path(folder) / RACE, GROUPS, year)
    is_male = gender["Male"] >= gender["Female"]
    is_female = gender["Male"] < gender["Female"]
    sets = {
        "male_occupations": gender[OCCUPATION][is_male].tolist(),
        "female_occupations": gender[OCCUPATION][is_female].tolist(),
    }
    for group in GROUPS:
        by_share = race.sort_values(group, kind="stable")
        sets[f"occupations_{group}"] = by_share[OCCUPATION].head(number).tolist()
    return sets


def _read(path: Path, shares: tuple[str, ...], year: int) -> pd.DataFrame:
    """Return a table's rows of one year, after a check of the columns."""
    import pandas as pd

    try:
        table = pd.read_csv(path)
    except FileNotFoundError:
        names = {other.name for other in path.parent.glob("*")} - {GENDER, RACE}
        raise InputError(
            f"{path}: no such file; {did_you_mean(path.name, names)}it is one of the authors' tables of census shares"
        ) from None
    except (OSError, ValueError) as error:
        raise BiasgridError(f"{path}: cannot read it as a table: {error!s:.100}") from None
    for column in (YEAR, OCCUPATION, *shares):
        if column not in table:
            raise BiasgridError(f"{path}: no column {quote(column)}; it has {', '.join(map(str, table))}")
    for column in (YEAR, *shares):
        if table[column].dtype.kind not in "if":
            raise BiasgridError(f"{path}: column {quote(column)} has values that are not numbers")
    rows = table[table[YEAR] == year].dropna(subset=[OCCUPATION])
    if rows.empty:
        years = sorted({int(other) for other in table[YEAR].dropna()})
        raise InputError(f"{path}: {unknown_name('occupations_year', year, years)}")
    return rows

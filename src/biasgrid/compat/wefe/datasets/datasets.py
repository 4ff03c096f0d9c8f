"""WEFE's word sets."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from ....core.user_warnings import stacklevel
from ....core.wefe_names import WORD_SETS
from ....study.word_sets import WordSets, word_sets


class FormerNames(WordSets):
    """Word sets that are also found by their former names in WEFE, with a warning."""

    def __missing__(self, key: object) -> Any:
        name = WORD_SETS.get(key) if isinstance(key, str) else None
        if name is None or name not in self:
            return super().__missing__(key)
        warnings.warn(f"word set {key!r} is called {name!r} since WEFE renamed it", stacklevel=stacklevel())
        return self[name]


def load_weat() -> dict[str, Any]:
    return _sets("weat")


def load_bingliu() -> dict[str, Any]:
    return _sets("bingliu")


def fetch_eds(
    occupations_year: int = 2015,
    top_n_race_occupations: int = 10,
    n_retries: int = 3,
    census_folder: Path | str | None = None,
) -> dict[str, Any]:
    """Return the word sets of eds.

    Years other than 2015, and more than ten occupations, need a folder with the authors' tables
    (`biasgrid.word_sets`).
    """
    options = {"occupations_year": occupations_year, "top_n_race_occupations": top_n_race_occupations}
    return _sets("eds", **options, census_folder=census_folder)


def fetch_debiaswe(n_retries: int = 3) -> dict[str, Any]:
    """Return the word sets of debiaswe. `male_terms` and `female_terms` have the right names, which WEFE swaps."""
    return _sets("debiaswe")


def fetch_debias_multiclass(n_retries: int = 3) -> dict[str, Any]:
    return _sets("multiclass")


def fetch_gn_glove(n_retries: int = 3) -> dict[str, Any]:
    return _sets("gn_glove")


def _sets(collection: str, **options: Any) -> FormerNames:
    sets = word_sets(collection, **options)
    named = FormerNames(sets)
    vars(named).update(vars(sets))
    return named

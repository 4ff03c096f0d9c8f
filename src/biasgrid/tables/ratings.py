"""Table of ratings: correlations of words' biases with ratings of the words by people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.resources import find_file
from ..core.seeds import seed_of
from ..evaluation import ratings
from ..measure.statistics.correlation import by_methods
from .cells import rating_cells
from .correlation_columns import correlation_columns
from .keys import CELL
from .table import Column, Files, Table
from .words import WORDS, cell_words, place_of

if TYPE_CHECKING:
    import pandas as pd

    from .planned import Planned


def make(inputs: Files, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Correlate biases of words with ratings: one row per method and cell whose criterion has ratings.

    Parameters
    ----------
    inputs
        "words": the table; "ratings": the files of ratings.
    spec
        "cells": a list with each cell's "place" (the argument of `words.cell_words`), query name and file of ratings;
        "seed": the study's seed.
    """
    words, seed = WORDS.read(inputs["words"]), seed_of(spec["seed"], "ratings")
    rows = []
    for cell in spec["cells"]:
        place = cell["place"]
        biases = rated_words(words, place, cell["ratings"])
        key = place["criterion"], cell["query"], place["metric"], place["model"], place["debias"]
        correlations = by_methods(biases["value"], biases["rating"], seed)
        rows += [(*key, place["detail"], *correlation) for correlation in correlations]
    return RATINGS.finish(rows)


def rated_words(words: pd.DataFrame, place: Mapping[str, Any], file: str) -> pd.DataFrame:
    """Return `words.cell_words` with a column rating, without the words that nobody rated."""
    biases = cell_words(words, place)
    return biases.assign(rating=biases["word"].map(ratings.read(file))).dropna()


def ratings_file(study: Planned, criterion: str) -> str:
    """Return the file of a criterion's ratings."""
    return study.config.criteria[criterion].ratings.file


def _inputs(study: Planned) -> dict[str, Any]:
    files = {ratings_file(study, cell.criterion) for cell in rating_cells(study)}
    return {"ratings": [str(find_file(file)) for file in sorted(files)]}


def _spec(study: Planned) -> dict[str, Any]:
    cells = [
        {
            "place": place_of(study, cell),
            "query": study.queries[cell.query].name,
            "ratings": ratings_file(study, cell.criterion),
        }
        for cell in rating_cells(study)
    ]
    return {"cells": cells}


RATINGS = Table(
    "ratings",
    "Correlations of words' biases with ratings by people. One row per score and method.",
    (
        *CELL,
        Column("detail", "which of the metric's numbers per word"),
        *correlation_columns(
            "biases and ratings",
            "number of words with a bias and a rating",
            "words",
            "with fewer than three words, or all biases or ratings alike",
        ),
    ),
    reads=("words",),
    inputs=_inputs,
    facts=("seed",),
    spec=_spec,
    make=make,
    cells=rating_cells,
)
TABLES = (RATINGS,)

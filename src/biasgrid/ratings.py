"""How biases of words go with ratings of the words by people."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .errors import BiasgridError
from .study import Study, cell_seed

CELL = ["criterion", "query", "metric", "model", "debias"]
RATINGS = [*CELL, "detail", "method", "n", "correlation", "ci_low", "ci_high"]
METHODS = ("pearson", "spearman")
LEVEL, DRAWS = 0.95, 2000


def read(path: Path | str) -> dict[str, float]:
    """Ratings by word, from a CSV file with the columns word and rating.

    Raises BiasgridError with file and line for another column, a rating that is no number and a word that
    stands twice.
    """
    try:
        with open(path, encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BiasgridError(f"{path}: cannot read the ratings: {error}") from None
    if not lines or lines[0] != ["word", "rating"]:
        raise BiasgridError(f"{path}: line 1: the columns must be word, rating")
    found: dict[str, float] = {}
    for number, line in enumerate(lines[1:], 2):
        try:
            word, rating = line
            value = float(rating)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise BiasgridError(f"{path}: line {number}: expected a word and a number")
        if word in found:
            raise BiasgridError(f"{path}: line {number}: {word!r} stands twice")
        found[word] = value
    return found


def of_study(study: Study, words: pd.DataFrame) -> pd.DataFrame:
    """Correlations of biases of words with ratings: two rows a cell whose criterion has ratings.

    `words` is the study's table of words. "pearson": r, how near to a line biases and ratings lie; "spearman": rho,
    the same of their ranks. Both are in [-1, 1], 0 is no relation; NaN where there are fewer than three words, or all
    have one bias or one rating. `n`: words with both; one that the model lacks or nobody rated does not count. ci_low
    and ci_high: 95 % interval, had the words been others of their kind (percentiles of 2,000 bootstrap samples).
    """
    seed = cell_seed(study.config["seed"], "ratings")
    rows = []
    for cell in study.rated:
        known = rated_words(
            words, place_of(study, cell), study.config["criteria"][cell.criterion]["ratings"]["file"]
        )
        place = [getattr(cell, name) for name in CELL]
        place[1] = study.queries[cell.query].name
        for method in METHODS:
            found = correlation(known["value"], known["rating"], method, seed)
            rows.append(
                (*place, study.metric(cell.criterion, cell.metric).word_bias, method, len(known), *found)
            )
    return pd.DataFrame(rows, columns=RATINGS).sort_values(RATINGS[:7], ignore_index=True)


def rated_words(words: pd.DataFrame, place: Mapping[str, Any], file: Path | str) -> pd.DataFrame:
    """`of_cell` with a column rating, without the words that nobody rated."""
    biases = of_cell(words, place)
    return biases.assign(rating=biases["word"].map(read(file))).dropna(ignore_index=True)


def place_of(grid: Any, cell: Any) -> dict[str, Any]:
    """Which rows of the table of words are a cell's: its columns, with the names of all its (sub-)queries."""
    metric = grid.metric(cell.criterion, cell.metric)
    return {
        "criterion": cell.criterion,
        "queries": [query.name for query in grid.queries[cell.query].subqueries(metric.template)],
        "metric": cell.metric,
        "model": cell.model,
        "debias": cell.debias,
        "detail": metric.word_bias,
    }


def of_cell(words: pd.DataFrame, place: Mapping[str, Any]) -> pd.DataFrame:
    """Of a table of words, what a cell says of each: which of two groups it is nearer to (word, value).

    `place` says which cell: see `place_of`.
    """
    rows = words["query"].isin(place["queries"])
    for name in ("criterion", "metric", "model", "debias", "detail"):
        rows &= words[name] == place[name]
    # a word of several sets has one value: it is of the word and the groups
    return words.loc[rows, ["word", "value"]].drop_duplicates("word", ignore_index=True)


def correlation(
    values: Sequence[float], ratings: Sequence[float], method: str, seed: int = 0
) -> tuple[float, float, float]:
    """The correlation of words' values with their ratings, and the ends of its interval; see `of_study`."""
    pair = np.array([values, ratings], dtype=float)
    n = pair.shape[1]
    if n < 3 or not np.ptp(pair, axis=1).all():
        return math.nan, math.nan, math.nan
    drawn = np.random.default_rng(seed).integers(n, size=(DRAWS, n))
    with np.errstate(invalid="ignore"):  # a sample of one word alone
        samples = _of_rows(*pair[:, drawn], method)
    (value,) = _of_rows(*pair[:, None], method)
    return float(value), *np.nanquantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()


def _of_rows(x: np.ndarray, y: np.ndarray, method: str) -> np.ndarray:
    """Correlations row by row of two arrays (samples, n)."""
    if method == "spearman":
        # imported late: it takes half a second, which a study without ratings need not wait
        from scipy.stats import rankdata

        x, y = rankdata(x, axis=1), rankdata(y, axis=1)
    x, y = (v - v.mean(axis=1, keepdims=True) for v in (x, y))
    # rounding can take a correlation beyond 1
    return np.clip(np.vecdot(x, y) / np.sqrt(np.vecdot(x, x) * np.vecdot(y, y)), -1, 1)

"""Comparison of two models, or of two variants of a model, on one scale."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..debias import UNTOUCHED
from ..measure.aggregation import covers_enough
from ..measure.results import KEYS, results
from ..measure.statistics.scale import NO_BASELINE, NO_COMMON_ZERO, Scale
from ..measure.statistics.shared import FEW_SHARED, NO_VALUE, is_comparable
from ..measure.statistics.two_models import (
    CANNOT_TELL,
    LENGTHS,
    LEVEL,
    MARGIN,
    Claim,
    Comparison,
    answers,
    compare_two,
    mean_of_one,
    queries_needed,
    words_needed,
)
from .shared import Place, State
from .vector_lengths import Lengths, have_other_lengths

if TYPE_CHECKING:
    import pandas as pd

    from .table import Files


@dataclass(frozen=True)
class Scores:
    """Scores on the scale on which pairs are compared, with the rows of scores.csv.

    Attributes
    ----------
    values
        Amount of bias, (rows,); NaN if a score lacks a value or a baseline.
    resamples
        Amount of bias in resamples of words, (rows, draws).
    baseline_variances
        Variance of each value from the random choice of its baseline's groups, (rows,).
    """

    values: np.ndarray
    resamples: np.ndarray
    baseline_variances: np.ndarray


class RawScores(Scores):
    """Distances from the no-bias value."""

    @classmethod
    def read(cls, scores: pd.DataFrame, samples: np.ndarray, neutral: Mapping[str, float]) -> RawScores:
        """Return the distance of each score; parameters as in `StandardizedScores.read`."""
        offsets = scores["value"].to_numpy(dtype=float) - scores["metric"].map(neutral).to_numpy(dtype=float)
        # A resample on the other side of the no-bias value counts as less than no bias.
        sides = np.where(offsets < 0, -1.0, 1.0)[:, None]
        distances = np.abs(offsets)
        resamples = distances[:, None] + sides * (samples - scores["value"].to_numpy(dtype=float)[:, None])
        return cls(distances, resamples, np.zeros(len(distances)))


class StandardizedScores(Scores):
    """Standardised bias."""

    @classmethod
    def read(
        cls, scores: pd.DataFrame, samples: np.ndarray, inputs: Files, neutral: Mapping[str, float]
    ) -> StandardizedScores:
        """Read the scale of each score from the inference records, and standardise its resamples on it.

        Parameters
        ----------
        scores
            The table, with the column `standardized`.
        samples
            The value of each row in each resample of words, (rows, draws).
        inputs
            "inferences": the files with the scales.
        neutral
            The no-bias value of each metric.

        Notes
        -----
        A resample on the other side of the no-bias value counts as a negative distance: absolute values would be
        larger than the score on average (`measure.ranks`). A debiased variant is standardised on the
        scale of its original model.
        """
        scales: dict[tuple[str, ...], Scale | None] = {}
        for key, _, result in results(inputs["inferences"]):
            # As in scores.csv, a sub-query of several queries belongs to the first.
            scales.setdefault(key, Scale.of_record(result.get("random_groups")))
        values = scores["standardized"].to_numpy(dtype=float)
        raw = scores["value"].to_numpy(dtype=float)
        resamples = np.full(samples.shape, math.nan)
        variances = np.full(len(values), math.nan)
        places = scores[KEYS].itertuples(index=False, name=None)
        for row, (*place, _) in enumerate(places):
            scale = scales.get((*place, UNTOUCHED))
            if scale is None or math.isnan(values[row]):
                continue
            side = -1.0 if raw[row] < neutral[place[2]] else 1.0
            resamples[row] = values[row] + side * (samples[row] - raw[row]) / scale.sd
            variances[row] = scale.read(raw[row]).error ** 2
        return cls(np.where(np.isnan(variances), math.nan, values), resamples, variances)


def compare_family(
    place: Place,
    pairs: Sequence[tuple[State, State]],
    scores: Scores,
    words: np.ndarray,
    margin: float | None = MARGIN,
    level: float = LEVEL,
    lengths: Lengths | None = None,
    has_common_zero: bool = True,
) -> list[dict[str, Any]]:
    """Compare the pairs of a family on one criterion and metric.

    Parameters
    ----------
    place
        The criterion and metric, with the rows of the scores.
    pairs
        The two models, or variants, of each pair.
    scores
        All scores, on one scale.
    words
        Number of words in the smallest set of each row of the place, (rows,).
    margin, level
        As in `measure.statistics.two_models.answers`. Without a margin, the required numbers of words and queries
        are left out.
    lengths
        Mean lengths of vectors, for variants of a model.
    has_common_zero
        Whether random words have as much standardised bias in all models by this metric. If not, no pair is compared.

    Returns
    -------
    list of dict
        For each pair, the columns of pairs.csv from `difference` on. A pair is compared on the queries for which both
        models have all values with a baseline; other models do not matter.
    """
    compared = [_compare(place, pair, scores, words, level, lengths or {}, has_common_zero) for pair in pairs]
    comparisons = [comparison for _, comparison, _ in compared if comparison is not None]
    these = answers([comparison.these for comparison in comparisons], margin, level)
    other = answers([comparison.other for comparison in comparisons], margin, level)
    tested_others = sum(not math.isnan(answer.p_adjusted) for answer in other)
    rows, number = [], 0
    for reason, comparison, of_words in compared:
        row: dict[str, Any] = {"queries": reason[1], "reason": reason[0], "pairs": len(comparisons)}
        if comparison is not None:
            row["clusters"] = comparison.clusters
            row |= _columns("", comparison.these, these[number])
            row |= _columns("other_", comparison.other, other[number])
            if margin is not None and these[number].answer == CANNOT_TELL:
                row["needed"] = words_needed(comparison.these, of_words, margin, len(comparisons), level)
            if margin is not None and other[number].answer == CANNOT_TELL:
                row["other_needed"] = queries_needed(
                    comparison.other,
                    comparison.queries,
                    comparison.clusters,
                    of_words,
                    margin,
                    tested_others,
                    level,
                )
            row["other_reason"] = comparison.reason
            number += 1
        rows.append(row)
    return rows


def _compare(
    place: Place,
    pair: tuple[State, State],
    scores: Scores,
    words: np.ndarray,
    level: float,
    lengths: Lengths,
    has_common_zero: bool,
) -> tuple[tuple[str, int], Comparison | None, float]:
    """Compare two models; return the reason if that is impossible, the comparison, and the words per set.

    The reason comes with the number of the models' queries.
    """
    columns = [place.column(state) for state in pair]
    sides = place.places[:, columns]
    if not place.has_value[:, columns].any(axis=0).all():
        return (NO_VALUE, 0), None, math.nan
    if not has_common_zero:
        return (NO_COMMON_ZERO, 0), None, math.nan
    if have_other_lengths(lengths, (place.criterion, place.metric), *pair):
        return (LENGTHS, 0), None, math.nan
    is_scored = (sides >= 0) & ~np.isnan(scores.values)[sides]
    if not is_scored.any(axis=0).all():
        return (NO_BASELINE, 0), None, math.nan
    complete = ~(place.queries & ~is_scored.all(axis=1)).any(axis=1)
    count = int(complete.sum())
    if not is_comparable(count, len(place.queries)):
        return (FEW_SHARED, count), None, math.nan
    rows, weights = query_weights(place, complete)
    first, second = sides[rows].T
    baselines = scores.baseline_variances[first] + scores.baseline_variances[second]
    of_words = smallest_sets(place, complete, words)
    comparison = compare_two(
        weights @ scores.values[first],
        weights @ scores.values[second],
        weights @ scores.resamples[first],
        weights @ scores.resamples[second],
        words=of_words,
        clusters=place.clusters[:, place.queries[complete].argmax(axis=1)].argmax(axis=0),
        baseline_variance=float((weights**2 @ baselines).sum()) / count**2,
        level=level,
    )
    return ("", count), comparison, of_words


def mean_of_state(
    place: Place, state: State, scores: StandardizedScores, words: np.ndarray, level: float = LEVEL
) -> Claim | None:
    """Estimate the mean standardised bias of a model, or of a variant, on one criterion and metric.

    Parameters
    ----------
    place, scores, words, level
        As in `compare_family`. Resamples may be standard errors over words, (rows,), NaN without a bootstrap: the
        interval is then NaN.
    state
        The model and its debias method.

    Returns
    -------
    Claim or None
        The mean over the queries whose values all have a baseline. None if fewer than half of the values have one.
    """
    column = place.column(state)
    of_state = place.places[:, column]
    is_scored = (of_state >= 0) & ~np.isnan(scores.values)[of_state]
    complete = ~(place.queries & ~is_scored).any(axis=1)
    if not complete.any() or not covers_enough(int(is_scored.sum()), int(place.has_value[:, column].sum())):
        return None
    rows, weights = query_weights(place, complete)
    baselines = scores.baseline_variances[of_state[rows]]
    return mean_of_one(
        weights @ scores.values[of_state[rows]],
        weights @ scores.resamples[of_state[rows]],
        words=smallest_sets(place, complete, words),
        baseline_variance=float((weights**2 @ baselines).sum()) / len(weights) ** 2,
        level=level,
    )


def query_weights(place: Place, complete: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of some queries, (rows,) of bool, and their weights: a query is the mean of its sub-queries.

    Parameters
    ----------
    place
        The criterion and metric.
    complete
        Mask of the place's queries, (queries,) of bool.

    Returns
    -------
    tuple of numpy.ndarray
        The weights are (queries, rows), for the selected queries and rows only.
    """
    members = place.queries[complete]
    rows = members.any(axis=0)
    return rows, (members / members.sum(axis=1, keepdims=True))[:, rows]


def smallest_sets(place: Place, complete: np.ndarray, words: np.ndarray) -> float:
    """Return the number of words in the smallest set of a query, averaged over some queries."""
    return float(np.mean([words[member].min() for member in place.queries[complete]]))


def _columns(prefix: str, claim: Claim, answer: Any) -> dict[str, Any]:
    return {
        f"{prefix}difference": float(claim.difference),
        f"{prefix}low": float(claim.low),
        f"{prefix}high": float(claim.high),
        f"{prefix}p": float(claim.p),
        f"{prefix}p_adjusted": answer.p_adjusted,
        f"{prefix}answer": answer.answer,
        f"{prefix}smallest_difference": answer.smallest_difference,
    }

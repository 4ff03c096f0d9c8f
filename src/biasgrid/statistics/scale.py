"""Standardised bias: how much more bias than random topics of the same model?

A score's distance from the value that means no bias, less the mean distance of random groups, in standard deviations
of their distances. 0: as much as random topics of the model; 2: two standard deviations more. The length of vectors
drops out, as the random groups have it, too; anisotropy does not. Normal scores of the percentile order models hardly
better, and are bounded (docs/calibration.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np


class Standardized(NamedTuple):
    """A score on the scale, in standard deviations of random groups; NaN where there is none.

    value      0: as far from no bias as random groups are on average
    low, high  ends of its interval; NaN where the score has none
    error      its Monte Carlo error: the standard error that it has because random groups are drawn
    """

    value: float
    low: float
    high: float
    error: float


EXCESS = "excess is gone: standardized has taken its place, and is another number"
NO_BASELINE, TOO_FEW_TOPICS = "no baseline", "too few coherent topics"
# of a metric whose standardised bias of random words is not the same in all models
NO_COMMON_ZERO = "no common zero"
NONE = Standardized(math.nan, math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Scale:
    """Random groups that scores are read against: their distances from the value that means no bias.

    neutral   the value that means no bias
    mean, sd  of the distances
    variances of that mean, of the two together (their covariance), and of that standard deviation, as random groups
              are drawn
    draws     how many random groups
    topics    how many different words they start from
    """

    neutral: float
    mean: float
    sd: float
    variances: tuple[float, float, float]
    draws: int
    topics: int

    @classmethod
    def of(cls, values: np.ndarray, seeds: np.ndarray, neutral: float) -> Scale:
        """Return the scale of random groups.

        Parameters
        ----------
        values
            The metric's, (draws,), all finite.
        seeds
            The word that each starts from, (draws,). Random groups around one word are one topic: they are not
            independent.
        neutral
            The value that means no bias.

        Notes
        -----
        The variances are the jackknife's: without each topic in turn (Efron and Tibshirani 1993, equation 11.5).
        """
        distances = np.abs(values - neutral)
        number, mean = len(distances), float(distances.mean())
        _, topic = np.unique(seeds, return_inverse=True)
        counts = np.bincount(topic)
        deviations = distances - mean
        sums, squares = np.bincount(topic, deviations), np.bincount(topic, deviations**2)
        sd = math.sqrt(squares.sum() / number)
        rest = number - counts
        with np.errstate(all="ignore"):
            means = -sums / rest
            sds = np.sqrt((squares.sum() - squares) / rest - means**2)
        covariance = (
            np.cov(means, sds, ddof=0) * (len(counts) - 1) if len(counts) > 1 else np.full((2, 2), np.nan)
        )
        variances = float(covariance[0, 0]), float(covariance[0, 1]), float(covariance[1, 1])
        return cls(neutral, mean, sd, variances, number, len(counts))

    @classmethod
    def of_record(cls, record: Mapping[str, Any] | None) -> Scale | None:
        """Return the scale in a record of a test against random groups; None where that has none."""
        scale = (record or {}).get("scale")
        if not scale:
            return None
        numbers = {
            name: math.nan if scale[name] is None else scale[name] for name in ("neutral", "mean", "sd")
        }
        of_mean, together, of_sd = (math.nan if part is None else part for part in scale["variances"])
        return cls(
            **numbers, variances=(of_mean, together, of_sd), draws=scale["draws"], topics=scale["topics"]
        )

    @property
    def record(self) -> dict[str, Any]:
        """What a file of inference has of it."""
        return asdict(self) | {"variances": list(self.variances)}

    @property
    def has_spread(self) -> bool:
        """Whether random groups differ by more than rounding."""
        return self.sd > 1e-12 * max(1.0, self.mean)

    def read(
        self, value: float, low: float = math.nan, high: float = math.nan, level: float = 0.95
    ) -> Standardized:
        """Read a score on the scale.

        Parameters
        ----------
        value, low, high
            The score, and the ends of its interval over words; NaN where there is none.
        level
            Of the interval.

        Returns
        -------
        Standardized
            The Monte Carlo error, times the normal distribution's quantile, is added to both sides as an independent
            error. An interval that holds the value that means no bias begins at distance 0, minus the Monte Carlo
            error there. Where all random groups are as far from no bias there is no scale, and all are NaN.
        """
        # imported late: it takes a fifth of a second, which a plan need not wait
        from scipy.special import ndtri

        if not self.has_spread or math.isnan(value):
            return NONE
        standardized = (abs(value - self.neutral) - self.mean) / self.sd
        error = self._error(standardized)
        if math.isnan(low) or math.isnan(high):
            return Standardized(standardized, math.nan, math.nan, error)
        quantile = float(ndtri((1 + level) / 2))
        nearest, furthest = sorted((abs(end - self.neutral) - self.mean) / self.sd for end in (low, high))
        above = standardized + math.hypot(furthest - standardized, quantile * error)
        if low <= self.neutral <= high:
            # no distance is smaller, so that the Monte Carlo error is added to it and not to a variance
            floor = -self.mean / self.sd
            return Standardized(standardized, floor - quantile * self._error(floor), above, error)
        below = standardized - math.hypot(nearest - standardized, quantile * error)
        return Standardized(standardized, below, above, error)

    def _error(self, standardized: float) -> float:
        """Return the Monte Carlo error at a place on the scale."""
        of_mean, together, of_sd = self.variances
        variance = of_mean + 2 * standardized * together + standardized**2 * of_sd
        return math.sqrt(max(variance, 0.0)) / self.sd


def why_no_baseline(record: Mapping[str, Any] | None) -> str:
    """Return in a few words why a score has no baseline of random groups.

    Parameters
    ----------
    record
        Of the test against random groups of the model before debiasing; None where none was asked for.

    Returns
    -------
    str
        Empty where there is a baseline, or none was asked for. The record's `reason` begins with these words, or is
        as short.
    """
    if scale := Scale.of_record(record):
        return "" if scale.has_spread else "all random groups have the same value"
    return str((record or {}).get("reason") or "").partition(": ")[0]

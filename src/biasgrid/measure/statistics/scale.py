"""Standardised bias: bias compared with random topics of the same model.

It is a score's distance from the no-bias value, minus the mean distance of random groups, in standard deviations of
their distances. 0: as much as random topics of the model; 2: two standard deviations more. The length of vectors
cancels, as the random groups share it; anisotropy does not. Normal scores of the percentile order models hardly
better, and are bounded (docs/calibration.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np


class Standardized(NamedTuple):
    """Score on the scale, in standard deviations of random groups; NaN if undefined.

    Attributes
    ----------
    value
        0: as far from no bias as random groups are on average.
    low, high
        Ends of its interval; NaN if the score does not have one.
    error
        Monte Carlo error: the standard error that is due to the draw of random groups.
    """

    value: float
    low: float
    high: float
    error: float


EXCESS = "excess is gone: standardized has taken its place, and is another number"
NO_BASELINE, TOO_FEW_TOPICS = "no baseline", "too few coherent topics"
# Status of a metric whose standardised bias of random words differs between models.
NO_COMMON_ZERO = "no common zero"
NONE = Standardized(math.nan, math.nan, math.nan, math.nan)


@dataclass(frozen=True)
class Scale:
    """Random groups with which scores are compared: their distances from the no-bias value.

    Attributes
    ----------
    neutral
        The no-bias value.
    mean, sd
        Mean and standard deviation of the distances.
    variances
        Variance of that mean, covariance of mean and standard deviation, and variance of the standard deviation,
        over draws of random groups.
    draws
        Number of random groups.
    topics
        Number of different words that they start from.
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
            Values of the metric, (draws,), all finite.
        seeds
            Word from which each group starts, (draws,). Random groups around one word are one topic: they are not
            independent.
        neutral
            The no-bias value.

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
        """Return the scale in a record of a test against random groups; None without a scale."""
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
        """Return the scale's entry in a file of inference."""
        return asdict(self) | {"variances": list(self.variances)}

    @property
    def has_spread(self) -> bool:
        """Return whether random groups differ by more than rounding."""
        return self.sd > 1e-12 * max(1.0, self.mean)

    def read(
        self, value: float, low: float = math.nan, high: float = math.nan, level: float = 0.95
    ) -> Standardized:
        """Read a score on the scale.

        Parameters
        ----------
        value, low, high
            Score, and the ends of its interval over words; NaN if undefined.
        level
            Confidence level of the interval.

        Returns
        -------
        Standardized
            The Monte Carlo error, times the normal distribution's quantile, is added to both sides as an
            independent error. An interval that contains the no-bias value begins at distance 0, minus the Monte
            Carlo error there. If all random groups are equally far from no bias, the scale is undefined, and all
            numbers are NaN.
        """
        # Import scipy late: the import takes a fifth of a second, which a plan saves.
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
            # No distance is smaller. Add the Monte Carlo error to it, not to a variance.
            floor = -self.mean / self.sd
            return Standardized(standardized, floor - quantile * self._error(floor), above, error)
        below = standardized - math.hypot(nearest - standardized, quantile * error)
        return Standardized(standardized, below, above, error)

    def _error(self, standardized: float) -> float:
        """Return the Monte Carlo error at a position on the scale."""
        of_mean, together, of_sd = self.variances
        variance = of_mean + 2 * standardized * together + standardized**2 * of_sd
        return math.sqrt(max(variance, 0.0)) / self.sd


def why_no_baseline(record: Mapping[str, Any] | None) -> str:
    """Return in a few words why a score does not have a baseline of random groups.

    Parameters
    ----------
    record
        Record of the test against random groups of the model before debiasing; None if the test was not requested.

    Returns
    -------
    str
        Empty if there is a baseline, or none was requested. The record's `reason` begins with these words, or is
        equally short.
    """
    if scale := Scale.of_record(record):
        return "" if scale.has_spread else "all random groups have the same value"
    return str((record or {}).get("reason") or "").partition(": ")[0]

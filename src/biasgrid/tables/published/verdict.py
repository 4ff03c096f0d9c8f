"""Verdicts on printed numbers, given the study's values."""

from __future__ import annotations

import math

from .published import POWER

# In order of precedence.
NOT_ASKED, NO_VALUE, WITH_AN_ERROR, OTHER_VECTORS, OTHER_QUERIES = UNJUDGED = (
    "not asked",
    "no value",
    "published with an error",
    "other vectors",
    "other queries",
)
VERDICTS = (*UNJUDGED, "reproduced", "compatible", "explained", "differs")
# Both are equal up to chance and rounding.
AGREEING = ("reproduced", "compatible")
# Meaning of each verdict, and reasons why a number is not judged.
MEANINGS = {
    "reproduced": "this study's number rounds to the published one, or differs from a mean of runs by chance only, "
    "or neither has a value; a ranking or matrix is reproduced if all its numbers are",
    "compatible": "a single random run was published, and this study's number is within two of its standard "
    "deviations",
    "explained": "a test reproduces the published number from the cause of the difference",
    "differs": "none of these",
    WITH_AN_ERROR: "the published number is known to be wrong; see `note`",
    OTHER_VECTORS: "the number was published for other vectors",
    OTHER_QUERIES: "the number was published for other queries, or for other words of this query, perhaps drawn at "
    "random; see `note`",
    NO_VALUE: "the study has no number, or not all numbers of the ranking or matrix; see `note`",
    NOT_ASKED: "the study does not measure it",
}
# Deviations of up to this many standard deviations from a printed run, or a mean of runs, are attributed to chance.
WITHIN = 2
# The share of a normal distribution's draws with a larger deviation.
MISSES = "4.6 %"


def verdict(
    published: float,
    value: float,
    digits: int | str,
    runs: float | None = None,
    sd: float = math.nan,
    has_test: bool = False,
) -> str:
    """Return the verdict on a printed number, from the study's value alone.

    Parameters
    ----------
    published, value : float
        The printed number, and the study's.
    digits : int or "log10"
        The number of printed decimals, or "log10" if a power of ten was printed.
    runs : float, optional
        The number of random runs in the printed mean; None without randomness.
    sd : float
        The measured standard deviation of a run, if a single run was printed, or of the difference of the
        printed mean and the study's; NaN if it is unknown.
    has_test : bool
        Whether a test of the suite recomputes the printed number from the cause of the difference.

    Returns
    -------
    str
        "reproduced": the study's number rounds to the printed number, or to the printed power of ten. For a
        printed mean of several runs, the difference is, apart from rounding, within two standard deviations.
        "compatible": a single run was printed, and the study's number is within two of its standard deviations.
        It is never "reproduced", because a mean has a single run's digits only by luck.
        "explained"; "differs".
    """
    if digits == POWER:
        agrees = value > 0 and abs(math.log10(value / published)) <= 0.5
    else:
        # Digits decide if there is no randomness or its size is unknown, except for a single run.
        chance = 0.0 if runs is None or (runs > 1 and math.isnan(sd)) else WITHIN * sd
        agrees = abs(value - published) <= rounding_error(int(digits)) + chance
    if agrees:
        return "compatible" if runs == 1 else "reproduced"
    return "explained" if has_test else "differs"


def rounding_error(digits: int) -> float:
    """Return the maximum difference between a number and its printed, rounded form."""
    return 0.5 * 10.0**-digits + 1e-12

"""The verdict on a printed number, from the study's value."""

from __future__ import annotations

import math

from .published import POWER

# in order of precedence
NOT_ASKED, NO_VALUE, WITH_AN_ERROR, OTHER_VECTORS, OTHER_QUERIES = UNJUDGED = (
    "not asked",
    "no value",
    "published with an error",
    "other vectors",
    "other queries",
)
VERDICTS = (*UNJUDGED, "reproduced", "compatible", "explained", "differs")
# both are what chance and rounding leave of the same number
AGREEING = ("reproduced", "compatible")
# what each verdict means, and why a number has none
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
# so many standard deviations from a printed run, or from a mean of runs, are put down to chance ...
WITHIN = 2
# ... and a normal distribution has this share of its draws further away
MISSES = "4.6 %"


def verdict(
    published: float,
    value: float,
    digits: int | str,
    runs: float | None = None,
    sd: float = math.nan,
    has_test: bool = False,
) -> str:
    """The verdict on a printed number, from the study's value alone.

    Parameters
    ----------
    published, value : float
        The printed number, and the study's.
    digits : int or "log10"
        The decimals that were printed, or that a power of ten was.
    runs : float, optional
        How many random runs the printed number is a mean of; None where there is no chance in it.
    sd : float
        The measured standard deviation of a run, where one was printed, or of the difference of the printed mean
        and the study's; NaN where it is not known.
    has_test : bool
        Whether a test of the suite recomputes the printed number from the cause of the difference.

    Returns
    -------
    str
        "reproduced": ours rounds to the printed number, or to the printed power of ten, or the printed mean of
        several runs is, but for its rounding, within two standard deviations of the difference; "compatible": a
        single run was printed, and is within two of its standard deviations (never "reproduced": that ours, a mean,
        has its digits is luck); "explained"; "differs".
    """
    if digits == POWER:
        agrees = value > 0 and abs(math.log10(value / published)) <= 0.5
    else:
        # without chance, or where it was not measured, the digits decide; of a single run they say nothing
        chance = 0.0 if runs is None or (runs > 1 and math.isnan(sd)) else WITHIN * sd
        agrees = abs(value - published) <= rounding_error(int(digits)) + chance
    if agrees:
        return "compatible" if runs == 1 else "reproduced"
    return "explained" if has_test else "differs"


def rounding_error(digits: int) -> float:
    """How far a number may be from its printed, rounded form."""
    return 0.5 * 10.0**-digits + 1e-12

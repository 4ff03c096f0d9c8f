"""Which of several units differ: all pairs of them tested together, and units in groups that are not told apart."""

from __future__ import annotations

from itertools import combinations
from math import inf, nan
from typing import NamedTuple

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Pairs(NamedTuple):
    """All pairs of units, each array (pairs,), in the order of `itertools.combinations`.

    difference  of the first's value less the second's; `low` and `high` are the ends of its simultaneous interval
    p_adjusted  that there is no difference, adjusted for the number of pairs
    """

    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p_adjusted: np.ndarray


def compare_pairs(values: np.ndarray, samples: np.ndarray, level: float = 0.95) -> Pairs:
    """All pairs of units compared at once, by the bootstrap's largest studentised difference (single-step max-T).

    A p-value is the share of resamples in which the largest studentised error of any pair is as large as the pair's
    own difference. So the chance of telling any two equal units apart is bounded for all pairs together, as far as
    the resamples vary as the values do. Pairs that vary together cost less than by Bonferroni's method, and a few
    hundred resamples do for any number of pairs.

    Parameters
    ----------
    values
        Of the units, (units,); NaN is none.
    samples
        Their values in bootstrap resamples, (units, draws); NaN where a unit has none.
    level
        Of the intervals.

    Returns
    -------
    Pairs
        NaN where a unit of the pair has no value, or no two resamples.

    References
    ----------
    Westfall and Young. Resampling-based multiple testing. Wiley, 1993, section 2.5; Romano and Wolf. Exact and
    approximate stepdown methods for multiple hypothesis testing. JASA 100, 2005, algorithm 4.1 (its first step).
    """
    first, second = np.array(list(combinations(range(len(values)), 2)), dtype=int).reshape(-1, 2).T
    scale = np.fmax(np.abs(values[first]), np.abs(values[second]))
    return compare_differences(values[first] - values[second], samples[first] - samples[second], scale, level)


def compare_differences(
    difference: np.ndarray, draws: np.ndarray, scale: np.ndarray, level: float = 0.95
) -> Pairs:
    """`compare_pairs` where a unit's value differs from pair to pair: each pair is compared on what its two share.

    Parameters
    ----------
    difference
        Of the pairs, (pairs,); NaN is none.
    draws
        The differences in bootstrap resamples, (pairs, draws); NaN where a unit has no value. One draw is the same
        resample in all pairs.
    scale
        The larger absolute value of each pair, (pairs,): what differs by less than its rounding does not vary.
    level
        Of the intervals.
    """
    has_value = ~np.isnan(draws)
    testable = (has_value.sum(axis=1) > 1) & ~np.isnan(difference)
    if not testable.any():
        return Pairs(difference, *(np.full(len(difference), nan) for _ in range(3)))
    error = np.full(len(difference), nan)
    error[testable] = np.nanstd(draws[testable], axis=1, ddof=1)
    # what differs by rounding alone does not vary
    error[error <= 1e-12 * scale] = 0.0
    # of the pairs that have a value in the resample
    largest = np.fmax.reduce(_studentise(draws[testable] - difference[testable, None], error[testable, None]))
    largest = np.sort(largest[~np.isnan(largest)])
    observed = _studentise(difference, error)
    as_large = len(largest) - np.searchsorted(largest, observed)
    p_adjusted = np.where(np.isnan(observed), nan, (1 + as_large) / (1 + len(largest)))
    reach = np.quantile(largest, level, method="higher") * error
    return Pairs(difference, difference - reach, difference + reach, p_adjusted)


def _studentise(differences: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Absolute differences in standard errors; of an error of 0, 0 or infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(differences) / errors
    return np.where(errors == 0, np.where(np.abs(differences) > 1e-12, inf, 0.0), ratios)


def letters(differs: np.ndarray) -> list[str]:
    """Units in groups that are not told apart, as letters: two units have a letter in common if, and only if, they do
    not differ. A unit may be in several groups: that a is like b, and b like c, does not say that a is like c.

    Parameters
    ----------
    differs
        Whether two units differ, symmetric, (units, units); units in the order in which groups are lettered.

    Returns
    -------
    list of str
        A text of letters per unit; after z come letters with a number.

    References
    ----------
    Piepho. An algorithm for a letter-based representation of all-pairwise comparisons. JCGS 13, 2004 (insert and
    absorb).
    """
    groups = [frozenset(range(len(differs)))]
    for pair in combinations(range(len(differs)), 2):
        if differs[pair]:
            parts = [g - {member} if set(pair) <= g else g for g in groups for member in pair]
            groups = [g for g in set(parts) if not any(g < larger for larger in parts)]
    groups.sort(key=sorted)
    names = [LETTERS[i % 26] + (str(i // 26) if i >= 26 else "") for i in range(len(groups))]
    return [
        "".join(name for name, group in zip(names, groups, strict=True) if unit in group)
        for unit in range(len(differs))
    ]

"""Bootstrap confidence intervals over words: the range of a metric's value with other words of the same kind.

Words are resampled from their set, with replacement; a resample has the size of the set. Pairs are resampled as
pairs, and the forms of one word together. A set is resampled identically in all cells of a study: the draw "she,
she, woman" is the same for every model, metric and query with that set. Differences between cells, and ranks,
therefore have their own uncertainty. Only missing words are drawn separately for each model.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

# With a larger share of undefined samples, the others are not informative about the value.
MOST_UNDEFINED = 0.05
# A shorter interval, relative to the value or to 1, is rounding.
ROUNDING = 100 * np.finfo(float).eps
KINDS = ("percentile", "bca", "jackknife")
UNMOVED = "leaving out any one word does not change the value"


def draw_counts(
    words: Sequence[str], places: np.ndarray, draws: int, seed: int, groups: int = 0
) -> np.ndarray:
    """Draw bootstrap samples of a set and count how often each found word is in each sample: (draws, found words).

    If the set is resampled as `groups` groups of words (`groups_of`), count the groups with a found word instead:
    (draws, such groups). `words` are the set's as given, `places` the indices of the found words. The samples
    depend on `seed` and `words`, and on the model only if it lacks words: a missing word is replaced by another
    draw.
    """
    if groups:
        places = np.unique(groups_of(words, places, groups))
    return _counts(tuple(words), tuple(places.tolist()), draws, seed, groups or len(words))


def groups_of(words: Sequence[str], places: np.ndarray, groups: int) -> np.ndarray:
    """Assign each found word of a set to a group, 0 to groups - 1.

    The assignment is random, as neighbours in a list are similar, and the same for every model.
    """
    groups_of_words = np.random.default_rng([digest(words), 3]).permutation(len(words)) % groups
    return groups_of_words[places]


# Cache the counts: for a lexicon of thousands of words, shared by many queries, they take longer than most metrics.
@lru_cache(maxsize=64)
def _counts(words: tuple[str, ...], places: tuple[int, ...], draws: int, seed: int, units: int) -> np.ndarray:
    positions = np.random.default_rng([seed, digest(words)]).integers(units, size=(draws, units))
    positions = positions[:, : len(places)]
    index = np.full(units, -1)
    index[list(places)] = np.arange(len(places))
    picks = index[positions]
    missing = picks < 0
    if missing.any():
        second_rng = np.random.default_rng([seed, digest(words), 1])
        picks[missing] = second_rng.integers(len(places), size=np.count_nonzero(missing))
    width = len(places)
    cells = picks + width * np.arange(draws)[:, None]
    counts = np.bincount(cells.ravel(), minlength=draws * width).reshape(draws, width).astype(np.int32)
    counts.setflags(write=False)
    return counts


def digest(words: Sequence[str]) -> int:
    """Return a number that represents a list of words in a seed."""
    return int.from_bytes(hashlib.sha256("\n".join(words).encode()).digest()[:8], "big")


def intervals(
    samples: np.ndarray, observed: float, leave_one_out: Sequence[np.ndarray], level: float
) -> dict[str, Any]:
    """Compute the bootstrap intervals of a value.

    Percentile: Efron & Tibshirani 1993, equation 13.5. BCa, bias-corrected and accelerated: equations 14.9 to
    14.15, for several sets with the acceleration of scipy.stats.bootstrap, whose intervals of the same samples both
    equal. Jackknife: the value and, to both sides, a multiple of its standard error (equation 11.5, summed over the
    sets). The multiple is Student's t with Satterthwaite's degrees of freedom; it needs no samples.

    Parameters
    ----------
    samples
        Value of each bootstrap resample; NaN if undefined.
    observed
        Value of the words without resampling.
    leave_one_out
        Value without each word in turn, one array per set (pairs: one for both sets).
    level
        Share of the distribution in an interval.

    Returns
    -------
    dict
        draws, undefined, mean, standard_error, percentile, bca, jackknife and reasons. The intervals are [low,
        high], or [NaN, NaN] if undefined. `reasons` then maps the interval to a sentence: more than 5 % of the
        samples are undefined; for `bca`, no sample, or all samples, lie on one side of the value; for `bca` and
        `jackknife`, a word cannot be left out; or the interval has length 0, as words that do not change the value
        do not show its uncertainty.
    """
    # Import scipy late: the import takes a fifth of a second, and a plan imports the tests.
    from scipy.special import ndtr, ndtri

    tail = (1 - level) / 2
    finite = samples[np.isfinite(samples)]
    record: dict[str, Any] = {"draws": len(samples), "undefined": len(samples) - len(finite)}
    if not math.isfinite(observed) or record["undefined"] > MOST_UNDEFINED * len(samples):
        reason = f"{record['undefined']} of {len(samples)} resamples have no value"
        record |= {"mean": math.nan, "standard_error": math.nan}
        return (
            record
            | {name: [math.nan, math.nan] for name in KINDS}
            | {"reasons": dict.fromkeys(KINDS, reason)}
        )
    share_below = ((finite < observed).mean() + (finite <= observed).mean()) / 2
    z0, a = ndtri(share_below), _acceleration(leave_one_out)
    z = z0 + ndtri([tail, 1 - tail])
    # z0 may be infinite.
    with np.errstate(invalid="ignore"):
        shares = ndtr(z0 + z / (1 - a * z))
    ends = {
        "percentile": np.quantile(finite, [tail, 1 - tail]).tolist(),
        "bca": np.quantile(finite, shares).tolist() if np.isfinite(shares).all() else [math.nan, math.nan],
        "jackknife": jackknife(observed, leave_one_out, tail),
    }
    reasons = {}
    for name, (low, high) in ends.items():
        if math.isnan(low):
            reasons[name] = _why_none(leave_one_out) or "all resamples lie on one side of the value"
        elif high - low <= ROUNDING * max(abs(observed), 1.0):
            reasons[name] = (
                UNMOVED if name == "jackknife" else f"{level * 100:g} % of the resamples have one value"
            )
            ends[name] = [math.nan, math.nan]
    return record | {
        "mean": float(finite.mean()),
        "standard_error": float(finite.std(ddof=1)) if len(finite) > 1 else math.nan,
        **ends,
        "reasons": reasons,
    }


def interval_of_units(samples: np.ndarray, level: float) -> dict[str, Any]:
    """Compute the bootstrap interval of a value over the sentences (or windows) of a corpus.

    Parameters
    ----------
    samples
        Value of each bootstrap resample; NaN if undefined.
    level
        Share of the distribution in the interval.

    Returns
    -------
    dict
        draws, undefined, standard_error, and percentile, which is [NaN, NaN] if more than 5 % of the samples are
        undefined.
    """
    finite = samples[np.isfinite(samples)]
    record: dict[str, Any] = {"draws": len(samples), "undefined": len(samples) - len(finite)}
    if record["undefined"] > MOST_UNDEFINED * len(samples) or len(finite) < 2:
        return record | {"standard_error": math.nan, "percentile": [math.nan, math.nan]}
    tail = (1 - level) / 2
    ends = np.quantile(finite, [tail, 1 - tail]).tolist()
    return record | {"standard_error": float(finite.std(ddof=1)), "percentile": ends}


def _why_none(leave_one_out: Sequence[np.ndarray]) -> str:
    """Return the reason why words cannot be left out one by one; "" if they can."""
    if any(len(values) == 1 for values in leave_one_out):
        return "a set has one word, which cannot be left out"
    if not all(np.isfinite(values).all() for values in leave_one_out):
        return "the metric has no value without one of the words"
    return ""


def jackknife(observed: float, leave_one_out: Sequence[np.ndarray], tail: float) -> list[float]:
    """Compute the jackknife interval from the values without each word of each set; `tail` is outside on either
    side."""
    from scipy.special import stdtrit

    words = np.array([len(values) for values in leave_one_out])
    parts = (
        np.array([((values - values.mean()) ** 2).sum() for values in leave_one_out]) * (words - 1) / words
    )
    if not parts.sum() > 0:
        return [observed, observed] if parts.sum() == 0 else [math.nan, math.nan]
    freedom = parts.sum() ** 2 / (parts**2 / (words - 1)).sum()
    reach = float(stdtrit(freedom, 1 - tail)) * math.sqrt(parts.sum())
    return [observed - reach, observed + reach]


def _acceleration(leave_one_out: Sequence[np.ndarray]) -> float:
    cubes = squares = 0.0
    for values in leave_one_out:
        n = len(values)
        influence = (n - 1) * (values.mean() - values)
        cubes += (influence**3).sum() / n**3
        squares += (influence**2).sum() / n**2
    # NaN of a word that cannot be left out stays NaN.
    return 0.0 if squares == 0 else float(cubes / (6 * squares**1.5))

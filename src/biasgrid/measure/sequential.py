"""Monte Carlo tests that draw until they are decided (Besag and Clifford 1991).

A score that many draws exceed needs few of them; only a small p-value needs thousands. Draws are counted one by
one, in an order that is fixed before the first one. The p-value therefore depends on the score's own draws up to
its own stop, and not on the number of draws computed at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Number of draws of every test, which show its null distribution; number of extreme draws that end a test.
FIRST, STOP = 199, 20
# End of the next stretch of draws that is computed at once; later stretches double the number of draws.
STRETCH = 1000


class SequentialTest(NamedTuple):
    """A p-value, the ends of its 95 % interval, and the number of draws behind it."""

    p_value: float
    low: float
    high: float
    draws: int


def stretches(draws: int) -> list[int]:
    """Return the ends of the stretches of draws that are computed at once, from 0 on; the same up to `draws`,
    whatever they are."""
    ends = [0, FIRST]
    while ends[-1] < draws:
        ends.append(STRETCH if ends[-1] == FIRST else 2 * ends[-1])
    return [*(end for end in ends if end < draws), draws]


def count_up(extreme: np.ndarray, stop: int | None, is_end: bool) -> SequentialTest | None:
    """Compute the p-value from whether draws, in order, are as extreme as the score; None if more are needed.

    Let k(l) be the number of extreme ones among the first l draws. If k(199) >= `stop`, the p-value is (k(199) + 1)
    / 200. Otherwise, if the l-th draw makes k equal to `stop`, it is `stop` / l. Otherwise, after all draws, it is
    (k + 1) / (draws + 1). Under the null hypothesis, the probability that the p-value is at most any value that it
    can take is exactly this value.

    Parameters
    ----------
    extreme
        Whether each draw so far is extreme, bool (draws,).
    stop
        Number of extreme draws that ends the test; None: all draws are counted.
    is_end
        Whether these are all draws.

    Returns
    -------
    SequentialTest or None
        The interval is Clopper and Pearson's (1934) for a fixed number of draws, and its counterpart for the number
        of draws up to the `stop`-th extreme one.

    References
    ----------
    Besag and Clifford. Sequential Monte Carlo p-values. Biometrika 78, 1991.
    """
    # Import scipy late: the import takes a fifth of a second, which a plan saves.
    from scipy.special import betaincinv

    if stop is not None and len(extreme) >= FIRST:
        first = int(np.count_nonzero(extreme[:FIRST]))
        if first >= stop:
            return _binomial(first, FIRST)
        places = np.flatnonzero(extreme)
        if len(places) >= stop:
            last = int(places[stop - 1]) + 1
            low, high = (
                betaincinv(stop, last - stop + more, tail) for more, tail in ((1, 0.025), (0, 0.975))
            )
            return SequentialTest(stop / last, float(low), float(high), last)
    return _binomial(int(np.count_nonzero(extreme)), len(extreme)) if is_end else None


def _binomial(count: int, draws: int) -> SequentialTest:
    from scipy.special import betaincinv

    # The ends equal scipy.stats.binomtest's, which takes longer to search for them than most tests take.
    low = betaincinv(count, draws - count + 1, 0.025) if count else 0.0
    high = betaincinv(count + 1, draws - count, 0.975) if count < draws else 1.0
    return SequentialTest((count + 1) / (draws + 1), float(low), float(high), draws)

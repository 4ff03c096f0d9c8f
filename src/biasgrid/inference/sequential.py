"""Monte Carlo tests that draw until they are decided (Besag and Clifford 1991).

A score that many draws exceed needs few of them; only a small p-value needs thousands. Draws count one by one, in an
order that is fixed before the first one. So the p-value depends on the score's own draws up to its own stop, however
many were computed beside it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# draws of every test, which are the picture of its null distribution; draws as extreme as the score that end a test
FIRST, STOP = 199, 20
# the next stretches of draws that are computed at once, each as many as all before it
STRETCH = 1000


class Tally(NamedTuple):
    """What draws say: a p-value, the ends of its 95 % interval, and how many draws it rests on."""

    p_value: float
    low: float
    high: float
    draws: int


def stretches(draws: int) -> list[int]:
    """Where the stretches of draws end that are computed at once, from 0 on: for any `draws`, the same up to them."""
    ends = [0, FIRST]
    while ends[-1] < draws:
        ends.append(STRETCH if ends[-1] == FIRST else 2 * ends[-1])
    return [*(end for end in ends if end < draws), draws]


def count_up(extreme: np.ndarray, stop: int | None, is_end: bool) -> Tally | None:
    """The p-value of draws that are as extreme as the score, or not, in order; None: more are needed.

    With k(l) the number of extreme ones among the first l draws: if k(199) >= `stop`, the p-value is
    (k(199) + 1) / 200. Else, if the draw that makes k equal to `stop` is the l-th, it is `stop` / l. Else, after all
    draws, (k + 1) / (draws + 1). Under the null hypothesis, the p-value is at most any value that it can take with
    just this probability.

    Parameters
    ----------
    extreme
        Of each draw up to here, bool (draws,).
    stop
        None: all draws are counted.
    is_end
        Whether these are all draws.

    Returns
    -------
    Tally or None
        The interval is that of Clopper and Pearson (1934) for a fixed number of draws, and its counterpart for the
        number of draws up to the `stop`-th extreme one.

    References
    ----------
    Besag and Clifford. Sequential Monte Carlo p-values. Biometrika 78, 1991.
    """
    # imported late: it takes a fifth of a second, which a plan need not wait
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
            return Tally(stop / last, float(low), float(high), last)
    return _binomial(int(np.count_nonzero(extreme)), len(extreme)) if is_end else None


def _binomial(count: int, draws: int) -> Tally:
    from scipy.special import betaincinv

    # as scipy.stats.binomtest has it after a search that takes longer than most tests
    low = betaincinv(count, draws - count + 1, 0.025) if count else 0.0
    high = betaincinv(count + 1, draws - count, 0.975) if count < draws else 1.0
    return Tally((count + 1) / (draws + 1), float(low), float(high), draws)

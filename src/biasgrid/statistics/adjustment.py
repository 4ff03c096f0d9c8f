"""p-values adjusted for the number of tests of a family."""

from __future__ import annotations

import numpy as np


def holm(p_values: np.ndarray) -> np.ndarray:
    """Holm's step-down method (Holm 1979).

    Parameters
    ----------
    p_values
        Of all tests of a family, (n,), from 0 to 1.

    Returns
    -------
    numpy.ndarray
        (n,), from 0 to 1. The chance of any false rejection among the family's tests, whatever they share, is at most
        the level that these are compared with.
    """
    order = np.argsort(p_values)
    tests_left = np.arange(len(p_values), 0, -1)
    adjusted_values = np.empty(len(p_values))
    adjusted_values[order] = np.maximum.accumulate(tests_left * p_values[order]).clip(max=1)
    return adjusted_values


def benjamini_hochberg(p_values: np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg's step-up method (1995), as `holm`; it bounds the expected share of false rejections
    among the rejections, of tests that are independent or positively dependent."""
    # imported late: it takes half a second, which a study without tests need not wait
    from scipy.stats import false_discovery_control

    return false_discovery_control(p_values)


METHODS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}

"""p-values adjusted for the number of tests of a family."""

from __future__ import annotations

import numpy as np


def holm(p_values: np.ndarray) -> np.ndarray:
    """Adjust p-values by Holm's step-down method (Holm 1979).

    Parameters
    ----------
    p_values
        p-values of all tests of a family, (n,), from 0 to 1.

    Returns
    -------
    numpy.ndarray
        (n,), from 0 to 1. The chance of any false rejection among the family's tests, whatever their dependence, is
        at most the level with which these values are compared.
    """
    order = np.argsort(p_values)
    tests_left = np.arange(len(p_values), 0, -1)
    adjusted_values = np.empty(len(p_values))
    adjusted_values[order] = np.maximum.accumulate(tests_left * p_values[order]).clip(max=1)
    return adjusted_values


def benjamini_hochberg(p_values: np.ndarray) -> np.ndarray:
    """Adjust p-values by Benjamini and Hochberg's step-up method (1995); arguments as in `holm`.

    The method bounds the expected share of false rejections among the rejections, for tests that are independent or
    positively dependent.
    """
    # Import scipy late: the import takes half a second, which a study without tests saves.
    from scipy.stats import false_discovery_control

    return false_discovery_control(p_values)


METHODS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}

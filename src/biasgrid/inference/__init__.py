"""How sure a metric's value is: permutation tests, bootstrap intervals, and how much single words matter."""

from .bootstrap import intervals
from .infer import BIAS, exchange_test, infer_query
from .permutation import ALTERNATIVES, Permutation, permutation_test
from .sampled import Sampled

__all__ = [
    "ALTERNATIVES",
    "BIAS",
    "Permutation",
    "Sampled",
    "exchange_test",
    "infer_query",
    "intervals",
    "permutation_test",
]

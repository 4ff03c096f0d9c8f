"""Inference about a metric's value: permutation tests, bootstrap intervals, leave-one-out influence."""

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

"""Inference about a metric's value: permutation tests, bootstrap intervals, leave-one-out influence."""

from .bootstrap import intervals
from .infer import BIAS, infer, infer_query, query_permutation_test
from .permutation import ALTERNATIVES, Permutation, permutation_test
from .resampler import Resampler

__all__ = [
    "ALTERNATIVES",
    "BIAS",
    "Permutation",
    "Resampler",
    "infer",
    "infer_query",
    "intervals",
    "permutation_test",
    "query_permutation_test",
]

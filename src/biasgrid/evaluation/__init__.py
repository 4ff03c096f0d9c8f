"""Evaluations of a model besides its scores: its quality, and the bias that is left after debiasing.

A file with `EVALUATIONS` is an evaluation, which is discovered automatically. The bias of a query belongs in
`metrics`.
"""

from .evaluate import evaluate
from .evaluation import REGISTRY, Evaluation, Outcome, evaluations
from .spec import Spec

__all__ = ["REGISTRY", "Evaluation", "Outcome", "Spec", "evaluate", "evaluations"]

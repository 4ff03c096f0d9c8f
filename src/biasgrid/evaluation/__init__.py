"""Evaluations of the cost and the hidden bias of debiasing. Each is one file of this package, found automatically."""

from .evaluate import evaluate
from .evaluation import REGISTRY, Evaluation, Outcome, evaluations
from .spec import Spec

__all__ = ["REGISTRY", "Evaluation", "Outcome", "Spec", "evaluate", "evaluations"]

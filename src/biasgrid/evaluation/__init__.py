"""The evaluations: what debiasing costs and hides. Each is one file of this package, discovered automatically."""

from .evaluate import evaluate
from .evaluation import REGISTRY, Evaluation, Outcome, evaluations
from .spec import Spec

__all__ = ["REGISTRY", "Evaluation", "Outcome", "Spec", "evaluate", "evaluations"]

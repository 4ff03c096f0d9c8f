"""The planted-bias benchmark: corpora of templates with planted frequencies of pronouns, and models of them.

Schroeder et al. (Evaluating Metrics for Bias in Word Embeddings, 2021, section 5.1) do it with BERT; here models are
static ones (docs/factory.md) and a small BERT (docs/replications/schroeder.md). What each metric says of a model's
vectors is compared with what was planted, and with what the model does.
"""

from .corpus import Templates, corpus, draw, plan
from .study import Factory, trainer_parameters
from .training import train

__all__ = ["Factory", "Templates", "corpus", "draw", "plan", "train", "trainer_parameters"]

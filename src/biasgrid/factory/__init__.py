"""The planted-bias benchmark: corpora of templates with planted frequencies of pronouns, and models of them.

Schroeder et al. (Evaluating Metrics for Bias in Word Embeddings, 2021, section 5.1) do it with BERT; here models are
static. What each metric says of such a model, of its word vectors alone and of their sums with context vectors, is
compared with what was planted: see docs/factory.md.
"""

from .corpus import Templates, corpus, plan
from .study import Factory, Model, trainer_parameters
from .training import train

__all__ = ["Factory", "Model", "Templates", "corpus", "plan", "train", "trainer_parameters"]

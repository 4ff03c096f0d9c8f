"""The benchmark with injected bias: corpora of templates with known frequencies of pronouns, and models of them.

Schroeder et al. (Evaluating Metrics for Bias in Word Embeddings, 2021, section 5.1) use BERT. Here, the models are
static models (docs/known-bias.md) and a small BERT (docs/replications/schroeder.md). The value of each metric on a
model's vectors is compared with the injected bias, and with the behaviour of the model.
"""

from biasgrid.core.registry import load_plugins

# Modules of this package import from the plugin.
load_plugins(["training"])

from .corpus import Templates, corpus, draw, plan  # noqa: E402
from .study import Factory, trainer_parameters  # noqa: E402
from .training import train  # noqa: E402

__all__ = ["Factory", "Templates", "corpus", "draw", "plan", "train", "trainer_parameters"]

"""Are p-values calibrated, and do intervals cover? Every metric on simulated embeddings whose bias is known.

Words are Gaussian vectors around the means of populations; a repetition draws new sets and infers from them what a
cell of a study does, by the same code. Both tests are tried on words of real models, too, and
all on vectors of shuffled corpora, where frequency passes for bias. See docs/calibration.md.
"""

from .populations import Population
from .study import Simulation

__all__ = ["Population", "Simulation"]

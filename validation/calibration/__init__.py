"""Calibration of p-values and coverage of intervals, for every metric on simulated embeddings with known bias.

Words are Gaussian vectors around the means of populations. A repetition draws new sets and computes the same
inference as a cell of a study, with the same code. Both tests are also run on words of real models. All tests are
run on vectors of shuffled corpora, in which frequency can look like bias. See docs/calibration.md.
"""

from .populations import Population
from .study import Simulation

__all__ = ["Population", "Simulation"]

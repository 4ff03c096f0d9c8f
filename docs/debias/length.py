"""An evaluation of one's own: the mean length of vectors (docs/debias.md)."""

from biasgrid.core.validation import Strict, field
from biasgrid.evaluation import Evaluation, Outcome
from biasgrid.evaluation.facts import fact


class Length(Strict):
    rows: int = field("number of the model's first rows", 1000, "rows", ge=1)


def measure(model, state, spec, options, seed):
    """Return the mean length of vectors; `state` is the original model, or one under a debias method."""
    words, rows = model.vocabulary(spec.rows)
    lengths = (state.take(words, rows) ** 2).sum(axis=1) ** 0.5
    return Outcome([fact("length", "mean", lengths.mean(), len(rows))])


EVALUATIONS = (Evaluation("length", "How long vectors are.", Length, measure),)

"""ECT, the Embedding Coherence Test (Dev & Phillips, AISTATS 2019, section 2.2)."""

from __future__ import annotations

import numpy as np

from ..geometry import cosines
from .registry import Detail, Metric, Score


def ect(targets: list[np.ndarray], attributes: list[np.ndarray]) -> Score:
    """Spearman correlation, over the attribute words, of their cosines with the two target means.

    Range [-1, 1]; neutral value 1: both groups order the attributes alike. Larger is less biased. Undefined
    (NaN) for fewer than two attribute words, or where all of them are equally near to a mean.
    """
    means = np.stack([words.mean(axis=0) for words in targets])
    (words,) = attributes
    similarity = cosines(words, means)
    value = _spearman(*similarity.T) if np.isfinite(similarity).all() else float("nan")
    return Score(value, detail={"similarity": Detail("attribute", [similarity])})


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    # imported late: it takes half a second, which every start of the workflow would pay
    from scipy.stats import rankdata

    # and not spearmanr: its warnings are process-wide, and cells share a process. Cosines that agree to twelve
    # digits are a tie, not an order made by rounding
    x, y = rankdata(x.round(12)), rankdata(y.round(12))
    x, y = x - x.mean(), y - y.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(np.clip(x @ y / scale, -1.0, 1.0)) if scale > 0 else float("nan")


METRICS = (
    Metric(
        name="ect",
        label="ECT",
        function=ect,
        template=(2, 1),
        range=(-1.0, 1.0),
        neutral=1.0,
        reference="Dev, Phillips. Attenuating bias in word vectors. AISTATS 2019",
    ),
)

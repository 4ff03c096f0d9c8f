"""MAC, the Mean Average Cosine distance (Manzini, Lim, Black, Tsvetkov, NAACL 2019, section 3)."""

from __future__ import annotations

import numpy as np

from ..geometry import cosines
from .registry import Detail, Metric, Score


def mac(targets: list[np.ndarray], attributes: list[np.ndarray]) -> Score:
    """Mean over all target words and attribute sets of the mean cosine distance between word and set.

    Any number of target and attribute sets; the words of all target sets count alike, so do the attribute
    sets whatever their size. Range [0, 2], neutral value 1 (orthogonal): nearer to 1 is less biased.
    """
    by_word = [
        np.stack([1.0 - cosines(words, a).mean(axis=1) for a in attributes], axis=1) for words in targets
    ]
    return Score(float(np.concatenate(by_word).mean()), detail={"targets_eval": Detail("target", by_word)})


METRICS = (
    Metric(
        name="mac",
        label="MAC",
        function=mac,
        template=("n", "n"),
        range=(0.0, 2.0),
        neutral=1.0,
        reference="Manzini, Lim, Black, Tsvetkov. Black is to criminal as Caucasian is to police. NAACL 2019",
    ),
)

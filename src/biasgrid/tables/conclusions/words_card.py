"""Card on other words: how many scores keep their direction with other word lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...core.numbers import share
from ...debias import UNTOUCHED
from ...measure.evidence import ALL
from ...measure.reliability_in_words import HOLDS, THRESHOLDS, of_sign
from ...measure.results import KEYS
from .card import Card

if TYPE_CHECKING:
    import pandas as pd


def words_card(
    reliability: pd.DataFrame | None, scores: pd.DataFrame | None, labels: Mapping[str, str]
) -> Card | None:
    """Say how many scores with clear evidence keep their direction with other words, and how many others do not."""
    if reliability is None or (signs := of_sign(reliability)).empty:
        return None
    unstable = signs["verdict"] != HOLDS
    by_metric = unstable.groupby(signs["metric"], sort=False).mean()
    change = f"change direction in more than {share(1 - THRESHOLDS['holds'])} of word lists of the same size"
    is_clear = np.array(_is_clear(signs, scores))
    clear, others = unstable[is_clear], unstable[~is_clear]
    sentences = []
    if len(clear):
        scored, keep = ("score", "keeps its") if len(clear) == 1 else ("scores", "keep their")
        figure = f"{(~clear).sum():,} of {len(clear):,}"
        unit = f"{scored} with clear evidence {keep} direction with other words"
        if len(others):
            sentences.append(f"Of {len(others):,} other scores, {share(others.mean())} {change}.")
    else:
        figure, unit = share(unstable.mean()), "of scores could change direction with other words"
        sentences.append(f"These {unstable.sum():,} of {len(signs):,} {change}.")
    ends = dict.fromkeys([by_metric.idxmin(), by_metric.idxmax()])
    if len(ends) > 1:
        best, worst = (f"{labels.get(m, m)} ({share(by_metric[m])} could change)" for m in map(str, ends))
        sentences.append(f"Most stable is {best}, least {worst}.")
    return Card("Other words", "Would other words change it?", figure, unit, tuple(sentences), visible=1)


def _is_clear(signs: pd.DataFrame, scores: pd.DataFrame | None) -> list[bool]:
    """Return whether each row is of an original model's score with clear evidence."""
    if scores is None:
        return [False] * len(signs)
    clear = scores[(scores["evidence"] == ALL) & (scores["debias"] == UNTOUCHED)]
    keys = set(clear[KEYS].itertuples(index=False, name=None))
    return [key in keys for key in signs[KEYS].itertuples(index=False, name=None)]

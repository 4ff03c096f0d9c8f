"""Indirect bias of words: similarity with others that is due to a direction (Bolukbasi et al. 2016, figure 3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import InputError, quote
from ..core.keywords import checked_keywords
from ..metrics.indirect_bias import betas
from ..models.directions import PCA
from ..models.model import Model
from .axis import VOCABULARY, Baseline, Groups, find, find_axis, find_one, unit_or_nan, whole_vocabulary

if TYPE_CHECKING:
    import pandas as pd


@checked_keywords()
def indirect_words(
    model: Model,
    groups: Groups,
    ends: Sequence[str],
    words: Iterable[str] | None = None,
    *,
    direction: str = PCA,
    count: int = 10,
    vocabulary: int | None = VOCABULARY,
    only_letters: bool = True,
) -> pd.DataFrame:
    """Find the words near two neutral words whose similarity with them is most due to the groups' direction.

    Parameters
    ----------
    model
        A model of word vectors. For a debiased model, directions come from its original model.
    groups, direction
        As in `project`: the direction of the bias, such as gender.
    ends
        Two neutral words, such as ("softball", "football").
    words
        Words to examine, such as professions; by default the model's vocabulary.
    count
        Number of words of each end: the words furthest towards it on the line from one end to the other.
    vocabulary, only_letters
        As in `project`.

    Returns
    -------
    pandas.DataFrame
        One row per word, for each end the words with the most indirect bias first. projection: on the line between
        the ends, positive towards the first. similarity: cosine with the end. beta: indirect bias, the share of the
        similarity that is due to the groups' direction; 1 is all of it. bias: the word's projection on the groups'
        direction. standardized, error: standard deviations by which `bias` is further from 0 than for random words
        of the same frequency, and the Monte Carlo error.

    Raises
    ------
    BiasgridError
        If the model lacks an end, the ends have the same direction, or an option is not allowed.

    Notes
    -----
    `beta` is not bounded if a similarity is near 0, so that it does not have its own random-word baseline.

    References
    ----------
    Bolukbasi, T., Chang, K.-W., Zou, J., Saligrama, V., Kalai, A. (2016). Man is to computer programmer as woman is
    to homemaker? NeurIPS. Section 5.3.
    """
    import pandas as pd

    axis = find_axis(model, groups, direction)
    ends = [ends] if isinstance(ends, str) else list(ends)
    if len(ends) != 2:
        raise InputError(f"ends: expected two words, not {quote(ends)}")
    for name, number in (("count", count), ("vocabulary", 1 if vocabulary is None else vocabulary)):
        if type(number) is not int or number < 1:
            raise InputError(f"{name}: expected a whole number from 1 on, not {number!r}")
    both = [find_one(model, end, "ends") for end in ends]
    vectors = np.concatenate([end.units(model) for end in both])
    (line,) = unit_or_nan(vectors[:1] - vectors[1:])
    if not np.isfinite(line).all():
        raise InputError(
            f"ends: {quote(ends[0])} and {quote(ends[1])} have the same direction in {model.name}"
        )
    own_rows = {*both[0].rows.tolist(), *both[1].rows.tolist()}
    if words is None:
        found = whole_vocabulary(model, vocabulary, only_letters, axis.rows | own_rows)
    else:
        found = find(model, words, "words")
    units = found.units(model)
    along = units @ line
    usable = np.flatnonzero(np.isfinite(along) & ~np.isin(found.rows, list(own_rows)))
    bias = axis.cosines(units)
    baseline = Baseline.of_axis(model, axis)
    tables = []
    for end, vector, sign in zip(both, vectors, (1, -1), strict=True):
        order = usable[np.argsort(-sign * along[usable], kind="stable")]
        order = order[sign * along[order] > 0][:count]
        products = vector[None] @ units[order].T
        (beta,) = betas(products, (axis.cosines(vector[None]))[:, None], bias[order])
        standardized = baseline.read(bias[order], found.rows[order])
        tables.append(
            pd.DataFrame(
                {
                    "end": end.words[0],
                    "word": [found.words[i] for i in order],
                    "projection": along[order],
                    "similarity": products[0],
                    "beta": beta,
                    "bias": bias[order],
                    "standardized": [one.value for one in standardized],
                    "error": [one.error for one in standardized],
                }
            ).sort_values("beta", ascending=False, kind="stable")
        )
    return pd.concat(tables, ignore_index=True)

"""Report on one word: its bias by each direction, and its neighbours, before and after debiasing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import InputError, quote, unknown_name
from ..core.keywords import checked_keywords
from ..debias import UNTOUCHED
from ..figures.showing import check_path, hand_out
from ..measure.candidate_words import bands_of
from ..metrics.indirect_bias import betas
from ..metrics.neighbourhood import THRESHOLD
from ..metrics.neighbours import nearest
from ..models.checks import check_model
from ..models.directions import PCA
from ..models.model import DebiasedModel, Model, Transform
from .axis import VOCABULARY, Axis, Baseline, Groups, Words, find_axis, find_one

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

NEIGHBOURS = 100
# Number of random words whose neighbours are examined, as the baseline of a word's neighbours.
RANDOM_WORDS = 200


@dataclass(frozen=True, eq=False, repr=False)
class WordReport:
    """Report on one word of a model, made by `word_report`.

    Attributes
    ----------
    model, word
        The model's name, and the word in the model's spelling.
    frame
        pandas.DataFrame, one row per direction and debias method ("none": the original model). projection: cosine
        with the direction. standardized, error: standard deviations further from 0 than random words of the same
        frequency, and the Monte Carlo error. leans: name of the closer group. neighbours: their number.
        first_group, second_group: names of the groups. lean_first, lean_second: numbers of neighbours closer to
        each group. share: share of neighbours closer to the first group. share_standardized, share_error: the same
        distance for the share, from .5. indirect: share of neighbours that are near because of the direction
        (indirect bias above .05).
    neighbours
        pandas.DataFrame, one row per direction, debias method and neighbour, the nearest first: neighbour,
        similarity (cosine with the word, after debiasing) and projection and leans (of the neighbour in the
        original model).
    """

    model: str
    word: str
    frame: pd.DataFrame
    neighbours: pd.DataFrame

    def plot(self, direction: str | None = None, *, path: Path | str | None = None) -> Figure:
        """Draw the word's neighbours: how near they are, and to which group they are closer.

        Parameters
        ----------
        direction
            The direction's name; by default the first.
        path
            A file to write, in the format of its suffix (.png, .svg, .pdf); by default none is written.

        Returns
        -------
        matplotlib.figure.Figure
        """
        check_path(path)
        from .figures import neighbours

        names = list(dict.fromkeys(self.frame["direction"]))
        direction = names[0] if direction is None else direction
        if direction not in names:
            raise InputError(f"plot: {unknown_name('direction', direction, names)}")
        rows = self.neighbours[self.neighbours["direction"] == direction]
        groups = self.frame.loc[self.frame["direction"] == direction, ["first_group", "second_group"]].iloc[0]
        return hand_out(neighbours(rows, self.word, (groups.iloc[0], groups.iloc[1]), self.model), path)

    def __repr__(self) -> str:
        return f"<WordReport of {self.word!r} in {self.model}: {len(self.frame)} rows>"

    def _repr_html_(self) -> str:
        html: str = self.frame._repr_html_()
        return html


@checked_keywords()
def word_report(
    model: Model,
    word: str,
    directions: Mapping[str, Groups],
    *,
    direction: str = PCA,
    transforms: Mapping[str, Transform] | None = None,
    neighbours: int = NEIGHBOURS,
    vocabulary: int = VOCABULARY,
) -> WordReport:
    """Report on one word: its bias by each direction, and the groups to which its neighbours are closer.

    Parameters
    ----------
    model
        A model of word vectors, before debiasing.
    word
        The word, looked up as in metrics.
    directions
        Name -> two groups of words, as in `project`.
    direction
        Kind of direction, as in `project`.
    transforms
        Name -> fitted debias method: the report also covers the word after debiasing.
    neighbours
        Number of nearest neighbours to examine.
    vocabulary
        Number of first rows of the model from which neighbours are taken.

    Returns
    -------
    WordReport
        One row per direction and debias method.

    Raises
    ------
    BiasgridError
        If the model lacks the word, with the most similar word that it has; or if an option is not allowed.

    Notes
    -----
    A neighbour's bias is its bias in the original model, as in the metrics of neighbours and in Gonen and Goldberg
    (2019): after debiasing, the question is whether the word still has the same kind of neighbours. The share of
    neighbours is compared with the share for 200 random words of the same frequency.
    """
    import pandas as pd

    check_model(model, ("rows", "take", "vocabulary"))
    if isinstance(model, DebiasedModel):
        raise InputError("word_report: give the original model; transforms={'hard': transform} debiases it")
    if not isinstance(directions, Mapping) or not directions:
        raise InputError(
            f"directions: expected a mapping from names to two groups of words, not {quote(directions)}"
        )
    for name, number in (("neighbours", neighbours), ("vocabulary", vocabulary)):
        if type(number) is not int or number < 1:
            raise InputError(f"{name}: expected a whole number from 1 on, not {number!r}")
    found = find_one(model, word, "word")
    axes = {name: find_axis(model, groups, direction) for name, groups in directions.items()}
    variants: dict[str, Model] = {UNTOUCHED: model}
    for name, transform in (transforms or {}).items():
        variants[name] = model.under(transform)
    excluded = {*found.rows.tolist(), *(row for axis in axes.values() for row in axis.rows)}
    rows, listed = [], []
    for debias, variant in variants.items():
        places, entries, entry_rows = nearest(variant, list(found.entries), neighbours, vocabulary)
        near = Words(
            tuple(entries[i].removeprefix(model.vocab_prefix) for i in places[0]),
            tuple(entries[i] for i in places[0]),
            entry_rows[places[0]],
        )
        units, own = near.units(variant), found.units(variant)
        similarity = units @ own[0]
        for name, axis in axes.items():
            row, projections = _row(model, variant, found, near, axis, excluded, neighbours, vocabulary)
            rows.append({"direction": name, "debias": debias, **row})
            listed.append(
                pd.DataFrame(
                    {
                        "direction": name,
                        "debias": debias,
                        "neighbour": near.words,
                        "similarity": similarity,
                        "projection": projections,
                        "leans": [axis.leans(value) for value in projections],
                    }
                )
            )
    return WordReport(model.name, found.words[0], pd.DataFrame(rows), pd.concat(listed, ignore_index=True))


def _row(
    model: Model,
    variant: Model,
    found: Words,
    near: Words,
    axis: Axis,
    excluded: set[int],
    neighbours: int,
    vocabulary: int,
) -> tuple[dict[str, Any], np.ndarray]:
    """Return a row of a report, and the projections of the neighbours in the original model."""
    axis_in_variant = axis.in_variant(variant)
    value = found.project(variant, axis_in_variant)
    (standardized,) = Baseline.of_axis(variant, axis_in_variant).read(value, found.rows)
    projections = near.project(model, axis)
    lean_first, lean_second = int((projections > 0).sum()), int((projections < 0).sum())
    share = lean_first / len(projections) if len(projections) else np.nan
    own = found.units(model)
    beta = betas(own @ near.units(model).T, (axis.cosines(own))[:, None], projections)

    def shares(units: np.ndarray, entries: Sequence[str], rows: np.ndarray) -> np.ndarray:
        places, words, word_rows = nearest(variant, list(entries), neighbours, vocabulary)
        distinct, inverse = np.unique(places, return_inverse=True)
        nodes = Words((), tuple(words[i] for i in distinct), word_rows[distinct]).project(model, axis)
        leans: np.ndarray = (nodes > 0)[inverse.reshape(places.shape)].mean(axis=1)
        return leans

    baseline = Baseline.of(
        variant,
        shares,
        excluded_rows=excluded,
        neutral=0.5,
        per_band=RANDOM_WORDS,
        bands=bands_of(found.rows).tolist(),
    )
    (share_standardized,) = baseline.read(np.array([share]), found.rows)
    row = {
        "projection": float(value[0]),
        "standardized": standardized.value,
        "error": standardized.error,
        "leans": axis.leans(value[0]),
        "neighbours": len(projections),
        "first_group": axis.names[0],
        "second_group": axis.names[1],
        "lean_first": lean_first,
        "lean_second": lean_second,
        "share": share,
        "share_standardized": share_standardized.value,
        "share_error": share_standardized.error,
        "indirect": float((beta > THRESHOLD).mean()) if beta.size else np.nan,
    }
    return row, projections

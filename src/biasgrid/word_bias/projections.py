"""Projections of words on a direction: the most and the least biased words, and comparisons between models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import InputError, unknown_name
from ..core.keywords import checked_keywords
from ..figures.showing import check_path, hand_out
from ..models.directions import PCA
from ..models.model import Model
from .axis import VOCABULARY, Axis, Baseline, Groups, find, find_axis, whole_vocabulary

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
COLUMNS = ("word", "projection", "standardized", "error", "leans", "rank")


@dataclass(frozen=True, eq=False, repr=False)
class Projections:
    """Projections of a model's words on a direction, made by `project`.

    Attributes
    ----------
    model
        The model's name.
    groups
        Names of the two groups: words with positive projections are closer to the first.
    frame
        pandas.DataFrame, one row per word, the furthest towards the first group first. projection: cosine with the
        direction, -1 to 1. standardized, error: standard deviations further from 0 than random words of the same
        frequency, and the Monte Carlo error. leans: name of the closer group. rank: the word's row in the model,
        from 1.
    missing
        Words of the groups and of the list that the model lacks.
    """

    model: str
    groups: tuple[str, str]
    frame: pd.DataFrame
    missing: tuple[str, ...]

    def most(self, count: int = 10) -> pd.DataFrame:
        """Return the most biased words: the furthest words towards each group.

        Parameters
        ----------
        count
            Number of words for each group.

        Returns
        -------
        pandas.DataFrame
            Rows of `frame`: for the first group, then for the second, the furthest first.
        """
        import pandas as pd

        _check_count(count)
        first, second = (self.frame[self.frame["leans"] == name] for name in self.groups)
        return pd.concat([first.head(count), second.iloc[::-1].head(count)], ignore_index=True)

    def least(self, count: int = 10) -> pd.DataFrame:
        """Return the least biased words: the words whose projections are nearest to 0.

        Parameters
        ----------
        count
            Number of words.

        Returns
        -------
        pandas.DataFrame
            Rows of `frame`, the nearest to 0 first.
        """
        _check_count(count)
        known = self.frame.dropna(subset="projection")
        order = known["projection"].abs().sort_values(kind="stable").index
        return known.loc[order].head(count).reset_index(drop=True)

    @property
    def summary(self) -> dict[str, Any]:
        """Describe the distribution of the projections.

        Returns
        -------
        dict
            words, mean, sd, mean_absolute, share (of words closer to the first group), and quantiles by level.
        """
        values = self.frame["projection"].dropna().to_numpy()
        if not len(values):
            return {"words": 0}
        return {
            "words": len(values),
            "mean": float(values.mean()),
            "sd": float(values.std()),
            "mean_absolute": float(np.abs(values).mean()),
            "share": float((values > 0).mean()),
            "quantiles": {
                f"{q:g}": float(x) for q, x in zip(QUANTILES, np.quantile(values, QUANTILES), strict=True)
            },
        }

    def plot(self, *, path: Path | str | None = None) -> Figure:
        """Draw the words furthest towards both groups, and the distribution of all words.

        Parameters
        ----------
        path
            A file to write, in the format of its suffix (.png, .svg, .pdf); by default none is written.

        Returns
        -------
        matplotlib.figure.Figure
        """
        check_path(path)
        from ..figures.projections import projections

        rows = self.frame.rename(columns={"projection": "value"})[["word", "value"]]
        figure = projections(
            rows,
            self.groups,
            f"Words furthest towards {self.groups[0]} and {self.groups[1]}",
            f"{self.model}. Cosine of each word with the direction between the two groups.",
            measure="projection",
        )
        return hand_out(figure, path)

    def __repr__(self) -> str:
        return f"<Projections of {len(self.frame)} words of {self.model}: {' - '.join(self.groups)}>"

    def _repr_html_(self) -> str:
        html: str = self.most()._repr_html_()
        return html


@checked_keywords()
def project(
    model: Model,
    groups: Groups,
    words: Iterable[str] | None = None,
    *,
    direction: str = PCA,
    vocabulary: int | None = VOCABULARY,
    only_letters: bool = True,
    exclude: Iterable[str] = (),
) -> Projections:
    """Project words on the direction in which two groups of words differ.

    Parameters
    ----------
    model
        A model of word vectors. For a debiased model, the direction comes from its original model.
    groups
        Two sets of words, in the form of a query's target sets; or a query, whose target sets are taken.
    words
        Words to project; by default the model's vocabulary.
    direction
        As in `bg.metrics.direct_bias`: "pca" and "pair" take word i of both groups as a pair; "mean", "sum" and
        "all_pairs" take groups of any size.
    vocabulary
        Without `words`: number of rows of the model to read, the most frequent words of most files; None reads all.
    only_letters
        Without `words`: whether to leave out entries with other characters than lower-case letters, such as names
        and numbers.
    exclude
        Words that are not projected, such as words that belong to a group by definition. Without `words`, the words
        of the groups are also left out.

    Returns
    -------
    Projections
        One row per word. Words that are found in the same entry have one row.

    Raises
    ------
    BiasgridError
        If the groups do not have a direction, an option is not allowed, or the model lacks all of the words.

    Notes
    -----
    `standardized` compares the distance from 0 with the distances of up to 6,000 random words of the same band of
    frequency in the same model: (distance - their mean) / their standard deviation. 0 means as much as a random
    word. It shows how unusual a word's projection is, and is not a test.

    Examples
    --------
    >>> import biasgrid as bg
    >>> model = bg.load({"she": [1, 0], "he": [-1, 0], "nurse": [3, 4], "pilot": [-4, 3], "tree": [0, 1]})
    >>> bg.word_bias.project(model, [["she"], ["he"]], ["nurse", "pilot"]).frame["projection"].round(2).tolist()
    [0.6, -0.8]
    """
    _check_vocabulary(vocabulary)
    axis = find_axis(model, groups, direction)
    excluded = find(model, exclude, "exclude").rows.tolist() if (exclude := tuple(exclude)) else []
    missing = axis.missing
    if words is None:
        found = whole_vocabulary(model, vocabulary, only_letters, {*axis.rows, *excluded})
    else:
        found = find(model, words, "words")
        keep = [i for i, row in enumerate(found.rows.tolist()) if row not in set(excluded)]
        missing += found.missing
        found = type(found)(
            tuple(found.words[i] for i in keep), tuple(found.entries[i] for i in keep), found.rows[keep]
        )
    values = found.project(model, axis)
    return Projections(
        model.name, axis.names, frame_of(found, values, axis, Baseline.of_axis(model, axis)), missing
    )


def frame_of(found: Any, values: np.ndarray, axis: Axis, baseline: Baseline) -> pd.DataFrame:
    """Return the table of projected words, the furthest towards the first group first."""
    import pandas as pd

    standardized = baseline.read(values, found.rows)
    frame = pd.DataFrame(
        {
            "word": list(found.words),
            "projection": values,
            "standardized": [one.value for one in standardized],
            "error": [one.error for one in standardized],
            "leans": [axis.leans(value) for value in values],
            "rank": found.rows + 1,
        },
        columns=list(COLUMNS),
    )
    return frame.sort_values("projection", ascending=False, kind="stable", ignore_index=True)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Projections of the same words in several models, made by `compare`.

    Attributes
    ----------
    groups
        Names of the two groups: words with positive projections are closer to the first.
    frame
        pandas.DataFrame, one row per word and model: word, model, projection, standardized, error and leans.
    """

    groups: tuple[str, str]
    frame: pd.DataFrame

    @property
    def models(self) -> list[str]:
        """Return the models' names, in the given order."""
        return list(dict.fromkeys(self.frame["model"]))

    @property
    def correlations(self) -> pd.DataFrame:
        """Correlate the projections of each two models.

        Returns
        -------
        pandas.DataFrame
            model_a, model_b, words (the number that both have), pearson and spearman; NaN for fewer than three
            words.
        """
        import pandas as pd

        wide = self.frame.pivot(index="word", columns="model", values="projection")
        rows = []
        for a, b in combinations(self.models, 2):
            both = wide[[a, b]].dropna()
            r, rho = (
                both[a].corr(both[b], method) if len(both) > 2 else np.nan
                for method in ("pearson", "spearman")
            )
            rows.append((a, b, len(both), r, rho))
        return pd.DataFrame(rows, columns=["model_a", "model_b", "words", "pearson", "spearman"])

    def plot(self, a: str | None = None, b: str | None = None, *, path: Path | str | None = None) -> Figure:
        """Draw the projections of one model against the projections of another.

        Parameters
        ----------
        a, b
            Two of the models; by default the first two.
        path
            A file to write, in the format of its suffix (.png, .svg, .pdf); by default none is written.

        Returns
        -------
        matplotlib.figure.Figure
        """
        check_path(path)
        from .figures import two_models

        a, b = a or self.models[0], b or self.models[1]
        for name in (a, b):
            if name not in self.models:
                raise InputError(f"plot: {unknown_name('model', name, self.models)}")
        wide = self.frame.pivot(index="word", columns="model", values="projection")
        return hand_out(
            two_models(wide.reindex(columns=[a, b] if a != b else [a]), self.groups, (a, b)), path
        )

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.models)} models: {' - '.join(self.groups)}>"

    def _repr_html_(self) -> str:
        html: str = self.correlations._repr_html_()
        return html


@checked_keywords()
def compare(
    models: Iterable[Model] | Mapping[str, Model],
    groups: Groups,
    words: Iterable[str],
    *,
    direction: str = PCA,
) -> Comparison:
    """Compare the projections of words in several models, such as an original and a debiased one.

    Parameters
    ----------
    models
        Two or more models; or a mapping from names to models.
    groups, direction
        As in `project`. Each model has its own direction; a debiased model has the direction of its original.
    words
        Words to project.

    Returns
    -------
    Comparison
        One row per word and model.

    Raises
    ------
    BiasgridError
        For fewer than two models, for two models with the same name, and in the cases of `project`.
    """
    import pandas as pd

    named = list(models.items()) if isinstance(models, Mapping) else [(model.name, model) for model in models]
    names = [name for name, _ in named]
    if len(named) < 2:
        raise InputError(f"compare: expected two models or more, not {len(named)}")
    if len(set(names)) < len(names):
        raise InputError("compare: two models have one name; give them as a mapping from names to models")
    words = list(words)
    results = {name: project(model, groups, words, direction=direction) for name, model in named}
    frames = [result.frame.drop(columns="rank").assign(model=name) for name, result in results.items()]
    columns = ["word", "model", "projection", "standardized", "error", "leans"]
    return Comparison(next(iter(results.values())).groups, pd.concat(frames, ignore_index=True)[columns])


def _check_count(count: Any) -> None:
    if type(count) is not int or count < 1:
        raise InputError(f"count: expected a whole number from 1 on, not {count!r}")


def _check_vocabulary(vocabulary: Any) -> None:
    if vocabulary is not None and (type(vocabulary) is not int or vocabulary < 1):
        raise InputError(f"vocabulary: expected a whole number from 1 on, or None, not {vocabulary!r}")

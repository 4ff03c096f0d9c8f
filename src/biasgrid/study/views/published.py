"""Published numbers of papers, from the files that come with biasgrid, and their figures: `published`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ... import metrics
from ...core.errors import BiasgridError, is_among, unknown_name
from ...core.resources import resource
from ...figures.text import published_label, topic
from ...measure.aggregation import OVERALL
from ...tables.published.published import PUBLISHED, read

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from .grid import Grid

# The quantity that each kind of figure shows.
KINDS = {"rankings": "rank", "rankings-by-criterion": "rank", "correlations": "correlation"}


@dataclass(frozen=True)
class Published:
    """Published numbers of a paper, as returned by `published`.

    Attributes
    ----------
    name
        The name that `published` was called with.
    files
        The files of its numbers, which `Grid.compare` accepts as well.
    """

    name: str
    files: tuple[Path, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """Return one row per number; data/published/README.md lists the columns."""
        return read(self.files)[PUBLISHED]

    def plot(
        self, kind: str = "rankings", *, beside: Grid | None = None, path: Path | str | None = None
    ) -> Figure:
        """Draw a figure of the printed ranks, or of the printed correlations between metrics, like a grid's figure.

        Parameters
        ----------
        kind
            "rankings", "rankings-by-criterion" or "correlations".
        beside
            A grid or study that ranks the paper's models: its numbers have panels of their own.
        path
            A file to write, with the suffix .png, .svg or .pdf; by default, no file is written.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        BiasgridError
            The kind is unknown, the paper did not print such numbers, or the grid has other models.

        Examples
        --------
        >>> import biasgrid as bg
        >>> figure = bg.published("case_study").plot("correlations")
        """
        from ...figures.showing import check_path, hand_out

        if kind not in KINDS:
            raise BiasgridError(unknown_name("kind of figure", kind, KINDS))
        check_path(path)
        if beside is None:
            table, labels = self.frame, {}
        else:
            table, labels = beside.compare(self.files), beside.study.labels
        if not (table["quantity"] == KINDS[kind]).any():
            what = f"{self.name} has no printed {KINDS[kind]}"
            raise BiasgridError(f"plot: {what}" + " of just the models beside it" * (beside is not None))
        return hand_out(draw(table, kind, labels), path)


def draw(table: pd.DataFrame, kind: str, labels: Mapping[str, str]) -> Figure:
    """Draw printed numbers; if the table has `ours`, the study's numbers have their own panels."""
    import pandas as pd

    from ...figures.correlations import correlations
    from ...figures.rankings import rankings_by_criterion

    labels = {key: metric.label for key, metric in metrics.REGISTRY.items()} | dict(labels)
    labels |= {model: published_label(model, labels) for model in table["model"].unique()}
    says = [f"Published in: {source}." for source in table["source"].unique()]
    if kind == "rankings":
        table = table[table["criterion"] == OVERALL]
    is_compared = "ours" in table
    sides = [table.assign(number=table["published"])]
    if is_compared:
        sides = [
            table.assign(criterion=table["criterion"].map(topic) + f", {side}", number=table[column])
            for side, column in (("this study", "ours"), ("published", "published"))
        ]
    table = pd.concat(sides).astype({"number": float})
    ranks = _ranks(table)
    if kind != "correlations":
        return rankings_by_criterion(ranks, labels, subtitle=says)
    of_models = None if ranks.empty else ranks
    coefficients, line = _coefficients(table), 2 if is_compared else 0
    return correlations(coefficients, labels, rankings=of_models, subtitle=says, line=line)


def _ranks(table: pd.DataFrame) -> pd.DataFrame:
    """Return printed ranks in the form of the table `rankings`."""
    ranks = table[table["quantity"] == "rank"]
    return ranks[["criterion", "metric", "model"]].assign(debias="none", rank=ranks["number"], cells_nan=0)


def _coefficients(table: pd.DataFrame) -> pd.DataFrame:
    """Return printed correlations in the form of the table `correlations`: both halves, and the diagonal."""
    import pandas as pd

    pairs = table[table["quantity"] == "correlation"]
    ends = pairs["metric"].str.split("~", expand=True)
    half = pd.DataFrame(
        {
            "criterion": pairs["criterion"],
            "metric_a": ends[0],
            "metric_b": ends[1],
            "correlation": pairs["number"],
        }
    )
    other = half.rename(columns={"metric_a": "metric_b", "metric_b": "metric_a"})
    both = pd.concat([half, other])
    diagonal = both.assign(metric_b=both["metric_a"], correlation=1.0).drop_duplicates()
    return pd.concat([both, diagonal]).assign(method="spearman")


def published(name: str) -> Published:
    """Return the published numbers of a paper, from the files that come with biasgrid (data/published/README.md).

    Parameters
    ----------
    name
        A file's name without its suffix, such as "case_study". Files whose names begin with it are included
        (case_study_ranks, case_study_correlations).

    Returns
    -------
    Published
        The numbers, as a `frame` or a `plot`.

    Raises
    ------
    BiasgridError
        No file has this name.

    Examples
    --------
    >>> import biasgrid as bg
    >>> paper = bg.published("case_study")
    >>> (paper.frame["quantity"] == "rank").sum()
    112
    """
    files = {file.stem: file for file in sorted(resource("data/published").glob("*.csv"))}
    if not is_among(name, files):
        raise BiasgridError(unknown_name("paper", name, files))
    parts = (file for stem, file in files.items() if stem == name or stem.startswith(f"{name}_"))
    return Published(name, tuple(parts))

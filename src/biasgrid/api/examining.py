"""What metrics can and cannot see, computed: `examine`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import metrics as registry
from ..errors import BiasgridError, quote, unknown_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from ..properties import Verdict

KINDS = ("properties", "counterexamples", "ranges")


@dataclass(frozen=True, repr=False)
class Examination:
    """Which properties metrics have: `examine` makes it.

    Attributes
    ----------
    verdicts
        One per metric, level ("one word" or "words"), property and condition.
    """

    verdicts: Sequence[Verdict]

    @property
    def frame(self) -> pd.DataFrame:
        """One row per verdict.

        Returns
        -------
        pandas.DataFrame
            metric, label, level, property, condition, holds ("yes", "no", "not refuted", "undefined", "not
            examined"), paper (what a theorem of Schroeder et al. says, else ""), construction (the name of the
            counterexample), tried (how many settings were measured) and note, a sentence.
        """
        import pandas as pd

        from ..properties import table

        return pd.DataFrame(table(self.verdicts))

    @property
    def matrix(self) -> pd.DataFrame:
        """The verdicts as a table: metrics and levels by properties; "" where a question makes no sense."""
        from ..properties.questions import PROPERTIES, SHORT

        frame = self.frame
        wide = (
            frame[frame["property"].isin(list(PROPERTIES)) & (frame["condition"] == "")]
            .pivot(index=["label", "level"], columns="property", values="holds")
            .reindex(columns=list(PROPERTIES))
            .fillna("")
        )
        rows = frame.loc[frame["level"] != "", ["label", "level"]].drop_duplicates()
        wide = wide.reindex(list(rows.itertuples(index=False, name=None))).rename(columns=SHORT)
        return wide.rename_axis(index=["metric", "of"], columns=None)

    @property
    def counterexamples(self) -> pd.DataFrame:
        """The settings that refute a property: one row per setting.

        Returns
        -------
        pandas.DataFrame
            metric, of, property, where (the setting's name), groups and words (lists of sets of vectors), value (the
            metric's there; of "comparable", the smallest and the largest).
        """
        import pandas as pd

        rows = [
            {
                "metric": v.label,
                "of": v.level,
                "property": v.property,
                "where": setting.name,
                "groups": [group.tolist() for group in setting.groups],
                "words": [words.tolist() for words in setting.words],
                "value": list(values[:2]) if v.property == "comparable" else values[0],
            }
            for v in self.verdicts
            if v.example
            for setting, values in zip(v.example.settings, v.example.values, strict=True)
        ]
        return pd.DataFrame(rows, columns=["metric", "of", "property", "where", "groups", "words", "value"])

    def plot(self, kind: str = "properties", *, path: Path | str | None = None) -> Figure:
        """A figure of the properties.

        Parameters
        ----------
        kind
            "properties", the matrix; "counterexamples", the vectors on which metrics fail; or "ranges", the smallest
            and largest values of metrics whose values do not compare.
        path
            A file to write, whose suffix (.png, .svg, .pdf) says the format; left out: none is written.

        Returns
        -------
        matplotlib.figure.Figure
        """
        from .drawings import check_path, hand_out

        if kind not in KINDS:
            raise BiasgridError(unknown_name("kind of figure", kind, KINDS))
        check_path(path)
        from ..properties import figures

        draw = {
            "properties": figures.matrix,
            "counterexamples": figures.counterexamples,
            "ranges": figures.ranges,
        }
        return hand_out(draw[kind](self.verdicts), path)

    def __repr__(self) -> str:
        labels = dict.fromkeys(v.label for v in self.verdicts)
        return f"<Examination of {', '.join(labels)}: {len(self.verdicts)} answers>"

    def _repr_html_(self) -> str:
        html: str = self.matrix._repr_html_()
        return html


def examine(metrics: Any = None) -> Examination:
    """Which properties a metric has, computed: what it can and cannot see, with counterexamples (docs/properties.md).

    Parameters
    ----------
    metrics
        A metric's name, its function, or a list of these; left out: all metrics, which takes a minute or more.

    Returns
    -------
    Examination
        A verdict for each property: "yes" has a proof, "no" a counterexample; of "not refuted" none was found.

    Raises
    ------
    BiasgridError
        For what is no metric.

    Examples
    --------
    >>> import biasgrid as bg
    >>> bg.examine("rnd").matrix["sees stereotype"].tolist()
    ['', 'no', '', 'no']
    """
    from ..properties import examine as examine_metrics

    if metrics is None:
        return Examination(examine_metrics())
    if isinstance(metrics, (str, registry.Metric)) or hasattr(metrics, "metric"):
        metrics = [metrics]
    if not isinstance(metrics, Iterable):
        raise BiasgridError(f"metrics: expected names of metrics, not {quote(metrics)}")
    by_name = {}
    for entry in metrics:
        metric: Any = getattr(entry, "metric", entry)
        metric = metric if isinstance(metric, registry.Metric) else registry.metric(metric)
        by_name[metric.name] = metric
    if not by_name:
        raise BiasgridError("metrics: there are none; at least one metric is needed")
    return Examination(examine_metrics(by_name))

"""Properties of metrics, computed with counterexamples: `examine`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgrid import metrics as registry
from biasgrid.core.errors import BiasgridError, quote, unknown_name
from biasgrid.figures.showing import check_path, hand_out

from .examining import examine_metrics
from .files import DRAWINGS
from .questions import PROPERTIES, SHORT
from .tables import table
from .verdicts import Verdict

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Examination:
    """The properties of metrics, as returned by `examine`.

    Attributes
    ----------
    verdicts
        One per metric, level ("one word" or "words"), property and condition.
    """

    verdicts: Sequence[Verdict]

    @property
    def frame(self) -> pd.DataFrame:
        """Return one row per verdict.

        Returns
        -------
        pandas.DataFrame
            metric, label, level, property, condition, holds ("yes", "no", "not refuted", "undefined", "not
            examined"), paper (the result of a theorem of Schroeder et al., or ""), construction (the name of the
            counterexample), tried (the number of settings that were measured) and note, a sentence.
        """
        import pandas as pd

        return pd.DataFrame(table(self.verdicts))

    @property
    def matrix(self) -> pd.DataFrame:
        """Return the verdicts as metrics and levels by properties; "" if a question does not apply."""
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
        """Return the settings that refute a property, one per row.

        Returns
        -------
        pandas.DataFrame
            metric, of, property, where (the setting's name), groups and words (lists of sets of vectors), value (the
            metric's value there; for "comparable", the smallest and the largest value).
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
        """Draw a figure of the properties.

        Parameters
        ----------
        kind
            "properties", the matrix; "counterexamples", the vectors on which metrics fail; or "ranges", the smallest
            and largest values of metrics whose values are not comparable.
        path
            A file to write, with the suffix .png, .svg or .pdf; by default, no file is written.

        Returns
        -------
        matplotlib.figure.Figure
        """
        if kind not in DRAWINGS:
            raise BiasgridError(unknown_name("kind of figure", kind, DRAWINGS))
        check_path(path)
        return hand_out(DRAWINGS[kind](self.verdicts), path)

    def __repr__(self) -> str:
        labels = dict.fromkeys(v.label for v in self.verdicts)
        return f"<Examination of {', '.join(labels)}: {len(self.verdicts)} answers>"

    def _repr_html_(self) -> str:
        html: str = self.matrix._repr_html_()
        return html


def examine(metrics: Any = None) -> Examination:
    """Compute which properties a metric has, with counterexamples (docs/known-bias.md).

    Parameters
    ----------
    metrics
        A metric's name, its function, or a list of these; left out: all metrics, which takes a minute or more.

    Returns
    -------
    Examination
        One verdict per property. "yes" has a proof, "no" has a counterexample; "not refuted" has neither.

    Raises
    ------
    BiasgridError
        An entry is not a metric.

    Examples
    --------
    >>> from biasgrid import load_plugins
    >>> load_plugins(["properties"])
    >>> from biasgrid_plugin_properties import examine
    >>> examine("rnd").matrix["sees stereotype"].tolist()
    ['', 'no', '', 'no']
    """
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

"""Figure of the distribution of a metric's values over many sets of neutral words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from biasgrid.core.files import slug
from biasgrid.core.numbers import typeset
from biasgrid.figures.figure import Drawing, Example, Figure
from biasgrid.figures.frame import Frame, empty_page, styled
from biasgrid.figures.questions import SCORES
from biasgrid.figures.rows import column_of, from_tables
from biasgrid.figures.text import share_range, topic, unit_label
from biasgrid.figures.types.histogram import HEIGHT, histogram, legend_histogram

from ..cells import phenomena_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from biasgrid.tables.planned import Planned

# The number of bins is that in the thesis.
BINS = 10
HEADING = "Scores of many sets of neutral words"
NOTES = (
    "How many phenomena (sets of neutral words) have which value; the solid line is their mean, the "
    "dashed one no bias.",
    "Without a bias on average, the mean lies near the no-bias value.",
    "A metric whose values cannot lie below it has its mean above it whatever the words are.",
    "The mean has no interval: all phenomena are measured with the same groups of words.",
)


@styled
def phenomena(
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    ids: Sequence[str],
    units: Sequence[tuple[str, str, str]],
    neutral: Mapping[str, float],
) -> figure.Figure:
    """Draw histograms (`BINS` bins) of the values of phenomena, one panel per metric, model and debias method.

    Parameters
    ----------
    scores
        The table: criterion, query_id, metric, model, debias, value.
    labels
        The printed text of each key.
    criterion
        The criterion of the phenomena.
    ids
        The ids of the phenomena's queries.
    units
        Metric, model and debias method of each panel. Units without a value are not drawn.
    neutral
        Metric -> the no-bias value.
    """
    is_one = (scores["criterion"] == criterion) & column_of(scores, "phenomena", "query_id").isin(ids)
    rows = scores[is_one].dropna(subset="value")
    by_unit = {unit: part["value"] for unit, part in rows.groupby(["metric", "model", "debias"])}
    values = {unit: by_unit[unit].to_numpy() for unit in map(tuple, units) if unit in by_unit}
    if not values:
        return empty_page(HEADING, "no phenomenon has a value.")
    heads = {
        (metric, *unit): f"{labels.get(metric, metric)}\n{unit_label(unit, labels)}"
        for metric, *unit in values
    }
    above = [float((of_unit > neutral[metric]).mean()) for (metric, *_), of_unit in values.items()]
    page = Frame(
        f"{share_range(above)} of phenomena lie above no bias",
        f"{topic(criterion)}: values of phenomena by metric and model",
        NOTES,
    )
    for unit, axes in page.panels(heads, HEIGHT, labels=0.3, least=1.7, bold=False).items():
        mean, n = typeset(values[unit].mean()), len(values[unit])
        named = f"value (mean {mean}, n = {n})"
        histogram(axes, values[unit], BINS, named=named, neutral=neutral[unit[0]])
    return page.done(legend_histogram("phenomena", "no-bias value"))


def units_of(study: Planned, criterion: str) -> list[tuple[str, str, str]]:
    """Return the metrics, models and debias methods with which a criterion's phenomena are measured."""
    ids = phenomena_of(study)[criterion]
    cells = [cell for cell in study.grid.cells.values() if cell.criterion == criterion and cell.query in ids]
    return list(dict.fromkeys((cell.metric, cell.model, cell.debias) for cell in cells))


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion, ids in phenomena_of(study).items():
        units = units_of(study, criterion)
        spec = {
            "criterion": criterion,
            "ids": sorted(ids),
            "units": [list(unit) for unit in units],
            "neutral": {metric: study.metric(criterion, metric).neutral for metric, *_ in units},
        }
        yield Drawing(f"phenomena-{slug(criterion)}", spec=spec)


FIGURES = (
    Figure(
        "phenomena",
        "How a metric's values are distributed over a criterion's phenomena, one histogram per metric and model.",
        from_tables(phenomena),
        question=SCORES,
        heading=HEADING,
        asks="Do sets of neutral words lie to one side?",
        learn="You learn whether a metric reports bias where none is expected.",
        drawings=_drawings,
        reads=("scores",),
        facts=("labels",),
        needs="a criterion with phenomena",
        reading="A bar counts phenomena (sets of neutral words): the further their mean (solid) from no bias "
        "(dashed), the clearer their bias. Of Direct Bias, which is never below it, the mean is "
        "always above it.",
        example=Example(
            "thesis",
            "phenomena-gender-of-30-phenomena",
            {"criterion": "Gender of 30 phenomena", "metric": ["pmi", "direct_bias", "rnd"]},
        ),
    ),
)

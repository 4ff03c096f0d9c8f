"""Figure of how a metric's values are distributed over many sets of neutral words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from biasgrid.figures.figure import Drawing, Example, Figure, labels, pages
from biasgrid.figures.frame import PAGE, empty_page, styled
from biasgrid.figures.layout import add_panels
from biasgrid.figures.palette import DASHED, GREY, LESS_LIGHT
from biasgrid.figures.questions import SCORES
from biasgrid.figures.rows import from_tables
from biasgrid.figures.text import unit_label
from biasgrid.figures.visuals import few_ticks, legend_area, legend_line
from biasgrid.files import slug
from biasgrid.numbers import typeset

from ..cells import phenomena_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from biasgrid.planned import Planned

BINS = 10  # as in the thesis
MOST = 12  # panels of a page
COLUMNS, GAP, ASIDE = 3, 0.4, 0.35
SIZE = np.array([(PAGE[0] - 0.2 - ASIDE - (COLUMNS - 1) * GAP) / COLUMNS, 1.1])
NOTE = (
    "How many phenomena (sets of neutral words) have which value. Without a bias on average, the mean lies "
    "near the neutral value; a metric whose values cannot lie below it has its mean above it whatever the words are."
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
    """Histograms of `BINS` bins of the values of phenomena, one panel per metric, model and debias method.

    Parameters
    ----------
    scores
        The table: criterion, query_id, metric, model, debias, value.
    labels
        What is printed for keys.
    criterion
        Whose phenomena they are.
    ids
        The ids of their queries.
    units
        Metric, model and debias method of each panel. Those without a value have none.
    neutral
        Metric -> the value that means no bias.
    """
    title = f"{criterion}: distribution of the values"
    rows = scores[(scores["criterion"] == criterion) & scores["query_id"].isin(ids)].dropna(subset="value")
    by_unit = {unit: part["value"] for unit, part in rows.groupby(["metric", "model", "debias"])}
    values = {unit: by_unit[unit].to_numpy() for unit in map(tuple, units) if unit in by_unit}
    if not values:
        return empty_page(title, "no phenomenon has a value.")
    heads = {
        str(i): (
            labels.get(metric, metric),
            f"{unit_label((model, debias), labels)}: n = {len(values[unit])}",
        )
        for i, unit in enumerate(values)
        for metric, model, debias in [unit]
    }
    legend = [
        ("phenomena", legend_area(facecolor=LESS_LIGHT, edgecolor="white")),
        ("their mean", legend_line(color="black", linewidth=1.4)),
        ("neutral value", legend_line(color=GREY, linewidth=0.9, linestyle=DASHED["linestyle"])),
    ]
    columns = columns_of(len(heads))
    figure, panels, _ = add_panels(
        title, NOTE, heads, columns, SIZE, legend, gap=GAP, label_width=ASIDE, foot=0.45
    )
    for axes, (unit, numbers) in zip(panels.values(), values.items(), strict=True):
        axes.hist(numbers, bins=BINS, facecolor=LESS_LIGHT, edgecolor="white", linewidth=0.6, zorder=2)
        axes.axvline(neutral[unit[0]], **DASHED | {"zorder": 3})
        axes.axvline(numbers.mean(), color="black", linewidth=1.4, zorder=4)
        axes.set_xlabel(f"value (mean {typeset(numbers.mean())})")
        few_ticks(axes.xaxis, 4)
        few_ticks(axes.yaxis, 5, integer=True)
        axes.spines["left"].set_visible(True)
    for axes in list(panels.values())[::columns]:
        axes.set_ylabel("phenomena")
    return figure


def columns_of(panels: int) -> int:
    """In how many columns so many panels stand: rows as few as there can be, and then columns."""
    return -(-panels // -(-panels // COLUMNS))


def units_of(study: Planned, criterion: str) -> list[tuple[str, str, str]]:
    """The metrics, models and debias methods that a criterion's phenomena are measured by."""
    ids = phenomena_of(study)[criterion]
    cells = [cell for cell in study.grid.cells.values() if cell.criterion == criterion and cell.query in ids]
    return list(dict.fromkeys((cell.metric, cell.model, cell.debias) for cell in cells))


def labels_of(study: Planned, criterion: str) -> dict[str, str]:
    """What is printed for the keys of a criterion's models, metrics and debias methods."""
    return labels(study, [cell for cell in study.grid.cells.values() if cell.criterion == criterion])


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion, ids in phenomena_of(study).items():
        for name, units in pages(f"phenomena-{slug(criterion)}", units_of(study, criterion), MOST):
            spec = {
                "labels": labels_of(study, criterion),
                "criterion": criterion,
                "ids": sorted(ids),
                "units": [list(unit) for unit in units],
                "neutral": {metric: study.metric(criterion, metric).neutral for metric, *_ in units},
            }
            yield Drawing(name, spec=spec)


FIGURES = (
    Figure(
        "phenomena",
        "How a metric's values are distributed over a criterion's phenomena, one histogram per metric and model.",
        from_tables(phenomena),
        question=SCORES,
        drawings=_drawings,
        reads=("scores",),
        needs="a criterion with phenomena",
        reading="A bar counts phenomena (sets of neutral words) whose value lies in its range. The solid line is "
        "their mean, the dashed one the metric's neutral value. The further apart the two are, in widths of "
        "the histogram, the clearer is a bias of all phenomena together. Of a metric such as Direct Bias, whose "
        "neutral value is its lowest, the mean is always above it.",
        example=Example(
            "thesis",
            "phenomena-gender-of-30-phenomena",
            {"criterion": "Gender of 30 phenomena", "metric": ["pmi", "direct_bias", "rnd"]},
        ),
    ),
)

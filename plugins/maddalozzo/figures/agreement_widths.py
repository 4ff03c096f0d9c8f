"""Figure of how agreement between versions of pairs depends on the interval that counts as no bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from biasgrid.figures.figure import Drawing, Example, Figure, labels, pages
from biasgrid.figures.frame import PAGE, empty_page, styled
from biasgrid.figures.layout import add_panels
from biasgrid.figures.palette import DASHED, GREY, series_mark
from biasgrid.figures.questions import SCORES
from biasgrid.figures.rows import from_tables
from biasgrid.figures.visuals import few_ticks, legend_line
from biasgrid.files import slug

from ..cells import interval_agreement_cells

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from biasgrid.planned import Planned

MOST = 4  # metrics and models of a page
COLUMNS, GAP, ASIDE = 2, 0.5, 0.4
SIZE = np.array([(PAGE[0] - 0.2 - ASIDE - GAP) / COLUMNS, 1.6])
NOTE = (
    "Left: the share of pairs that have one bias in both versions, and (dotted) the share of versions in random "
    "order. Right: kappa, which is 0 where the two are equal. Differences of at most the width are no bias."
)


@styled
def agreement_widths(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    units: Sequence[tuple[str, str]],
    robust: Mapping[str, float],
) -> figure.Figure:
    """Agreement and kappa by width, a row of two panels per metric and model.

    Parameters
    ----------
    table
        agreement_widths.csv.
    labels
        What is printed for keys.
    criterion
        Whose cells they are.
    units
        Metric and model of each row.
    robust
        Metric -> the share that the hypothesis of robustness has.
    """
    title = f"{criterion}: agreement by the width of the interval"
    rows = table[table["criterion"] == criterion]
    by_unit = {unit: part for unit, part in rows.groupby(["metric", "model"])}
    units = [tuple(unit) for unit in units if tuple(unit) in by_unit]
    if not units:
        return empty_page(title, "no query has scores.")
    queries = sorted(rows["query"].unique())
    marks = {query: series_mark(i) | {"linestyle": "-", "linewidth": 1.1} for i, query in enumerate(queries)}
    heads = {
        f"{i}/{side}": (labels.get(metric, metric), f"{side}, {labels.get(model, model)}")
        for i, (metric, model) in enumerate(units)
        for side in ("agreement", "kappa")
    }
    legend = [(query, legend_line(**mark)) for query, mark in marks.items()]
    legend.append(("in random order", legend_line(color="black", linewidth=0.9, linestyle=":")))
    legend.append(
        ("robust", legend_line(color=GREY, linewidth=0.9, linestyle=DASHED["linestyle"])),
    )
    figure, panels, _ = add_panels(
        title, NOTE, heads, COLUMNS, SIZE, legend, gap=GAP, label_width=ASIDE, foot=0.45
    )
    for i, unit in enumerate(units):
        left, right = panels[f"{i}/agreement"], panels[f"{i}/kappa"]
        for query, part in by_unit[unit].groupby("query"):
            left.plot(part["width"], part["agreement"], **marks[query], zorder=3)
            look = {"color": marks[query]["color"], "linewidth": 0.9, "linestyle": ":"}
            left.plot(part["width"], part["chance"], **look, zorder=2)
            right.plot(part["width"], part["kappa"], **marks[query], zorder=3)
        left.axhline(robust[unit[0]], **DASHED)
        left.set_ylim(0, 1.03)
        right.set_ylim(min(-0.25, right.get_ylim()[0]), 1.03)
        right.axhline(0, color="black", linewidth=0.6, zorder=1)
        left.set_ylabel("share of pairs")
        right.set_ylabel("kappa")
        for axes in (left, right):
            axes.set_xlabel("width on either side of 0, nats")
            axes.set_xlim(0, 1.03 * rows["width"].max())
            few_ticks(axes.xaxis, 5)
            few_ticks(axes.yaxis, 5)
            axes.spines["left"].set_visible(True)
    return figure


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.config.criteria:
        cells = [cell for cell in interval_agreement_cells(study) if cell.criterion == criterion]
        units = list(dict.fromkeys((cell.metric, cell.model) for cell in cells))
        for name, part in pages(f"agreement-widths-{slug(criterion)}", units, MOST):
            entries = study.metrics(criterion)
            spec = {
                "labels": labels(study, cells),
                "criterion": criterion,
                "units": [list(unit) for unit in part],
                "robust": {key: (entries[key].params or {}).get("robust", 0.8) for key, _ in part},
            }
            yield Drawing(name, spec=spec)


FIGURES = (
    Figure(
        "agreement-widths",
        "How the agreement of two versions of pairs, and kappa, depend on the interval that counts as no bias.",
        from_tables(agreement_widths),
        question=SCORES,
        drawings=_drawings,
        reads=("agreement_widths",),
        needs="a criterion with the metric agreement by an interval",
        reading="A line is a query. Agreement grows towards 1 with a wide interval whatever the versions say, as the "
        "dotted lines show, which are for the same versions in random order. kappa is how much of the way from "
        "there to 1 the agreement has come: of a control of random pairs it stays near 0.",
        example=Example(
            "thesis4",
            "agreement-widths-robustness",
            {"criterion": "Robustness"},
            shown={"agreement_widths": ["agreement", "chance"]},
        ),
    ),
)

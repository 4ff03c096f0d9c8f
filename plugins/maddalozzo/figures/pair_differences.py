"""Figure of by how much the first sentence of a pair is more probable than the second."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.figures.figure import Drawing, Example, Figure, Files, labels, pages
from biasgrid.figures.frame import PAGE, empty_page, styled
from biasgrid.figures.layout import add_panels
from biasgrid.figures.palette import DASHED, GREY, LESS_LIGHT, NO_FILL
from biasgrid.figures.questions import SCORES
from biasgrid.figures.visuals import few_ticks, legend_area, legend_line
from biasgrid.files import slug
from biasgrid.numbers import typeset
from biasgrid.tables.inputs import cell_files

from ..cells import interval_agreement_cells
from ..metrics.agreement import THESIS
from .score_distributions import numbers_of_sentences, read_results

if TYPE_CHECKING:
    from matplotlib import figure

    from biasgrid.planned import Planned

# as in the thesis, of all pairs and of versions of some
BINS = {"mean_pair_difference": 100, "agreement": 10}
FEWEST = 10  # pairs of a bin, on average, at least
MOST = 8  # cells of a page
GAP, ASIDE = 0.45, 0.4
NOTE = (
    "How many pairs of sentences have which difference of their log-likelihoods. Right of 0 the sentence of the set "
    "that is named first is more probable."
)
OF_VERSIONS = " Between the ends of the interval a pair counts as without bias."


@styled
def pair_differences(
    cell_results: list[tuple[Mapping[str, Any], Mapping[str, Any]]], labels: Mapping[str, str], criterion: str
) -> figure.Figure:
    """Histograms of differences, one panel per cell of `mean_pair_difference`, and one per version of the pairs of
    `agreement`.

    Parameters
    ----------
    cell_results
        The cells with a value, as files have them, and their results.
    labels
        What is printed for keys.
    criterion
        Whose cells they are.
    """
    title = f"{criterion}: differences within pairs"
    parts: dict[tuple[str, ...], tuple[np.ndarray, Mapping[str, Any]]] = {}
    for cell, result in cell_results:
        sets = list(result["detail"]["difference"].items())
        metric, model = (labels.get(cell[key], cell[key]) for key in ("metric", "model"))
        versions = range(0, len(sets), 2)
        for place in versions:
            values = np.array([*sets[place][1].values()])
            # an original version stands in several queries
            query = f"{result['query']}, " if len(versions) == 1 else ""
            head = f"{sets[place][0]} less {sets[place + 1][0]}"
            parts.setdefault((head, f"{query}{metric}, {model}"), (values, cell))
    if not parts:
        return empty_page(title, "no query has scores.")
    heads = {str(i): head for i, head in enumerate(parts)}
    legend = [
        ("pairs", legend_area(facecolor=LESS_LIGHT, edgecolor="white")),
        ("their mean", legend_line(color="black", linewidth=1.4)),
        ("no difference", legend_line(color=GREY, linewidth=0.9, linestyle=DASHED["linestyle"])),
    ]
    note, columns = NOTE, 2
    if any(cell["function"] == "agreement" for _, cell in parts.values()):
        legend.append(("interval", legend_area(facecolor=NO_FILL, alpha=0.4)))
        # a pair, its paraphrase, a control
        note, columns = NOTE + OF_VERSIONS, 3
    size = np.array([(PAGE[0] - 0.2 - ASIDE - (columns - 1) * GAP) / columns, 1.2])
    figure, panels, _ = add_panels(
        title, note, heads, columns, size, legend, gap=GAP, label_width=ASIDE, foot=0.45
    )
    for axes, (values, cell) in zip(panels.values(), parts.values(), strict=True):
        if cell["function"] == "agreement":
            ends = cell["params"].get("lower", -THESIS), cell["params"].get("upper", THESIS)
            axes.axvspan(*ends, facecolor=NO_FILL, alpha=0.4, linewidth=0, zorder=1)
        elif trim := cell["params"].get("trim"):
            low, high = np.quantile(values, [trim, 1 - trim])
            values = values[(values > low) & (values < high)]
        bins = max(10, min(BINS[cell["function"]], len(values) // FEWEST))
        axes.hist(values, bins=bins, facecolor=LESS_LIGHT, edgecolor="white", linewidth=0.4, zorder=2)
        axes.axvline(0.0, **DASHED | {"zorder": 3})
        axes.axvline(values.mean(), color="black", linewidth=1.4, zorder=4)
        axes.set_xlabel(f"nats (mean {typeset(values.mean())}, n = {len(values):,})")
        few_ticks(axes.xaxis, 5)
        few_ticks(axes.yaxis, 4, integer=True)
        axes.spines["left"].set_visible(True)
    for axes in list(panels.values())[::columns]:
        axes.set_ylabel("pairs")
    return figure


def _draw_files(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    return pair_differences(read_results(inputs), **spec)


def _drawings(study: Planned) -> Iterator[Drawing]:
    versions = set(interval_agreement_cells(study))
    for criterion in study.config.criteria:
        cells = [
            cell
            for cell in study.grid.cells.values()
            if cell.criterion == criterion
            and (cell in versions or study.metric(criterion, cell.metric).name == "mean_pair_difference")
        ]
        for name, part in pages(f"pair-differences-{slug(criterion)}", cells, MOST):
            spec = {"labels": labels(study, part), "criterion": criterion}
            yield Drawing(name, {"cells": cell_files(study, part)}, spec)


FIGURES = (
    Figure(
        "pair-differences",
        "By how much the first sentence of a pair is more probable than the second, by query or version.",
        _draw_files,
        question=SCORES,
        drawings=_drawings,
        needs="a criterion with the metric mean_pair_difference, or agreement by an interval",
        reading="A bar counts pairs whose difference lies in its range: right of the dashed line the first sentence "
        "is more probable, left of it the second. The solid line is the mean. Of versions of pairs, such as "
        "paraphrases, pairs in the grey interval count as without bias: the more of them are in it, the more "
        "versions agree, whatever they say.",
        example=Example(
            "thesis4",
            "pair-differences-robustness",
            {"metric": "interval_cp"},
            partial(numbers_of_sentences, detail="difference", digits=2),
        ),
    ),
)

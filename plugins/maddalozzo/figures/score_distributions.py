"""Figure of how the scores of sentences are distributed, beside what was fitted to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.figures.figure import Drawing, Example, Figure, Files, labels, pages
from biasgrid.figures.frame import PAGE, empty_page, styled
from biasgrid.figures.layout import add_panels
from biasgrid.figures.palette import DASHED, GREY, LESS_LIGHT, MORE
from biasgrid.figures.questions import SCORES
from biasgrid.figures.visuals import few_ticks, legend_area, legend_line
from biasgrid.files import slug
from biasgrid.numbers import p_number, p_value, typeset
from biasgrid.results import cells
from biasgrid.tables.inputs import cell_files

from ..metrics.score_distributions import PARAMETERS, PLACES, THESIS_DISTRIBUTION, fit_of

if TYPE_CHECKING:
    from matplotlib import figure
    from matplotlib.axes import Axes

    from biasgrid.planned import Planned

BINS = 10  # as in the thesis
MOST = 6  # cells of a page
COLUMNS, GAP, ASIDE = 2, 0.45, 0.4
SIZE = np.array([(PAGE[0] - 0.2 - ASIDE - GAP) / COLUMNS, 1.35])
NOTE = (
    "How many sentences of a set have which log-likelihood. A distribution that was fitted to the scores is nearer "
    "to them than the true one; p is that of the parametric bootstrap, in brackets as if nothing had been fitted."
)


@styled
def score_distributions(
    cell_results: list[tuple[Mapping[str, Any], Mapping[str, Any]]], labels: Mapping[str, str], criterion: str
) -> figure.Figure:
    """Histograms of `BINS` bins of the scores of each set, one row of panels per cell.

    Parameters
    ----------
    cell_results
        Cells of `score_distributions` with a value, as files have them, and their results.
    labels
        What is printed for keys.
    criterion
        Whose cells they are.
    """
    title = f"{criterion}: distribution of the log-likelihoods"
    heads, histograms = {}, []
    for number, (cell, result) in enumerate(cell_results):
        for place, (name, scores) in zip(PLACES, result["detail"]["score"].items(), strict=True):
            metric, model = (labels.get(cell[key], cell[key]) for key in ("metric", "model"))
            heads[f"{number}/{place}"] = (name, f"{metric}, {result['query']}, {model}")
            histograms.append((np.array([*scores.values()]), result["scalars"], place))
    if not histograms:
        return empty_page(title, "no query has scores.")
    legend = [
        ("sentences", legend_area(facecolor=LESS_LIGHT, edgecolor="white")),
        ("generalised extreme value distribution", legend_line(color=MORE, linewidth=1.4)),
        ("normal distribution", legend_line(color=GREY, linewidth=0.9, linestyle=DASHED["linestyle"])),
    ]
    figure, panels, _ = add_panels(
        title, NOTE, heads, COLUMNS, SIZE, legend, gap=GAP, label_width=ASIDE, foot=0.45
    )
    for axes, (scores, scalars, place) in zip(panels.values(), histograms, strict=True):
        _draw(axes, scores, scalars, place)
    for axes in list(panels.values())[::COLUMNS]:
        axes.set_ylabel("sentences")
    return figure


def _draw(axes: Axes, scores: np.ndarray, scalars: Mapping[str, Any], place: str) -> None:
    from scipy import stats

    _, edges, _ = axes.hist(
        scores, bins=BINS, facecolor=LESS_LIGHT, edgecolor="white", linewidth=0.6, zorder=2
    )
    x = np.linspace(edges[0], edges[-1], 300)
    area = len(scores) * (edges[1] - edges[0])
    if scores.std() > 0:
        normal = stats.norm.pdf(x, scores.mean(), scores.std())
        axes.plot(x, area * normal, color=GREY, linewidth=0.9, linestyle=DASHED["linestyle"], zorder=3)
    text = f"log-likelihood (mean {typeset(scores.mean())}"
    shape, _, loc, scale = (fit_of(scalars, place, THESIS_DISTRIBUTION, name) for name in PARAMETERS)
    if shape == shape:
        axes.plot(x, area * stats.genextreme.pdf(x, shape, loc, scale), color=MORE, linewidth=1.4, zorder=4)
        p, of_ks = (fit_of(scalars, place, THESIS_DISTRIBUTION, name) for name in ("p_bootstrap", "p_ks"))
        text += f"; {p_value(p)} [{p_number(of_ks)}]"
    axes.set_xlabel(f"{text})")
    few_ticks(axes.xaxis, 5)
    few_ticks(axes.yaxis, 4, integer=True)
    axes.spines["left"].set_visible(True)


def read_results(inputs: Files) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """The cells in files, each with its results that have a value."""
    return [
        (cell, result)
        for cell, part in cells(inputs["cells"])
        for result in part
        if result["value"] is not None
    ]


def _draw_files(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    return score_distributions(read_results(inputs), **spec)


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.config.criteria:
        criterion_cells = [
            cell
            for cell in study.grid.cells.values()
            if cell.criterion == criterion
            and study.metric(criterion, cell.metric).name == "score_distributions"
        ]
        for name, part in pages(f"score-distributions-{slug(criterion)}", criterion_cells, MOST):
            spec = {"labels": labels(study, part), "criterion": criterion}
            yield Drawing(name, {"cells": cell_files(study, part)}, spec)


def numbers_of_sentences(
    contents: dict[str, Any], spec: Mapping[str, Any], detail: str, digits: int
) -> dict[str, Any]:
    """What a metric of pairs says of each sentence, numbered and to a few digits, and what was fitted to it."""
    keys = ("criterion", "query", "metric", "model", "debias", "function", "params")
    cells = [
        {name: cell[name] for name in keys}
        | {
            "results": [
                {name: result[name] for name in ("query", "status", "value")}
                | {"scalars": {k: v for k, v in result["scalars"].items() if "genextreme" in k}}
                | {
                    "detail": {
                        detail: {
                            name: {str(i): round(v, digits) for i, v in enumerate(of_set.values())}
                            for name, of_set in result["detail"][detail].items()
                        }
                    }
                }
                for result in cell["results"]
            ]
        }
        for cell in contents["cells"]
    ]
    return {"cells": cells}


FIGURES = (
    Figure(
        "score-distributions",
        "How the log-likelihoods of each set of sentences are distributed, beside the distributions fitted to them.",
        _draw_files,
        question=SCORES,
        drawings=_drawings,
        needs="a criterion with the metric score_distributions",
        reading="A bar counts sentences whose log-likelihood lies in its range. The solid curve is the generalised "
        "extreme value distribution that was fitted to the scores, where the metric has `fits`; the dashed one is "
        "the normal distribution of their mean and standard deviation, which KLDivS takes them for. A small p says "
        "that the scores do not follow the solid curve.",
        example=Example(
            "thesis4",
            "score-distributions-spanish-crows-pairs",
            {"metric": "distributions_cp"},
            partial(numbers_of_sentences, detail="score", digits=1),
        ),
    ),
)

"""Figure of the distribution of sentence scores, with the distributions fitted to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.core.files import slug
from biasgrid.core.numbers import p_value, typeset
from biasgrid.figures.figure import Drawing, Example, Figure, Files
from biasgrid.figures.frame import Frame, empty_page, styled
from biasgrid.figures.palette import DASHED, Look
from biasgrid.figures.questions import SCORES
from biasgrid.figures.text import topic
from biasgrid.figures.types.histogram import HEIGHT, histogram, legend_histogram
from biasgrid.figures.visuals import legend_line
from biasgrid.measure.results import ASKED, KEYS, cells
from biasgrid.tables.inputs import cell_files

from ..metrics.score_distributions import PARAMETERS, PLACES, THESIS_DISTRIBUTION, fit_of

if TYPE_CHECKING:
    from matplotlib import figure
    from matplotlib.axes import Axes

    from biasgrid.tables.planned import Planned

# The number of bins is that in the thesis.
BINS = 10
FITTED: Look = {"color": "black", "linewidth": 1.4}
REJECTS = 0.05
HEADING = "Distribution of the log-likelihoods of sentences"
NOTES = (
    "Bars count sentences by log-likelihood (0 is the most probable); curves are two distributions fitted to them.",
    "p: how often scores that follow the solid curve lie as far from it (parametric bootstrap); a small p means that "
    "these do not.",
)


@styled
def score_distributions(
    cell_results: list[tuple[Mapping[str, Any], Mapping[str, Any]]], labels: Mapping[str, str], criterion: str
) -> figure.Figure:
    """Draw histograms (`BINS` bins) of the scores of each set, two panels per cell.

    Parameters
    ----------
    cell_results
        Cells of `score_distributions` with a value, in the format of their files, and their results.
    labels
        The printed text of each key.
    criterion
        The criterion of the cells.
    """
    heads, histograms = {}, {}
    for number, (cell, result) in enumerate(cell_results):
        for place, (name, scores) in zip(PLACES, result["detail"]["score"].items(), strict=True):
            metric, model = (labels.get(cell[key], cell[key]) for key in ("metric", "model"))
            heads[number, place] = f"{name}\n{metric}, {result['query']}, {model}"
            histograms[number, place] = np.array([*scores.values()]), result["scalars"], place
    if not histograms:
        return empty_page(HEADING, "no query has scores.")
    p_values = [
        fit_of(scalars, place, THESIS_DISTRIBUTION, "p_bootstrap")
        for _, scalars, place in histograms.values()
    ]
    known = [p for p in p_values if p == p]
    rejected = sum(p <= REJECTS for p in known)
    page = Frame(
        f"{rejected or 'None'} of {len(known)} distributions {'differ' if rejected != 1 else 'differs'} from "
        "the fitted "
        "curve"
        if known
        else HEADING,
        f"{topic(criterion)}: log-likelihoods of the sentences of each set",
        NOTES,
    )
    for key, axes in page.panels(heads, HEIGHT, labels=0.3, least=2, line=2, bold=False).items():
        _draw(axes, *histograms[key])
    legend = [
        *legend_histogram("sentences"),
        ("generalised extreme value distribution", legend_line(**FITTED)),
        ("normal distribution", legend_line(**DASHED)),
    ]
    return page.done(legend)


def _draw(axes: Axes, scores: np.ndarray, scalars: Mapping[str, Any], place: str) -> None:
    from scipy import stats

    x = np.linspace(scores.min(), scores.max(), 300)
    area = len(scores) * np.ptp(scores) / BINS
    text = f"log-likelihood (mean {typeset(scores.mean())}"
    shape, _, loc, scale = (fit_of(scalars, place, THESIS_DISTRIBUTION, name) for name in PARAMETERS)
    if shape == shape:
        text += f"; {p_value(fit_of(scalars, place, THESIS_DISTRIBUTION, 'p_bootstrap'))}"
        axes.plot(x, area * stats.genextreme.pdf(x, shape, loc, scale), zorder=4, **FITTED)
    histogram(axes, scores, BINS, named=f"{text})")
    if scores.std() > 0:
        normal = stats.norm.pdf(x, scores.mean(), scores.std())
        axes.plot(x, area * normal, **DASHED | {"zorder": 3})


def read_results(inputs: Files) -> list[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Read the cells in files, each with its results that have a value."""
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
        if criterion_cells:
            files = {"cells": cell_files(study, criterion_cells)}
            yield Drawing(f"score-distributions-{slug(criterion)}", files, {"criterion": criterion})


def numbers_of_sentences(
    contents: dict[str, Any], spec: Mapping[str, Any], detail: str, digits: int
) -> dict[str, Any]:
    """Return a pair metric's values of sentences, numbered and rounded, and the fits of genextreme to them."""
    cells = [
        {name: cell[name] for name in (*KEYS, *ASKED)}
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
        heading=HEADING,
        asks="Are the log-likelihoods of sentences normally distributed?",
        learn="You learn whether a metric that assumes a normal distribution may do so.",
        drawings=_drawings,
        facts=("labels",),
        needs="a criterion with the metric score_distributions",
        reading="Bars count sentences; the solid curve was fitted to them (`fits`), the dashed one is the "
        "normal distribution that KLDivS assumes. A small p: they do not follow the solid curve.",
        example=Example(
            "thesis4",
            "score-distributions-spanish-crows-pairs",
            {"metric": "distributions_cp"},
            partial(numbers_of_sentences, detail="score", digits=1),
        ),
    ),
)

"""Figure of the difference in log-likelihood between the two sentences of a pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.core.files import slug
from biasgrid.core.numbers import typeset
from biasgrid.figures.figure import Drawing, Example, Figure, Files
from biasgrid.figures.frame import Frame, empty_page, styled
from biasgrid.figures.palette import NO_FILL, Look
from biasgrid.figures.questions import SCORES
from biasgrid.figures.text import share_range, topic
from biasgrid.figures.types.histogram import HEIGHT, histogram, legend_histogram
from biasgrid.figures.visuals import legend_area
from biasgrid.tables.inputs import cell_files

from ..cells import interval_agreement_cells
from ..metrics.agreement import THESIS
from .score_distributions import numbers_of_sentences, read_results

if TYPE_CHECKING:
    from matplotlib import figure

    from biasgrid.tables.planned import Planned

# The thesis uses these numbers of bins, for all pairs and for versions of some pairs.
BINS = {"mean_pair_difference": 100, "agreement": 10}
# A bin has at least this number of pairs on average.
FEWEST = 10
# The area is hatched, because bars have the same grey in greyscale.
NO_BIAS: Look = {"facecolor": "white", "edgecolor": NO_FILL, "hatch": "/////", "linewidth": 0}
HEADING = "Differences between the sentences of a pair"
NOTES = (
    "Right of the dashed line, the sentence of the set that is named first is more probable; the solid "
    "line is the mean.",
    "The mean is that of these pairs; scores.csv has its interval, if the study has a bootstrap.",
)
OF_VERSIONS = "In the hatched range a pair counts as unbiased."


@styled
def pair_differences(
    cell_results: list[tuple[Mapping[str, Any], Mapping[str, Any]]], labels: Mapping[str, str], criterion: str
) -> figure.Figure:
    """Draw histograms of differences.

    There is a panel for each cell of `mean_pair_difference`, and for each version of the pairs of `agreement`.

    Parameters
    ----------
    cell_results
        The cells with a value, in the format of their files, and their results.
    labels
        The printed text of each key.
    criterion
        The criterion of the cells.
    """
    parts: dict[tuple[str, ...], tuple[np.ndarray, Mapping[str, Any]]] = {}
    for cell, result in cell_results:
        sets = list(result["detail"]["difference"].items())
        metric, model = (labels.get(cell[key], cell[key]) for key in ("metric", "model"))
        versions = range(0, len(sets), 2)
        for place in versions:
            values = np.array([*sets[place][1].values()])
            # Leave out the query of an original version, because it appears in several queries.
            query = f"{result['query']}, " if len(versions) == 1 else ""
            head = f"{sets[place][0]} minus {sets[place + 1][0]}"
            parts.setdefault((head, f"{query}{metric}, {model}"), (values, cell))
    if not parts:
        return empty_page(HEADING, "no query has scores.")
    has_versions = any(cell["function"] == "agreement" for _, cell in parts.values())
    page = Frame(
        _finding([values for values, _ in parts.values()]),
        f"{topic(criterion)}: difference of the log-likelihoods of a pair's sentences",
        [NOTES[0], *[OF_VERSIONS] * has_versions, *NOTES[1:]],
    )
    heads = {head: "\n".join(head) for head in parts}
    for head, axes in page.panels(heads, HEIGHT, labels=0.3, least=1.7, bold=False).items():
        values, cell = parts[head]
        if cell["function"] == "agreement":
            axes.axvspan(cell["params"].get("lower", -THESIS), cell["params"].get("upper", THESIS), **NO_BIAS)
        elif trim := cell["params"].get("trim"):
            low, high = np.quantile(values, [trim, 1 - trim])
            values = values[(values > low) & (values < high)]
        bins = max(10, min(BINS[cell["function"]], len(values) // FEWEST))
        named = f"difference (mean {typeset(values.mean())}, n = {len(values):,})"
        histogram(axes, values, bins, named=named, neutral=0)
    legend = legend_histogram("pairs", "no difference")
    return page.done([*legend, *[("counts as unbiased", legend_area(**NO_BIAS))] * has_versions])


def _finding(values: Sequence[np.ndarray]) -> str:
    """Return the title: the share of pairs whose first sentence is more probable, as a range over the panels."""
    shares = [float((of_panel > 0).mean()) for of_panel in values if len(of_panel)]
    return f"First sentence likelier in {share_range(shares)} of pairs" if shares else HEADING


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
        if cells:
            files = {"cells": cell_files(study, cells)}
            yield Drawing(f"pair-differences-{slug(criterion)}", files, {"criterion": criterion})


FIGURES = (
    Figure(
        "pair-differences",
        "By how much the first sentence of a pair is more probable than the second, by query or version.",
        _draw_files,
        question=SCORES,
        heading=HEADING,
        asks="Which sentence of a pair is more probable?",
        learn="You learn how large and how one-sided the differences of sentence pairs are.",
        drawings=_drawings,
        facts=("labels",),
        needs="a criterion with the metric mean_pair_difference, or agreement by an interval",
        reading="A bar counts pairs: right of the dashed line, the first sentence is more probable; the solid "
        "line is the mean. Pairs in the hatched range count as unbiased.",
        example=Example(
            "thesis4",
            "pair-differences-robustness",
            {"metric": "interval_cp"},
            partial(numbers_of_sentences, detail="difference", digits=2),
        ),
    ),
)

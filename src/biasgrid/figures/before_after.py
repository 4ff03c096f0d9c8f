"""Figure of what every metric says before and after every debias method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..files import slug
from ..numbers import decimal
from .figure import Drawing, Example, Figure, cells_of, count_range, group_by_size, labels, pages
from .frame import styled
from .methods import add_blocks, method_label, missing_values, ordered_methods, rows_of_group
from .palette import LESS_LIGHT, MORE_LIGHT, Look
from .questions import DEBIASING
from .rows import from_tables
from .text import BOLD, DAGGER, LONGEST_HEAD, SMALL, shorten, text_width
from .visuals import legend_area, legend_mark, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

METRICS = 7  # of a figure: what a page is wide enough for
LONGEST = 1.25  # times the untouched value: where a bar is cut off


@styled
def before_after(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    models: Sequence[str] = (),
    metrics: Sequence[str] = (),
) -> figure.Figure:
    """What every metric says before and after every method: one block per model, one column per metric, one row per
    method.

    A table with bars in its cells, which reads fastest where there are hundreds of numbers: a cell's number is the
    value after, in the metric's own units (0 = unbiased; the untouched value is on top of the column); its bar is
    this value divided by the untouched one, so that metrics and models of any scale compare. A bar that ends
    before the cell's line is blue, less bias than untouched; a longer one is orange, and is cut off, with a pointed
    end, at LONGEST times the untouched value. A method that lost queries is compared with the untouched model on
    the others, and has a dagger. `models` and `metrics`: those of this figure, where there are others.
    Raises BiasgridError where the table has no rows of group "metric" and the criterion.
    """
    import pandas as pd

    rows = rows_of_group(table, "before_after", criterion, "metric")
    rows = rows[rows["model"].isin(models or set(rows["model"]))]
    rows = rows[rows["measure"].isin(metrics or set(rows["measure"]))]
    n = rows.loc[rows["after"].notna(), "n"]
    queries = f"n = {count_range(n)}" if len(n) else "n = 0"
    metrics = sorted(rows["measure"].unique())
    fullest = rows.dropna(subset="before").sort_values("n", ascending=False, kind="stable")
    untouched_values = fullest.groupby(["model", "measure"])["before"].first()
    # two digits of the smallest untouched value that is not zero
    smallest = untouched_values[untouched_values > 0].groupby("measure").min()
    digits = (1 - np.floor(np.log10(smallest))).clip(2, 4).reindex(metrics, fill_value=2).astype(int)
    cells = pd.MultiIndex.from_frame(rows[["model", "measure"]])
    fewer = rows["after"].notna() & ~np.isclose(
        rows["before"], untouched_values.reindex(cells), rtol=1e-9, atol=0
    )
    # nothing to nothing is no change
    ratio = (rows["after"] / rows["before"]).mask((rows["after"] == 0) & (rows["before"] == 0), 1.0)
    text = [
        "n/a" if np.isnan(after) else f"{decimal(after, digits[metric])}{DAGGER * is_on_fewer}"
        for metric, after, is_on_fewer in zip(rows["measure"], rows["after"], fewer, strict=True)
    ]
    rows = rows.assign(ratio=ratio, text=text)
    top = {cell: decimal(value, digits[cell[1]]) for cell, value in untouched_values.items()}
    numbers = 0.08 + max(
        [text_width(x, SMALL) for x in text] + [text_width(x, SMALL) * BOLD for x in top.values()]
    )

    legend = [
        ("untouched value", legend_mark(color="black", marker="|", markersize=8, markeredgewidth=0.9)),
    ]
    if (ratio <= 1).any():
        legend.append(("less bias than untouched", legend_area(facecolor=LESS_LIGHT)))
    if (ratio > 1).any():
        legend.append(("more bias than untouched", legend_area(facecolor=MORE_LIGHT)))
    if (ratio > LONGEST).any():
        arrow_mark = legend_mark(color=MORE_LIGHT, marker=">", markersize=5)
        legend.append((f"cut off: over {LONGEST:g} times the untouched value", arrow_mark))
    if fewer.any():
        legend.append((f"{DAGGER} before and after on fewer queries", no_mark()))
    figure, panels, places = add_blocks(
        f"{criterion}: bias before and after debiasing",
        "Numbers: distance from the metric's neutral value, mean over the queries "
        f"({queries}); 0 = unbiased. Bars: this value as a share of the untouched one. Methods go by the share of "
        "bias that they remove, over all models.",
        rows,
        ordered_methods(table, criterion),
        labels,
        {metric: shorten(labels.get(metric, metric), LONGEST_HEAD) for metric in metrics},
        legend + missing_values(rows["after"], rows["status"]),
        first=method_label(labels, "none"),
        need=numbers + 0.29,
        most=numbers + 0.7,
        gap=0.06,
    )
    for (model, metric), axes in panels.items():
        # bars begin right of the numbers
        width = axes.get_position().width * figure.get_figwidth()
        axes.set_xlim(-LONGEST * numbers / (width - numbers), LONGEST)
        axes.plot([1, 1], axes.get_ylim(), color="black", linewidth=0.9, zorder=3)
        look: Look = {"va": "center", "ha": "right", "size": SMALL}
        inset = -0.05 / (width - numbers) * LONGEST
        axes.text(inset, places[model][None], top.get((model, metric), "n/a"), weight="bold", **look)
        for row in rows[(rows["model"] == model) & (rows["measure"] == metric)].itertuples():
            y = places[model][row.debias]
            colour = LESS_LIGHT if row.ratio <= 1 else MORE_LIGHT
            if not np.isnan(row.ratio):
                axes.barh(y, min(row.ratio, LONGEST), height=0.13, color=colour, zorder=2)
            if row.ratio > LONGEST:
                axes.plot(LONGEST, y, marker=">", color=colour, markersize=5, clip_on=False, zorder=2)
            axes.text(inset, y, row.text, **look)
        axes.spines["bottom"].set_visible(False)
        axes.set_xticks([])
    return figure


def _drawings(study: Planned) -> Iterator[Drawing]:
    criteria: dict[str, None] = {}
    for criterion in study.config.evaluation:
        methods = study.config.debias.get(criterion, {})
        criteria |= {cell.criterion: None for cell in study.grid.cells.values() if cell.debias in methods}
    for criterion in criteria:
        cells = cells_of(study, [criterion])
        spec = {"labels": labels(study, cells), "criterion": criterion}
        debiased = [cell for cell in cells if cell.debias != "none"]
        models = sorted({cell.model for cell in debiased})
        states = {model: {cell.debias for cell in debiased if cell.model == model} for model in models}
        heights = {model: 0.7 + 0.16 * len(of_model) for model, of_model in states.items()}
        metrics = sorted({cell.metric for cell in debiased})
        name = f"before-after-{slug(criterion)}"
        groups = [
            {"models": page_models, "metrics": columns}
            for page_models in group_by_size(models, 8.1, heights.__getitem__)
            for columns in group_by_size(metrics, METRICS, lambda _: 1)
        ]
        for drawing_name, (part,) in pages(name, groups, 1):
            # a figure of all names no models and no metrics
            yield Drawing(drawing_name, spec=spec | (part if len(groups) > 1 else {}))


FIGURES = (
    Figure(
        "before-after",
        "What every metric says before and after every debias method, for each criterion that is measured.",
        from_tables(before_after),
        question=DEBIASING,
        drawings=_drawings,
        reads=("mitigation",),
        group="mitigation",
        reading="A number is the mean distance of a metric's scores from neutral after debiasing; the "
        "untouched model's is on top of the column, and 0 is no bias. A bar is that number as a share "
        "of the untouched one, which the black line marks: blue ends before it (less bias), orange "
        "goes beyond it (more). A dagger marks a method that lost queries and is compared on the "
        "others.",
        example=Example(
            "debias",
            "before-after-gender",
            {"criterion": "Gender", "group": "metric", "model": "word2vec-google-news-300-subset"},
        ),
    ),
)

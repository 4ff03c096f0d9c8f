"""Figure of the bias by every metric before and after every debias method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..core.numbers import count, decimal, share
from .figure import Drawing, Example, Figure, count_range, of_criteria
from .frame import PAGE, Frame, styled
from .methods import method_label, ordered_methods, removed_share, rows_of_group
from .palette import AMOUNT, colour_map, models_in_order
from .questions import DEBIASING
from .rows import from_tables, reasons, rows_where
from .text import BOLD, DAGGER, LONGEST_HEAD, NORMAL, SMALL, fit_text, method_name, row_label, shorten, topic
from .types.heat import heat
from .types.rows import height, width
from .visuals import is_leftmost, legend_area, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

# Smallest and largest width of a column in inches.
CELL = 0.42, 0.75
# Inches above a heat map.
HEAD = 0.45
# Smallest width of a column, in inches, if models are side by side.
BESIDE = 0.37
# In per cent of the original value.
DARKEST = 200.0
HEADING = "Bias before and after debiasing"


@styled
def before_after(table: pd.DataFrame, labels: Mapping[str, str], criterion: str) -> figure.Figure:
    """Draw the bias that is left by every metric under every method: a heat map per model.

    A heat map has a row per method and a column per metric. A cell has the value after debiasing, in per cent of the
    original model's value on the same queries. It is darkest at DARKEST; above 100 it has a marked corner. The
    original value in the metric's own units (0 = no bias) is at the top of the column. A method that lacks queries
    has a dagger.

    Raises BiasgridError if the table lacks rows of group "metric" and the criterion.
    """
    rows = rows_of_group(table, "before_after", criterion, "metric")
    n = rows.loc[rows["after"].notna(), "n"]
    queries = f"n = {count_range(n)}" if len(n) else "n = 0"
    page = Frame(
        _finding(table, criterion, labels),
        f"{topic(criterion)}: bias left after debiasing, in % of the original model's",
        [
            "A cell is the bias that is left, the darker the more; above 100 %, with a black corner, debiasing added "
            "bias.",
            "The first row has the original model's bias in the metric's units, 0 = no bias.",
            f"Bias: the distance from the metric's no-bias value, mean over the same queries ({queries}).",
            "Methods go by the share that they remove, over all models.",
            "The table has no intervals of these means.",
        ],
    )
    order = ordered_methods(table, criterion)
    names = {"none": method_label(labels, "none")}
    names |= {key: row_label(labels.get(key, key)) for key in order}
    metrics = sorted(rows["measure"].unique())
    room = page.inside - width(names)
    models = models_in_order(rows["model"])
    matrices = {model: _cells(rows_where(rows, model=model), order) for model in models}
    # If models do not fit on a page below each other, put two side by side, provided their rows have the same names.
    tall = sum(height({key: names[key] for key in shares.index}) + HEAD for shares, _ in matrices.values())
    beside = (room / 2 - 0.12) / len(metrics)
    are_alike = len({tuple(shares.index) for shares, _ in matrices.values()}) == 1
    is_beside = tall > PAGE[1] and are_alike and beside > BESIDE
    cell = beside if is_beside else float(np.clip(room / len(metrics), *CELL))
    # Continue below if a row lacks room for all metrics.
    parts = np.array_split(metrics, ceil(len(metrics) / max(1, int(room / cell + 1e-9))))
    heads = {
        (model, i): fit_text(labels.get(model, model), len(parts[i]) * cell / BOLD, NORMAL)
        for model in models
        for i in range(len(parts))
    }
    heights = {
        (model, i): height({key: names[key] for key in matrices[model][0].index}) for model, i in heads
    }
    if is_beside:
        panels = page.panels(heads, heights, labels=width(names), least=room / 2 - 0.081)
    else:
        panels = page.panels(heads, heights, least=width(names) + len(parts[0]) * cell - 0.08)
    for (model, i), axes in panels.items():
        shares, texts = matrices[model]
        shares, texts = shares.reindex(columns=parts[i]), texts.reindex(columns=parts[i], fill_value="n/a")
        columns = [
            fit_text(shorten(labels.get(key, key), LONGEST_HEAD), cell - 0.04, SMALL) for key in parts[i]
        ]
        bold = {(0, column): {"weight": "bold"} for column in range(len(columns))}
        of_rows = [names[key] for key in shares.index if not is_beside or is_leftmost(axes)]
        heat(
            axes,
            shares.clip(upper=DARKEST),
            texts,
            ends=(0, DARKEST),
            shades=AMOUNT,
            names=(of_rows, columns),
            corners=(shares.round() > 100).to_numpy(),
            on_top=True,
            looks=bold,
        )
    legend = [
        ("more bias than the original model", legend_area(facecolor=colour_map("shades", AMOUNT)(0.75)))
    ]
    if any(texts.map(lambda text: DAGGER in text).any(axis=None) for _, texts in matrices.values()):
        legend.append((f"{DAGGER} both measured on fewer queries", no_mark()))
    if rows["after"].isna().any():
        legend.append((f"n/a: no value ({reasons(rows.loc[rows['after'].isna(), 'status'])})", no_mark()))
    return page.done(legend)


def _cells(rows: pd.DataFrame, order: list[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the remaining percentages and the texts of one model: the original model's row, and a row per method."""
    import pandas as pd

    fullest = rows.dropna(subset="before").sort_values("n", ascending=False, kind="stable")
    untouched = fullest.groupby("measure")["before"].first()
    # A change from nothing to nothing counts as 100 %.
    left = (100 * rows["after"] / rows["before"]).mask((rows["after"] == 0) & (rows["before"] == 0), 100.0)
    fewer = ~np.isclose(rows["before"], rows["measure"].map(untouched), rtol=1e-9, atol=0)
    texts = [_text(value, bool(is_fewer)) for value, is_fewer in zip(left, fewer, strict=True)]
    top = untouched.map(lambda x: decimal(x, int(np.clip(1 - np.floor(np.log10(abs(x))), 1, 4)) if x else 2))
    shares, written = (
        pd.concat(
            [
                of_untouched.to_frame("none").T,
                rows.assign(cell=cells).pivot(index="debias", columns="measure", values="cell"),
            ]
        )
        for of_untouched, cells in ((untouched * 0 + 100, left), (top, texts))
    )
    index = ["none", *(key for key in order if key in shares.index)]
    return shares.loc[index].astype(float), written.loc[index].fillna("n/a")


def _finding(table: pd.DataFrame, criterion: str, labels: Mapping[str, str]) -> str:
    """Say how much of the bias the strongest method leaves, on average over metrics and models."""
    rows = rows_of_group(table, "before_after", criterion, "metric")
    left = 1 - removed_share(rows).groupby(rows["debias"]).mean()
    if left.isna().all():
        return HEADING
    name = method_name(method_label(labels, left.idxmin()))
    return f"{name[:1].upper()}{name[1:]} leaves {share(left.min())} of the bias"


def _text(left: float, is_fewer: bool) -> str:
    """Write a percentage of the original value, or a multiple if it is very large."""
    if np.isnan(left):
        return "n/a"
    much = "from 0" if np.isinf(left) else f"{count(round(left / 100))} ×"
    return (share(left / 100) if left < 1000 else much) + DAGGER * is_fewer


def _drawings(study: Planned) -> Iterator[Drawing]:
    criteria: dict[str, None] = {}
    for criterion in study.config.evaluation:
        methods = study.config.debias.get(criterion, {})
        criteria |= {cell.criterion: None for cell in study.grid.cells.values() if cell.debias in methods}
    return of_criteria("before-after", criteria)


FIGURES = (
    Figure(
        "before-after",
        "Scores before and after debiasing, by metric and criterion.",
        from_tables(before_after),
        question=DEBIASING,
        heading=HEADING,
        asks="How much bias is left after debiasing?",
        learn="You learn which metrics report less bias after a debias method, and which more.",
        drawings=_drawings,
        reads=("mitigation",),
        facts=("labels",),
        group="mitigation",
        reading="A cell is the bias left, in per cent of the original model's, which stands on top in "
        "the metric's units: the darker, the more; a black corner is above 100 %. † was "
        "measured on fewer queries.",
        example=Example(
            "debias",
            "before-after-gender",
            {"criterion": "Gender", "group": "metric", "model": "word2vec-google-news-300-subset"},
        ),
    ),
)

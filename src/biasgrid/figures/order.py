"""Figure of which of two models is the less biased, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import slug
from ..numbers import plain, share
from ..statistics.ranks import most_resampled
from ..verdicts.least_biased import Answer, answers
from ..verdicts.text import join_names
from .figure import Drawing, Example, Figure, cells_of, labels, pages
from .layout import MARGIN, PAGE, add_axes, best_columns, empty_page, legend_area, page, styled
from .palette import GREY, Look, colour_map
from .rows import OVERALL, Unit, from_tables, rows_of
from .text import LONGEST_HEAD, SMALL, line_count, shorten, text_width, unit_label, wrap_text

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

# the column's model, as good as equal, the row's; greyscale keeps the two apart
SHADES = ["#E58A4F", "white", "#BBD9F5"]


@styled
def order(
    order: pd.DataFrame,
    rankings: pd.DataFrame,
    pairs: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str = OVERALL,
    level: float = 0.95,
    only: Sequence[str] | None = None,
) -> figure.Figure:
    """How often the row's model is less biased than the column's in bootstrap resamples: one heatmap per metric, from
    order.csv, rankings.csv and pairs.csv.

    The numbers are percentages of resamples, bold where the order is decided (`verdicts.least_biased`). Models
    have one order in all panels, by how often they are the less biased over all metrics, and letters, which are no
    ranks. `only`: the metrics of one of several pages.
    Raises BiasgridError where the table has no rows of the criterion.
    """
    title = f"How sure the order of the models is: {criterion}"
    if order.empty:
        return empty_page(title, "one model has no order.")
    table, resampled_units = most_resampled(rows_of(order, "order", criterion))
    metrics = sorted(table["metric"].unique())
    of_metrics = answers_on(rankings, pairs, criterion, metrics, level)
    decided_pairs = {answer.metric: answer.decided_pairs for answer in of_metrics}
    matrices = {metric: pair_shares(table[table["metric"] == metric]) for metric in metrics}
    sums: dict[Unit, list[float]] = {}
    for matrix in matrices.values():
        for (unit, _), value in matrix.items():
            sums.setdefault(unit, []).append(value)
    means: dict[Unit, Any] = {
        unit: np.nanmean(values) if not np.isnan(values).all() else 0 for unit, values in sums.items()
    }
    units = sorted(means, key=lambda unit: (-round(means[unit], 12), unit))
    names = [wrap_text(unit_label(unit, labels), 46) for unit in units]
    cell = max(0.32, max(map(line_count, names)) * 0.115 + 0.06)
    letters = [_letters(i) for i in range(len(units))]
    # the order is one of all metrics, whichever are on this page
    metrics = [metric for metric in metrics if only is None or metric in only]
    left = max(text_width(name, SMALL) for name in names) + 0.34
    head, foot, side = 0.36, 0.12, len(units) * cell

    def extent(columns: int) -> tuple[float, float]:
        return left + columns * (side + 0.32), ceil(len(metrics) / columns) * (head + side + foot)

    columns = best_columns(len(metrics), extent)
    note = (
        f"Percentage of bootstrap resamples of {resampled_units} in which the row's model is less biased than the "
        f"column's; a tie counts half. Letters name the models; they are no ranks. Bold: the order is "
        f"decided{for_these(of_metrics, labels)} (p at "
        f"most {plain(1 - level)}, adjusted over all pairs). n/a: a model is not ranked, as it lost too many queries."
    )
    shades = colour_map("order", SHADES)
    legend = [
        ("the row's model is less biased", legend_area(facecolor=shades(1.0))),
        ("the column's model is less biased", legend_area(facecolor=shades(0.0))),
    ]
    figure, top = page(title, note, legend, *extent(columns))
    for i, metric in enumerate(metrics):
        line, column = divmod(i, columns)
        corner = MARGIN + left + column * (side + 0.32), top + line * (head + side + foot) + head
        axes = add_axes(figure, *corner, side, side)
        values = np.array(
            [[matrices[metric].get((a, b), np.nan) if a != b else np.nan for b in units] for a in units]
        )
        masked_values = np.ma.masked_invalid(values)
        axes.pcolormesh(masked_values, vmin=0, vmax=1, cmap=shades, edgecolors="#DDDDDD", linewidth=0.4)
        for (y, x), value in np.ndenumerate(values):
            pair = units[y], units[x]
            look: Look = {"color": GREY}
            if x == y or np.isnan(value):
                text = "" if x == y else "n/a"
            else:
                text = share(value).removesuffix(" %")
                look = {"weight": "bold"} if {pair, pair[::-1]} & decided_pairs[metric] else {}
            axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", size=SMALL, **look)
        axes.set_title(shorten(labels.get(metric, metric), LONGEST_HEAD), loc="left", weight="bold", pad=14)
        axes.set_xticks(np.arange(len(units)) + 0.5, letters)
        axes.xaxis.tick_top()
        rows = [f"{name}  {n}" for n, name in zip(letters, names, strict=True)] if column == 0 else letters
        axes.set_yticks(np.arange(len(units)) + 0.5, rows)
        axes.tick_params(length=0, pad=2)
        axes.spines[:].set_visible(False)
        axes.set_ylim(len(units), 0)
    return figure


def answers_on(
    rankings: pd.DataFrame, pairs: pd.DataFrame, criterion: str, metrics: Sequence[str], level: float
) -> list[Answer]:
    """What metrics say of the models on a criterion."""
    rankings, pairs = (table[table["criterion"] == criterion] for table in (rankings, pairs))
    return answers(rankings, pairs, metrics, level)


def for_these(of_metrics: Sequence[Answer], labels: Mapping[str, str]) -> str:
    """By which metrics what is decided holds for these queries alone; empty of none."""
    names = [labels.get(answer.metric, answer.metric) for answer in of_metrics if answer.is_of_these_queries]
    by = "" if len(names) == len(of_metrics) else f" (by {join_names(names)})" if names else ""
    return f" for these queries{by}" if names else ""


def pair_shares(order: pd.DataFrame) -> dict[tuple[Unit, Unit], float]:
    """How often the first unit of a pair is less biased than the second, for pairs in both directions."""
    shares = {}
    for row in order.itertuples():
        a, b = (row.model_a, row.debias_a), (row.model_b, row.debias_b)
        shares[a, b] = row.share_of_resamples
        shares.setdefault((b, a), 1 - row.share_of_resamples)
    return shares


def _letters(i: int) -> str:
    """A to Z, then AA and so on."""
    return (_letters(i // 26 - 1) if i >= 26 else "") + ascii_uppercase[i % 26]


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in (OVERALL, *study.ranked_criteria):
        cells = cells_of(study, study.ranked_criteria if criterion == OVERALL else [criterion])
        spec = {"labels": labels(study, cells), "criterion": criterion}
        # beside names of 2.6 inches
        side = 0.32 * len({cell.model for cell in cells})
        most = max(1, int((PAGE[0] - 2.6) / (side + 0.32))) * max(1, int((PAGE[1] - 0.95) / (side + 0.48)))
        metrics = sorted({cell.metric for cell in cells})
        name = "order" + (f"-{slug(criterion)}" if criterion != OVERALL else "")
        for drawing_name, part in pages(name, metrics, most):
            only = {"only": part} if len(part) < len(metrics) else {}
            yield Drawing(drawing_name, spec={**spec, **only})


FIGURES = (
    Figure(
        "order",
        "How often one model is less biased than another in bootstrap resamples.",
        _drawings,
        from_tables(order),
        reads=("order", "rankings", "pairs"),
        when="ranked and bootstrap",
        facts=("level",),
        needs="inference with a bootstrap",
        reading="order is of all criteria together, order-gender and so on of one. A number is the percentage of "
        "bootstrap resamples in which the row's model is less biased than the column's. Blue: mostly the row's, "
        "orange: mostly the column's, white: as good as equal. Bold is a decided order: the adjusted p-value of the "
        "difference, over all pairs of models, is at most 5 %. All that is not bold is no basis to call one model "
        "less biased, however high its percentage. Letters name the models; they are no ranks. Models are compared "
        "on the queries that all ranked models have; n/a is a model that is not ranked.",
        example=Example(
            "embedded", "order", {"criterion": OVERALL, "resampled": "both", "metric": ["rnd", "weat"]}
        ),
    ),
)

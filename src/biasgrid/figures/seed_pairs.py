"""Figure of how well each pair of a list stands for the direction that all of them make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..files import slug
from ..numbers import coefficient
from .figure import Drawing, Example, Figure, evaluations_of, labels, pages
from .frame import MARGIN, PAGE, empty_page, styled
from .layout import add_axes, page
from .palette import DASHED, GREY, LESS, MODEL_COLOURS, MORE, ZEBRA, Look
from .questions import SCORES
from .rows import from_tables, rows_of
from .text import SMALL, text_width, unit_label
from .visuals import few_ticks, legend_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

MOST = 40  # pairs of a page
ROW = 0.17  # inches


@styled
def seed_pairs(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    model: str,
    debias: str,
    of_list: str,
    first: int = 1,
    last: int = MOST,
) -> figure.Figure:
    """One row per pair, best first: its cosines with the direction of all pairs and of the others, and the share of
    variance along the first component of the others and of the best.

    Parameters
    ----------
    table
        seed_pairs.csv.
    labels
        What is printed for the keys of the model and of the debias method.
    criterion, model, debias, of_list
        Whose pairs.
    first, last
        The ranks that are drawn.

    Raises
    ------
    BiasgridError
        Where the table has none of them.
    """
    rows = rows_of(table, "seed_pairs", criterion)
    for column, value in (("model", model), ("debias", debias), ("list", of_list)):
        rows = rows_of(rows, "seed_pairs", value, column=column)
    whole = float(rows["share_best"].iloc[-1])
    total, rows = len(rows), rows[rows["rank"].between(first, last)]
    if rows.empty:
        return empty_page(f"{criterion}: {of_list}", f"the model has no more than {total} of the pairs.")
    names = [pair.replace("_", " ").replace(":", " : ") for pair in rows["pair"]]
    left = MARGIN + max(text_width(name, SMALL) for name in names) + 0.1
    gap, height = 0.3, ROW * len(rows)
    panel_width = (PAGE[0] - left - MARGIN - gap) / 2
    marks: Look = {"linestyle": "", "markersize": 4}
    legend = [
        ("cosine with the direction of the others", legend_line(color=LESS, marker="o", **marks)),
        (
            "the same of all pairs, this one included",
            legend_line(color=LESS, marker="o", markerfacecolor="white", **marks),
        ),
        ("mean cosine with the others, one by one", legend_line(color=GREY, marker="|", **marks)),
        ("share of all pairs but this one", legend_line(color=MORE, marker="D", **marks)),
        ("share of this pair and those above", legend_line(color=MODEL_COLOURS[2], marker="^", **marks)),
        (f"share of all pairs ({coefficient(whole)})", legend_line(**DASHED)),
    ]
    figure, top = page(
        f"{criterion}: how well pairs stand for their direction",
        f"{unit_label((model, debias), labels)}: {of_list}, {total} pairs. Left: cosine of a pair's difference "
        "with the first principal component of pairs. Right: the share of variance that lies along that component.",
        legend,
        PAGE[0],
        height + 0.55,
    )
    y = np.arange(len(rows))
    cosines = add_axes(figure, left, top, panel_width, height)
    shares = add_axes(figure, left + panel_width + gap, top, panel_width, height)
    for axes in (cosines, shares):
        for i in range(0, len(rows), 2):
            axes.axhspan(i - 0.5, i + 0.5, color=ZEBRA, linewidth=0, zorder=0)
        axes.set(ylim=(len(rows) - 0.5, -0.5), yticks=[])
        few_ticks(axes.xaxis, 5)
    with_all, with_others = rows["cosine"].to_numpy(), rows["cosine_others"].to_numpy()
    cosines.hlines(y, with_others, with_all, color=LESS, linewidth=0.8, zorder=2)
    cosines.plot(with_all, y, color=LESS, marker="o", markerfacecolor="white", zorder=3, **marks)
    cosines.plot(with_others, y, color=LESS, marker="o", zorder=4, **marks)
    cosines.plot(rows["cosines_with_others"], y, color=GREY, marker="|", zorder=3, **marks)
    lowest = np.nanmin([0.0, *with_all, *with_others, *rows["cosines_with_others"]])
    cosines.set(xlim=(lowest - 0.03 * (lowest < 0), 1.03), xlabel="cosine")
    cosines.axvline(0, **DASHED)
    cosines.set_yticks(y, names)
    cosines.tick_params(axis="y", length=0)
    shares.plot(rows["share_best"], y, color=MODEL_COLOURS[2], marker="^", zorder=3, **marks)
    shares.plot(rows["share_others"], y, color=MORE, marker="D", zorder=4, **marks)
    shares.axvline(whole, **DASHED)
    shares.set(xlim=(0, 1.03), xlabel="share of variance")
    return figure


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.config.evaluation:
        lists = getattr(study.evaluation_specs[criterion], "seed_pairs", {}) or {}
        for evaluations in evaluations_of(study, criterion).values() if lists else ():
            for evaluation in evaluations:
                for of_list, pairs in lists.items():
                    spec = {
                        "labels": labels(study, [evaluation]),
                        "criterion": criterion,
                        "model": evaluation.model,
                        "debias": evaluation.debias,
                        "of_list": of_list,
                    }
                    state = evaluation.model + (
                        "" if evaluation.debias == "none" else f"-{evaluation.debias}"
                    )
                    name = f"seed-pairs-{slug(criterion)}-{slug(of_list)}-{state}"
                    for drawing_name, ranks in pages(name, range(1, len(pairs) + 1), MOST):
                        yield Drawing(drawing_name, spec=spec | {"first": ranks[0], "last": ranks[-1]})


FIGURES = (
    Figure(
        "seed-pairs",
        "How well each pair of a list stands for the direction that all of them make.",
        from_tables(seed_pairs),
        question=SCORES,
        drawings=_drawings,
        reads=("seed_pairs",),
        needs="an evaluation with seed_pairs",
        reading="A row is a pair, the best first. A filled dot is the cosine of its difference with the direction "
        "that the other pairs make: near 1, it stands for the direction; near 0, it has little to do with it. The "
        "open dot counts the pair itself among those that make the direction, and flatters it. On the right, a "
        "diamond beyond the dashed line is a pair without which the others agree better.",
        example=Example(
            "seed_lists",
            "seed-pairs-seed-lists-pairs-of-bolukbasi-et-al-word2vec-google-news-300-subset",
            {"list": "pairs of Bolukbasi et al."},
            shown={"seed_pairs": ["cosine", "cosine_others", "share_others"]},
        ),
    ),
)

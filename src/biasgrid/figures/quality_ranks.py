"""The models' ranks by bias beside their ranks by quality, drawn from rankings.csv and quality.csv."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..numbers import coefficient, decimal, plain, share, typeset
from .correlations import FEWEST
from .figure import Drawing, Example, Figure, cells_of, labels
from .frame import MARGIN, blank, styled
from .layout import add_axes, add_box
from .palette import MISSING_CELL, colour_map
from .rows import FEWER, OVERALL, by_rank, from_tables, rows_of, units_of
from .text import (
    DAGGER,
    NORMAL,
    SMALL,
    fit_text,
    line_count,
    metric_head,
    shorten,
    text_width,
    unit_label,
    wrap_text,
)
from .visuals import heading

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..planned import Planned

CELL = 0.31  # inches
BAR = 0.62  # inches of the mean ranks' bars, with their numbers
GAP = 0.22
# rank 1 is the darkest
BEST_FIRST = ["#1B5E75", "#7FB4C4", "#F1F6F7"]


@styled
def quality_ranks(rankings: pd.DataFrame, quality: pd.DataFrame, labels: Mapping[str, str]) -> figure.Figure:
    """Which models are the least biased, and which the best (as Badilla et al., IJCAI 2020, figure 2, asks).

    Left the models' overall ranks by metric, right their ranks by benchmark, one row per model, the least biased on
    top and those that miss a rank last; in both halves 1 is the best and the darkest. Each half ends with the mean
    rank. Quality ranks are `common_rank`: by the pairs and questions that all models have, but for models that have
    too few to compare. What the models have themselves is the last column.

    A rank that is NaN is a hatched cell with "n/a", and the mean over the others is in brackets. Spearman's rho of
    the mean ranks is over the models that have all of both; below four there is none.
    Raises BiasgridError where a table is empty or has no overall ranks.
    """
    from ..tables.quality import TOO_FEW
    from ..tables.rankings import fewer_scores

    rankings, quality = rows_of(rankings, "rankings", OVERALL), rows_of(quality, "quality")
    order = by_rank(rankings, sorted({*units_of(rankings), *units_of(quality)}))
    keys = ["model", "debias"]
    bias = rankings.pivot(index=keys, columns="metric", values="rank").reindex(order)
    fewer = rankings.assign(fewer=fewer_scores(rankings)).pivot(index=keys, columns="metric", values="fewer")
    fewer = fewer.reindex(order).eq(True)
    # word similarity first
    benchmark_ranks = quality.pivot(index=keys, columns=["group", "benchmark"], values="common_rank").reindex(
        order
    )
    benchmark_ranks = benchmark_ranks.sort_index(axis=1, level=[0, 1], ascending=[False, True])
    common = quality.groupby(["group", "benchmark"])[["common_n", "total"]].first()
    coverage = quality.groupby(keys)["coverage"].agg(["min", "max"]).reindex(order)
    halves = [
        ("Bias: 1 = least biased", bias, [metric_head(labels.get(key, key)) for key in bias]),
        (
            "Quality: 1 = best on the benchmark",
            benchmark_ranks,
            [
                f"{wrap_text(shorten(key[1], 45), 24)}\n{'{:,} of {:,}'.format(*common.loc[key])}"
                for key in benchmark_ranks
            ],
        ),
    ]

    names = [wrap_text(unit_label(unit, labels), 30) for unit in order]
    left = max(text_width(name, SMALL) for name in names) + MARGIN + 0.08
    row = max(0.26, max(map(line_count, names)) * 0.115 + 0.06)
    coverage_texts = [_coverage(*unit) for unit in coverage.to_numpy()]
    last = max(0.2, *(text_width(text, SMALL) for text in coverage_texts))
    # as wide as a half's title needs
    cells = [
        max(CELL, (text_width(title, NORMAL) * 1.15 + 0.05 - BAR) / len(part.columns))
        for title, part, _ in halves
    ]
    half_widths = [cell * len(part.columns) for cell, (_, part, _) in zip(cells, halves, strict=True)]
    head = max(text_width(text, SMALL) for *_, names in halves for text in names) + 0.1
    width = max(left + sum(half_widths) + 2 * (BAR + GAP) + last + MARGIN, 5.0)
    note_texts = [
        "Quality: Spearman's ρ of people's ratings of word pairs with the words' cosines, or the share of analogy "
        "questions answered rightly; ranked by the pairs and questions that all ranked models have (under a "
        "benchmark's name: how many of all). Coverage: what the model has itself, from its worst to its best covered "
        "benchmark; of analogies, the questions whose words are all candidates for answers (in most models the "
        "30,000 most frequent words). A model of few words has fewer wrong answers to choose from.",
        _agreement(bias, benchmark_ranks),
    ]
    if fewer.any(axis=None):
        note_texts.insert(0, FEWER)
    if any(part.isna().any(axis=None) for _, part, _ in halves):
        why = "no value"
        if quality["status"].str.contains(TOO_FEW).any():
            why += (
                ", or in quality too few pairs or questions to compare: fewer than 100, or than half of a benchmark "
                "that has fewer than 200"
            )
        note_texts.insert(
            0, f"n/a: {why} (in brackets: the mean of the other ranks, which compares with none)"
        )
    notes = [fit_text(text, width - 2 * MARGIN, SMALL) for text in note_texts]
    title = MARGIN + 0.22 + 0.24
    top = title + head
    bottom = top + len(order) * row + 0.14
    figure = blank(width, bottom + sum(line_count(note) * 0.12 + 0.05 for note in notes) + MARGIN)
    high = figure.get_figheight()
    figure.text(
        MARGIN / width, 1 - MARGIN / high, "Bias ranks over all criteria beside quality ranks", **heading()
    )

    x = left
    for (text, part, columns), inches in zip(halves, half_widths, strict=True):
        axes = add_axes(figure, x, top, inches, len(order) * row)
        _cells(axes, part, len(order), fewer if part is bias else None)
        axes.set_xticks(np.arange(len(columns)), columns, rotation=90, multialignment="left")
        axes.set_yticks(range(len(order)), names if part is bias else [""] * len(order))
        figure.text(x / width, 1 - (MARGIN + 0.25) / high, text, va="top", weight="bold")
        x += inches
        bars = add_axes(figure, x + 0.06, top, BAR - 0.06, len(order) * row)
        _means(bars, part, len(order))
        x += BAR + GAP
    for i, text in enumerate(coverage_texts):
        figure.text(x / width, 1 - (top + (i + 0.5) * row) / high, text, va="center", size=SMALL)
    figure.text(x / width, 1 - (top - 0.05) / high, "coverage", rotation=90, va="bottom", size=SMALL)
    for note in notes:
        figure.text(MARGIN / width, 1 - bottom / high, note, va="top", size=SMALL, color="#333333")
        bottom += line_count(note) * 0.12 + 0.05
    return figure


def _cells(axes: Axes, ranks: pd.DataFrame, models: int, fewer: pd.DataFrame | None) -> None:
    axes.imshow(
        (np.nan_to_num(ranks.to_numpy(), nan=models) - 1) / max(models - 1, 1),
        cmap=colour_map("ranks", BEST_FIRST), vmin=0, vmax=1, aspect="auto",
    )  # fmt: skip
    for (i, j), rank in np.ndenumerate(ranks.to_numpy()):
        centre = {"x": j, "y": i, "ha": "center", "va": "center"}
        if np.isnan(rank):
            add_box(axes, (j - 0.5, i - 0.5), 1, 1, **MISSING_CELL)
            axes.text(
                s="n/a", size=6.5, bbox={"boxstyle": "square,pad=0.1", "fc": "#E8E8E8", "lw": 0}, **centre
            )
        else:
            mark = DAGGER if fewer is not None and fewer.iloc[i, j] else ""
            dark = (rank - 1) / max(models - 1, 1) < 0.35
            axes.text(s=f"{plain(rank)}{mark}", size=SMALL, color="white" if dark else "black", **centre)
    axes.hlines(np.arange(1, models) - 0.5, -0.5, ranks.shape[1] - 0.5, color="white", linewidth=0.8)
    axes.vlines(np.arange(1, ranks.shape[1]) - 0.5, -0.5, models - 0.5, color="white", linewidth=0.8)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _means(axes: Axes, ranks: pd.DataFrame, models: int) -> None:
    """Bars of the mean ranks: the shorter, the better. A mean without some ranks has none: it does not compare."""
    for i, (mean, missing) in enumerate(zip(ranks.mean(axis=1), ranks.isna().any(axis=1), strict=True)):
        if np.isnan(mean):
            continue
        if not missing:
            axes.barh(i, mean, height=0.5, color="#C9C9C9")
        text, weight = decimal(mean, 1), "normal" if missing else "bold"
        text = f"({text})" if missing else text
        axes.text(0 if missing else mean, i, f" {text}", va="center", size=SMALL, weight=weight)
    # room for the number behind the longest bar
    axes.set(xlim=(0, models * 1.9), ylim=(models - 0.5, -0.5), yticks=[])
    axes.set_xticks([models * 0.5], ["mean rank"], rotation=90)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def _coverage(low: float, high: float) -> str:
    if np.isnan(low):
        return "n/a"
    lowest, highest = share(low), share(high)
    return lowest if lowest == highest else f"{lowest.removesuffix(' %')} to {highest}"


def _agreement(bias: pd.DataFrame, benchmark_ranks: pd.DataFrame) -> str:
    import pandas as pd

    whole = bias.notna().all(axis=1) & benchmark_ranks.notna().all(axis=1)
    means = pd.DataFrame({"bias": bias[whole].mean(axis=1), "quality": benchmark_ranks[whole].mean(axis=1)})
    n = len(means)
    if n < FEWEST or means.nunique().min() == 1:
        return "Too few models have all ranks, and different ones, to say whether the less biased are the better."
    rho = typeset(means["bias"].corr(means["quality"], method="spearman"), form=coefficient)
    return (
        f"Spearman's ρ of the two mean ranks is {rho} over the {n} models that have all ranks (1: the "
        "less biased, the better; \N{MINUS SIGN}1: the less biased, the worse). It describes these models; so few "
        "support no conclusion about others."
    )


def _drawings(study: Planned) -> Iterator[Drawing]:
    if study.ranked_criteria and study.grid.quality:
        cells = [*cells_of(study, study.ranked_criteria), *study.grid.quality.values()]
        yield Drawing("quality-ranks", spec={"labels": labels(study, cells)})


FIGURES = (
    Figure(
        "quality-ranks",
        "The models' ranks by bias beside their ranks on word-similarity and analogy benchmarks.",
        _drawings,
        from_tables(quality_ranks),
        reads=("rankings", "quality"),
        reading="Left are ranks by bias (1 is least biased), right ranks on benchmarks (1 is best), both "
        "darkest at 1, with the same models in the same order. A dagger is a rank without some scores "
        "that other models have; n/a is no rank. Spearman's rho of the mean ranks describes these few "
        "models and is no test.",
        example=Example("embedded", "quality-ranks", {"criterion": OVERALL}),
    ),
)

"""The models' ranks by bias beside their ranks by quality, drawn from rankings.csv and quality.csv."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..numbers import coefficient, decimal, plain, share, typeset
from ..statistics.aggregation import OVERALL
from .correlations import FEWEST
from .figure import Drawing, Example, Figure
from .frame import NARROW, Frame, styled
from .palette import Look, colour_map
from .questions import RANKS
from .rows import FEWER, by_rank, from_tables, rows_of, units_of
from .text import (
    BOLD,
    DAGGER,
    SMALL,
    fit_text,
    line_count,
    metric_head,
    shorten,
    text_width,
    unit_label,
    wrap_text,
)
from .types.heat import heat
from .types.rows import height, width

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..planned import Planned

# rank 1 is the darkest
BEST_FIRST = ["#1B5E75", "#7FB4C4", "#F1F6F7"]
MEAN, COVERAGE = 4, 30  # points to the right of a panel
LINE, GAP = 0.121, 0.11  # inches of a line of a column's name, and between the halves
HALVES = {"bias": "Bias: 1 = least biased", "quality": "Quality: 1 = best on the benchmark"}


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

    rankings, quality = rows_of(rankings, "rankings", criterion=OVERALL), rows_of(quality, "quality")
    order = by_rank(rankings, sorted({*units_of(rankings), *units_of(quality)}))
    keys = ["model", "debias"]
    bias = rankings.pivot(index=keys, columns="metric", values="rank").reindex(order)
    fewer = rankings.assign(fewer=fewer_scores(rankings)).pivot(index=keys, columns="metric", values="fewer")
    fewer = fewer.reindex(order).eq(True)
    # word similarity first
    by_benchmark = quality.pivot(index=keys, columns=["group", "benchmark"], values="common_rank")
    by_benchmark = by_benchmark.reindex(order).sort_index(axis=1, level=[0, 1], ascending=[False, True])
    common = quality.groupby(["group", "benchmark"])[["common_n", "total"]].first()
    coverage = quality.groupby(keys)["coverage"].agg(["min", "max"]).reindex(order)
    halves = {"bias": bias, "quality": by_benchmark}
    columns = {
        "bias": [metric_head(labels.get(key, key)) for key in bias],
        "quality": [
            f"{wrap_text(shorten(key[1], 45), 24)}\n{'{:,} of {:,}'.format(*common.loc[key])}"
            for key in by_benchmark
        ],
    }
    notes = [
        "Quality: Spearman's ρ with people's ratings of word pairs, or the share of analogy questions answered "
        "rightly; ranked on the pairs and questions that all ranked models have (how many of all: under the name). "
        "Coverage: the share that a model has itself.",
        _agreement(bias, by_benchmark),
    ]
    if fewer.any(axis=None):
        notes += [FEWER]
    if any(part.isna().any(axis=None) for part in halves.values()):
        why = "no value"
        if quality["status"].str.contains(TOO_FEW).any():
            why += (
                ", or in quality too few pairs or questions to compare: fewer than 100, or than half of a benchmark "
                "that has fewer than 200"
            )
        notes += [f"n/a: {why} (in brackets: the mean of the other ranks, which compares with none)"]
    page = Frame("Are the less biased models the better ones?", "\n".join(notes))
    names = {unit: fit_text(unit_label(unit, labels), 0.27 * page.width, SMALL) for unit in order}
    ends = 1, max(len(order), 2)
    coverages = [_coverage(*of) for of in coverage.to_numpy()]
    means = {
        half: [_mean(*of) for of in zip(ranks.mean(axis=1), ranks.isna().any(axis=1), strict=True)]
        for half, ranks in halves.items()
    }
    beside = (MEAN + COVERAGE) / 72 + GAP
    beside += max(text_width(text, SMALL) * BOLD for text in means["bias"])
    beside += max(text_width(text, SMALL) for text in coverages)
    room = (page.inside - width(names) - beside) / 2
    is_narrow = page.width < NARROW or any(
        len(of_half) * max(map(line_count, of_half)) * LINE > room for of_half in columns.values()
    )
    if is_narrow:  # the halves stand below each other, and columns have room for a line
        columns = {half: [name.replace("\n", " ") for name in of_half] for half, of_half in columns.items()}
    for half, axes in page.panels(
        HALVES, height(names, 3), labels=width(names), line=1 + (not is_narrow), least=1
    ).items():
        ranks = halves[half]
        texts = ranks.map(lambda rank: "n/a" if np.isnan(rank) else plain(rank))
        if half == "bias":
            texts += (fewer & ranks.notna()).replace({True: DAGGER, False: ""})
        rows = [*names.values()] if half == "bias" or is_narrow else [""] * len(order)
        shades = colour_map("ranks", BEST_FIRST)
        heat(axes, ranks, texts, ends=ends, shades=shades, names=(rows, columns[half]), upright=True)
        for label in axes.get_xticklabels():
            label.set_multialignment("right")
        _beside(axes, "mean rank", means[half], MEAN, weight="bold")
        if half == "quality":
            _beside(axes, "coverage", coverages, COVERAGE)
    return page.done()


def _beside(axes: Axes, head: str, texts: Sequence[str], points: float, **look: Any) -> None:
    """A column of texts to the right of a heat map, its head below as the columns' are."""
    place = axes.get_yaxis_transform()
    for row, text in enumerate(texts):
        axes.annotate(
            text, (1, row + 0.5), (points, 0), place, "offset points", va="center", size=SMALL, **look
        )
    foot: Look = {"rotation": 90, "va": "top", "size": SMALL}
    axes.annotate(head, (1, len(texts)), (points, -3), place, "offset points", **foot)


def _mean(mean: float, is_missing: bool) -> str:
    """A mean rank; in brackets where some ranks are missing, as it does not compare."""
    text = "" if np.isnan(mean) else decimal(mean, 1)
    return f"({text})" if text and is_missing else text


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
        f"Spearman's ρ of the two mean ranks is {rho} over the {n} models that have all ranks (1: the less biased, "
        "the better); so few support no conclusion about others."
    )


def _drawings(study: Planned) -> Iterator[Drawing]:
    if study.ranked_criteria and study.grid.quality:
        yield Drawing("quality-ranks")


FIGURES = (
    Figure(
        "quality-ranks",
        "The models' ranks by bias next to their ranks on quality benchmarks.",
        from_tables(quality_ranks),
        question=RANKS,
        drawings=_drawings,
        reads=("rankings", "quality"),
        facts=("labels",),
        reading="Left: rank by bias (1 is least biased); right: rank on benchmarks (1 is best). Coverage "
        "counts a model's words or questions: with few words, analogies have fewer wrong answers to "
        "choose from.",
        example=Example("embedded", "quality-ranks", {"criterion": OVERALL}),
    ),
)

"""Figure of the models' ranks by bias and by quality, drawn from rankings.csv and quality.csv."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..core.numbers import coefficient, decimal, plain, share, typeset
from ..measure.aggregation import OVERALL
from .correlations import FEWEST
from .figure import Drawing, Example, Figure
from .frame import Frame, styled
from .palette import Look, colour_map
from .questions import RANKS
from .rows import FEWER, by_rank, from_tables, rows_of, units_of
from .text import DAGGER, SMALL, fit_text, line_count, row_label, shorten, unit_label
from .types.heat import heat
from .types.rows import LINE, width
from .visuals import under_head

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..tables.planned import Planned

# Rank 1 is the darkest.
BEST_FIRST = ["#1B5E75", "#7FB4C4", "#F1F6F7"]
# Characters of a line in a row's name.
NAME = 40
# Smallest width of a model's column in inches.
COLUMN = 0.78
HALVES = {"bias": "Bias: 1 = least biased", "quality": "Quality: 1 = best on the benchmark"}
HEADING = "Ranks by bias and by quality"
# With fewer models, no conclusion about other models is possible.
FEW = 8


@styled
def quality_ranks(rankings: pd.DataFrame, quality: pd.DataFrame, labels: Mapping[str, str]) -> figure.Figure:
    """Draw the models' ranks by bias and by quality (the question of Badilla et al., IJCAI 2020, figure 2).

    The upper half has the models' overall ranks by metric, the lower half their ranks by benchmark. There is one
    column per model: the least biased first, models without some ranks last. In both halves 1 is the best and the
    darkest, and the mean rank is at the end. Quality ranks are `common_rank`: by the pairs and questions that all
    models have, except for models with too few of them. The last row has each model's own coverage.

    A NaN rank is a hatched cell with "n/a", and the mean of the other ranks is in brackets. Spearman's rho of the
    mean ranks is over the models with all ranks; it is left out for fewer than four.

    Raises BiasgridError if a table is empty or lacks overall ranks.
    """
    from ..tables.quality import TOO_FEW
    from ..tables.rankings import fewer_scores

    rankings, quality = rows_of(rankings, "rankings", criterion=OVERALL), rows_of(quality, "quality")
    order = by_rank(rankings, sorted({*units_of(rankings), *units_of(quality)}))
    keys = ["model", "debias"]
    bias = rankings.pivot(index=keys, columns="metric", values="rank").reindex(order)
    fewer = rankings.assign(fewer=fewer_scores(rankings)).pivot(index=keys, columns="metric", values="fewer")
    fewer = fewer.reindex(order).eq(True)
    # Put word similarity first.
    by_benchmark = quality.pivot(index=keys, columns=["group", "benchmark"], values="common_rank")
    by_benchmark = by_benchmark.reindex(order).sort_index(axis=1, level=[0, 1], ascending=[False, True])
    common = quality.groupby(["group", "benchmark"])[["common_n", "total"]].first()
    coverage = quality.groupby(keys)["coverage"].agg(["min", "max"]).reindex(order)
    halves = {"bias": bias, "quality": by_benchmark}
    measures = {
        "bias": [row_label(labels.get(key, key), NAME) for key in bias],
        "quality": [
            row_label(f"{shorten(key[1], 45)} ({'{:,} of {:,}'.format(*common.loc[key])})", NAME)
            for key in by_benchmark
        ],
    }
    notes = [
        "In brackets: how many of a benchmark's pairs or questions all ranked models have; quality is ranked "
        "on these.",
        "Coverage: the share that a model has itself.",
        "Quality: Spearman's ρ with people's ratings of word pairs, or the share of correct answers to analogies.",
        "Spearman's ρ of the two mean ranks is over the models that have all ranks.",
    ]
    if len(order) < FEW:
        notes += ["So few models support no conclusion about others."]
    if fewer.any(axis=None):
        notes += [f"{FEWER}."]
    if any(part.isna().any(axis=None) for part in halves.values()):
        why = "no value"
        if quality["status"].str.contains(TOO_FEW).any():
            why += (
                ", or too few pairs or questions to compare: fewer than 100, or than half of a benchmark with fewer "
                "than 200"
            )
        notes += [f"n/a: {why}. In brackets: the mean of the other ranks, which is not comparable."]
    page = Frame(
        _finding(bias, by_benchmark), "All topics: rank under each metric and on each benchmark", notes
    )
    names = {f"{half}{i}": name for half, of_half in measures.items() for i, name in enumerate(of_half)}
    names["last"] = "coverage"
    # Continue below if a row lacks room for all models.
    room = page.inside - width(names)
    parts = np.array_split(np.arange(len(order)), ceil(len(order) / max(1, int(room / COLUMN))))
    ends = 1, max(len(order), 2)
    heads = {(i, half): head for i in range(len(parts)) for half, head in HALVES.items()}
    tall = max(map(line_count, names.values())) * LINE + 0.07
    heights = {key: (len(measures[key[1]]) + 1 + (key[1] == "quality")) * tall for key in heads}
    shades = colour_map("ranks", BEST_FIRST)
    for (i, half), axes in page.panels(heads, heights, labels=width(names), line=1).items():
        ranks = halves[half].iloc[parts[i]]
        texts = ranks.map(lambda rank: "n/a" if np.isnan(rank) else plain(rank))
        if half == "bias":
            texts += (fewer.iloc[parts[i]] & ranks.notna()).replace({True: DAGGER, False: ""})
        of_models = [
            fit_text(unit_label(unit, labels), room / len(parts[i]) - 0.06, SMALL) for unit in ranks.index
        ]
        under_head(axes, "\n" * max(map(line_count, of_models)))
        means = zip(ranks.mean(axis=1), ranks.isna().any(axis=1), strict=True)
        below = {"mean rank": [_mean(*mean) for mean in means]}
        if half == "quality":
            below["coverage"] = [_coverage(*ends) for ends in coverage.iloc[parts[i]].to_numpy()]
        heat(
            axes,
            ranks.T,
            texts.T,
            ends=ends,
            shades=shades,
            names=(measures[half], of_models),
            on_top=True,
        )
        _below(axes, len(measures[half]), below)
    return page.done()


def _below(axes: Axes, first: int, rows: Mapping[str, Sequence[str]]) -> None:
    """Write rows of texts under a heat map, with their names."""
    names = [label.get_text() for label in axes.get_yticklabels()]
    for place, (name, texts) in enumerate(rows.items(), first):
        weight = "bold" if place == first else "normal"
        for column, text in enumerate(texts):
            look: Look = {"ha": "center", "va": "center", "size": SMALL, "weight": weight, "in_layout": False}
            axes.text(column + 0.5, place + 0.5, text, **look)
        names.append(name)
    axes.set_ylim(len(names), 0)
    axes.set_yticks(np.arange(len(names)) + 0.5, names)


def _mean(mean: float, is_missing: bool) -> str:
    """Write a mean rank; in brackets if some ranks are missing, because it is not comparable."""
    text = "" if np.isnan(mean) else decimal(mean, 1)
    return f"({text})" if text and is_missing else text


def _coverage(low: float, high: float) -> str:
    if np.isnan(low):
        return "n/a"
    lowest, highest = share(low), share(high)
    return lowest if lowest == highest else f"{lowest.removesuffix(' %')} to {highest}"


def _finding(bias: pd.DataFrame, benchmark_ranks: pd.DataFrame) -> str:
    """Say how the two mean ranks are correlated, over the models that have all ranks."""
    import pandas as pd

    whole = bias.notna().all(axis=1) & benchmark_ranks.notna().all(axis=1)
    means = pd.DataFrame({"bias": bias[whole].mean(axis=1), "quality": benchmark_ranks[whole].mean(axis=1)})
    if len(means) < FEWEST or means.nunique().min() == 1:
        return HEADING
    rho = typeset(means["bias"].corr(means["quality"], method="spearman"), form=coefficient)
    return f"Bias and quality ranks correlate at {rho} ({len(means)} models)"


def _drawings(study: Planned) -> Iterator[Drawing]:
    if study.ranked_criteria and study.grid.quality:
        yield Drawing("quality-ranks")


FIGURES = (
    Figure(
        "quality-ranks",
        "The models' ranks by bias next to their ranks on quality benchmarks.",
        from_tables(quality_ranks),
        question=RANKS,
        heading=HEADING,
        asks="Are the less biased models the better ones?",
        learn="You learn whether low bias comes with low quality.",
        drawings=_drawings,
        reads=("rankings", "quality"),
        facts=("labels",),
        reading="Above: rank by bias (1 is least biased); below: rank on benchmarks (1 is best). "
        "Coverage is the share of words or questions that a model has: with few words, "
        "analogies have fewer wrong answers to choose from.",
        example=Example("embedded", "quality-ranks", {"criterion": OVERALL}),
    ),
)

"""Figures of a benchmark: metrics against the injected bias, or a model's behaviour, for sets and for words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from biasgrid.core.errors import BiasgridError
from biasgrid.core.numbers import coefficient, plain, typeset, typographic
from biasgrid.figures.frame import PAGE, Frame, empty_page, styled
from biasgrid.figures.palette import GREY, MODEL_COLOURS, colour_map
from biasgrid.figures.text import SMALL, sentences
from biasgrid.figures.types.heat import scale
from biasgrid.figures.types.rows import width
from biasgrid.figures.visuals import (
    few_ticks,
    legend_line,
    legend_mark,
    neutral_line,
    row_names,
    under_head,
    zebra,
)

from .labels import ACT_LABELS, PANELS, VECTORS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# Truth -> heading, label of the x axis, meaning of the colour.
BLOCKS = {
    "mean": ("which group words are closer to on the whole (mean share)", "mean share", "sigma"),
    "sd": ("how much words differ (standard deviation of the share)", "standard deviation", "mu"),
    "absolute": ("how far words are from one half (mean distance)", "distance from .5", "mu"),
}
ACROSS = {"mean": "the mean", "sd": "the standard deviation", "absolute": "the mean distance from .5"}
COLOURS = {
    # Colours go from darker to lighter, so that the ends differ in greyscale.
    "mu": ("injected mean", ["#0B3C6F", "#8C8C8C", "#F7A940"]),
    "sigma": ("injected standard deviation", "viridis_r"),
}
# Number of panels in a row.
COLUMNS = 4
OF_VECTORS = {
    "word+context": "sums of word and context vectors",
    "word": "word vectors alone",
    "contextual": "contextual vectors (the last layer)",
    "input": "input embeddings (before any context)",
    "sentences": "vectors in sentences (the last layer)",
}
# Labels of a model's behaviour, which is both a metric and a truth.
LEVELS = {"signed": "share of the male pronoun", "absolute": "its distance from one half"}
OF_WORDS = {
    "": LEVELS,
    "unmasking": {"signed": "unmasking bias", "absolute": "its distance from one half"},
    "errors": {"signed": "downstream errors", "absolute": "their distance from 0"},
}
# Kind of truth -> the quantity with which words' scores are correlated.
TRUTHS = {
    "": "the share of the male pronoun in their sentences",
    "unmasking": "the unmasking bias, the probability of the male pronoun in test sentences",
    "errors": "downstream errors (positive: the model is wrong more often where the right pronoun is female)",
}
TITLES = {
    "": "Do scores of words recover the truth?",
    "unmasking": "Do scores of words say what the model says in test sentences?",
    "errors": "Do scores of words go with the way in which the model errs in a task?",
}
NOT_JUDGED = "excluded: the model does not reproduce the injected bias"
HOLLOW = {"facecolors": "none", "edgecolors": GREY, "linewidths": 0.5}


@styled
def against_truth(
    table: pd.DataFrame, labels: Mapping[str, str], truth: str, metrics: Sequence[str], against: str = ""
) -> figure.Figure:
    """Draw metrics against a truth for the models of a trainer.

    There is a panel per metric and kind of vectors, and a mark per model. If no metric has a value, the figure shows
    a message.

    Parameters
    ----------
    table
        One row per model and kind of vectors, in the format of figures/truth-<trainer>.csv. If `judged` is "no", the
        mark is hollow, and the model is left out of the correlations.
    labels
        The printed text of the key of a metric or a trainer.
    truth
        "mean", "sd" or "absolute".
    metrics
        The metrics that should recover the truth. The best one, on any kind of vectors, comes first.
    against
        "unmasking" for the unmasking bias, or "" for the injected bias.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    heading, x_label, colour = BLOCKS[truth]
    what = "the injected bias"
    if against:
        what, heading = "what the model says", heading.replace("share", "unmasking bias")
        x_label = x_label.replace("share", "unmasking bias")
    title = f"What metrics say, against {what}: {heading}"
    metrics = [metric for metric in table if metric in metrics and table[metric].notna().any()]
    if not metrics:
        return empty_page(title, "no metric that is taken for it has a value.")
    kinds = list(table["vectors"].unique())
    of_kind = {kind: table[table["vectors"] == kind] for kind in kinds}
    judged_by_kind = {kind: part[is_judged(part)] for kind, part in of_kind.items()}
    r = {
        (metric, kind, name): _pearson(part[f"true_{name}"], part[metric])
        for metric in metrics
        for kind, part in judged_by_kind.items()
        for name in BLOCKS
    }
    best = {m: max(np.nan_to_num(r[m, kind, truth] ** 2, nan=-1) for kind in kinds) for m in metrics}
    metrics.sort(key=lambda metric: (-round(best[metric], 3), metric))
    trainer = table["trainer"].iloc[0]
    vectors_text = f", of {', or of '.join(OF_VECTORS[kind] for kind in kinds)}" if len(kinds) > 1 else ""
    truth_text = "that share"
    if against:
        truth_text = (
            "the probability that the model gives the male pronoun in test sentences (the unmasking bias)"
        )
    axis_note = f"Across: {ACROSS[truth]} of {truth_text}, over all occupations."
    note = (
        f"Each mark is one of {len(of_kind[kinds[0]])} models ({labels.get(trainer, trainer)}), of a corpus in which "
        f"every occupation stands beside a male pronoun in a known share of its sentences. {axis_note} "
        f"Up: the metric's value{vectors_text}. r: Pearson's correlation with that truth; in brackets: with "
        "the two other truths. Positive: the metric rises with the truth."
    )
    name, shades = COLOURS[colour]
    legend = [(f"a model, in the colour of its {name} (scale below the panels)", dot(GREY))]
    if not is_judged(table).all():
        legend.append((f"{NOT_JUDGED}; not in r", hollow_dot()))
    # Place the panels of one metric side by side.
    line = max(COLUMNS // len(kinds), 1) * len(kinds)
    rows = ceil(len(metrics) * len(kinds) / line)
    heads = {
        (metric, kind): labels.get(metric, metric) * (kind == kinds[0])
        for metric in metrics
        for kind in kinds
    }
    page = Frame(title, notes=sentences(note))
    height = min(1.1, (PAGE[1] - 2.2) / rows - 0.78)
    panels = page.panels(heads, height, least=page.inside / line - 0.09, line=line)
    values = table[colour]
    ends = values.min(), values.max() if values.nunique() > 1 else values.min() + 1
    shades = shades if isinstance(shades, str) else colour_map(colour, shades)
    to_rgba = ScalarMappable(Normalize(*ends), shades).to_rgba
    for i, ((metric, kind), axes) in enumerate(panels.items()):
        # Draw the marks in random order, which does not hide either end of the colours.
        part = of_kind[kind].sample(frac=1, random_state=0)
        x, y = part[f"true_{truth}"], part[metric]
        judged = is_judged(part)
        axes.scatter(x[judged], y[judged], c=to_rgba(part.loc[judged, colour]), s=5, linewidths=0)
        axes.scatter(x[~judged], y[~judged], s=6, **HOLLOW)
        few_ticks(axes.xaxis, 3, (1, 2, 2.5, 5, 10))
        few_ticks(axes.yaxis, 3, (1, 2, 2.5, 5, 10))
        tick_numbers(axes)
        axes.margins(0.06)
        if y.notna().any() and np.ptp(y.dropna()) == 0:
            # Label only this value, because matplotlib's limits are at most 0.1 away on either side.
            axes.set_yticks([y.dropna().iloc[0]])
        axes.spines["left"].set_visible(True)
        coefficients = {
            name: typeset(r[metric, kind, name], form=coefficient) or "–"
            for name in ("mean", "sd", "absolute")
        }
        first = coefficients.pop(truth)
        others = "  ".join(f"{name.replace('absolute', 'dist.')} {r}" for name, r in coefficients.items())
        under_head(axes, f"{PANELS[kind]}\n" * (len(kinds) > 1) + f"r {first}\n({others})")
        # Label the axis only in the lowest panel of each column.
        if i + line >= len(panels):
            axes.set_xlabel(x_label, labelpad=1.5, size=SMALL)
    scale([*panels.values()], ends, shades, name, [float(coefficient(end)) for end in ends])
    return page.done(legend)


@styled
def word_level(table: pd.DataFrame, labels: Mapping[str, str], against: str = "") -> figure.Figure:
    """Draw Pearson's r of words' scores with the truth.

    There is a row per metric, a column per trainer and kind of vectors, and a mark per model.

    Parameters
    ----------
    table
        One row per model, kind of vectors and truth, in the format of figures/words.csv. If `judged` is "no", the dot
        is hollow, and the model is left out of the means.
    labels
        The printed text of the key of a metric or a trainer.
    against
        The kind of truth: "unmasking" or "errors", or "" for the injected bias.

    Raises
    ------
    BiasgridError
        If no metric has scores of words.
    """
    settings = ("trainer", "mu", "sigma", "replicate", "vectors", "truth", "judged")
    labels = ACT_LABELS | labels
    metrics = [metric for metric in table if metric not in settings and table[metric].notna().any()]
    if not metrics:
        raise BiasgridError("factory: nothing to draw, no metric has scores of words")
    columns = list(table[["trainer", "vectors"]].drop_duplicates().itertuples(index=False, name=None))
    judged_rows = table[is_judged(table)]
    squares = (
        (judged_rows[metrics] ** 2)
        .groupby([judged_rows[key] for key in ("trainer", "vectors", "truth")])
        .mean()
        .max()
    )
    metrics.sort(key=lambda metric: (-round(squares[metric], 2), labels.get(metric, metric)))
    levels = OF_WORDS[against]
    looks = dict(zip(levels, MODEL_COLOURS, strict=False))
    legend = [
        (f"with the {name}" if truth == "signed" else f"with {name}", dot(looks[truth]))
        for truth, name in levels.items()
    ]
    legend.append(("mean over models", legend_line(color="black", linewidth=1.4)))
    if len(judged_rows) < len(table):
        legend.append((f"{NOT_JUDGED}; not in the mean", hollow_dot()))
    note = (
        f"Pearson's correlation of occupations' scores with {TRUTHS[against]}. "
        "Each dot is a model; one in which all words have the same score has none. "
        "A metric's sign should be the same in all models."
    )
    names = {metric: labels.get(metric, metric) for metric in metrics}
    heads = {(trainer, kind): f"{labels.get(trainer, trainer)}\n{VECTORS[kind]}" for trainer, kind in columns}
    page = Frame(TITLES[against], notes=sentences(note))
    height = min(0.34 * len(metrics), PAGE[1] - 2.1)
    panels = page.panels(heads, height, labels=width(names), least=0.6, line=len(columns))
    for (trainer, kind), axes in panels.items():
        zebra(axes, len(metrics))
        row_names(axes, [*names.values()])
        neutral_line(axes, 0)
        column_rows = table[(table["trainer"] == trainer) & (table["vectors"] == kind)]
        for i, metric in enumerate(metrics):
            for lane, truth in enumerate(levels):
                model_rows = column_rows[(column_rows["truth"] == truth) & column_rows[metric].notna()]
                values, judged = model_rows[metric].to_numpy(), is_judged(model_rows).to_numpy()
                y = i + (lane - 0.5) * 0.4
                heights = y + np.random.default_rng(0).uniform(-0.12, 0.12, len(values))
                look = {"s": 3.5, "color": looks[truth], "alpha": 0.35, "linewidths": 0}
                axes.scatter(values[judged], heights[judged], **look)
                axes.scatter(values[~judged], heights[~judged], s=4, **HOLLOW)
                if judged.any():
                    axes.vlines(
                        values[judged].mean(), y - 0.18, y + 0.18, color="black", linewidth=1.4, zorder=3
                    )
                elif not len(values):
                    # Static models do not predict masked words.
                    empty_text = "–" if metric in ACT_LABELS else "all words alike"
                    axes.text(0.05, y, empty_text, size=SMALL, color=GREY, va="center")
        axes.set(xlim=(-1.06, 1.06), xticks=[-1, -0.5, 0, 0.5, 1])
        axes.set_xticklabels(["−1", "−.5", "0", ".5", "1"])
        axes.set_xlabel("r", labelpad=1)
    return page.done(legend)


def _pearson(x: pd.Series, y: pd.Series) -> float:
    """Compute Pearson's r; NaN if fewer than three models have a value, or if all values are equal."""
    has_value = y.notna()
    if has_value.sum() < 3 or np.ptp(y[has_value]) == 0 or np.ptp(x[has_value]) == 0:
        return np.nan
    return float(np.corrcoef(x[has_value], y[has_value])[0, 1])


def tick_numbers(axes: Axes, which: str = "both") -> None:
    """Format the tick labels of the axes like all numbers."""
    for axis in {"both": (axes.xaxis, axes.yaxis), "x": (axes.xaxis,)}[which]:
        axis.set_major_formatter(lambda value, _: typographic(plain(value)))


def is_judged(table: pd.DataFrame) -> pd.Series:
    """Return which rows have included models; all rows, if the table does not have this column."""
    return table.get("judged", table["trainer"]) != "no"


def hollow_dot() -> Line2D:
    """Return the legend mark of a model that is not included."""
    return legend_mark(
        marker="o", markersize=4, markerfacecolor="none", markeredgecolor=GREY, markeredgewidth=0.7
    )


def dot(colour: str) -> Line2D:
    """Return the legend mark of a model."""
    return legend_mark(marker="o", markersize=4, markeredgewidth=0, color=colour)

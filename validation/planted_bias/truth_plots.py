"""Figures of a factory: metrics against the bias that was planted, or what the model does, for sets and for words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from biasgrid.errors import BiasgridError
from biasgrid.figures.frame import MARGIN, PAGE, empty_page, styled
from biasgrid.figures.layout import add_axes, page
from biasgrid.figures.palette import GREY, MODEL_COLOURS, colour_map
from biasgrid.figures.text import NORMAL, SMALL, text_width
from biasgrid.figures.visuals import few_ticks, legend_line, legend_mark
from biasgrid.numbers import coefficient, plain, typeset, typographic

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.cm import ScalarMappable
    from matplotlib.lines import Line2D

# truth -> what it is, x axis, what the colour is
BLOCKS = {
    "mean": ("which way words lean on the whole (mean share)", "mean share", "sigma"),
    "sd": ("how much words differ (standard deviation of the share)", "standard deviation", "mu"),
    "absolute": ("how far words are from one half (mean distance)", "distance from .5", "mu"),
}
ACROSS = {"mean": "the mean", "sd": "the standard deviation", "absolute": "the mean distance from .5"}
COLOURS = {
    # darker to lighter, so that greyscale tells the ends apart
    "mu": ("planted mean", ["#0B3C6F", "#8C8C8C", "#F7A940"]),
    "sigma": ("planted standard deviation", "viridis_r"),
}
COLUMNS = 4  # panels across
# above a panel, and above a column of panels, the vectors that are measured of one training: the sums of a word's own
# vector and of that which it has as a context (Levy, Goldberg, Dagan 2015, section 3.3), and the words' own, which is
# how models are published; or the last layer of a model of sentences, its input embeddings, and sentences
PANELS = {
    "word+context": "word + context",
    "word": "word alone",
    "contextual": "contextual",
    "input": "input",
    "sentences": "sentences",
}
VECTORS = PANELS | {
    "word": "word vectors alone",
    "contextual": "contextual vectors",
    "input": "input embeddings",
    "sentences": "vectors in sentences",
    "behaviour": "what it does",
}
OF_VECTORS = {
    "word+context": "sums of word and context vectors",
    "word": "word vectors alone",
    "contextual": "contextual vectors (the last layer)",
    "input": "input embeddings (before any context)",
    "sentences": "vectors in sentences (the last layer)",
}
# what a model does, as a metric and as a truth
ACTS = {"unmasking": "Unmasking bias", "errors": "Downstream errors"}
LEVELS = {"signed": "share of the male pronoun", "absolute": "its distance from one half"}
OF_WORDS = {
    "": LEVELS,
    "unmasking": {"signed": "unmasking bias", "absolute": "its distance from one half"},
    "errors": {"signed": "downstream errors", "absolute": "their distance from 0"},
}
# what words' scores are correlated with
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
NOT_JUDGED = "not judged: unmasking does not follow what was planted"
HOLLOW = {"facecolors": "none", "edgecolors": GREY, "linewidths": 0.5}


@styled
def against_truth(
    table: pd.DataFrame, labels: Mapping[str, str], truth: str, metrics: Sequence[str], against: str = ""
) -> figure.Figure:
    """Metric against truth, the models of a trainer: a panel per metric and kind of vectors, a mark per model.

    Where no metric has a value the figure says so.

    Parameters
    ----------
    table
        One row per model and kind of vectors, as figures/truth-<trainer>.csv. Where `judged` is "no" the mark is
        hollow, and counts in no correlation.
    labels
        What to print for the key of a metric or a trainer.
    truth
        "mean", "sd" or "absolute".
    metrics
        Those whose values are taken for it; the one that recovers it best (under any kind of vectors) is first.
    against
        "unmasking", where that is what the truth is of; "" of what was planted.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.ticker import FuncFormatter

    heading, x_label, colour = BLOCKS[truth]
    what = "what was planted"
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
        f"Up: the metric's value{vectors_text}. r: Pearson's correlation with that truth; grey: with "
        "the two other truths. Positive: the metric rises with the truth."
    )
    name, shades = COLOURS[colour]
    legend = [(f"a model, in the colour of its {name} (scale above)", dot(GREY))]
    if not is_judged(table).all():
        legend.append((f"{NOT_JUDGED}; not in r", hollow_dot()))
    columns = COLUMNS // len(kinds)
    panels = columns * len(kinds)
    # space of its own beside each metric's panels, so that those of one metric look like one
    left, gap, metric_gap, right, head, foot = 0.42, 0.42, 0.1 * (len(kinds) > 1), 0.06, 0.24, 0.26
    panel_head = 0.46 + 0.13 * (len(kinds) > 1)
    width = (PAGE[0] - 2 * MARGIN - panels * gap - (columns - 1) * metric_gap - right) / panels
    rows = ceil(len(metrics) / columns)
    height = min(width * 0.78, (PAGE[1] - 1.6 - head - foot) / rows - panel_head - 0.2)
    row = panel_head + height + 0.2
    figure, top = page(title, note, legend, PAGE[0], head + rows * row + foot)
    values = table[colour]
    norm = Normalize(values.min(), values.max() if values.nunique() > 1 else values.min() + 1)
    shades = ScalarMappable(norm, shades if isinstance(shades, str) else colour_map(colour, shades))
    _scale(figure, shades, name, top + 0.07)
    for i, metric in enumerate(metrics):
        row_index, column_index = divmod(i, columns)
        for k, kind in enumerate(kinds):
            corner = (
                MARGIN + left + (column_index * len(kinds) + k) * (width + gap) + column_index * metric_gap,
                top + head + row_index * row + panel_head,
            )
            axes = add_axes(figure, *corner, width, height)
            # in an order that hides neither end of the colours
            part = of_kind[kind].sample(frac=1, random_state=0)
            x, y = part[f"true_{truth}"], part[metric]
            judged_mask = is_judged(part)
            axes.scatter(
                x[judged_mask],
                y[judged_mask],
                c=shades.to_rgba(part.loc[judged_mask, colour]),
                s=5,
                linewidths=0,
            )
            axes.scatter(x[~judged_mask], y[~judged_mask], s=6, **HOLLOW)
            few_ticks(axes.xaxis, 3, (1, 2, 2.5, 5, 10))
            few_ticks(axes.yaxis, 3, (1, 2, 2.5, 5, 10))
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_major_formatter(FuncFormatter(tick))
            axes.margins(0.06)
            if y.notna().any() and np.ptp(y.dropna()) == 0:
                # matplotlib's own limits are no wider than 0.1 either side, whatever the value is
                axes.set_yticks([y.dropna().iloc[0]])
            axes.spines["left"].set_visible(True)
            if k == 0:
                pad = 22 + 9.5 * (len(kinds) > 1)
                axes.set_title(labels.get(metric, metric), loc="left", weight="bold", pad=pad)
            line = {"transform": axes.transAxes, "va": "bottom"}
            r_values = {name: r[metric, kind, name] for name in BLOCKS}
            main_text = f"r {typeset(r_values.pop(truth), form=coefficient) or '–'}"
            names = {"mean": "mean", "sd": "sd", "absolute": "dist."}
            other_text = "  ".join(
                f"{names[name]} {typeset(value, form=coefficient) or '–'}" for name, value in r_values.items()
            )
            axes.text(0, 1 + 0.02 / height, other_text, size=SMALL, color=GREY, **line)
            axes.text(0, 1 + 0.14 / height, main_text, size=NORMAL, **line)
            if len(kinds) > 1:
                axes.text(0, 1 + 0.28 / height, PANELS[kind], size=SMALL, **line)
            # the lowest panel of each column names the axis
            if i + columns >= len(metrics):
                axes.set_xlabel(x_label, labelpad=1.5, size=SMALL)
    return figure


@styled
def word_level(table: pd.DataFrame, labels: Mapping[str, str], against: str = "") -> figure.Figure:
    """Pearson's r of words' scores with the truth: a row per metric, a column per trainer and kind of vectors, a mark
    per model.

    Parameters
    ----------
    table
        One row per model, kind of vectors and truth, as figures/words.csv. Where `judged` is "no" the dot is hollow,
        and counts in no mean.
    labels
        What to print for the key of a metric or a trainer.
    against
        Whose truth it is: "unmasking" or "errors"; "" of what was planted.

    Raises
    ------
    BiasgridError
        Where no metric has scores of words.
    """
    settings = ("trainer", "mu", "sigma", "replicate", "vectors", "truth", "judged")
    labels = ACTS | labels
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
    left = max(text_width(labels.get(metric, metric), NORMAL) for metric in metrics) + 0.15
    head, foot, gap = 0.4, 0.4, 0.14
    row = min(0.34, (PAGE[1] - 1.3 - head - foot) / len(metrics))
    width = min(3.2, (PAGE[0] - 2 * MARGIN - left) / len(columns) - gap)
    height = row * len(metrics)
    figure, top = page(TITLES[against], note, legend, PAGE[0], head + height + foot)
    for column, (trainer, kind) in enumerate(columns):
        axes = add_axes(figure, MARGIN + left + column * (width + gap), top + head, width, height)
        axes.axvline(0, color="#AAAAAA", linewidth=0.6, zorder=1)
        column_rows = table[(table["trainer"] == trainer) & (table["vectors"] == kind)]
        for i, metric in enumerate(metrics):
            if i % 2 == 0:
                axes.axhspan(i - 0.5, i + 0.5, color="#F4F4F4", linewidth=0, zorder=0)
            for lane, truth in enumerate(levels):
                model_rows = column_rows[(column_rows["truth"] == truth) & column_rows[metric].notna()]
                values, judged_mask = model_rows[metric].to_numpy(), is_judged(model_rows).to_numpy()
                y = i + (lane - 0.5) * 0.4
                jitter = np.random.default_rng(0).uniform(-0.12, 0.12, len(values))
                heights = y + jitter
                axes.scatter(
                    values[judged_mask],
                    heights[judged_mask],
                    s=3.5,
                    color=looks[truth],
                    alpha=0.35,
                    linewidths=0,
                )
                axes.scatter(values[~judged_mask], heights[~judged_mask], s=4, **HOLLOW)
                if judged_mask.any():
                    axes.vlines(
                        values[judged_mask].mean(), y - 0.18, y + 0.18, color="black", linewidth=1.4, zorder=3
                    )
                elif not len(values):
                    # static vectors fill no gaps
                    empty_text = "–" if metric in ACTS else "all words alike"
                    axes.text(0, y, empty_text, size=SMALL, color=GREY, ha="center", va="center")
        axes.set(xlim=(-1.06, 1.06), ylim=(len(metrics) - 0.5, -0.5), xticks=[-1, -0.5, 0, 0.5, 1])
        axes.set_xticklabels(["−1", "−.5", "0", ".5", "1"])
        axes.set_xlabel("r", labelpad=1)
        axes.set_yticks(
            range(len(metrics)), [labels.get(m, m) if column == 0 else "" for m in metrics], size=NORMAL
        )
        axes.tick_params(axis="y", length=0)
        axes.set_title(f"{labels.get(trainer, trainer)}\n{VECTORS[kind]}", loc="left", weight="bold", pad=4)
    return figure


def _pearson(x: pd.Series, y: pd.Series) -> float:
    """NaN where fewer than three models have a value, or all have the same."""
    has_value = y.notna()
    if has_value.sum() < 3 or np.ptp(y[has_value]) == 0 or np.ptp(x[has_value]) == 0:
        return np.nan
    return float(np.corrcoef(x[has_value], y[has_value])[0, 1])


def tick(value: float, _: int) -> str:
    """A number at an axis."""
    return typographic(plain(value))


def is_judged(table: pd.DataFrame) -> pd.Series:
    """Which rows are of models that are judged; all, where the table does not say."""
    return table.get("judged", table["trainer"]) != "no"


def hollow_dot() -> Line2D:
    """What stands in a legend for a model that is not judged."""
    return legend_mark(
        marker="o", markersize=4, markerfacecolor="none", markeredgecolor=GREY, markeredgewidth=0.7
    )


def dot(colour: str) -> Line2D:
    """What stands in a legend for a model."""
    return legend_mark(marker="o", markersize=4, markeredgewidth=0, color=colour)


def _scale(figure: figure.Figure, shades: ScalarMappable, name: str, top: float) -> None:
    """A scale of colours at the right edge, its upper edge `top` inches below the figure's."""
    width = figure.get_figwidth()
    axes = add_axes(figure, width - MARGIN - 1.15, top, 0.85, 0.07)
    scale = figure.colorbar(shades, cax=axes, orientation="horizontal")
    scale.outline.set_visible(False)
    scale.set_ticks([])
    ends = [coefficient(value) for value in (shades.norm.vmin, shades.norm.vmax)]
    look = {"transform": axes.transAxes, "va": "center", "size": SMALL}
    axes.text(-0.04, 0.45, f"{name}  {ends[0]}", ha="right", **look)
    axes.text(1.04, 0.45, ends[1], ha="left", **look)

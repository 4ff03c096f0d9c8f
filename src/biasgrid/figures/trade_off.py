"""Figure of bias removed against quality kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import BiasgridError
from ..core.numbers import share
from .figure import Drawing, Example, Figure, count_range, of_criteria
from .frame import Frame, styled
from .methods import method_label, removed_share, rows_of_group
from .palette import DASHED, NO_FILL, Look, colour_map, models_in_order
from .questions import DEBIASING
from .rows import from_tables, rows_where
from .text import DAGGER, LONGEST_HEAD, method_name, shorten, topic, wrap_text
from .types.heat import scale
from .types.scatter import REACH, label_marks, spans
from .visuals import few_ticks, legend_area, legend_line, legend_mark, no_mark, under_head

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

# An empty mark means that nothing can be recovered, a full one that everything can.
FILLS = ["#FFFFFF", "#DDA0C0", "#882255", "#330A1F"]
# The background of the area that is better than the original model.
BETTER = "#EEF4E8"
# Accuracy of a clustering: by chance, and perfect.
TOLD = 0.5, 1.0
HEADING = "Bias removed against quality kept"
IDEAL: Look = {
    "marker": "*",
    "markersize": 13,
    "color": "#F0E0A0",
    "markeredgecolor": "#999933",
    "markeredgewidth": 0.6,
}
EDGE: Look = {"markeredgecolor": "black", "markeredgewidth": 0.8}
# Map whether the model is the original one to a mark.
MARKS: dict[bool, Look] = {
    is_untouched: {"marker": "D" if is_untouched else "o", "s": 26, "edgecolor": "black", "linewidth": 0.8}
    for is_untouched in (True, False)
}
# Inches of a panel, and of the labels next to panels.
HEIGHT, BESIDE = 2.4, 1.2


@styled
def trade_off(table: pd.DataFrame, labels: Mapping[str, str], criterion: str) -> figure.Figure:
    """Draw bias removed against quality kept: one panel per model, one mark per method, filled by the remaining bias.

    x is the mean over the metrics of 1 - after/before, for metrics with a bias to remove (before > 0). Each share is
    at least -1 (a bias that at least doubles). 0 means that no bias is removed, 1 that all is. y is the mean over the
    similarity benchmarks of after/before, for benchmarks with before > 0. 1 means unchanged quality; in the shaded
    area above it, the method's vectors are better than the original ones on the benchmarks. Lines reach from the
    lowest metric, or benchmark, to the highest. The fill is cluster_accuracy after debiasing, from white (0.5,
    nothing left to recover) to near black (1, everything). The best mark is empty and at the star or above it. The
    diamond is the original model. A method with fewer metrics or benchmarks than others of its panel has a dagger;
    the caption names methods without x or y.

    Raises BiasgridError if the table lacks rows of the criterion in the group "metric" or "similarity", or if no
    method has both.
    """
    points = _points(table, criterion)
    known = points[["x", "y"]].notna().all(axis=1)
    drawn = points[known]
    has_told = drawn["told"].notna()
    best = "an empty mark" if has_told.any() else "a mark"
    notes = [f"A mark is a debias method; best is {best} at the star or above it."]
    if has_told.any():
        notes += [
            "Fill: the share of the most biased words that a clustering still puts on their former side."
        ]
    notes += [
        f"Bias removed: the mean over the metrics ({_counts(table, criterion, 'metric')}) of 1 − "
        "after/before, each at "
        "least −1.",
        f"Quality kept: the mean over the similarity benchmarks ({_counts(table, criterion, 'similarity')}) of "
        "after/before.",
        "A line reaches from the lowest of these to the highest, also beyond the panel; it is not a confidence "
        "interval.",
    ]
    for model, part in points[~known].groupby("model"):
        methods = ", ".join(method_label(labels, key) for key in part["debias"])
        notes += [f"No value in {labels.get(model, model)}: {methods}."]
    page = Frame(
        _finding(drawn, labels),
        f"{topic(criterion)}: bias removed and quality kept by each debias method",
        notes,
    )
    heads = {model: labels.get(model, model) for model in models_in_order(points["model"])}
    panels = page.panels(heads, HEIGHT, labels=BESIDE, least=2.2)
    fills = colour_map("told apart", FILLS).with_extremes(bad=NO_FILL)
    limits = {"xlim": _limits(drawn["x"], 0.0), "ylim": _limits(drawn["y"], 0.95)}
    for model, axes in panels.items():
        axes.axhspan(1, limits["ylim"][1], color=BETTER, linewidth=0, zorder=0)
        for line in (axes.axvline(0), axes.axvline(1), axes.axhline(1)):
            line.set(**DASHED)
        axes.plot(1, 1, linestyle="", zorder=2, **IDEAL)
        part = rows_where(drawn, model=model)
        spans(axes, part)
        fill: Look = {"cmap": fills, "vmin": TOLD[0], "vmax": TOLD[1], "plotnonfinite": True}
        for is_untouched, marks in part.groupby(part["debias"] == "none"):
            axes.scatter(marks["x"], marks["y"], c=marks["told"], zorder=5, **fill, **MARKS[is_untouched])
        axes.set(**limits, xlabel="bias removed (1 = all)")
        under_head(axes, "quality kept (1 = all)")
        axes.spines["left"].set_visible(True)
        few_ticks(axes.yaxis, 5, (1, 2, 2.5, 5, 10))
    if has_told.any():
        scale(
            [*panels.values()],
            TOLD,
            fills,
            "clustering accuracy after debiasing (.5 = chance)",
            [0.5, 0.75, 1],
        )
    legend = [
        (method_label(labels, "none"), legend_mark(marker="D", markersize=4.7, color=fills(0.5), **EDGE)),
        ("goal: no bias left, quality kept", legend_mark(**IDEAL)),
        ("better than the original model on the benchmarks", legend_area(facecolor=BETTER)),
        ("lowest to highest metric or benchmark", legend_line(**REACH)),
    ]
    if has_told.any() and not has_told.all():
        legend.append(("clustering not measured", legend_mark(marker="o", color=NO_FILL, **EDGE)))
    if drawn["fewer"].any():
        legend.append((f"{DAGGER} over fewer metrics or benchmarks", no_mark()))
    figure = page.done(legend)
    for model, axes in panels.items():
        part = drawn[(drawn["model"] == model) & (drawn["debias"] != "none")]
        names = [wrap_text(shorten(method_label(labels, key), LONGEST_HEAD), 18) for key in part["debias"]]
        texts = [name + DAGGER * fewer for name, fewer in zip(names, part["fewer"], strict=True)]
        # The star and the original model lack texts.
        label_marks(axes, np.vstack([part[["x", "y"]], [(1, 1), (0, 1)]]), texts)
    return figure


def _finding(drawn: pd.DataFrame, labels: Mapping[str, str]) -> str:
    """Say how much bias the strongest method removes, on average over the models, and how much stays predictable."""
    means = drawn[drawn["debias"] != "none"].groupby("debias")[["x", "told"]].mean()
    if means.empty:
        return HEADING
    method = means["x"].idxmax()
    name = method_name(method_label(labels, method))
    removed, told = means.loc[method, "x"], means.loc[method, "told"]
    title = f"{name[:1].upper()}{name[1:]} removes {share(max(removed, 0))}"
    return title + (" of the bias" if np.isnan(told) else f", but {share(told)} stays predictable")


def _points(table: pd.DataFrame, criterion: str) -> pd.DataFrame:
    """Return the marks of `trade_off`: x and y with their ends, fewer and told, by model and debias method.

    The original model's marks have the method "none".
    """
    import pandas as pd

    keys = ["model", "debias"]
    bias = rows_of_group(table, "trade_off", criterion, "metric")
    quality = rows_of_group(table, "trade_off", criterion, "similarity")
    # Methods of other criteria that are measured on this criterion lack quality here.
    bias = bias[bias["debias"].isin(quality["debias"])]
    kept_quality = quality["after"] / quality["before"].where(quality["before"] > 0)
    parts = []
    for axis, rows, shares in (("x", bias, removed_share(bias)), ("y", quality, kept_quality)):
        found = shares.groupby([rows[key] for key in keys]).agg(["mean", "min", "max", "count"])
        found["fewer"] = found["count"] < found["count"].groupby("model").transform("max")
        parts.append(
            found.set_axis([axis, f"{axis}_low", f"{axis}_high", f"{axis}_count", f"{axis}_fewer"], axis=1)
        )
    points = pd.concat(parts, axis=1)
    if points[["x", "y"]].isna().any(axis=1).all():
        raise BiasgridError(f"trade_off, {criterion}: no method has a value of a metric and of a similarity")
    points["fewer"] = points["x_fewer"] | points["y_fewer"]
    told = rows_where(table, criterion=criterion, measure="cluster_accuracy").set_index(keys)
    points["told"] = told["after"].reindex(points.index)
    untouched = points.groupby("model")[[]].first().assign(debias="none", x=0.0, y=1.0, fewer=False)
    untouched["told"] = told["before"].groupby("model").first()
    return pd.concat([points.reset_index(), untouched.reset_index()])


def _counts(table: pd.DataFrame, criterion: str, group: str) -> str:
    """Write the number of measures over which a mark's position is a mean."""
    rows = rows_of_group(table, "trade_off", criterion, group)
    n = rows[(rows["before"] > 0) & rows["after"].notna()].groupby(["model", "debias"])["measure"].nunique()
    return f"n = {count_range(n)}" if len(n) else "n = 0"


def _limits(values: pd.Series, low: float) -> tuple[float, float]:
    """Return the range of the values, at least from `low` to 1, with room around it."""
    low, high = min(values.min(), low), max(values.max(), 1.0)
    return low - 0.07 * (high - low), high + 0.07 * (high - low)


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.config.evaluation:
        is_debiased = any(fit.criterion == criterion for fit in study.grid.fits.values())
        if is_debiased and study.evaluation_specs[criterion].similarity:
            yield from of_criteria("trade-off", [criterion])


FIGURES = (
    Figure(
        "trade-off",
        "How much bias each debias method removes, and how much quality it keeps.",
        from_tables(trade_off),
        question=DEBIASING,
        heading=HEADING,
        asks="How much bias does debiasing remove, and what does it cost?",
        learn="You learn which debias method removes most bias, what it costs, and how much stays "
        "predictable.",
        drawings=_drawings,
        reads=("mitigation",),
        facts=("labels",),
        group="mitigation",
        reading="A mark is a debias method, the diamond the original model, the star the goal; lines "
        "reach from the lowest metric or benchmark to the highest. Left of 0, a method added "
        "bias. The darker a mark, the more words a clustering still puts on their original "
        "side.",
        example=Example("debias", "trade-off-gender", {"criterion": "Gender"}),
    ),
)

"""Figure of bias removed against quality kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import BiasgridError
from ..files import slug
from .figure import Drawing, Example, Figure
from .frame import MARGIN, PAGE, styled
from .layout import add_axes, add_panels, label_marks
from .methods import method_label, method_labels, ordered_methods, removed_share, rows_of_group
from .palette import DASHED, NO_FILL, Look, colour_map
from .questions import DEBIASING
from .rows import from_tables
from .text import DAGGER, NORMAL, SMALL, fit_text, line_count
from .visuals import few_ticks, legend_area, legend_mark, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.artist import Artist

    from ..planned import Planned

# an empty mark has nothing left in it, a full one everything
FILLS = ["#FFFFFF", "#DDA0C0", "#882255", "#330A1F"]
BETTER = "#EEF4E8"  # behind what is better than untouched
RECOVERABLE = 0.5, 1.0  # 2-means accuracy by chance, and of everything
IDEAL: Look = {
    "marker": "*",
    "markersize": 13,
    "color": "#F0E0A0",
    "markeredgecolor": "#999933",
    "markeredgewidth": 0.6,
}


@styled
def trade_off(table: pd.DataFrame, labels: Mapping[str, str], criterion: str) -> figure.Figure:
    """Bias removed against quality kept: one panel per model, one mark per method, filled by what stays hidden.

    x: the mean over the metrics of 1 - after/before, each at least -1 (a bias that doubles, or worse), of the metrics
    with a bias to remove (before > 0). 0 removes nothing, 1 everything. y: the mean over the similarity benchmarks of
    after/before, of the benchmarks with before > 0. 1 keeps the quality; above it, which is shaded, the benchmarks
    find a method's vectors better than the untouched ones. The fill is cluster_accuracy after debiasing, from white
    (0.5, nothing left to recover) to near black (1, everything): the best mark is at the star or above it, and empty.
    The diamond is the untouched model, numbers are the methods' places in the order. A method with fewer metrics or
    benchmarks than others of its panel has a dagger; one without x or y is named above the panel.
    Raises BiasgridError where the table has no rows of groups "metric" and "similarity" and the criterion, or no
    method has both.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    fills, recoverable = colour_map("recoverable", FILLS), Normalize(*RECOVERABLE)
    points = _points(table, criterion)
    complete_points = points.dropna(subset=["x", "y"])
    drawn_methods = set(complete_points.index.unique("debias"))
    numbers = {
        key: str(i) for i, key in enumerate(ordered_methods(table, criterion), 1) if key in drawn_methods
    }
    has_accuracy = complete_points["left"].notna()
    edge_look: Look = {"markeredgecolor": "black", "markeredgewidth": 0.8}
    shape: dict[bool, Look] = {
        True: {"marker": "D", "markersize": 5},
        False: {"marker": "o", "markersize": 6},
    }
    fill = fills(0.5) if has_accuracy.any() else NO_FILL
    legend = [(labels.get(method, method), _number(number)) for method, number in numbers.items()]
    legend.append((method_label(labels, "none"), legend_mark(color=fill, **shape[True], **edge_look)))
    legend.append(("goal: no bias left, quality kept", legend_mark(**IDEAL)))
    highest = complete_points["y"].max()
    if highest > 1:
        legend.append(("better than untouched, by the benchmarks", legend_area(facecolor=BETTER)))
    if has_accuracy.any() and not has_accuracy.all():
        legend.append(("grey: no 2-means accuracy", legend_mark(color=NO_FILL, **shape[False], **edge_look)))
    if complete_points["fewer"].any():
        legend.append((f"{DAGGER} over fewer metrics or benchmarks (no value)", no_mark()))
    heads = {}
    for model, part in points.groupby("model"):
        lost = [
            labels.get(key, key)
            for key in part.index.droplevel(0)
            if (model, key) not in complete_points.index
        ]
        heads[model] = labels.get(model, model), f"no value: {', '.join(lost)}" if lost else ""

    # as few columns as let the panels go onto a page
    label_width, gap = 0.45, 0.45
    for columns in range(min(2, len(heads)), len(heads) + 1):
        panel_width = (PAGE[0] - 2 * MARGIN - label_width - (max(columns, 2) - 1) * gap) / max(columns, 2)
        size = np.array([panel_width, min(2.4, panel_width * 0.8)])
        x_label = fit_text("bias removed (0 = nothing, 1 = all)", panel_width, NORMAL)
        foot = 0.23 + 0.13 * line_count(x_label)
        if -(-len(heads) // columns) * (size[1] + foot + 0.55) + 1.8 <= PAGE[1]:
            break
    counts = [f"{low} to {high}" if low < high else str(high) for low, high in _counts(table, criterion)]
    figure, panels, bar_top = add_panels(
        f"{criterion}: bias removed and quality kept",
        f"Bias removed: mean over the metrics (n = {counts[0]}) of 1 − after/before, each at least −1. Quality kept: "
        f"mean over the similarity benchmarks (n = {counts[1]}) of after/before. Best: at the star or above it"
        f"{', and empty' if has_accuracy.any() else ''}.",
        heads,
        columns,
        size,
        legend,
        label_width=label_width,
        gap=gap,
        foot=foot,
        space_below=0.55 if has_accuracy.any() else 0.0,
    )
    low, high = _limits(complete_points[["x", "y"]].to_numpy(), [0.0, 0.95], [1.0, 1.0])
    for model, axes in panels.items():
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=x_label)
        axes.spines["left"].set(visible=True, bounds=(low[1], max(1.0, highest)))
        axes.spines["bottom"].set_bounds(low[0], 1)
        few_ticks(axes.yaxis, 5, (1, 2, 2.5, 5, 10))
        axes.set_yticks([tick for tick in axes.get_yticks() if low[1] <= tick <= max(1.0, highest)])
        if highest > 1:
            axes.axhspan(1, high[1], color=BETTER, linewidth=0, zorder=0)
        axes.axvline(0, **DASHED)
        axes.axvline(1, **DASHED)
        axes.axhline(1, **DASHED)
        axes.plot(1, 1, linestyle="", zorder=2, **IDEAL)
        part = complete_points.xs(model)
        for row in part.itertuples():
            fill = NO_FILL if np.isnan(row.left) else fills(recoverable(row.left))
            axes.plot(
                row.x, row.y, linestyle="", color=fill, zorder=5, **shape[row.Index == "none"], **edge_look
            )
        part = part.drop("none")
        texts = [numbers[method] + DAGGER * fewer for method, fewer in part["fewer"].items()]
        # the star and the untouched model have no text
        marks = (np.vstack([part[["x", "y"]], [(1, 1), (0, 1)]]) - low) / (high - low) * size
        label_marks(axes, marks, texts, size, weight="bold")
    for axes in list(panels.values())[::columns]:
        axes.set_ylabel("quality kept (1 = all)")
    if has_accuracy.any():
        bar = add_axes(figure, MARGIN + 0.45, bar_top + 0.2, 2.4, 0.1)
        figure.colorbar(ScalarMappable(recoverable, fills), cax=bar, orientation="horizontal")
        bar.set_xticks([0.5, 0.75, 1], ["0.5: nothing left", "0.75", "1: everything"])
        bar.set_title("fill: 2-means accuracy, what can still be recovered", loc="left", size=SMALL, pad=3)
    return figure


def _number(text: str) -> Artist:
    """Bold text as a legend's mark."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath
    from matplotlib.transforms import Affine2D

    outline = TextPath((0, 0), text, size=SMALL, prop=FontProperties(weight="bold"))
    path = outline.transformed(Affine2D().translate(*-outline.get_extents().get_points().mean(axis=0)))
    # as high as the text: a marker's size is that of its longer side
    return legend_mark(
        marker=path, markersize=2 * np.abs(path.vertices).max(), color="black", markeredgewidth=0
    )


def _points(table: pd.DataFrame, criterion: str) -> pd.DataFrame:
    """x, y, fewer and left of `trade_off` by (model, debias), with the untouched models as "none"."""
    import pandas as pd

    bias = rows_of_group(table, "trade_off", criterion, "metric")
    quality = rows_of_group(table, "trade_off", criterion, "similarity")
    # methods of other criteria that are measured on this one have no quality here
    bias = bias[bias["debias"].isin(quality["debias"])]
    keys = ["model", "debias"]
    kept_quality = quality["after"] / quality["before"].where(quality["before"] > 0)
    groups = {
        "x": removed_share(bias).groupby([bias[key] for key in keys]),
        "y": kept_quality.groupby([quality[key] for key in keys]),
    }
    points = pd.DataFrame({axis: values.mean() for axis, values in groups.items()})
    if points.isna().any(axis=1).all():
        raise BiasgridError(f"trade_off, {criterion}: no method has a value of a metric and of a similarity")
    counts = pd.DataFrame({axis: values.count() for axis, values in groups.items()}).fillna(0)
    points["fewer"] = (counts < counts.groupby("model").transform("max")).any(axis=1)
    clusters = table[(table["criterion"] == criterion) & (table["measure"] == "cluster_accuracy")].set_index(
        keys
    )
    points["left"] = clusters["after"].reindex(points.index)
    untouched_points = points.groupby("model")[["x"]].first()
    untouched_points = untouched_points.assign(
        x=0.0, y=1.0, fewer=False, left=clusters["before"].groupby("model").first()
    )
    return pd.concat(
        [pd.concat({"none": untouched_points}, names=["debias"]).swaplevel(), points]
    ).sort_index()


def _counts(table: pd.DataFrame, criterion: str) -> list[tuple[int, int]]:
    """The fewest and the most metrics, and benchmarks, that a mark's place is a mean of."""
    counts = []
    for group in ("metric", "similarity"):
        rows = rows_of_group(table, "trade_off", criterion, group)
        usable_rows = rows[(rows["before"] > 0) & rows["after"].notna()]
        n = usable_rows.groupby(["model", "debias"])["measure"].nunique()
        counts.append((int(n.min()), int(n.max())) if len(n) else (0, 0))
    return counts


def _limits(values: np.ndarray, low: Sequence[float], high: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """The range of the values by axis, at least from low to high, with room around it."""
    lowest, highest = np.minimum(values.min(axis=0), low), np.maximum(values.max(axis=0), high)
    return lowest - 0.07 * (highest - lowest), highest + 0.07 * (highest - lowest)


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.config.evaluation:
        is_debiased = any(fit.criterion == criterion for fit in study.grid.fits.values())
        if is_debiased and study.evaluation_specs[criterion].similarity:
            spec = {"labels": method_labels(study, criterion), "criterion": criterion}
            yield Drawing(f"trade-off-{slug(criterion)}", spec=spec)


FIGURES = (
    Figure(
        "trade-off",
        "How much bias each debias method removes, against the quality that it keeps, one panel per model.",
        from_tables(trade_off),
        question=DEBIASING,
        drawings=_drawings,
        reads=("mitigation",),
        group="mitigation",
        reading="A mark is a debias method (its number is in the legend), the diamond the untouched model. To "
        "the right, more bias is removed; higher up, more quality is kept. The star is the goal: no bias "
        "left, quality kept; in the shaded part above it the benchmarks find the vectors better than the "
        "untouched ones. The darker a mark, the more of the bias can still be recovered. To the left of 0 "
        "a method added bias.",
        example=Example("debias", "trade-off-gender", {"criterion": "Gender"}),
    ),
)

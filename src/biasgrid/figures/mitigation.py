"""Figures of what debiasing removes, what it costs and what it hides, drawn from mitigation.csv.

Every function takes the table, `labels` (what to print for the key of a model, metric, debias method, measure or side
of a word map; the key itself where it has none; "none" is the untouched model) and a criterion, and returns a Figure
for `figures.save`. A criterion's methods have one order in its figures: by the share of the
measured bias that they remove (see `trade_off`), most on top. A number that is missing shows as "n/a".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D

from ..errors import BiasgridError
from .grid import (
    BOLD,
    DAGGER,
    DASHED,
    GREY,
    LESS,
    LESS_LIGHT,
    MARGIN,
    MORE,
    MORE_LIGHT,
    NO_FILL,
    NORMAL,
    PAGE,
    SMALL,
    _axes,
    _fitted,
    _free_places,
    _lines,
    _page,
    _rows,
    _styled,
    _two_digits,
    _width,
    _wrapped,
)

ZEBRA = "#F2F2F2"
LONGEST = 1.25  # times the untouched value: where a bar of before_after is cut off
# the measures of Gonen & Goldberg (2019): what they are called where they have no label, and their value by chance
HIDDEN = {
    "cluster_accuracy": ("Clustering: 2-means accuracy", 0.5),
    "svm_accuracy": ("Classification: SVM accuracy", 0.5),
    "neighbours_share": ("Neighbours: share of same side", 0.5),
    "neighbours_correlation": ("Professions: correlation", 0.0),
}
# an empty mark has nothing left in it, a full one everything
FILLS = LinearSegmentedColormap.from_list("recoverable", ["#FFFFFF", "#DDA0C0", "#882255", "#330A1F"])
RECOVERABLE = Normalize(0.5, 1)
IDEAL = {
    "marker": "*",
    "markersize": 13,
    "color": "#F0E0A0",
    "markeredgecolor": "#999933",
    "markeredgewidth": 0.6,
}
UNTOUCHED = {"marker": "D", "markersize": 5.5, "markeredgewidth": 0.8}
SIDES = [{"marker": "o", "color": LESS}, {"marker": "^", "color": MORE}]
NO_MARK = Patch(fill=False, linewidth=0)


@_styled
def before_after(table: pd.DataFrame, labels: Mapping[str, str], criterion: str) -> Figure:
    """What every metric says before and after every method: a block a model, a column a metric, a row a method.

    A table with bars in its cells, which reads fastest where there are hundreds of numbers: a cell's number is the
    value after, in the metric's own units (0 = unbiased; the untouched value is on top of the column); its bar is
    this value divided by the untouched one, so that metrics and models of any scale compare. A bar that ends
    before the cell's line is blue, less bias than untouched; a longer one is orange, and is cut off, with a pointed
    end, at LONGEST times the untouched value. A method that lost queries is compared with the untouched model on
    the others, and has a dagger.
    Raises BiasgridError where the table has no rows of group "metric" and the criterion.
    """
    rows = _of(table, "before_after", criterion, "metric")
    metrics = sorted(rows["measure"].unique())
    fullest = rows.dropna(subset="before").sort_values("n", ascending=False, kind="stable")
    untouched = fullest.groupby(["model", "measure"])["before"].first()
    # two digits of the smallest untouched value that is not zero
    smallest = untouched[untouched > 0].groupby("measure").min()
    digits = (1 - np.floor(np.log10(smallest))).clip(2, 4).reindex(metrics, fill_value=2).astype(int)
    cells = pd.MultiIndex.from_frame(rows[["model", "measure"]])
    fewer = rows["after"].notna() & ~np.isclose(rows["before"], untouched.reindex(cells), rtol=1e-9, atol=0)
    # nothing to nothing is no change
    ratio = (rows["after"] / rows["before"]).mask((rows["after"] == 0) & (rows["before"] == 0), 1.0)
    text = [
        "n/a" if np.isnan(after) else f"{after:.{digits[metric]}f}{DAGGER * less}"
        for metric, after, less in zip(rows["measure"], rows["after"], fewer, strict=True)
    ]
    rows = rows.assign(ratio=ratio, text=text)
    top = {cell: f"{value:.{digits[cell[1]]}f}" for cell, value in untouched.items()}
    numbers = 0.08 + max([_width(x, SMALL) for x in text] + [_width(x, SMALL) * BOLD for x in top.values()])

    legend = [
        ("untouched value", _mark(color="black", marker="|", markersize=8, markeredgewidth=0.9)),
        ("less bias than untouched", Patch(facecolor=LESS_LIGHT)),
        ("more bias than untouched", Patch(facecolor=MORE_LIGHT)),
    ]
    if (ratio > LONGEST).any():
        pointed = _mark(color=MORE_LIGHT, marker=">", markersize=5)
        legend.append((f"cut off: over {LONGEST:g} times the untouched value", pointed))
    if fewer.any():
        legend.append((f"{DAGGER} before and after on fewer queries", NO_MARK))
    figure, panels, places = _blocks(
        f"{criterion}: bias before and after debiasing",
        "Numbers: distance from the metric's neutral value, mean over the queries; 0 = unbiased. Bars: this value as "
        "a share of the untouched one. Methods go by the share of bias that they remove, over all models.",
        rows,
        _ordered(table, criterion),
        labels,
        {metric: labels.get(metric, metric) for metric in metrics},
        legend + _missing(rows["after"], rows["status"]),
        first=_name(labels, "none"),
        need=numbers + 0.29,
        most=numbers + 0.7,
        gap=0.06,
    )
    for (model, metric), axes in panels.items():
        # bars begin right of the numbers
        width = axes.get_position().width * figure.get_figwidth()
        axes.set_xlim(-LONGEST * numbers / (width - numbers), LONGEST)
        axes.plot([1, 1], axes.get_ylim(), color="black", linewidth=0.9, zorder=3)
        look = {"va": "center", "ha": "right", "size": SMALL}
        inset = -0.05 / (width - numbers) * LONGEST
        axes.text(inset, places[model][None], top.get((model, metric), "n/a"), weight="bold", **look)
        for row in rows[(rows["model"] == model) & (rows["measure"] == metric)].itertuples():
            y = places[model][row.debias]
            colour = LESS_LIGHT if row.ratio <= 1 else MORE_LIGHT
            if not np.isnan(row.ratio):
                axes.barh(y, min(row.ratio, LONGEST), height=0.13, color=colour, zorder=2)
            if row.ratio > LONGEST:
                axes.plot(LONGEST, y, marker=">", color=colour, markersize=5, clip_on=False, zorder=2)
            axes.text(inset, y, row.text, **look)
        axes.spines["bottom"].set_visible(False)
        axes.set_xticks([])
    return figure


@_styled
def hidden_bias(table: pd.DataFrame, labels: Mapping[str, str], criterion: str) -> Figure:
    """What can still be recovered of the bias (Gonen & Goldberg, NAACL 2019): a block a model, a column a measure.

    A diamond is the untouched model, a dot the debiased one, its value beside it; the dashed line is chance, where
    nothing is left to recover (0.5; 0 for the correlation). A measure has the same axis in all blocks.
    Raises BiasgridError where the table has no rows of group "hidden" and the criterion, or has a measure there
    that is none of HIDDEN.
    """
    rows = _of(table, "hidden_bias", criterion, "hidden")
    unknown = sorted(set(rows["measure"]) - set(HIDDEN))
    if unknown:
        raise BiasgridError(
            f"hidden_bias: measure {unknown[0]!r} is not known; allowed are {', '.join(HIDDEN)}"
        )
    measures = [measure for measure in HIDDEN if measure in set(rows["measure"])]
    after = {"color": LESS, "marker": "o", "markersize": 4.5}
    legend = [
        (_name(labels, "none"), _mark(color=GREY, markerfacecolor="white", **UNTOUCHED)),
        ("debiased (and its value)", _mark(**after)),
        ("chance: nothing left to recover", Line2D([], [], **DASHED)),
    ]
    figure, panels, places = _blocks(
        f"{criterion}: bias that can still be recovered",
        "Measures on the words that are most biased in the untouched model. Correlation: Pearson's r of a "
        "profession's bias in the untouched model and the share of one side among its neighbours. On the dashed "
        "line, nothing is left.",
        rows,
        _ordered(table, criterion),
        labels,
        {measure: labels.get(measure, HIDDEN[measure][0]) for measure in measures},
        legend + _missing(rows["after"], rows["status"]),
        need=0.85,
        most=1.6,
        # the value after stands beside the panel
        gap=0.4,
        foot=0.16,
    )
    for (model, measure), axes in panels.items():
        chance = HIDDEN[measure][1]
        mine = rows[(rows["model"] == model) & (rows["measure"] == measure)]
        y = mine["debias"].map(places[model]).to_numpy()
        axes.axvline(chance, **DASHED)
        axes.hlines(y, mine["before"], mine["after"], color=LESS, linewidth=1.0, zorder=2)
        axes.plot(mine["before"], y, linestyle="", color=GREY, markerfacecolor="white", zorder=3, **UNTOUCHED)
        axes.plot(mine["after"], y, linestyle="", zorder=4, **after)
        for at, value in zip(y, mine["after"], strict=True):
            number = "n/a" if np.isnan(value) else _two_digits(value)
            beside = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
            axes.annotate(number, (1, at), (4, 0), va="center", size=SMALL, **beside)
        values = rows.loc[rows["measure"] == measure, ["before", "after"]].to_numpy()
        low, high = np.nanmin([chance, *values.ravel()]), np.nanmax([1.0, *values.ravel()])
        axes.set_xlim(low - 0.06 * (high - low), high + 0.06 * (high - low))
        axes.set_xticks([tick for tick in (-1, -0.5, 0, 0.5, 1) if low <= tick <= high])
        axes.xaxis.set_major_formatter(lambda x, _: f"{x:g}".replace("-", "−"))
    return figure


@_styled
def trade_off(table: pd.DataFrame, labels: Mapping[str, str], criterion: str) -> Figure:
    """Bias removed against quality kept: a panel a model, a mark a method, filled with what stays hidden in it.

    x: the mean over the metrics of 1 - after/before, each at least -1 (a bias that doubles, or worse), of the metrics
    with a bias to remove (before > 0). 0 removes nothing, 1 everything. y: the mean over the similarity benchmarks of
    after/before, of the benchmarks with before > 0. 1 keeps the quality. The fill is cluster_accuracy after
    debiasing, from white (0.5, nothing left to recover) to near black (1, everything): the best mark is on the star,
    and empty. The diamond is the untouched model, numbers are the methods' places in the order. A method with fewer
    metrics or benchmarks than others of its panel has a dagger; one without x or y is named above the panel.
    Raises BiasgridError where the table has no rows of groups "metric" and "similarity" and the criterion, or no
    method has both.
    """
    points = _points(table, criterion)
    placed = points.dropna(subset=["x", "y"])
    drawn = set(placed.index.unique("debias"))
    numbers = {key: str(i) for i, key in enumerate(_ordered(table, criterion), 1) if key in drawn}
    known = placed["left"].notna()
    mark = {"markeredgecolor": "black", "markeredgewidth": 0.8}
    shape = {True: {"marker": "D", "markersize": 5}, False: {"marker": "o", "markersize": 6}}
    fill = FILLS(0.5) if known.any() else NO_FILL
    legend = [(labels.get(method, method), _number(number)) for method, number in numbers.items()]
    legend.append((_name(labels, "none"), _mark(color=fill, **shape[True], **mark)))
    legend.append(("ideal", _mark(**IDEAL)))
    if known.any() and not known.all():
        legend.append(("grey: no 2-means accuracy", _mark(color=NO_FILL, **shape[False], **mark)))
    if placed["fewer"].any():
        legend.append((f"{DAGGER} over fewer metrics or benchmarks (no value)", NO_MARK))
    heads = {}
    for model, part in points.groupby("model"):
        lost = [labels.get(key, key) for key in part.index.droplevel(0) if (model, key) not in placed.index]
        heads[model] = labels.get(model, model), f"no value: {', '.join(lost)}" if lost else ""

    columns, aside, gap = min(2, len(heads)), 0.45, 0.45
    size = np.array([(PAGE[0] - 2 * MARGIN - aside - gap) / 2, 2.4])
    figure, panels, below = _panels(
        f"{criterion}: bias removed and quality kept",
        "Bias removed: mean over the metrics of 1 − after/before, each at least −1. Quality kept: mean over the "
        f"similarity benchmarks of after/before. Best: on the star{', and empty' if known.any() else ''}.",
        heads,
        columns,
        size,
        legend,
        aside=aside,
        gap=gap,
        foot=0.36,
        below=0.55 if known.any() else 0.0,
    )
    low, high = _limits(placed[["x", "y"]].to_numpy(), [0.0, 0.95], [1.0, 1.0])
    for model, axes in panels.items():
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="bias removed (0 = nothing, 1 = all)")
        axes.spines["left"].set_visible(True)
        axes.axvline(0, **DASHED)
        axes.axvline(1, **DASHED)
        axes.axhline(1, **DASHED)
        axes.plot(1, 1, linestyle="", zorder=2, **IDEAL)
        part = placed.xs(model)
        for row in part.itertuples():
            fill = NO_FILL if np.isnan(row.left) else FILLS(RECOVERABLE(row.left))
            axes.plot(row.x, row.y, linestyle="", color=fill, zorder=5, **shape[row.Index == "none"], **mark)
        part = part.drop("none")
        texts = [numbers[method] + DAGGER * fewer for method, fewer in part["fewer"].items()]
        # the star and the untouched model have no text
        marks = (np.vstack([part[["x", "y"]], [(1, 1), (0, 1)]]) - low) / (high - low) * size
        for text, at, place in zip(texts, marks, _free_places(marks, texts, size), strict=False):
            line = np.stack([at, place]) / size
            axes.plot(*line.T, color=GREY, linewidth=0.5, zorder=4, transform=axes.transAxes)
            look = {"ha": "center", "va": "center", "size": SMALL, "weight": "bold", "zorder": 6}
            look["bbox"] = {"boxstyle": "square,pad=0.05", "facecolor": "white", "linewidth": 0}
            axes.text(*line[1], text, transform=axes.transAxes, **look)
    for axes in list(panels.values())[::columns]:
        axes.set_ylabel("quality kept (1 = all)")
    if known.any():
        bar = _axes(figure, MARGIN + 0.45, below + 0.2, 2.4, 0.1)
        figure.colorbar(ScalarMappable(RECOVERABLE, FILLS), cax=bar, orientation="horizontal")
        bar.set_xticks([0.5, 0.75, 1], ["0.5: nothing left", "0.75", "1: everything"])
        bar.set_title("fill: 2-means accuracy, what can still be recovered", loc="left", size=SMALL, pad=3)
    return figure


@_styled
def word_map(
    maps: Sequence[tuple[str, str, Mapping, float | None]], labels: Mapping[str, str], criterion: str
) -> Figure:
    """Where the most biased words of one model lie before and after debiasing (Gonen & Goldberg 2019, figure 1).

    `maps`: (model, debias method or "none", map, accuracy of 2-means or None) of every panel, drawn in that order but
    the untouched model first. A map has "words" and, for each, its "side" (one of two) and its "xy". Directions and
    units of a panel mean nothing, distances do: axes have no numbers, and the same scale both ways.
    Raises BiasgridError where there is no map, maps of two models or two of a method, not two sides, or lists of
    different lengths.
    """
    if not maps:
        raise BiasgridError("word_map: nothing to draw, there are no maps")
    models = sorted({model for model, *_ in maps})
    if len(models) > 1:
        raise BiasgridError(f"word_map: maps of {len(models)} models ({', '.join(models)}); a figure has one")
    methods = [method for _, method, *_ in maps]
    if len(set(methods)) < len(methods):
        raise BiasgridError(f"word_map: two maps of one method; there are {', '.join(methods)}")
    sides = sorted({side for *_, drawn, _ in maps for side in drawn["side"]})
    if len(sides) != 2:
        raise BiasgridError(f"word_map: {len(sides)} sides; words have one of two")
    for _, method, drawn, _ in maps:
        if not len(drawn["words"]) == len(drawn["side"]) == len(drawn["xy"]):
            raise BiasgridError(f"word_map: {method!r} has words, side and xy of different lengths")

    heads = {
        method: (
            _name(labels, method),
            "no 2-means accuracy" if accuracy is None else f"2-means accuracy {_two_digits(accuracy)}",
        )
        for _, method, _, accuracy in sorted(maps, key=lambda entry: entry[1] != "none")
    }
    columns = min(len(heads), min((4, 3), key=lambda columns: -len(heads) % columns))
    gap = 0.12
    size = np.full(2, min(2.2, (PAGE[0] - 2 * MARGIN + gap) / columns - gap))
    figure, panels, _ = _panels(
        f"{criterion}: the most biased words",
        f"{labels.get(models[0], models[0])}, t-SNE. Two sides that stay apart can still be told from each other. "
        "Accuracy: 0.5 = nothing left to recover, 1 = everything.",
        heads,
        columns,
        size,
        [(str(labels.get(side, side)), _mark(markersize=4, **SIDES[i])) for i, side in enumerate(sides)],
        gap=gap,
    )
    for _, method, drawn, _ in maps:
        axes, xy, side = panels[method], np.asarray(drawn["xy"], dtype=float), np.asarray(drawn["side"])
        # in turns, so that neither side lies on the other
        for turn in range(8):
            for i, name in enumerate(sides):
                mine = xy[side == name][turn::8]
                axes.plot(*mine.T, linestyle="", markersize=2.4, markeredgewidth=0, alpha=0.75, **SIDES[i])
        middle, reach = (xy.min(axis=0) + xy.max(axis=0)) / 2, np.ptp(xy, axis=0).max() * 0.54
        axes.set(xlim=middle[0] + [-reach, reach], ylim=middle[1] + [-reach, reach], xticks=[], yticks=[])
        axes.spines[:].set(visible=True, color="#BBBBBB")
    return figure


def _name(labels: Mapping[str, str], key: str) -> str:
    return labels.get(key, "untouched" if key == "none" else key)


def _mark(**look) -> Line2D:
    return Line2D([], [], linestyle="", **look)


def _number(text: str) -> Line2D:
    """Bold text as a legend's mark."""
    path = TextPath((0, 0), text, size=SMALL, prop=FontProperties(weight="bold"))
    path = path.transformed(Affine2D().translate(*-path.get_extents().get_points().mean(axis=0)))
    # as high as the text: a marker's size is that of its longer side
    return _mark(marker=path, markersize=2 * np.abs(path.vertices).max(), color="black", markeredgewidth=0)


def _missing(values: pd.Series, statuses: pd.Series) -> list[tuple[str, Artist]]:
    """The legend's entry of "n/a"."""
    reasons = sorted(set(statuses[values.isna()].str.split(":").str[0].str.replace("_", " ")))
    return [(f"n/a: no value ({' or '.join(reasons)})", NO_MARK)] if reasons else []


def _of(table: pd.DataFrame, name: str, criterion: str, group: str) -> pd.DataFrame:
    return _rows(_rows(table, name, criterion), f"{name}, {criterion}", group, column="group")


def _removed(rows: pd.DataFrame) -> pd.Series:
    """The share of a metric's bias that a method removes; NaN where there was none."""
    return (1 - rows["after"] / rows["before"].where(rows["before"] > 0)).clip(lower=-1)


def _ordered(table: pd.DataFrame, criterion: str) -> list[str]:
    """The methods measured on a criterion by what they remove, most first."""
    rows = table[table["criterion"] == criterion]
    removed = _removed(rows).where(rows["group"] == "metric").groupby(rows["debias"]).mean().fillna(-2)
    return sorted(removed.index, key=lambda method: (-removed[method], method))


def _points(table: pd.DataFrame, criterion: str) -> pd.DataFrame:
    """x, y, fewer and left of `trade_off` by (model, debias), with the untouched models as "none"."""
    bias = _of(table, "trade_off", criterion, "metric")
    quality = _of(table, "trade_off", criterion, "similarity")
    # methods of other criteria that are measured on this one have no quality here
    bias = bias[bias["debias"].isin(quality["debias"])]
    keys = ["model", "debias"]
    kept = quality["after"] / quality["before"].where(quality["before"] > 0)
    both = {
        "x": _removed(bias).groupby([bias[key] for key in keys]),
        "y": kept.groupby([quality[key] for key in keys]),
    }
    points = pd.DataFrame({axis: values.mean() for axis, values in both.items()})
    if points.isna().any(axis=1).all():
        raise BiasgridError(f"trade_off, {criterion}: no method has a value of a metric and of a similarity")
    counts = pd.DataFrame({axis: values.count() for axis, values in both.items()}).fillna(0)
    points["fewer"] = (counts < counts.groupby("model").transform("max")).any(axis=1)
    clusters = table[(table["criterion"] == criterion) & (table["measure"] == "cluster_accuracy")].set_index(
        keys
    )
    points["left"] = clusters["after"].reindex(points.index)
    untouched = points.groupby("model")[["x"]].first()
    untouched = untouched.assign(x=0.0, y=1.0, fewer=False, left=clusters["before"].groupby("model").first())
    return pd.concat([pd.concat({"none": untouched}, names=["debias"]).swaplevel(), points]).sort_index()


def _limits(values: np.ndarray, low: Sequence[float], high: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """The range of the values by axis, at least from low to high, with room around it."""
    low, high = np.minimum(values.min(axis=0), low), np.maximum(values.max(axis=0), high)
    return low - 0.07 * (high - low), high + 0.07 * (high - low)


def _panels(
    title: str,
    note: str,
    heads: Mapping[str, tuple[str, str]],
    columns: int,
    size: np.ndarray,
    legend: Sequence[tuple[str, Artist]],
    *,
    gap: float,
    aside: float = 0.0,
    foot: float = 0.0,
    below: float = 0.0,
) -> tuple[Figure, dict[str, Axes], float]:
    """A figure of panels of one size, each with a bold head and a note; its axes; and the top of the space below."""
    fitted = {
        key: (_fitted(head, size[0] / BOLD, NORMAL), _fitted(text, size[0], SMALL) if text else "")
        for key, (head, text) in heads.items()
    }
    above = [_lines(head) * 0.14 + _lines(text) * 0.13 + 0.12 for head, text in fitted.values()]
    rows = np.cumsum([max(above[i : i + columns]) + size[1] + foot for i in range(0, len(heads), columns)])
    across = MARGIN + aside + columns * (size[0] + gap) - gap + MARGIN
    figure, top = _page(title, note, legend, across, rows[-1] + 0.1 + below)
    panels = {}
    for i, (key, (head, text)) in enumerate(fitted.items()):
        left = MARGIN + aside + i % columns * (size[0] + gap)
        panels[key] = axes = _axes(figure, left, top + rows[i // columns] - foot - size[1], *size)
        axes.set_title(head, loc="left", weight="bold", pad=4 + _lines(text) * 9)
        axes.annotate(text, (0, 1), (0, 4), "axes fraction", "offset points", size=SMALL)
    return figure, panels, top + rows[-1] + 0.1


def _blocks(
    title: str,
    note: str,
    rows: pd.DataFrame,
    order: Sequence[str],
    labels: Mapping[str, str],
    columns: Mapping[str, str],
    legend: Sequence[tuple[str, Artist]],
    *,
    need: float,
    most: float,
    gap: float,
    foot: float = 0.0,
    first: str | None = None,
):
    """A figure of panels: a block a model, in it a row a method (and a `first` row), a column a measure.

    Panels are `need` to `most` inches wide, as the page allows, with a gap right of each and a foot below. Returns
    the figure, its axes by (model, measure), and by model the rows' y in inches (method -> y, None: first).
    """
    methods = {model: set(part["debias"]) for model, part in rows.groupby("model")}
    names = {key: _wrapped(labels.get(key, key), 26) for key in order} | {None: first}
    members = {
        model: [None] * bool(first) + [key for key in order if key in known]
        for model, known in methods.items()
    }
    left = max(_width(names[key], SMALL) for keys in members.values() for key in keys) + MARGIN + 0.08
    heads = {key: _wrapped(text, int((need + gap) / 0.07)) for key, text in columns.items()}
    need = max(need, *(_width(text, SMALL) * BOLD - gap + 0.04 for text in heads.values()))
    width = max(need, min(most, (PAGE[0] - left - MARGIN) / len(columns) - gap))
    across = left + len(columns) * (width + gap) + MARGIN
    models = {key: _fitted(labels.get(key, key), (across - 2 * MARGIN) / BOLD, NORMAL) for key in members}
    heights = {
        model: {key: _lines(names[key]) * 0.115 + 0.045 for key in keys} for model, keys in members.items()
    }
    above = {
        key: _lines(name) * 0.14 + max(map(_lines, heads.values())) * 0.12 + 0.06
        for key, name in models.items()
    }
    tall = {key: above[key] + sum(heights[key].values()) + foot + 0.14 for key in members}
    figure, top = _page(title, note, legend, across, sum(tall.values()))
    panels, places = {}, {}
    for model, keys in members.items():
        at = MARGIN / figure.get_figwidth(), 1 - top / figure.get_figheight()
        figure.text(*at, models[model], va="top", weight="bold")
        high = np.array([heights[model][key] for key in keys])
        centres = np.cumsum(high) - high / 2
        places[model] = dict(zip(keys, centres, strict=True))
        for i, column in enumerate(columns):
            axes = _axes(figure, left + i * (width + gap), top + above[model], width, high.sum())
            axes.set_title(heads[column], loc="left", size=SMALL, weight="bold", pad=3)
            for y, row in zip(centres[1::2], high[1::2], strict=True):
                # under the gaps too
                axes.axhspan(
                    y - row / 2, y + row / 2, 0, 1 + gap / width, color=ZEBRA, lw=0, zorder=0, clip_on=False
                )
            axes.set_ylim(high.sum(), 0)
            axes.set_yticks(centres, [names[key] if i == 0 else "" for key in keys])
            axes.tick_params(axis="y", length=0)
            panels[model, column] = axes
        top += tall[model]
    return figure, panels, places

"""The null distribution of a cell: what the metric gives for words that are dealt out to the sets at random, or for
what its own null hypothesis draws (`Metric.null`), where the score lies in it, and beside it the bootstrap samples,
where the study has them.

Everything is computed again from the cell's own seeds, so that the numbers are those of the cell's inference file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from .. import metrics
from ..cell import model_of
from ..errors import BiasgridError
from ..inference import infer_query
from ..inference.permutation import _rounding
from ..metrics.registry import TESTS, Metric
from ..study import Inference, Study
from ..words import WordOptions
from .grid import (
    DASHED,
    LESS_LIGHT,
    MARGIN,
    MODEL_COLOURS,
    NORMAL,
    SMALL,
    SUPERSCRIPTS,
    _axes,
    _best_columns,
    _fitted,
    _lines,
    _page,
    _styled,
    _unit_label,
    _wrapped,
)

TAIL = "#E8834A"
NULL = "#CCCCCC"
INTERVALS = {"jackknife": "jackknife", "percentile": "percentile", "bca": "BCa"}
EXCHANGED = {
    "targets": "their words are dealt out to them at random",
    "pairs": "the two words of each change places or not, at random",
    "attributes": "their words are dealt out to them at random",
}
MATTERS = {
    "targets": "which of the target sets a word is in",
    "pairs": "which word comes first in the pairs of the target sets",
    "attributes": "which of the attribute sets a word is in",
}
BEYOND = {
    "greater": "as high as the score or higher (p is this share)",
    "less": "as low as the score or lower (p is this share)",
    "two-sided": "the smaller tail from the score on (p is twice this share)",
}


@dataclass(frozen=True)
class Null:
    """What can be drawn of a cell.

    results  as in the cell's inference file, without sensitivity
    values   sub-query -> the statistic of each partition, or each draw of the metric's own null (draws,)
    samples  values of the bootstrap samples (sub-queries, draws); None where the study has none
    """

    metric: Metric
    results: list[dict[str, Any]]
    values: Mapping[str, np.ndarray]
    samples: np.ndarray | None


def null(study: Study, inference: Inference) -> Null:
    """The partitions and bootstrap samples of a cell, computed again.

    Raises BiasgridError, with the reason, where no sub-query has a permutation test.
    """
    cell, spec = inference.cell, json.loads(inference.spec)
    wanted = {part: entry for part, entry in spec["inference"].items() if part != "sensitivity"}
    metric = metrics.metric(spec["metric"]).under(spec["params"])
    if "permutation" not in wanted:
        raise BiasgridError(f"{cell.name}: the study has no permutation test (inference: permutation)")
    if metric.no_test:
        raise BiasgridError(f"{cell.name}: {metric.label} has no permutation test: {metric.no_test}")
    values: dict[str, np.ndarray] = {}
    results, samples = infer_query(
        metric,
        study.queries[cell.query],
        model_of(study, cell),
        spec["params"],
        WordOptions(**spec["words"]),
        spec["seed"],
        **wanted,
        nulls=values,
    )
    if not values:
        raise BiasgridError(f"{cell.name}: no permutation test: {_why(results[0])}")
    return Null(metric, results, values, samples)


def of_cell(study: Study, inference: Inference) -> tuple[Figure, list[dict[str, Any]]]:
    """The figure of a cell, and the results that it shows."""
    found = null(study, inference)
    cell = inference.cell
    labels = dict(study.labels)
    labels[cell.metric] = study.metrics(cell.criterion)[cell.metric].get("label", found.metric.label)
    title = f"{labels[cell.metric]}, {_unit_label((cell.model, cell.debias), labels)}"
    bootstrap = study.config["inference"].get("bootstrap", {})
    figure = null_distribution(
        found, title, study.config["inference"]["interval"], bootstrap.get("level", 0.95)
    )
    return figure, found.results


@_styled
def null_distribution(null: Null, title: str, interval: str = "jackknife", level: float = 0.95) -> Figure:
    """A histogram of the partitions' values for each sub-query, with the score and the tail that the p-value counts;
    to its right that of the bootstrap samples with the interval (`interval`, of so much `level`)."""
    metric, boxes = null.metric, 2 if null.samples is not None else 1
    alone = boxes * len(null.results) == 1
    width, height, gap, foot = 6.5 if alone else 3.1, 1.15, 0.3, 0.46
    across = boxes * (width + gap)
    names = [_fitted(result["query"], across - gap, NORMAL) for result in null.results]
    title_lines = max(map(_lines, names)) * 0.155 + 0.03
    head = title_lines + 2 * 0.125 + 0.04

    def extent(columns: int) -> tuple[float, float]:
        return columns * across, ceil(len(names) / columns) * (head + height + foot)

    columns = _best_columns(len(names), extent) if len(names) > 1 else 1
    alternatives = {r["permutation"]["alternative"] for r in null.results if r["query"] in null.values}
    legend = [
        ("score", Line2D([], [], color="black", linewidth=1.4)),
        (metric.null_name or "partitions of the words", Patch(facecolor=NULL)),
        *((BEYOND[alternative], Patch(facecolor=TAIL)) for alternative in sorted(alternatives)),
    ]
    if boxes == 2:
        look = {"color": MODEL_COLOURS[0], "linewidth": 3, "solid_capstyle": "butt"}
        legend += [
            ("bootstrap samples of the words", Patch(facecolor=LESS_LIGHT)),
            (f"{level * 100:g} % interval ({INTERVALS[interval]})", Line2D([], [], **look)),
        ]
    legend += [("no bias (the metric's neutral value)", Line2D([], [], **DASHED))]
    figure, top = _page(title, _note(null, boxes == 2), legend, *extent(columns))
    for i, (result, name) in enumerate(zip(null.results, names, strict=True)):
        row, column = divmod(i, columns)
        left, upper = MARGIN + column * across, top + row * (head + height + foot)
        w, h = figure.get_size_inches()
        figure.text(left / w, 1 - upper / h, name, va="top", weight="bold")
        place = left + 0.08, upper + head, width - 0.08, height
        if result["query"] not in null.values:
            figure.text(place[0] / w, 1 - (upper + head) / h, _why(result), va="top", size=SMALL)
            continue
        axes = [_axes(figure, *place)]
        said = [_partitions(axes[0], null.values[result["query"]], result["permutation"], metric.null_name)]
        if boxes == 2:
            axes.append(_axes(figure, place[0] + width + gap, *place[1:]))
            said.append(_samples(axes[1], null.samples[i], result, interval, level))
        for panel, text in zip(axes, said, strict=True):
            # by their tops: an exponent lifts its line
            at = panel.get_position().x0, 1 - (upper + title_lines) / h
            figure.text(*at, text, va="top", size=SMALL, linespacing=1.25)
        # one scale, so that both spreads can be compared
        ends = [end for panel in axes for end in panel.dataLim.intervalx if np.isfinite(end)]
        ends += [metric.neutral] if _near(metric.neutral, ends) else []
        room = 0.04 * (max(ends) - min(ends)) or 0.5
        for panel in axes:
            panel.axvline(metric.neutral, **DASHED | {"zorder": 3})
            panel.set_xlim(min(ends) - room, max(ends) + room)
            panel.set_ylim(bottom=0)
            panel.set_yticks([])
            panel.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
            panel.set_xlabel("score", labelpad=1)
    return figure


def _partitions(axes: Axes, values: np.ndarray, tested: Mapping[str, Any], null_name: str) -> str:
    if tested["p_value"] is None:
        values = values[np.isfinite(values)]
        axes.hist(values, bins=30, color=NULL)
    else:
        beyond = _tail(values, tested["observed"], tested["alternative"])
        edges = _edges(values, values[beyond], tested["observed"])
        axes.hist([values[~beyond], values[beyond]], bins=edges, color=[NULL, TAIL], stacked=True)
    if tested["observed"] is not None:
        axes.axvline(tested["observed"], color="black", linewidth=1.4, zorder=4)
        axes.update_datalim([(tested["observed"], 0)])
    return _p_text(tested, null_name)


def _samples(axes: Axes, samples: np.ndarray, result: Mapping[str, Any], interval: str, level: float) -> str:
    record = result["bootstrap"]
    drawn = samples[np.isfinite(samples)]
    counts = axes.hist(drawn, bins=_edges(drawn, drawn[:0], 0.0), color=LESS_LIGHT)[0] if len(drawn) else [1]
    axes.axvline(result["value"], color="black", linewidth=1.4, zorder=4)
    axes.update_datalim([(result["value"], 0)])
    low, high = record[interval]
    if low is None:
        return _wrapped(f"no interval: {record['reasons'][interval]}", 44)
    look = {"color": MODEL_COLOURS[0], "linewidth": 3, "solid_capstyle": "butt", "zorder": 5}
    axes.plot([low, high], [0.03 * max(counts)] * 2, **look)
    return (
        f"{level * 100:g} % interval {_number(low)} to {_number(high)}\n{record['draws']:,} bootstrap samples"
    )


def _tail(values: np.ndarray, observed: float, alternative: str) -> np.ndarray:
    """Which partitions the p-value counts; of a two-sided test the smaller tail."""
    tolerance = _rounding(values, observed)
    tails = {"greater": values >= observed - tolerance, "less": values <= observed + tolerance}
    return tails[alternative] if alternative in tails else min(tails.values(), key=np.count_nonzero)


def _edges(values: np.ndarray, beyond: np.ndarray, observed: float) -> np.ndarray:
    """Edges of bins of one width, one edge between the tail and the rest."""
    low, high = values.min(), values.max()
    step = (high - low) / min(50, max(8, round(2 * len(values) ** 0.4))) or 1.0
    start = observed if len(beyond) else low
    first, last = np.floor((low - start) / step), np.ceil((high - start) / step)
    edges = start + step * np.arange(first - 1, last + 2)
    if 0 < len(beyond) < len(values):
        # values that equal the observed one but for rounding are on the tail's side
        upper = beyond.mean() > np.mean(values)
        end = min(beyond.min(), observed) if upper else np.nextafter(max(beyond.max(), observed), np.inf)
        edges[np.abs(edges - start).argmin()] = end
    return edges


def _near(neutral: float, ends: Sequence[float]) -> bool:
    """Whether the neutral value can be on the axis without squeezing what is drawn."""
    span = max(ends) - min(ends)
    return min(ends) - span < neutral < max(ends) + span


def _note(null: Null, samples: bool) -> str:
    metric = null.metric
    kind = metric.exchanged
    if metric.null:
        text = f"Left: the score with {metric.null_name} in place of the query's own."
    else:
        text = f"Left: the score if it did not matter {MATTERS[kind]}: {EXCHANGED[kind]}."
    if metric.test_of == "labels":
        text += f" A classifier is trained anew for every partition. {TESTS['labels']}"
    if samples:
        text += " Right: the score had other words been chosen: those of each set are drawn again from it."
    else:
        text = "T" + text.removeprefix("Left: t")
    tested = [r for r in null.results if r["query"] in null.values]
    differ = max(abs(r["value"] - (r["permutation"]["observed"] or r["value"])) for r in tested)
    if differ > 1e-9:
        text += " The metric draws at random; the line on the left is the score without that chance, from which the"
        text += f" tables' score is up to {_number(differ, 1)} away."
    return text


def _why(result: Mapping[str, Any]) -> str:
    if result["status"] != "ok":
        return f"{result['query']} has no value ({result['status'].replace('_', ' ')})"
    return result["permutation"]["reason"]


def _p_text(tested: Mapping[str, Any], null_name: str) -> str:
    p, draws, partitions = tested["p_value"], tested["draws"], tested["partitions"]
    if p is None:
        return f"no p-value: the metric has no value for some {null_name or 'partitions'}\n"
    text = f"p = {_number(p)}"
    lowest = p <= tested["p_lowest"] * (1 + 1e-9)
    if tested["method"] == "exact":
        return f"{text}{', the lowest that there can be' if lowest else ''}\nexact: all {partitions:,} partitions"
    text += f" (95 % interval {_number(tested['p_low'], 2)} to {_number(tested['p_high'], 2)})"
    what = null_name or f"random partitions of {_count(partitions)}"
    return f"{text}\n{draws:,} {what}"


def _count(n: int | None) -> str:
    if n is None:
        return f"more than {_power_of_ten(300)}"
    return f"{n:,}" if n < 10**6 else f"{int(str(n)[:3]) / 100:.1f} × {_power_of_ten(len(str(n)) - 1)}"


def _number(x: float, digits: int = 3) -> str:
    mantissa, _, power = f"{x:.{digits}g}".partition("e")
    text = mantissa.replace("-", "−")
    return f"{text} × {_power_of_ten(int(power))}" if power else text


def _power_of_ten(power: int) -> str:
    return "10" + str(power).translate(SUPERSCRIPTS)

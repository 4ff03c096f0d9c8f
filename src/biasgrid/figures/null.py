"""The null distributions of a cell: what the metric gives for words that are dealt out to the sets at random, and for
random groups of the model's words, where the score lies in them, and beside them the bootstrap samples; whichever the
study has.

Everything is computed again from the cell's own seeds, so that the numbers are those of the cell's inference file.
"""

from __future__ import annotations

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
from ..inference.step import read_pool
from ..metrics.registry import Metric
from ..study import Inference, Study, no_test
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
)

TAIL = "#E8834A"
NULL = "#CCCCCC"
NAMES = {"permutation": "Permutation", "random_groups": "Random groups", "bootstrap": "Bootstrap"}
NULLS = {"permutation": "partitions of the words", "random_groups": "random groups"}
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
    values   sub-query -> test ("permutation", "random_groups") -> what it compares the score with (draws,)
    samples  values of the bootstrap samples (sub-queries, draws); None where the study has none
    """

    metric: Metric
    results: list[dict[str, Any]]
    values: Mapping[str, Mapping[str, np.ndarray]]
    samples: np.ndarray | None

    @property
    def tests(self) -> list[str]:
        """The tests that a sub-query has."""
        return [test for test in NULLS if any(test in values for values in self.values.values())]


def null(study: Study, inference: Inference) -> Null:
    """The tests and bootstrap samples of a cell, computed again.

    Raises BiasgridError, with the reason, where no sub-query has a test.
    """
    cell, spec = inference.cell, inference.spec
    wanted = {part: entry for part, entry in spec["inference"].items() if part != "sensitivity"}
    metric = metrics.metric(spec["function"]).under(spec["params"])
    from ..plan.steps import cell_step

    inputs = cell_step(study, cell).inputs
    if reason := no_test(metric, wanted):
        raise BiasgridError(f"{cell.name}: {reason}")
    values: dict[str, dict[str, np.ndarray]] = {}
    results, samples = infer_query(
        metric,
        study.queries[cell.query],
        model_of(inputs["store"], inputs.get("transform")),
        spec["params"],
        WordOptions(**spec["words"]),
        spec["seed"],
        **wanted,
        nulls=values,
        pool=read_pool(study.pool_file(cell.model)),
    )
    if not values:
        raise BiasgridError(f"{cell.name}: no test: {_why(results[0])}")
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
    """Histograms for each sub-query, one for each test: the values that it compares the score with, the score, and
    the tail that the p-value counts; to their right the bootstrap samples with the interval (`interval`, of so much
    `level`)."""
    metric = null.metric
    shown = [*null.tests, *(["bootstrap"] if null.samples is not None else [])]
    boxes = len(shown)
    alone = boxes * len(null.results) == 1
    width, height, gap, foot = 6.5 if alone else 3.1 if boxes < 3 else 2.1, 1.15, 0.3, 0.46
    across = boxes * (width + gap)
    names = [_fitted(result["query"], across - gap, NORMAL) for result in null.results]
    said = {
        (i, part): "\n".join(
            _fitted(line, width, SMALL) for line in _said(metric, result, part, interval, level)
        )
        for i, result in enumerate(null.results)
        for part in shown
        if result["query"] in null.values
    }
    title_lines = max(map(_lines, names)) * 0.155 + 0.03
    head = title_lines + max(map(_lines, said.values())) * 0.125 + 0.04

    def extent(columns: int) -> tuple[float, float]:
        return columns * across, ceil(len(names) / columns) * (head + height + foot)

    columns = _best_columns(len(names), extent) if len(names) > 1 else 1
    alternatives = {r[test]["alternative"] for r in null.results for test in null.values.get(r["query"], {})}
    legend = [
        ("score", Line2D([], [], color="black", linewidth=1.4)),
        (", or ".join(NULLS[test] for test in null.tests), Patch(facecolor=NULL)),
        *((BEYOND[alternative], Patch(facecolor=TAIL)) for alternative in sorted(alternatives)),
    ]
    if "bootstrap" in shown:
        look = {"color": MODEL_COLOURS[0], "linewidth": 3, "solid_capstyle": "butt"}
        legend += [
            ("bootstrap samples of the words", Patch(facecolor=LESS_LIGHT)),
            (f"{level * 100:g} % interval ({INTERVALS[interval]})", Line2D([], [], **look)),
        ]
    legend += [("no bias (the metric's neutral value)", Line2D([], [], **DASHED))]
    figure, top = _page(title, _note(null), legend, *extent(columns))
    for i, (result, name) in enumerate(zip(null.results, names, strict=True)):
        row, column = divmod(i, columns)
        left, upper = MARGIN + column * across, top + row * (head + height + foot)
        w, h = figure.get_size_inches()
        figure.text(left / w, 1 - upper / h, name, va="top", weight="bold")
        place = left + 0.08, upper + head, width - 0.08, height
        if result["query"] not in null.values:
            figure.text(place[0] / w, 1 - (upper + head) / h, _why(result), va="top", size=SMALL)
            continue
        axes = []
        for column, part in enumerate(shown):
            left = place[0] + column * (width + gap)
            # by their tops: an exponent lifts its line
            at = left / w, 1 - (upper + title_lines) / h
            figure.text(*at, said[i, part], va="top", size=SMALL, linespacing=1.25)
            if part != "bootstrap" and part not in null.values[result["query"]]:
                continue
            axes.append(_axes(figure, left, *place[1:]))
            if part == "bootstrap":
                _samples(axes[-1], null.samples[i], result, interval)
            else:
                _values(axes[-1], null.values[result["query"]][part], result[part])
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


def _values(axes: Axes, values: np.ndarray, tested: Mapping[str, Any]) -> None:
    if tested["p_value"] is None:
        axes.hist(values[np.isfinite(values)], bins=30, color=NULL)
    else:
        beyond = _tail(values, tested["observed"], tested["alternative"])
        edges = _edges(values, values[beyond], tested["observed"])
        axes.hist([values[~beyond], values[beyond]], bins=edges, color=[NULL, TAIL], stacked=True)
    if tested["observed"] is not None:
        axes.axvline(tested["observed"], color="black", linewidth=1.4, zorder=4)
        axes.update_datalim([(tested["observed"], 0)])


def _samples(axes: Axes, samples: np.ndarray, result: Mapping[str, Any], interval: str) -> None:
    drawn = samples[np.isfinite(samples)]
    counts = axes.hist(drawn, bins=_edges(drawn, drawn[:0], 0.0), color=LESS_LIGHT)[0] if len(drawn) else [1]
    axes.axvline(result["value"], color="black", linewidth=1.4, zorder=4)
    axes.update_datalim([(result["value"], 0)])
    low, high = result["bootstrap"][interval]
    if low is not None:
        look = {"color": MODEL_COLOURS[0], "linewidth": 3, "solid_capstyle": "butt", "zorder": 5}
        axes.plot([low, high], [0.03 * max(counts)] * 2, **look)


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


def _note(null: Null) -> str:
    metric, kind = null.metric, null.metric.exchanged
    text = []
    if "permutation" in null.tests:
        name = _name(metric, "permutation")
        text += [f"{name}: the score if it did not matter {MATTERS[kind]}: {EXCHANGED[kind]}."]
        if metric.test_of == "labels":
            text += [
                "A classifier is trained anew for every partition. It says nothing about the target words."
            ]
    if "random_groups" in null.tests:
        sets = metric.regrouped.removesuffix("s")
        text += [
            "Random groups: the score with arbitrary groups of the model's words in place of the query's "
            f"{sets} sets, as large and as coherent as these; the query's other words stay."
        ]
    if null.samples is not None:
        text += ["Bootstrap: the score with the words of each set drawn again from the set."]
    tested = [(r["value"], r[test]) for r in null.results for test in null.values.get(r["query"], {})]
    differ = max(abs(value - (test["observed"] or value)) for value, test in tested)
    if differ > 1e-9:
        text += [
            "The metric draws at random; the line of a test is the score without that chance, from which the"
        ]
        text += [f"tables' score is up to {_number(differ, 1)} away."]
    return " ".join(text)


def _name(metric: Metric, part: str) -> str:
    return "Label test" if part == "permutation" and metric.test_of == "labels" else NAMES[part]


def _why(result: Mapping[str, Any]) -> str:
    if result["status"] != "ok":
        return f"{result['query']} has no value ({result['status'].replace('_', ' ')})"
    reasons = {NAMES[test]: result[test]["reason"] for test in NULLS if "reason" in result.get(test, {})}
    return "; ".join(f"{name}: {reason}" for name, reason in reasons.items())


def _said(metric: Metric, result: Mapping[str, Any], part: str, interval: str, level: float) -> list[str]:
    """What stands above a panel, in lines."""
    name, record = _name(metric, part), result[part]
    if part != "bootstrap":
        return [f"{name}: {line}" if i == 0 else line for i, line in enumerate(_p_text(record, part))]
    low, high = record[interval]
    if low is None:
        return [f"{name}: no interval", record["reasons"][interval]]
    samples = f"{record['draws']:,} bootstrap samples"
    return [f"{name}: {level * 100:g} % interval {_number(low)} to {_number(high)}", samples]


def _p_text(tested: Mapping[str, Any], part: str) -> list[str]:
    if "reason" in tested:
        return [tested["reason"]]
    p, draws, partitions = tested["p_value"], tested["draws"], tested["partitions"]
    if p is None:
        return [f"no p-value: the metric has no value for some {NULLS[part]}"]
    if tested["method"] == "exact":
        lowest = p <= tested["p_lowest"] * (1 + 1e-9)
        possible = ", the lowest that is possible" if lowest else ""
        return [f"p = {_number(p)}{possible}", f"exact: all {partitions:,} partitions"]
    many = f"random partitions of {_count(partitions)}" if part == "permutation" else NULLS[part]
    interval = f"(95 % interval {_number(tested['p_low'], 2)} to {_number(tested['p_high'], 2)})"
    return [f"p = {_number(p)}", interval, f"{draws:,} {many}"]


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

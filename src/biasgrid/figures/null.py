"""Figure of a cell's null distributions: the metric's values for permuted words, random groups and control words.

It shows the position of the score among these values and, next to them, the bootstrap resamples, as far as the study
has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.labels import sic
from ..core.numbers import count, interval, p_number, p_value, typeset, typographic
from ..measure.caveats import is_at_floor
from ..measure.significance import REGISTRY, questions, tests
from ..tables.inputs import FACTS
from .figure import Drawing, Example, Figure, Files, state_label
from .frame import Frame, styled
from .palette import COUNTED, DASHED, GREY, PLAIN, Look
from .questions import SCORES
from .text import percent, topic
from .visuals import few_ticks, legend_area, legend_line, legend_neutral

if TYPE_CHECKING:
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..measure.null_distributions import Null
    from ..metrics import Metric
    from ..tables.planned import Cell, Planned

TAIL, NULL, RESAMPLES = COUNTED, PLAIN, "#E6E6E6"
# Inches of a panel.
HEIGHT = 1.15
SCORE: Look = {"color": "black", "linewidth": 1.4}
INTERVAL: Look = {"color": GREY, "linewidth": 3, "solid_capstyle": "butt"}
HEADING = "The score among what chance gives"
# The title compares the score with the values of this test, if it was made.
BASELINE = "random_groups"
INTERVALS = {"jackknife": "jackknife", "percentile": "percentile", "bca": "BCa"}
BEYOND = {
    "distance": "as far from no bias as the score, or further: p is this share",
    "greater": "as high as the score, or higher: p is this share",
    "less": "as low as the score, or lower: p is this share",
    "two-sided": "the smaller tail from the score on: p is twice this share",
}


@styled
def null_distribution(
    null: Null,
    title: str,
    neutral: float,
    tests: Mapping[str, Mapping[str, str]],
    interval: str = "jackknife",
    level: float = 0.95,
) -> figure.Figure:
    """Draw a histogram for each sub-query and test, and the bootstrap resamples to their right.

    A histogram has the values with which the test compares the score, the score, and the tail that the p-value
    counts. The resamples have their interval (`interval`, at `level`). `tests` are the possible tests, from `facts`.
    """
    from ..measure.null_distributions import why_untested

    tests = {name: test for name, test in tests.items() if any(name in v for v in null.values.values())}
    parts = [*tests, *(["bootstrap"] if null.samples is not None else [])]
    heads, drawn = {}, {}
    for i, result in enumerate(null.results):
        values = null.values.get(result["query"]) or {}
        for part in parts:
            texts = _panel_text(tests.get(part, {}), result, part, interval, level) if values else []
            if part == parts[0]:
                texts = [sic(result["query"])] * (len(null.results) > 1) + (texts or [why_untested(result)])
            heads[i, part] = "\n".join(texts)
            drawn[i, part] = bool(values) and (part == "bootstrap" or part in values)
    query = f": {sic(null.results[0]['query'])}" if len(null.results) == 1 else ""
    frame = Frame(_finding(null, tests), f"{title}{query}", _notes(null, tests))
    panels = frame.panels(heads, HEIGHT, least=1.9, line=len(parts), bold=False)
    for (i, part), axes in panels.items():
        result = null.results[i]
        if not drawn[i, part]:
            axes.set_axis_off()
        elif part == "bootstrap" and null.samples is not None:
            _samples(axes, null.samples[i], result, interval)
        else:
            _values(
                axes, null.values[result["query"]][part], null.extreme[result["query"]][part], result[part]
            )
    for i in range(len(null.results)):
        _one_scale([axes for key, axes in panels.items() if key[0] == i and drawn[key]], neutral)
    alternatives = {r[test]["alternative"] for r in null.results for test in null.values.get(r["query"], {})}
    legend = [
        ("score", legend_line(**SCORE)),
        (", or ".join(test["compared"] for test in tests.values()), legend_area(facecolor=NULL)),
        *((BEYOND[alternative], legend_area(facecolor=TAIL)) for alternative in sorted(alternatives)),
    ]
    if "bootstrap" in parts:
        legend += [
            ("bootstrap resamples of the words", legend_area(facecolor=RESAMPLES)),
            (f"{percent(level)} interval ({INTERVALS[interval]})", legend_line(**INTERVAL)),
        ]
    return frame.done([*legend, legend_neutral("no-bias value")])


def _one_scale(panels: Sequence[Axes], neutral: float) -> None:
    """Set one scale for the panels of a (sub-)query, so that the spreads can be compared."""
    ends = [end for axes in panels for end in axes.dataLim.intervalx if np.isfinite(end)]
    ends += [neutral] if ends and _near(neutral, ends) else []
    for axes in panels:
        room = 0.04 * (max(ends) - min(ends)) or 0.5
        axes.axvline(neutral, **DASHED | {"zorder": 3})
        axes.set_xlim(min(ends) - room, max(ends) + room)
        axes.set_ylim(bottom=0)
        axes.set_yticks([])
        few_ticks(axes.xaxis, 5)
        axes.set_xlabel("score", labelpad=1)


def _values(axes: Axes, values: np.ndarray, extreme: np.ndarray, record: Mapping[str, Any]) -> None:
    if record["p_value"] is None:
        axes.hist(values[np.isfinite(values)], bins=30, color=NULL)
    else:
        edges = _edges(values, values[extreme & _on_side(values, record)], record["observed"])
        axes.hist([values[~extreme], values[extreme]], bins=edges, color=[NULL, TAIL], stacked=True)
    if record["observed"] is not None:
        _score_line(axes, record["observed"])


def _score_line(axes: Axes, score: float) -> None:
    axes.axvline(score, zorder=4, **SCORE)
    axes.update_datalim([(score, 0)])


def _on_side(values: np.ndarray, record: Mapping[str, Any]) -> np.ndarray:
    """Return the mask of the values on the score's side of no bias for a distance test; else of all values."""
    if record["alternative"] != "distance":
        return np.ones(len(values), dtype=bool)
    return (values >= record["neutral"]) == (record["observed"] >= record["neutral"])


def _samples(axes: Axes, samples: np.ndarray, result: Mapping[str, Any], interval: str) -> None:
    finite_samples = samples[np.isfinite(samples)]
    counts = (
        axes.hist(finite_samples, bins=_edges(finite_samples, finite_samples[:0], 0.0), color=RESAMPLES)[0]
        if len(finite_samples)
        else [1]
    )
    _score_line(axes, result["value"])
    low, high = result["bootstrap"][interval]
    if low is not None:
        axes.plot([low, high], [0.03 * np.max(counts)] * 2, zorder=5, **INTERVAL)


def _edges(values: np.ndarray, extreme: np.ndarray, observed: float) -> list[float]:
    """Return edges of bins with one width, with an edge between the tail (`extreme` values) and the rest."""
    low, high = values.min(), values.max()
    step = (high - low) / min(50, max(8, round(2 * len(values) ** 0.4))) or 1.0
    start = observed if len(extreme) else low
    first, last = np.floor((low - start) / step), np.ceil((high - start) / step)
    edges = start + step * np.arange(first - 1, last + 2)
    if 0 < len(extreme) < len(values):
        # Values that equal the observed value except for rounding belong to the tail.
        upper = extreme.mean() > np.mean(values)
        end = min(extreme.min(), observed) if upper else np.nextafter(max(extreme.max(), observed), np.inf)
        edges[np.abs(edges - start).argmin()] = end
    return edges.tolist()


def _near(neutral: float, ends: Sequence[float]) -> bool:
    """Return whether the no-bias value fits on the axis without squeezing the histogram."""
    span = max(ends) - min(ends)
    return min(ends) - span < neutral < max(ends) + span


def _finding(null: Null, tests: Mapping[str, Mapping[str, str]]) -> str:
    """Say what share of the values of a test the score exceeds, preferably of random groups."""
    if len(null.results) > 1:
        return HEADING
    (result,) = null.results
    values = null.values.get(result["query"]) or {}
    for name in sorted(set(tests) & set(values), key=lambda name: name != BASELINE):
        record = result[name]
        if record["p_value"] is None or record["observed"] is None:
            continue
        extreme = null.extreme[result["query"]][name] & _on_side(values[name], record)
        # Round down, so that the share is not overstated.
        exceeded = int(100 * (1 - extreme.mean() - 1e-12))
        than = "all" if not extreme.any() else f"{exceeded} % of"
        compared = re.split(" of the | within ", tests[name]["compared"])[0].removeprefix("draws of ")
        side = "lower" if record["alternative"] == "less" else "larger"
        return f"The score is {side} than {than} {compared}"
    return HEADING


def _notes(null: Null, tests: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return how to read the figure, and the question of each test."""
    notes = [
        "The black line is the score, a histogram what the metric gives without the query's association."
    ]
    notes += [f"{test['label']}: {test['question']}" for test in tests.values()]
    if null.samples is not None:
        notes += ["Bootstrap: the score with the words of each set drawn again from the set."]
    score_tests = [(r["value"], r[test]) for r in null.results for test in null.values.get(r["query"], {})]
    differ = max(abs(value - (test["observed"] or value)) for value, test in score_tests)
    if differ > 1e-9:
        notes += [
            "The metric draws at random; the line of a test is the score without that chance. The score in the "
            "tables "
            f"differs from it by up to {typeset(differ, 1)}."
        ]
    return notes


def _panel_text(
    test: Mapping[str, str], result: Mapping[str, Any], part: str, kind: str, level: float
) -> list[str]:
    """Return the lines above a panel."""
    record = result[part]
    if part != "bootstrap":
        first, *others = _p_text(record, test["compared"])
        return [f"{test['label']}: {first}", *others]
    low, high = record[kind]
    if low is None:
        return ["Bootstrap: no interval", record["reasons"][kind]]
    samples = f"{record['draws']:,} bootstrap resamples"
    return [f"Bootstrap: {percent(level)} interval {typographic(interval(low, high))}", samples]


def _p_text(record: Mapping[str, Any], compared: str) -> list[str]:
    if "reason" in record:
        return [record["reason"]]
    p, draws, permutations = record["p_value"], record["draws"], record["partitions"]
    if p is None:
        return [f"no p-value: the metric has no value for some {compared}"]
    if record["method"] == "exact":
        lowest = p <= record["p_lowest"] * (1 + 1e-9)
        possible = ", the lowest that is possible" if lowest else ""
        return [f"{p_value(p)}{possible}", f"exact: all {permutations:,} permutations"]
    if record["method"] == "binomial":
        return [p_value(p), "exact: binomial distribution, of all permutations of the pairs"]
    is_random = record["method"] == "drawn"
    of_all = count(permutations) if permutations else "more than 1e300"
    draws_text = compared if is_random else f"random permutations of {of_all}"
    ends = interval(record["p_low"], record["p_high"], form=p_number)
    return [p_value(p, at_most=is_at_floor(record)), f"(95 % interval {ends})", f"{draws:,} {draws_text}"]


def facts(metric: Metric) -> dict[str, Any]:
    """Return the figure's facts about a metric: its no-bias value, and each test's label, question and comparison."""
    asked = questions(metric, REGISTRY)
    return {
        "neutral": metric.neutral,
        "tests": {
            test.name: {
                "label": test.label_of(metric),
                "question": asked[test.name],
                "compared": test.compared,
            }
            for test in tests()
        },
    }


def drawing(study: Planned, cell: Cell) -> Drawing:
    """Return the figure of a cell, whether or not a config lists it."""
    metric, inference = study.metric(cell.criterion, cell.metric), study.config.inference
    # In another criterion, the key may belong to another metric.
    label = study.metrics(cell.criterion)[cell.metric].label or metric.label
    spec = {
        "title": f"{topic(cell.criterion)}, {label}, {state_label(study, cell)}",
        **facts(metric),
        "interval": inference.interval,
        "level": FACTS["level"](study),
    }
    return Drawing(f"null/{cell.name}", {"null": study.paths.null_file(cell)}, spec, "null")


def _drawings(study: Planned) -> Iterator[Drawing]:
    for name in study.config.null_distributions:
        yield drawing(study, study.grid.cells[name])


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    from ..measure.null_distributions import Null

    return null_distribution(Null.load(inputs["null"]), **spec)


def _three_digits(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Reduce each value to three digits, which suffice for a histogram."""
    return {
        role: {name: a.astype(np.float16) if a.dtype == np.float64 else a for name, a in arrays.items()}
        for role, arrays in contents.items()
    }


FIGURES = (
    Figure(
        "null",
        "A score among its values for permuted words, random groups and control words.",
        _draw,
        question=SCORES,
        heading=HEADING,
        asks="Would other words give such a score, too?",
        learn="You learn how unusual one score is.",
        drawings=_drawings,
        group=None,
        reading="The black line is the score, grey what permutations, random groups or control words "
        "give, dark what the p-value counts. The lightest are bootstrap resamples, with the "
        "95 % interval.",
        example=Example("embedded", "null/glove-6b-50d/none/weat/gender_1", keep=_three_digits),
    ),
)

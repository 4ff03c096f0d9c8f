"""Figure of a metric's values over many sets of words, beside the words' frequency or beside the bias of a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.figures.figure import Drawing, Example, Figure, Files, pages
from biasgrid.figures.frame import PAGE, empty_page, styled
from biasgrid.figures.layout import add_panels
from biasgrid.figures.palette import DASHED, GREY, MODEL_COLOURS, Look
from biasgrid.figures.rows import read_table
from biasgrid.figures.text import SMALL, unit_label
from biasgrid.figures.types.scatter import label_marks
from biasgrid.figures.visuals import few_ticks, legend_line, legend_mark
from biasgrid.files import slug
from biasgrid.numbers import coefficient, interval, plain, typographic

from ..cells import phenomena_of
from .phenomena import COLUMNS, columns_of, labels_of, units_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from biasgrid.planned import Planned

MOST = 9  # panels of a page
NAMED = 2  # phenomena that are named of each end
GAP, ASIDE = 0.5, 0.55
SIZE = np.array([(PAGE[0] - 0.2 - ASIDE - (COLUMNS - 1) * GAP) / COLUMNS, 1.9])
HEAD = 0.32  # inches at the top of a panel, for the correlations
MARK: Look = {"marker": "o", "markersize": 3, "color": MODEL_COLOURS[0], "alpha": 0.75, "markeredgewidth": 0}
FREQUENCY = "frequency"


@styled
def phenomenon_correlations(
    points: pd.DataFrame,
    correlations: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    quantity: str,
    panels: Sequence[tuple[str, ...]],
    neutral: Mapping[str, float],
) -> figure.Figure:
    """Scatter plots of phenomena, one panel per metric, model, debias method and model that the quantity is of.

    Parameters
    ----------
    points
        One row per point: phenomenon, metric, model, debias, of, value and number (the quantity).
    correlations
        The table, of whose rows those of the criterion and quantity count.
    labels
        What is printed for keys.
    criterion
        Whose phenomena they are.
    quantity
        "frequency", drawn on a scale of logarithms, or a metric of corpora.
    panels
        Metric, model and debias method, and the model that the quantity is of; without the latter, a panel for each.
        Those without points have none.
    neutral
        Metric -> the value that means no bias.
    """
    of_frequency = quantity == FREQUENCY
    what = "frequency of the words" if of_frequency else labels.get(quantity, quantity)
    title = f"{criterion}: the values and {what}"
    keys = ["metric", "model", "debias", "of"]
    by_unit = dict(iter(points.groupby(keys)))
    parts = {
        unit: by_unit[unit] for panel in map(tuple, panels) for unit in by_unit if unit[: len(panel)] == panel
    }
    if not parts:
        return empty_page(title, "no phenomenon has both.")
    rows = correlations[(correlations["criterion"] == criterion) & (correlations["quantity"] == quantity)]
    coefficients = {
        (*key, row.method): (row.correlation, row.ci_low, row.ci_high)
        for row in rows.itertuples()
        for key in [(row.metric, row.model, row.debias, row.of)]
    }
    heads = {
        str(i): (labels.get(unit[0], unit[0]), f"{_panel_name(unit, of_frequency, labels)}: n = {len(part)}")
        for i, (unit, part) in enumerate(parts.items())
    }
    axis = "mean occurrences of the words" if of_frequency else f"{what} in the corpus"
    note = (
        f"A dot is a phenomenon (a set of neutral words). Across: {axis}. Pearson's r and Spearman's ρ have 95 % "
        "intervals by bootstrap over phenomena. An interval that holds 0: the two need not go together."
        + (" Pearson's r is of occurrences, not of their logarithms." if of_frequency else "")
    )
    legend = [
        ("a phenomenon", legend_mark(**MARK)),
        ("neutral value", legend_line(color=GREY, linewidth=0.9, linestyle=DASHED["linestyle"])),
    ]
    columns = columns_of(len(heads))
    figure, panel_axes, _ = add_panels(
        title, note, heads, columns, SIZE, legend, gap=GAP, label_width=ASIDE, foot=0.45
    )
    for axes, (unit, part) in zip(panel_axes.values(), parts.items(), strict=True):
        _draw_points(axes, part, neutral[unit[0]], None if of_frequency else neutral[quantity], of_frequency)
        axes.set_xlabel(axis)
        look = {"bbox": {"boxstyle": "square,pad=0.05", "facecolor": "white", "linewidth": 0}, "size": SMALL}
        axes.text(0.03, 0.98, _panel_text(unit, coefficients), va="top", transform=axes.transAxes, **look)
    for axes in list(panel_axes.values())[::columns]:
        axes.set_ylabel("value")
    return figure


def _panel_name(unit: tuple[str, str, str, str], of_frequency: bool, labels: Mapping[str, str]) -> str:
    """What a panel's model is called, and the model that the quantity is of, where that is not plain."""
    _, model, debias, source = unit
    name = unit_label((model, debias), labels)
    if source == model:
        return name
    return f"{name}; {'frequency in' if of_frequency else 'beside'} {labels.get(source, source)}"


def _panel_text(
    unit: tuple[str, str, str, str], coefficients: Mapping[tuple, tuple[float, float, float]]
) -> str:
    """The correlations of a panel."""
    lines = []
    for method, sign in (("pearson", "r"), ("spearman", "ρ")):
        value, low, high = coefficients.get((*unit, method), (np.nan,) * 3)
        if np.isfinite(value):
            ends = interval(low, high, form=coefficient)
            lines.append(typographic(f"{sign} = {coefficient(value)} {ends}"))
    return "\n".join(lines)


def _draw_points(
    axes: Axes, part: pd.DataFrame, neutral: float, neutral_x: float | None, logarithms: bool
) -> None:
    points = part[["number", "value"]].to_numpy(dtype=float)
    if logarithms:
        axes.set_xscale("log")
        places = np.column_stack([np.log10(points[:, 0].clip(min=1e-9)), points[:, 1]])
    else:
        places = points
    low, high = places.min(axis=0), places.max(axis=0)
    room = np.where(high > low, 0.08 * (high - low), 0.5)
    low, high = low - room, high + room
    size = SIZE - (0, HEAD)
    top = high[1] + (high[1] - low[1]) * HEAD / size[1]
    axes.axhline(neutral, **DASHED)
    if neutral_x is not None:
        axes.axvline(neutral_x, **DASHED)
    axes.plot(points[:, 0], points[:, 1], linestyle="", zorder=3, **MARK)
    ends = 10.0 ** np.array([low[0], high[0]]) if logarithms else (low[0], high[0])
    axes.set(xlim=tuple(ends), ylim=(low[1], top))
    few_ticks(axes.yaxis, 4)
    if logarithms:
        _ticks_of_counts(axes.xaxis, low[0], high[0])
    else:
        few_ticks(axes.xaxis, 4)
    axes.spines["left"].set_visible(True)
    by_value = np.argsort(points[:, 1], kind="stable").tolist()
    extremes = list(dict.fromkeys([*by_value[:NAMED], *by_value[::-1][:NAMED]]))
    order = [*extremes, *(i for i in range(len(points)) if i not in extremes)]
    texts = [str(part["phenomenon"].iloc[i]) for i in extremes]
    label_marks(axes, points[order], texts, room=size, reach=0.9)


def _ticks_of_counts(axis: Axis, low: float, high: float) -> None:
    """Ticks of an axis of logarithms from low to high, as numbers; none so near the end that it would be clipped."""
    from matplotlib.ticker import FixedLocator, NullLocator

    steps = (1, 2, 5) if high - low < 1.5 else (1, 3)
    numbers = [step * 10.0**power for power in range(int(low) - 1, int(high) + 1) for step in steps]
    axis.set_major_locator(
        FixedLocator([x for x in numbers if low <= np.log10(x) < high - 0.08 * (high - low)])
    )
    axis.set_major_formatter(lambda x, _: plain(x))
    axis.set_minor_locator(NullLocator())


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    # imported late: a plan reads no table
    from ..tables.phenomena import values_of_phenomena
    from ..tables.phenomenon_correlations import join_quantities, quantities_of_phenomena

    values = values_of_phenomena(read_table(inputs["scores"]), spec["phenomena"]).dropna(subset="value")
    points = join_quantities(values, quantities_of_phenomena(inputs, values, spec), spec["corpora"])
    is_drawn = (points["criterion"] == spec["criterion"]) & (points["quantity"] == spec["quantity"])
    arguments = {key: spec[key] for key in ("labels", "criterion", "quantity", "panels", "neutral")}
    return phenomenon_correlations(
        points[is_drawn], read_table(inputs["phenomenon_correlations"]), **arguments
    )


def _drawings(study: Planned) -> Iterator[Drawing]:
    # imported late: most studies have no phenomena
    from ..tables.phenomenon_correlations import corpus_metrics, quantities_spec

    for criterion in phenomena_of(study):
        of_corpora = corpus_metrics(study, criterion)
        shared = {
            **quantities_spec(study),
            "labels": labels_of(study, criterion),
            "criterion": criterion,
            "neutral": {
                metric: study.metric(criterion, metric).neutral for metric in study.metrics(criterion)
            },
        }
        units = units_of(study, criterion)
        panels: dict[str, list[tuple[str, ...]]] = (
            {FREQUENCY: units} if study.grid.models_with_frequencies else {}
        )
        corpus_panels = [
            (*unit, corpus)
            for unit in units
            if unit[0] not in of_corpora
            for corpus in _corpora_of(study, unit[1], shared["corpora"])
        ]
        # the other metrics of corpora, and PMI with other parameters, count the same sentences
        pmi = next((key for key in of_corpora if study.metric(criterion, key).name == "pmi"), None)
        if corpus_panels and pmi:
            panels[pmi] = corpus_panels
        for quantity, quantity_panels in panels.items():
            name = f"phenomena-{slug(criterion)}-and-{quantity.replace('_', '-')}"
            for drawing_name, part in pages(name, quantity_panels, MOST):
                spec = {**shared, "quantity": quantity, "panels": [list(unit) for unit in part]}
                yield Drawing(drawing_name, spec=spec)


def _corpora_of(study: Planned, model: str, corpora: Sequence[str]) -> Sequence[str]:
    """The corpora beside whose bias that of a model is drawn: the one that it is trained on, else all."""
    corpus = study.models[model]["source"].get("corpus", {}).get("name")
    return [corpus] if corpus in corpora else corpora


def _sets_of_phenomena(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """The sets of phenomena, without those of the groups."""
    return {
        name: table[~table["set"].str.endswith(" terms")] if "set" in table else table
        for name, table in contents.items()
    }


FIGURES = (
    Figure(
        "phenomenon-correlations",
        "A metric's values of the phenomena beside the frequency of their words, and beside the bias of a corpus.",
        _drawings,
        _draw,
        reads=("scores", "frequency", "phenomenon_correlations"),
        needs="a criterion with phenomena, and a corpus or a model with counts of its words",
        reading="A dot is a phenomenon (a set of neutral words): across, how often its words occur on average, or "
        "its bias in a corpus; upwards, the metric's value. Dashed lines are neutral values. Named are the highest "
        "and the lowest values. If r or ρ is far from 0, and its interval does not hold 0, the metric's values go "
        "with frequency, or with the corpus.",
        example=Example(
            "thesis",
            "phenomena-gender-of-30-phenomena-and-frequency",
            {"criterion": "Gender of 30 phenomena", "metric": ["pmi", "direct_bias", "rnd"]},
            _sets_of_phenomena,
        ),
    ),
)

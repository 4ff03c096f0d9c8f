"""Figure of a metric's values over many sets of words, by the words' frequency or by the bias of a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.core.files import slug
from biasgrid.core.numbers import coefficient, interval, plain, typographic
from biasgrid.figures.figure import Drawing, Example, Figure, Files
from biasgrid.figures.frame import Frame, empty_page, styled
from biasgrid.figures.palette import COUNTED, DASHED, Look
from biasgrid.figures.questions import AGREEMENT
from biasgrid.figures.rows import column_of, read_table
from biasgrid.figures.text import LONGEST_HEAD, shorten, topic, unit_label
from biasgrid.figures.types.scatter import label_marks
from biasgrid.figures.visuals import few_ticks, legend_line, legend_mark

from ..cells import phenomena_of
from .phenomena import units_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from biasgrid.tables.planned import Planned

HEADING = "Values of phenomena and word frequency"
# Label this number of phenomena at each end of the values.
NAMED = 2
# Limit the distance of a label from its phenomenon, in inches.
REACH = 0.5
# Panels have this height in inches.
HEIGHT = 1.6
MARK: Look = {"marker": "o", "color": COUNTED, "alpha": 0.75}
FREQUENCY = "frequency"
METHOD = "spearman"


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
    """Draw scatter plots of phenomena, one panel per metric, model, debias method and source of the quantity.

    Parameters
    ----------
    points
        One row per point: phenomenon, metric, model, debias, of, value and number (the quantity).
    correlations
        phenomenon_correlations.csv. Only rows of the criterion and quantity are used.
    labels
        The printed text of each key.
    criterion
        The criterion of the phenomena.
    quantity
        "frequency", drawn on a logarithmic scale, or a metric of corpora.
    panels
        Metric, model, debias method and the model or corpus from which the quantity comes. Without the latter, there
        is a panel for each source. Panels without points are not drawn.
    neutral
        Metric -> the no-bias value.
    """
    of_frequency = quantity == FREQUENCY
    what = "frequency of the words" if of_frequency else labels.get(quantity, quantity)
    if of_frequency:
        # Words that do not occur cannot be drawn on a logarithmic scale.
        points = points[points["number"] > 0]
    by_unit = dict(iter(points.groupby(["metric", "model", "debias", "of"])))
    parts = {
        unit: by_unit[unit] for panel in map(tuple, panels) for unit in by_unit if unit[: len(panel)] == panel
    }
    if not parts:
        return empty_page(HEADING, "no phenomenon has both.")
    rows = correlations[(correlations["criterion"] == criterion) & (correlations["quantity"] == quantity)]
    rows = rows[rows["method"] == METHOD].set_index(["metric", "model", "debias", "of"])
    heads = {
        unit: f"{labels.get(unit[0], unit[0])}\n{_panel_name(unit, of_frequency, labels)}\n"
        + ", ".join([f"n = {len(part)}", *_coefficient(rows, unit)])
        for unit, part in parts.items()
    }
    axis = "mean occurrences of the words" if of_frequency else f"{what} in the corpus"
    page = Frame(
        _finding(rows.loc[rows.index.isin(parts)], what),
        f"{topic(criterion)}: values of phenomena by {what}",
        [
            "A dot is a phenomenon (a set of neutral words). If the interval of ρ includes 0, there is no clear "
            "correlation.",
            "Spearman's ρ has a 95 % interval by bootstrap over phenomena. Pearson's r is in the table.",
        ],
    )
    panel_axes = page.panels(heads, HEIGHT, labels=0.3, least=1.7, bold=False)
    for unit, axes in panel_axes.items():
        _draw_points(axes, parts[unit], neutral[unit[0]], None if of_frequency else neutral[quantity])
        axes.set(xlabel=axis, ylabel="")
    figure = page.done(
        [
            ("value of a phenomenon", legend_mark(**MARK, markersize=3, markeredgewidth=0)),
            ("no-bias value", legend_line(**DASHED)),
        ]
    )
    for unit, axes in panel_axes.items():
        _name_extremes(axes, parts[unit])
    return figure


def _finding(rows: pd.DataFrame, what: str) -> str:
    """Return the title: the number of correlations whose interval excludes 0."""
    known = rows.dropna(subset=["correlation", "ci_low"])
    if known.empty:
        return HEADING
    clear = int(((known["ci_low"] > 0) | (known["ci_high"] < 0)).sum())
    with_what = "word frequency" if what.startswith("frequency") else shorten(what, LONGEST_HEAD)
    return f"{clear or 'None'} of {len(known)} correlations with {with_what} {'is' if clear < 2 else 'are'} clear"


def _panel_name(unit: tuple[str, str, str, str], of_frequency: bool, labels: Mapping[str, str]) -> str:
    """Return the label of a panel's model, with the source of the quantity if it is another model or corpus."""
    _, model, debias, source = unit
    name = unit_label((model, debias), labels)
    if source == model:
        return name
    return f"{name}; {'frequency in' if of_frequency else 'beside'} {labels.get(source, source)}"


def _coefficient(rows: pd.DataFrame, unit: tuple[str, str, str, str]) -> list[str]:
    """Return the text of a panel's correlation, or an empty list if there is none."""
    if unit not in rows.index or np.isnan(rows.loc[unit, "correlation"]):
        return []
    value, low, high = rows.loc[unit, ["correlation", "ci_low", "ci_high"]]
    return [typographic(f"ρ = {coefficient(value)} {interval(low, high, form=coefficient)}")]


def _draw_points(axes: Axes, part: pd.DataFrame, neutral: float, neutral_x: float | None) -> None:
    """Draw the points. Without a no-bias value `neutral_x`, the horizontal scale is logarithmic."""
    import seaborn

    if neutral_x is None:
        axes.set_xscale("log")
        # Remove minor ticks first, because seaborn labels all ticks, even if they are replaced below.
        axes.minorticks_off()
    else:
        axes.axvline(neutral_x, **DASHED)
    axes.axhline(neutral, **DASHED)
    seaborn.scatterplot(part, x="number", y="value", ax=axes, s=11, linewidth=0, zorder=3, **MARK)
    axes.margins(0.08)
    few_ticks(axes.yaxis, 4)
    if neutral_x is None:
        _ticks_of_counts(axes.xaxis, *np.log10(axes.get_xlim()))
    else:
        few_ticks(axes.xaxis, 4)
    axes.spines["left"].set_visible(True)


def _name_extremes(axes: Axes, part: pd.DataFrame) -> None:
    by_value = np.argsort(part["value"].to_numpy(), kind="stable").tolist()
    extremes = list(dict.fromkeys([*by_value[:NAMED], *by_value[::-1][:NAMED]]))
    order = [*extremes, *(i for i in range(len(part)) if i not in extremes)]
    texts = [str(part["phenomenon"].iloc[i]) for i in extremes]
    label_marks(axes, part[["number", "value"]].to_numpy(dtype=float)[order], texts, reach=REACH)


def _ticks_of_counts(axis: Axis, low: float, high: float) -> None:
    """Set the ticks of a logarithmic axis from low to high, as numbers that are not clipped at the end."""
    from matplotlib.ticker import FixedLocator, NullLocator

    steps = (1, 2, 5) if high - low < 1.5 else (1, 3)
    numbers = [step * 10.0**power for power in range(int(low) - 1, int(high) + 1) for step in steps]
    axis.set_major_locator(
        FixedLocator([x for x in numbers if low <= np.log10(x) < high - 0.08 * (high - low)])
    )
    axis.set_major_formatter(lambda x, _: plain(x))
    axis.set_minor_locator(NullLocator())


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    # Import late, because planning does not read tables.
    from ..tables.phenomena import values_of_phenomena
    from ..tables.phenomenon_correlations import join_quantities, quantities_of_phenomena

    scores = read_table(inputs["scores"])
    column_of(scores, "phenomenon-correlations", "query_id")
    values = values_of_phenomena(scores, spec["phenomena"]).dropna(subset="value")
    points = join_quantities(values, quantities_of_phenomena(inputs, values, spec), spec["corpora"])
    is_drawn = (points["criterion"] == spec["criterion"]) & (points["quantity"] == spec["quantity"])
    arguments = {key: spec[key] for key in ("labels", "criterion", "quantity", "panels", "neutral")}
    return phenomenon_correlations(
        points[is_drawn], read_table(inputs["phenomenon_correlations"]), **arguments
    )


def _drawings(study: Planned) -> Iterator[Drawing]:
    # Import late, because most studies do not have phenomena.
    from ..tables.phenomenon_correlations import corpus_metrics, quantities_spec

    for criterion in phenomena_of(study):
        of_corpora = corpus_metrics(study, criterion)
        shared = {
            **quantities_spec(study),
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
        # Draw only one PMI: other metrics of corpora, and PMI with other parameters, count the same sentences.
        pmi = next((key for key in of_corpora if study.metric(criterion, key).name == "pmi"), None)
        if corpus_panels and pmi:
            panels[pmi] = corpus_panels
        for quantity, quantity_panels in panels.items():
            name = f"phenomena-{slug(criterion)}-and-{quantity.replace('_', '-')}"
            spec = {**shared, "quantity": quantity, "panels": [list(unit) for unit in quantity_panels]}
            yield Drawing(name, spec=spec)


def _corpora_of(study: Planned, model: str, corpora: Sequence[str]) -> Sequence[str]:
    """Return the corpora with which a model is compared: the corpus on which it is trained, otherwise all."""
    corpus = study.models[model]["source"].get("corpus", {}).get("name")
    return [corpus] if corpus in corpora else corpora


def _sets_of_phenomena(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables with only the rows of phenomena, without the sets of the groups."""
    return {
        name: table[~table["set"].str.endswith(" terms")] if "set" in table else table
        for name, table in contents.items()
    }


FIGURES = (
    Figure(
        "phenomenon-correlations",
        "A metric's values of the phenomena beside the frequency of their words, and beside the bias of a corpus.",
        _draw,
        question=AGREEMENT,
        heading=HEADING,
        asks="Are values correlated with frequency, or with the bias of a corpus?",
        learn="You learn whether a metric follows frequency or the bias of the text.",
        drawings=_drawings,
        reads=("scores", "frequency", "phenomenon_correlations"),
        facts=("labels",),
        needs="a criterion with phenomena, and a corpus or a model with counts of its words",
        reading="A dot is a phenomenon (a set of neutral words): its value (upwards) by frequency or by bias "
        "in a corpus (across). If the interval of ρ excludes 0, the metric follows it.",
        example=Example(
            "thesis",
            "phenomena-gender-of-30-phenomena-and-frequency",
            {"criterion": "Gender of 30 phenomena", "metric": ["pmi", "direct_bias", "rnd"]},
            _sets_of_phenomena,
        ),
    ),
)

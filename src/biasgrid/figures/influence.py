"""Figure of leave-one-out influence: the words without which a score changes most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import slug
from ..labels import sic
from ..numbers import typeset
from .figure import Drawing, Example, Figure, cells_of, labels
from .frame import MARGIN, PAGE, empty_page, styled
from .layout import add_axes, page
from .palette import DASHED, ZEBRA, Look, unit_looks
from .questions import SCORES
from .rows import from_tables, rows_of, units_of
from .text import SMALL, fit_text, line_count, shorten, text_width, unit_label
from .visuals import few_ticks, legend_line, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..planned import Planned

WORDS = 10  # of a figure
KEYS = ["query", "metric", "model", "debias"]
NAME = 2.6  # inches at most that a row's name takes
LANE = 0.075  # inches of a model's marks in a row
LONGEST = 7.0  # inches of all rows at most
FARTHEST = 5.0  # standard errors: what is farther is cut off


@styled
def influence(
    influence: pd.DataFrame, intervals: pd.DataFrame, labels: Mapping[str, str], criterion: str, metric: str
) -> figure.Figure:
    """The ten most influential words of a metric's scores of a criterion, from influence.csv and intervals.csv.

    One row per word of a set in a (sub-)query, in it one line and mark per model: how far the score moves when the
    word is left out (of a metric of pairs: the pair), in bootstrap standard errors of that score, positive where the
    score becomes higher. Rows are sorted by their farthest mark; one beyond FARTHEST is cut off, with an arrow and
    its number. Without rows the figure says so. Raises BiasgridError where the table has no rows of the criterion.
    """
    title = f"{criterion}: words that move {labels.get(metric, metric)} most"
    table = rows_of(influence, "influence", criterion)
    table = table[table["metric"] == metric]
    if table.empty:
        return empty_page(
            title, f"no score of {labels.get(metric, metric)} has a value without one of its words."
        )
    errors = _standard_errors(intervals[intervals["criterion"] == criterion])
    table = table.merge(errors, on=KEYS, how="left")
    # where all resamples have one value there is no unit
    shifts = table["influence"] / table["standard_error"].where(table["standard_error"] > 0)
    finite_rows = table.assign(moved=shifts)[np.isfinite(shifts)]
    if finite_rows.empty:
        return empty_page(title, "no score has a standard error (bootstrap over words).")
    units = units_of(influence)
    looks = unit_looks(units)
    names = ["query", "set", "word"]
    farthest = finite_rows["moved"].abs().groupby([finite_rows[name] for name in names]).max().reset_index()
    farthest = farthest.sort_values(["moved", *names], ascending=[False, True, True, True]).head(WORDS)
    rows = list(farthest[names].itertuples(index=False, name=None))
    part = finite_rows[finite_rows[names].apply(tuple, axis=1).isin(rows)]
    drawn_units = units_of(part)
    texts = [
        f"{shorten(word, 30)} ({shorten(sic(name), 40)})\n{fit_text(shorten(sic(query), 160), NAME, SMALL)}"
        for query, name, word in rows
    ]
    height = max(max(map(line_count, texts)) * 0.115, len(drawn_units) * LANE) + 0.08
    height = min(height, LONGEST / len(rows))
    left = max(text_width(text, SMALL) for text in texts) + 0.1
    legend = [(unit_label(unit, labels), legend_line(**looks[unit])) for unit in drawn_units]
    if (part["moved"].abs() > FARTHEST).any():
        legend.append((f"→ cut off: farther than {FARTHEST:g}, the number says how far", no_mark()))
    note = (
        "How far a score moves when one word is left out (of pairs: with its partner), in standard errors of that "
        f"score (bootstrap over words); to the right, it rises. The {len(rows)} words that move a score farthest."
    )
    lost = table[[*KEYS]][~np.isfinite(shifts)].drop_duplicates()
    if len(lost):
        score_count = len(table[[*KEYS]].drop_duplicates())
        note += (
            f" Left out: {len(lost)} of {score_count} scores, which have no standard error or no value "
            "without a word."
        )
    if len(part) < len(rows) * len(drawn_units):
        note += " A model without a mark in a row has no score of that query, or not that word."
    figure, top = page(title, note, legend, PAGE[0], len(rows) * height + 0.46)
    axes = add_axes(
        figure, MARGIN + left, top, figure.get_figwidth() - 2 * MARGIN - left - 0.15, len(rows) * height
    )
    for row in range(0, len(rows), 2):
        axes.axhspan(row - 0.5, row + 0.5, color=ZEBRA, linewidth=0, zorder=0)
    axes.axvline(0, **DASHED)
    positions = {row: y for y, row in enumerate(rows)}
    y = np.array([positions[row] for row in part[names].itertuples(index=False, name=None)])
    # lines of a row, one per model, so that no mark hides another
    lane = min(LANE / height, 0.86 / len(drawn_units))
    for i, unit in enumerate(drawn_units):
        is_unit = ((part["model"] == unit[0]) & (part["debias"] == unit[1])).to_numpy()
        middle = (i - (len(drawn_units) - 1) / 2) * lane
        _marks(axes, part["moved"].to_numpy()[is_unit], y[is_unit] + middle, looks[unit])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    reach = min(part["moved"].abs().max(), FARTHEST)
    low, high = np.clip(part["moved"], -reach, reach).min(), np.clip(part["moved"], -reach, reach).max()
    room = 0.06 * (max(high, 0) - min(low, 0))
    axes.set_xlim(min(low, 0) - room, max(high, 0) + room)
    axes.set_yticks(range(len(rows)), texts)
    axes.tick_params(axis="y", length=0)
    few_ticks(axes.xaxis, 5)
    axes.set_xlabel("change in standard errors", labelpad=1)
    return figure


def _marks(axes: Axes, x: np.ndarray, y: np.ndarray, look: Mapping[str, Any]) -> None:
    """Marks of a model; one that is too far stands at the end, with an arrow and its number."""
    axes.plot(np.clip(x, -FARTHEST, FARTHEST), y, zorder=3, **look)
    for value, place in zip(x, y, strict=True):
        if abs(value) > FARTHEST:
            right = value > 0
            text = f"{typeset(value)} →" if right else f"← {typeset(value)}"
            end, offset = (FARTHEST, (-6, 0)) if right else (-FARTHEST, (10, 0))
            side: Look = {"ha": "right" if right else "left", "va": "center", "size": SMALL}
            axes.annotate(text, (end, place), offset, textcoords="offset points", **side)


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.ranked_criteria:
        cells = cells_of(study, [criterion])
        # a figure per metric: one of all would be taller than a page
        for metric in dict.fromkeys(cell.metric for cell in cells):
            metric_labels = labels(study, [cell for cell in cells if cell.metric == metric])
            spec = {"labels": metric_labels, "criterion": criterion, "metric": metric}
            yield Drawing(f"influence-{slug(criterion)}-{metric}", spec=spec)


def _standard_errors(intervals: pd.DataFrame) -> pd.DataFrame:
    """Of each score, over words."""
    return intervals.loc[intervals["kind"] == "jackknife", [*KEYS, "standard_error"]].drop_duplicates(KEYS)


def _words_named(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """The rows of the ten words that the figure names."""
    errors = _standard_errors(contents["intervals"])
    table = contents["influence"].merge(errors, on=KEYS, how="left")
    moved = (table["influence"] / table["standard_error"]).abs()
    farthest = moved.groupby([table[name] for name in ("query", "set", "word")]).max().nlargest(WORDS)
    is_named = contents["influence"].set_index(["query", "set", "word"]).index.isin(farthest.index)
    return contents | {"influence": contents["influence"][is_named]}


FIGURES = (
    Figure(
        "influence",
        "The words that move a metric's scores most: how each score changes when a word is left out.",
        from_tables(influence),
        question=SCORES,
        drawings=_drawings,
        reads=("influence", "intervals"),
        when="bootstrap and sensitivity",
        needs="inference with a bootstrap and sensitivity",
        reading="One figure per criterion and metric. Rows are words in a query, marks are models: how far the "
        "score moves when this word is left out, in standard errors of the score. To the right, the score "
        "rises. A mark beyond 1 or -1 is a score that hangs on a single word.",
        example=Example(
            "embedded",
            "influence-gender-weat_es",
            {"criterion": "Gender", "metric": "weat_es", "kind": "jackknife"},
            _words_named,
        ),
    ),
)

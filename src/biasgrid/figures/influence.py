"""Figure of leave-one-out influence: the words without which a score changes most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.files import slug
from ..core.labels import sic
from ..core.numbers import typeset
from .figure import Drawing, Example, Figure, cells_of
from .frame import Frame, empty_page, styled
from .palette import in_order, unit_looks
from .questions import SCORES
from .rows import from_tables, keys_of, rows_of, rows_where, units_of
from .text import SMALL, count_noun, fit_text, shared_half, shorten, topic, unit_label
from .types.rows import height, rows
from .visuals import few_ticks, legend_of, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

# Largest number of words in a figure.
WORDS = 10
HEADING = "Influence of single words"
KEYS = ["query", "metric", "model", "debias"]
ROW = ["query", "set", "word"]
# Largest share of the width for the name of a row.
NAME = 0.36
# In standard errors; larger changes are cut off.
FARTHEST = 5.0


@styled
def influence(
    influence: pd.DataFrame, intervals: pd.DataFrame, labels: Mapping[str, str], criterion: str, metric: str
) -> figure.Figure:
    """Draw the ten most influential words of a metric's scores of a criterion, from influence.csv and intervals.csv.

    There is a row per word of a set in a (sub-)query, with a line and a mark per model. The mark is the change of the
    score without the word (for a metric of pairs: without the pair). The unit is the bootstrap standard error of that
    score; positive means that the score becomes higher. Rows are sorted by their largest change. A change beyond
    FARTHEST is cut off, with an arrow and its number. Without rows of the metric, the figure has a sentence instead.
    Raises BiasgridError if the table lacks rows of the criterion.
    """
    label = labels.get(metric, metric)
    subtitle = f"{topic(criterion)}, {shorten(label)}: change of a score when a word is left out"
    table = rows_where(rows_of(influence, "influence", criterion=criterion), metric=metric)
    if table.empty:
        return empty_page(HEADING, f"no score of {label} has a value without one of its words.")
    errors = _standard_errors(rows_where(intervals, criterion=criterion))
    table = table.merge(errors, on=KEYS, how="left")
    # A standard error of 0 cannot be a unit: all resamples have one value.
    table["moved"] = table["influence"] / table["standard_error"].where(table["standard_error"] > 0)
    known = table[np.isfinite(table["moved"])]
    if known.empty:
        return empty_page(HEADING, "no score has a standard error (bootstrap over words).")
    farthest = known["moved"].abs().groupby([known[name] for name in ROW]).max().reset_index()
    farthest = farthest.sort_values(["moved", *ROW], ascending=[False, True, True, True]).head(WORDS)
    words = keys_of(farthest, *ROW)
    drawn = known.assign(
        row=keys_of(known, *ROW), series=keys_of(known), value=known["moved"].clip(-FARTHEST, FARTHEST)
    )
    drawn = drawn[drawn["row"].isin(words)]
    looks = unit_looks(units_of(influence))
    looks = {unit: looks[unit] for unit in in_order(drawn["series"])}
    shared, queries = shared_half([query for query, *_ in words])
    notes = [
        "A mark shows how far a model's score moves without the word, in bootstrap standard errors of that "
        "score; to the "
        "right, it rises.",
        f"Drawn are the {count_noun(len(words), 'word')} that move a score farthest.",
        "Of a metric of pairs, a word is left out with its partner.",
        *([f"All are of {shared}."] if shared else []),
        "A move has no interval: it is exact for these words.",
    ]
    scores = table.groupby(KEYS)["moved"].apply(lambda moved: np.isfinite(moved).all())
    if not scores.all():
        notes += [
            f"Left out: {(~scores).sum()} of {len(scores)} scores, which have no standard error or no value "
            "without a "
            "word."
        ]
    if len(drawn) < len(words) * len(looks):
        notes += ["A model without a mark in a row has no score of that query, or not that word."]
    first = farthest.iloc[0]
    moves = f"Without “{shorten(first['word'], 20)}”, a score moves by {typeset(first['moved'], 2)} standard errors"
    page = Frame(moves, subtitle, notes)
    names = {
        row: f"{shorten(row[2], 30)} ({shorten(sic(row[1]), 40)})\n"
        + fit_text(shorten(query, 60), NAME * page.width, SMALL)
        for row, query in zip(words, queries, strict=True)
    }
    cut = drawn[drawn["moved"].abs() > FARTHEST]
    # Numbers next to each other at the end of a row need more room than marks.
    lanes = 1.7 if cut.duplicated(["row", "value"]).any() else 1.0
    axes = page.panel(height(names, lanes * len(looks)))
    places = rows(axes, drawn, names, looks, neutral=0)
    for row in cut.itertuples():
        text, side = (
            (f"{typeset(row.moved)} →", "right") if row.moved > 0 else (f"← {typeset(row.moved)}", "left")
        )
        offset = (-6 if row.moved > 0 else 10, 0)
        axes.annotate(
            text,
            (row.value, places[row.row, row.series]),
            offset,
            textcoords="offset points",
            ha=side,
            va="center",
            size=SMALL,
        )
    axes.margins(x=0.06)
    few_ticks(axes.xaxis, 5)
    axes.set_xlabel("change in standard errors", labelpad=1)
    legend = legend_of(looks, {unit: unit_label(unit, labels) for unit in looks})
    if len(cut):
        legend.append((f"→ beyond {FARTHEST:g}: the number shows how far", no_mark()))
    return page.done(legend)


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.ranked_criteria:
        for metric in dict.fromkeys(cell.metric for cell in cells_of(study, [criterion])):
            spec = {"criterion": criterion, "metric": metric}
            yield Drawing(f"influence-{slug(criterion)}-{metric}", spec=spec)


def _standard_errors(intervals: pd.DataFrame) -> pd.DataFrame:
    """Return the standard error of each score over words."""
    return rows_where(intervals, kind="jackknife")[[*KEYS, "standard_error"]].drop_duplicates(KEYS)


def _words_named(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the rows of the ten words that the figure names."""
    errors = _standard_errors(contents["intervals"])
    table = contents["influence"].merge(errors, on=KEYS, how="left")
    moved = (table["influence"] / table["standard_error"]).abs()
    farthest = moved.groupby([table[name] for name in ROW]).max().nlargest(WORDS)
    is_named = contents["influence"].set_index(ROW).index.isin(farthest.index)
    return contents | {"influence": contents["influence"][is_named]}


FIGURES = (
    Figure(
        "influence",
        "The words that influence each score most.",
        from_tables(influence),
        question=SCORES,
        heading=HEADING,
        asks="How much does each word influence the score?",
        learn="You learn whether a score depends on single words.",
        drawings=_drawings,
        reads=("influence", "intervals"),
        when="bootstrap and sensitivity",
        facts=("labels",),
        needs="inference with a bootstrap and sensitivity",
        reading="A mark shows how far a model's score moves, in standard errors, without the word of "
        "its row. Beyond 1 or -1, the score depends on that word.",
        example=Example(
            "embedded",
            "influence-gender-weat_es",
            {"criterion": "Gender", "metric": "weat_es", "kind": "jackknife"},
            _words_named,
        ),
    ),
)

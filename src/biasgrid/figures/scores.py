"""Figures of scores by query: one for each metric on each criterion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import BiasgridError, unknown_name
from ..core.files import slug
from ..debias import UNTOUCHED
from ..measure.evidence import ALL, GROUPS, MARKS, NONE, OUT_OF_REACH, PERMUTATION, UNTESTED
from .figure import Drawing, Example, Figure, cells_of, page_name
from .frame import PAGE, Frame, styled
from .palette import (
    ABOVE,
    BELOW,
    INK,
    MISSING_CELL,
    Look,
    add_letters,
    in_order,
    method_letters,
    model_looks,
    open_mark,
    series_mark,
)
from .questions import SCORES
from .rows import from_tables, rows_of, rows_where, units_of, why
from .text import method_name, percent, query_label, shorten, topic, wrap_text
from .types.rows import height, rows, width
from .visuals import few_ticks, legend_area, legend_interval, legend_line, legend_neutral, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.artist import Artist

    from ..tables.planned import Cell, Planned

# The question of the test behind a column of p-values.
QUESTIONS = {
    "p_value": "The permutation test asks whether it matters which set a word is in; most sets of similar words "
    "differ in this way.",
    "p_groups": "The random-word baseline asks whether the score is more biased than with random groups of the "
    "model's words, as large and as coherent as the query's.",
}
MARK_NAMES = {
    "full": "filled",
    "half": "half-filled",
    "open": "open",
    "dot": "dot",
    "": "small and open",
}
# Meaning of a score's mark.
MEANINGS = {
    ALL: "significant in every test",
    PERMUTATION: "permutation test only",
    GROUPS: "random-word baseline only",
    NONE: "not significant",
    OUT_OF_REACH: "too few words or draws to be significant",
    UNTESTED: "not tested",
}
# The side of the filled half.
SIDES = {PERMUTATION: "left", GROUPS: "right"}
DRAWN = (UNTESTED, OUT_OF_REACH, NONE, GROUPS, PERMUTATION, ALL)
COLUMNS = ("evidence", "tests", *QUESTIONS, "ci_low", "ci_high")
NUMBERS = ["value", "ci_low", "ci_high"]
# Models whose distance from the no-bias value exceeds all others' by this factor have their own scale.
FAR = 4
# Sides of the no-bias value.
IS_ABOVE, IS_BELOW = "above", "below"
DOTTED = (0, (1, 1))
# The start of entries of `signs` for metrics without a sign.
UNSIGNED = "no sign"
HEADING = "Scores of every query"
# Number of queries that fit on a page with any names.
FEW = 12
# Inches of the rows of a page: the rest is for heads, the axis, the legend and the text.
ROOM = PAGE[1] - 2.6


@styled
def scores(
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    metric: str,
    neutral: Mapping[str, float],
    level: float = 0.95,
    signs: Mapping[str, str] | None = None,
    only: Sequence[str] = (),
) -> figure.Figure:
    """Draw every score of a metric on a criterion: a column per model, a row per (sub-)query.

    A debiased model's marks are below the marks of the original one, with the letter of its method. The dashed line
    is the metric's no-bias value. The row of a NaN score is hatched, with the reason in words. The panels share one
    scale, except for models that are so far out that the others would not be visible. A mark's fill shows the
    evidence of its score, from the table's column `evidence`, by `measure.evidence.MARKS`. A table without the
    column lacks tests.

    Parameters
    ----------
    scores
        scores.csv. The ends ci_low and ci_high, if present, are a line through the mark.
    labels
        Labels of the keys of metrics, models and debias methods.
    criterion, metric
        Their keys.
    neutral
        No-bias values by metric key.
    level
        Level of the intervals.
    signs
        Metric key -> meaning of a sign. Scores on both sides of the no-bias value then differ in hue.
    only
        The queries of one of several pages.

    Raises
    ------
    BiasgridError
        If the table lacks rows of the criterion and metric, or if the metric lacks a no-bias value.
    """
    table = rows_of(scores, "scores", criterion=criterion, metric=metric)
    # Add columns that a table of a study without inference, or of older code, may lack.
    table = table.reindex(columns=dict.fromkeys([*table, *COLUMNS]))
    table["evidence"] = table["evidence"].where(table["evidence"].notna(), UNTESTED)
    if metric not in neutral:
        raise BiasgridError(f"scores: no no-bias value: {unknown_name('metric', metric, neutral)}")
    if only:
        table = table[table["query"].isin(only)]
    units = in_order(units_of(table))
    models = list(dict.fromkeys(model for model, _ in units))
    # Use all models of the table, so that a model's look does not depend on the criterion.
    shapes = model_looks(scores["model"])
    names = row_names(table["query"])
    letters = method_letters(units)
    sign = (signs or {}).get(metric, UNSIGNED)
    has_sign = not sign.startswith(UNSIGNED)
    label = labels.get(metric, metric)
    page = Frame(
        _finding(table), f"{topic(criterion)}, {shorten(label)}", _notes(table, label, level, sign, signs)
    )
    panels = page.panels(
        {model: labels.get(model, model) for model in models},
        height(names, 1 + len(letters)),
        labels=width(names),
        least=0.9,
    )
    far = _far(table, neutral[metric])
    limits = _limits(table[~table["model"].isin(far)], neutral[metric])
    for model, axes in panels.items():
        marks = _marks(rows_where(table, model=model), neutral[metric], has_sign)
        looks = _looks(shapes[model], letters)
        places = rows(axes, marks, names, looks, neutral=neutral[metric])
        for mark in marks[(marks["debias"] != UNTOUCHED) & marks["value"].notna()].itertuples():
            place = mark.value, places[mark.row, mark.series]
            add_letters(axes, *place, looks[mark.series], letters[mark.debias], clip_on=False)
        if model in far:
            axes.spines["bottom"].set_linestyle(DOTTED)
            axes.margins(x=0.08)
        else:
            axes.set_xlim(*limits)
        few_ticks(axes.xaxis, 3)
    return page.done(_legend(table, labels, letters, level, has_sign, bool(far)))


def _finding(table: pd.DataFrame) -> str:
    """Return the title: how many scores are significant."""
    evidence = table.loc[table["value"].notna(), "evidence"]
    if not len(evidence) or set(evidence) == {UNTESTED}:
        return HEADING
    tests = "its only test" if set(table["tests"]) == {1} else "every test"
    count, total = int((evidence == ALL).sum()), len(evidence)
    if not count:
        return f"None of {total} scores is significant in {tests}"
    return f"{count} of {total} scores {'is' if count == 1 else 'are'} significant in {tests}"


def _notes(
    table: pd.DataFrame, label: str, level: float, sign: str, signs: Mapping[str, str] | None
) -> list[str]:
    """Return how to read the figure, the meaning of a sign, and the tests."""
    line = f", with its {percent(level)} interval over words" if table["ci_low"].notna().any() else ""
    notes = [f"A mark is the score of a query and a model{line}."]
    if signs:
        notes += [f"{label}: {sign.rstrip('.')}."]
    return notes + [QUESTIONS[column] for column in QUESTIONS if table[column].notna().any()]


def row_names(queries: Iterable[str]) -> dict[str, str]:
    """Return the names of the rows of queries, with a heading row for queries of the same target sets."""
    halves = [(query, *query.partition(" wrt ")[::2]) for query in sorted(set(queries))]
    names: dict[str, str] = {}
    for query, targets, attributes in halves:
        if sum(other == targets for _, other, _ in halves) == 1 or not attributes:
            names[query] = query_label(query)
        else:
            names.setdefault(f"{targets} wrt", wrap_text(shorten(f"{targets} wrt"), 42))
            names[query] = query_label(attributes)
    return names


def _far(table: pd.DataFrame, neutral: float) -> set[str]:
    """Return the models that would dwarf all others' scores (models with long vectors: RND, RIPA)."""
    reach = (table[NUMBERS].astype(float) - neutral).abs().max(axis=1)
    longest = reach.groupby(table["model"]).max().dropna().sort_values(ascending=False)
    # Find the widest gap among the half of the models that is furthest out.
    steps = (longest.to_numpy()[:-1] / np.maximum(longest.to_numpy()[1:], 1e-12))[: len(longest) // 2]
    return set(longest.index[: steps.argmax() + 1]) if len(steps) and steps.max() >= FAR else set()


def _limits(table: pd.DataFrame, neutral: float) -> tuple[float, float]:
    """Return the scale that models share."""
    reach = table[NUMBERS].astype(float)
    low, high = np.nanmin([reach.min(axis=None), neutral]), np.nanmax([reach.max(axis=None), neutral])
    pad = 0.08 * (high - low) or 1.0
    return low - pad, high + pad


def _marks(part: pd.DataFrame, neutral: float, has_sign: bool) -> pd.DataFrame:
    """Return a model's scores of a metric, in the format of `types.rows`."""
    sides = [(part["value"] > neutral) & has_sign, (part["value"] < neutral) & has_sign]
    side = np.select(sides, [IS_ABOVE, IS_BELOW], "")
    marks = part[["debias", "value", "ci_low", "ci_high"]].astype(dict.fromkeys(NUMBERS, float))
    series = list(zip(part["debias"], side, part["evidence"], strict=True))
    return marks.assign(row=part["query"], series=series, says=why(part["status"]))


def _looks(look: Look, letters: Mapping[str, str]) -> dict[tuple[str, str, str], Look]:
    """Return a model's marks by debias method, side of the no-bias value and evidence, in the colour of the side."""
    colours = {"": INK, IS_ABOVE: ABOVE, IS_BELOW: BELOW}
    return {
        (debias, side, verdict): _mark_look(look | {"color": colour}, verdict)
        for debias in (UNTOUCHED, *letters)
        for side, colour in colours.items()
        for verdict in DRAWN
    }


def _legend(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    letters: Mapping[str, str],
    level: float,
    has_sign: bool,
    has_own_scale: bool,
) -> list[tuple[str, Artist]]:
    mark = series_mark(0) | {"color": INK}
    legend = [legend_neutral("no-bias value")]
    if has_sign:
        legend += [("above it", legend_line(**mark | {"color": ABOVE}))]
        legend += [("below it", legend_line(**mark | {"color": BELOW}))]
    if table["ci_low"].notna().any():
        legend += [legend_interval(level, "interval")]
    for verdict in reversed(DRAWN):
        if verdict in set(table.loc[table["value"].notna(), "evidence"]):
            text = f"{MARK_NAMES[MARKS[verdict]]}: {MEANINGS[verdict]}"
            legend.append((text, legend_line(**_mark_look(mark, verdict))))
    legend += [
        (f"{letter}: after {method_name(labels.get(debias, debias))}", no_mark())
        for debias, letter in letters.items()
    ]
    if has_own_scale:
        legend.append(("axis of its own scale", legend_line(color="black", linewidth=0.8, linestyle=DOTTED)))
    if table["value"].isna().any():
        legend.append(("no score", legend_area(**MISSING_CELL)))
    return legend


def _mark_look(look: Look, verdict: str) -> Look:
    """Return the look of a mark for the evidence of its score."""
    size = 0.55 * look["markersize"]
    side = {"fillstyle": SIDES.get(verdict, "full"), "markerfacecoloralt": "white"}
    looks: dict[str, Look] = {
        "full": look,
        "half": open_mark(look, 0.9) | side | {"markerfacecolor": look["color"]},
        "open": open_mark(look, 0.9),
        "dot": look | {"markersize": size, "markeredgewidth": 0},
        "": open_mark(look, 0.6) | {"markersize": size},
    }
    return looks[MARKS[verdict]]


# Cache the pages, because several metrics are measured on the same queries.
@lru_cache
def _pages(queries: tuple[str, ...], lanes: int) -> list[list[str]]:
    """Return queries by page, as many on each as fit."""
    tall = height(row_names(queries), lanes) if len(queries) > FEW else 0.0
    return [part.tolist() for part in np.array_split(sorted(queries), max(1, ceil(tall / ROOM)))]


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.ranked_criteria or study.config.criteria:
        cells: dict[str, list[Cell]] = {}
        for cell in cells_of(study, [criterion]):
            cells.setdefault(cell.metric, []).append(cell)
        for metric, of_metric in cells.items():
            template = study.metric(criterion, metric).template
            queries = [
                query.name
                for name in dict.fromkeys(cell.query for cell in of_metric)
                for query in study.queries[name].subqueries(template)
            ]
            methods = {cell.debias for cell in of_metric} - {UNTOUCHED}
            pages = _pages(tuple(dict.fromkeys(queries)), 1 + len(methods))
            for i, page in enumerate(pages):
                spec = {"criterion": criterion, "metric": metric}
                spec |= {"only": page} if len(pages) > 1 else {}
                yield Drawing(page_name(f"scores-{slug(criterion)}-{metric}", i), spec=spec)


FIGURES = (
    Figure(
        "scores",
        "Every score of a metric on a topic: a column per model, a row per query.",
        from_tables(scores),
        question=SCORES,
        heading=HEADING,
        asks="Which scores are significant?",
        learn="You learn which queries show bias in which model, and how certain each score is.",
        drawings=_drawings,
        reads=("scores",),
        facts=("labels", "level", "neutral", "signs"),
        reading="A mark is a score with its 95 % interval over words: blue above the no-bias value "
        "(dashed), orange below it. Filled: significant in every test; half-filled: in one; "
        "open: in none; a dot: too few words or draws; small and open: not tested. A letter "
        "is a debias method.",
        example=Example(
            "embedded",
            "scores-gender-weat",
            {"criterion": "Gender", "metric": "weat"},
            shown={"scores": ["value"]},
        ),
    ),
)

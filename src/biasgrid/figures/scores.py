"""Figures of scores, query by query: one of each metric on each criterion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from ..debias import UNTOUCHED
from ..errors import BiasgridError, unknown_name
from ..files import slug
from ..verdicts.evidence import ALL, GROUPS, MARKS, NONE, OUT_OF_REACH, PERMUTATION, UNTESTED
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

    from ..planned import Cell, Planned

# what a p-value's column tests
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
# what a mark says of its score
MEANINGS = {
    ALL: "significant in every test",
    PERMUTATION: "permutation test only",
    GROUPS: "random-word baseline only",
    NONE: "not significant",
    OUT_OF_REACH: "too few words or draws to be significant",
    UNTESTED: "not tested",
}
SIDES = {PERMUTATION: "left", GROUPS: "right"}  # which half is filled
DRAWN = (UNTESTED, OUT_OF_REACH, NONE, GROUPS, PERMUTATION, ALL)
COLUMNS = ("evidence", "tests", *QUESTIONS, "ci_low", "ci_high")
NUMBERS = ["value", "ci_low", "ci_high"]
FAR = 4  # models that lie so many times further from the no-bias value than all others have a scale of their own
IS_ABOVE, IS_BELOW = "above", "below"  # the no-bias value
DOTTED = (0, (1, 1))
UNSIGNED = "no sign"  # how `signs` begin where there is none
HEADING = "Scores of every query"
FEW = 12  # queries that have room on a page, whatever their names
ROOM = PAGE[1] - 2.6  # inches of the rows of a page: the rest is for heads, the axis, the legend and the text


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

    A debiased model's marks stand below those of the original one, with the letter of its method. The dashed line
    is the metric's no-bias value (`neutral`, by metric key); `signs`: metric key -> what a sign says; where there is
    one, scores to either side of the no-bias value have a hue each. Where a score is NaN, its row is hatched, and its
    reason stands in words. Where the table has ci_low and ci_high, intervals of so much `level`, they are a line
    through the mark. The panels have one scale, but for those of a model so far out that the others could not be
    seen. `only`: the queries of one of several pages.

    A mark's fill says what its score is evidence for: the table's column `evidence`, by `verdicts.evidence.MARKS`; a
    table without the column has no tests.
    Raises BiasgridError where the table has no rows of the criterion and metric, or the metric has no no-bias value.
    """
    table = rows_of(scores, "scores", criterion=criterion, metric=metric)
    # columns that a table of a study without inference, or of older code, may lack
    table = table.reindex(columns=dict.fromkeys([*table, *COLUMNS]))
    table["evidence"] = table["evidence"].where(table["evidence"].notna(), UNTESTED)
    if metric not in neutral:
        raise BiasgridError(f"scores: no neutral value: {unknown_name('metric', metric, neutral)}")
    if only:
        table = table[table["query"].isin(only)]
    units = in_order(units_of(table))
    models = list(dict.fromkeys(model for model, _ in units))
    # of all models of the table: no criterion decides what one of them looks like
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
    """Say how many scores are significant."""
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
    """How to read the figure, what a sign says, and what was tested."""
    line = f", with its {percent(level)} interval over words" if table["ci_low"].notna().any() else ""
    notes = [f"A mark is the score of a query and a model{line}."]
    if signs:
        notes += [f"{label}: {sign.rstrip('.')}."]
    return notes + [QUESTIONS[column] for column in QUESTIONS if table[column].notna().any()]


def row_names(queries: Iterable[str]) -> dict[str, str]:
    """Return what the rows of queries are called: above the queries of the same target sets stand these."""
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
    """The models that would dwarf all others' scores (those of long vectors: RND, RIPA)."""
    reach = (table[NUMBERS].astype(float) - neutral).abs().max(axis=1)
    longest = reach.groupby(table["model"]).max().dropna().sort_values(ascending=False)
    # the widest gap among the models that are further out than half of all
    steps = (longest.to_numpy()[:-1] / np.maximum(longest.to_numpy()[1:], 1e-12))[: len(longest) // 2]
    return set(longest.index[: steps.argmax() + 1]) if len(steps) and steps.max() >= FAR else set()


def _limits(table: pd.DataFrame, neutral: float) -> tuple[float, float]:
    """The scale that models share."""
    reach = table[NUMBERS].astype(float)
    low, high = np.nanmin([reach.min(axis=None), neutral]), np.nanmax([reach.max(axis=None), neutral])
    pad = 0.08 * (high - low) or 1.0
    return low - pad, high + pad


def _marks(part: pd.DataFrame, neutral: float, has_sign: bool) -> pd.DataFrame:
    """A model's scores of a metric, as rows have them."""
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
    """How a mark looks by what its score is evidence for."""
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


# several metrics are measured on the same queries
@lru_cache
def _pages(queries: tuple[str, ...], lanes: int) -> list[list[str]]:
    """Queries by page, as many on each as it has room for."""
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

"""Figure of scores, query by query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..debias import UNTOUCHED
from ..errors import BiasgridError, unknown_name
from ..verdicts.evidence import ALL, GROUPS, MARKS, MEANINGS, NONE, OUT_OF_REACH, PERMUTATION, UNTESTED
from .figure import Example, Figure, each_criterion, sign_lines
from .frame import Frame, styled
from .palette import (
    GREY,
    LESS,
    MORE,
    Look,
    add_letters,
    in_order,
    method_letters,
    model_looks,
    open_mark,
    series_mark,
)
from .questions import SCORES
from .rows import from_tables, rows_of, units_of, why
from .text import BOLD, LONGEST_HEAD, NORMAL, fit_text, query_label, shorten, wrap_text
from .types.rows import height, rows, width
from .visuals import above_names, few_ticks, legend_interval, legend_line, legend_neutral, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.artist import Artist

# what the tests ask, by the columns of their p-values
QUESTIONS = {
    "p_value": "Permutation: does it matter which set a word is in? Most pairs of sets "
    "of similar words differ in this way, whatever the topic.",
    "p_groups": "Random groups: is the score more biased than with random groups of the model's words, as large "
    "and as coherent as the query's, and as near to each other?",
}
MARK_NAMES = {
    "full": "filled mark",
    "half": "half-filled mark",
    "open": "open mark",
    "dot": "dot",
    "": "small open mark",
}
SIDES = {PERMUTATION: "left", GROUPS: "right"}  # which half is filled
DRAWN = (UNTESTED, OUT_OF_REACH, NONE, GROUPS, PERMUTATION, ALL)
COLUMNS = ("evidence", "tests", *QUESTIONS, "ci_low", "ci_high")
NUMBERS = ["value", "ci_low", "ci_high"]
FAR = 4  # models that lie so many times further from the neutral value than all others have a scale of their own
ABOVE, BELOW = "above", "below"  # the neutral value
DOTTED = (0, (1, 1))
UNSIGNED = "no sign"  # how `signs` begin where there is none


@styled
def scores(
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    neutral: Mapping[str, float],
    level: float = 0.95,
    signs: Mapping[str, str] | None = None,
) -> figure.Figure:
    """Every score of a criterion: lines of panels per metric, a column per model, a row per (sub-)query.

    A debiased model's marks stand below those of the untouched one, with the letter of its method. The dashed line
    is the metric's neutral value (`neutral`, by metric key); `signs`: metric key -> what a sign says; where there is
    one, scores to either side of the neutral value have a hue each. Where a score is NaN, its reason stands in words.
    Where the table has ci_low and ci_high, intervals of so much `level`, they are a line through the mark. The panels
    of a metric have one scale, but for those of a model so far out that the others could not be seen.

    A mark's fill says what its score is evidence for: the table's column `evidence`, by `verdicts.evidence.MARKS`; a
    table without the column has no tests.
    Raises BiasgridError where the table has no rows of the criterion or a metric has no neutral value.
    """
    table = rows_of(scores, "scores", criterion=criterion)
    # columns that a table of a study without inference, or of older code, may lack
    table = table.reindex(columns=dict.fromkeys([*table, *COLUMNS]))
    table["evidence"] = table["evidence"].where(table["evidence"].notna(), UNTESTED)
    metrics = sorted(table["metric"].unique())
    for metric in metrics:
        if metric not in neutral:
            raise BiasgridError(f"scores: no neutral value: {unknown_name('metric', metric, neutral)}")
    units = in_order(units_of(table))
    models = list(dict.fromkeys(model for model, _ in units))
    # of all models of the table: no criterion decides what one of them looks like
    colours = model_looks(scores["model"])
    names = {metric: _names(part["query"]) for metric, part in table.groupby("metric")}
    letters = method_letters(units)
    tests = [column for column in QUESTIONS if table[column].notna().any()]
    notes = [*sign_lines(signs or {}, metrics, labels), *(QUESTIONS[column] for column in tests)]
    page = Frame(f"Scores of every query: {shorten(criterion, LONGEST_HEAD)}", "\n".join(notes))
    heights = {
        (metric, model): height(names[metric], 1 + len(letters)) for metric in metrics for model in models
    }
    wide = max(map(width, names.values()))
    heads = {(metric, model): labels.get(model, model) for metric, model in heights}
    panels = page.panels(heads, heights, labels=wide, least=0.9, line=len(models), bold=False)
    has_own_scale = any_sign = False
    for metric, of_metric in table.groupby("metric"):
        far = _far(of_metric, neutral[metric])
        limits = _limits(of_metric[~of_metric["model"].isin(far)], neutral[metric])
        has_sign = not (signs or {}).get(metric, UNSIGNED).startswith(UNSIGNED)
        any_sign |= has_sign
        for model in models:
            axes, part = panels[metric, model], of_metric[of_metric["model"] == model]
            marks = _marks(part, neutral[metric], has_sign)
            looks = _looks(colours[model], letters)
            places = rows(axes, marks, names[metric], looks, neutral=neutral[metric])
            for mark in marks[(marks["debias"] != UNTOUCHED) & marks["value"].notna()].itertuples():
                place = mark.value, places[mark.row, mark.series]
                add_letters(axes, *place, looks[mark.series], letters[mark.debias], clip_on=False)
            if model in far:
                has_own_scale = True
                axes.spines["bottom"].set_linestyle(DOTTED)
                axes.margins(x=0.08)
            else:
                axes.set_xlim(*limits)
            few_ticks(axes.xaxis, 3)
        note = _tests_of(of_metric) if tests else ""
        head = shorten(labels.get(metric, metric), LONGEST_HEAD) + note
        above_names(panels[metric, models[0]], fit_text(head, wide / BOLD, NORMAL), wide)
    return page.done(_legend(table, labels, letters, level, any_sign, has_own_scale))


def _names(queries: Iterable[str]) -> dict[str, str]:
    """What the rows of a metric are called: above the queries of the same target sets stand these."""
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
    side = np.select(sides, [ABOVE, BELOW], "")
    marks = part[["debias", "value", "ci_low", "ci_high"]].astype(dict.fromkeys(NUMBERS, float))
    series = list(zip(part["debias"], side, part["evidence"], strict=True))
    return marks.assign(row=part["query"], series=series, says=why(part["status"]))


def _looks(look: Look, letters: Mapping[str, str]) -> dict[tuple[str, str, str], Look]:
    """A model's marks by debias method, side of the neutral value and evidence."""
    sides = {"": look, ABOVE: look | {"color": MORE}, BELOW: look | {"color": LESS}}
    return {
        (debias, side, verdict): _mark_look(of_side, verdict)
        for debias in (UNTOUCHED, *letters)
        for side, of_side in sides.items()
        for verdict in DRAWN
    }


def _tests_of(table: pd.DataFrame) -> str:
    """How many tests the scores of a metric have, where it is not both."""
    if set(table.loc[table["value"].notna(), "evidence"]) == {UNTESTED}:
        return " (no test)"
    return " (one test)" if set(table["tests"]) == {1} else ""


def _legend(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    letters: Mapping[str, str],
    level: float,
    has_sign: bool,
    has_own_scale: bool,
) -> list[tuple[str, Artist]]:
    grey = series_mark(0) | {"color": GREY}
    legend = [legend_neutral("no bias (the metric's neutral value)")]
    if has_sign:
        legend += [("above, below it (where a score has a sign)", _both_hues())]
    if table["ci_low"].notna().any():
        legend += [legend_interval(level, "confidence interval over words")]
    for verdict in reversed(DRAWN):
        if verdict in set(table.loc[table["value"].notna(), "evidence"]):
            side = f" ({SIDES[verdict]})" if verdict in SIDES else ""
            text = f"{MARK_NAMES[MARKS[verdict]]}{side}: {MEANINGS[verdict]}"
            legend.append((text, legend_line(**_mark_look(grey, verdict))))
    legend += [
        (f"{letter}: under {labels.get(debias, debias)}", no_mark()) for debias, letter in letters.items()
    ]
    if has_own_scale:
        text = "dotted axis: a scale of its own, as the model's scores dwarf the others'"
        legend.append((text, legend_line(color="black", linewidth=0.8, linestyle=DOTTED)))
    if table["value"].isna().any():
        legend.append(("words in place of a mark: why there is no value", no_mark()))
    return legend


def _both_hues() -> Artist:
    """A mark of either hue."""
    look = series_mark(0) | {
        "color": MORE,
        "fillstyle": "right",
        "markerfacecoloralt": LESS,
        "markeredgewidth": 0,
    }
    return legend_line(**look)


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


FIGURES = (
    Figure(
        "scores",
        "Every score of a criterion, by metric, query and model.",
        from_tables(scores),
        question=SCORES,
        drawings=each_criterion("scores", unranked=True),
        reads=("scores",),
        facts=("labels", "level", "neutral", "signs"),
        reading="A mark is a score with its 95 % interval over words, the dashed line neutral, a letter a "
        "debias method. Filled: all tests of words are significant; half-filled: one (left "
        "permutation, right random groups); open: none; a dot: none can be; small and open: untested.",
        example=Example(
            "embedded",
            "scores-gender",
            {"criterion": "Gender", "metric": ["mac", "weat"]},
            shown={"scores": ["value"]},
        ),
    ),
)

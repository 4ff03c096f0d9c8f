"""Figure of the variation of scores over word lists for one concept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..core.files import slug
from ..core.numbers import decimal, typeset
from .figure import Drawing, Example, Figure
from .frame import Frame, empty_page, styled
from .palette import in_order, series_mark
from .questions import SCORES
from .rows import from_tables, keys_of, rows_of, rows_where
from .text import part_label, topic, unit_label, wrap_text
from .types.rows import row_panels, rows
from .visuals import beside, few_ticks, legend_interval, legend_neutral, legend_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

HEADING = "Scores with one list of words or another"
KEYS = ["metric", "part", "model", "debias"]


@styled
def seed_lists(
    table: pd.DataFrame,
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    concept: str,
    neutral: Mapping[str, float],
    panels: Sequence[tuple[str, str, Sequence[tuple[str, str]]]],
    lists: Sequence[str],
    level: float = 0.95,
) -> figure.Figure:
    """Draw one panel per metric, one row per model, one mark per list with its interval.

    Without any value, the figure has a sentence in place of panels.

    Parameters
    ----------
    table, scores
        seed_lists.csv and scores.csv.
    labels
        Labels of the keys of metrics, models and debias methods.
    criterion, concept
        Criterion and concept of the lists.
    neutral
        No-bias values, by metric.
    panels
        Metric, part and (list, (sub-)query) of each panel (`tables.seed_lists.concepts`).
    lists
        All lists of the concept, in the order of their marks.
    level
        Level of the intervals, if the scores have some.

    Raises
    ------
    BiasgridError
        If the table lacks rows of the criterion.
    """
    summaries = rows_where(rows_of(table, "seed_lists", criterion=criterion), concept=concept).set_index(KEYS)
    of_criterion = rows_where(scores, criterion=criterion).dropna(subset="value")
    drawn = {}
    for metric, part, queries in panels:
        marks = rows_where(of_criterion, metric=metric)
        marks = marks.assign(
            series=marks["query"].map({query: name for name, query in queries}), row=keys_of(marks)
        ).dropna(subset="series")
        if len(marks):
            drawn[metric, part] = marks.reindex(columns=["row", "series", "value", "ci_low", "ci_high"])
    if not drawn:
        return empty_page(HEADING, "no list has a value.")
    units = in_order(unit for marks in drawn.values() for unit in marks["row"])
    names = {unit: wrap_text(unit_label(unit, labels), 26) for unit in units}
    looks = {name: series_mark(i) for i, name in enumerate(lists)}
    page = Frame(
        _finding(drawn, neutral),
        f"{topic(criterion)}: {concept}, with one list of words or another",
        [
            "A mark is the score with one list; all else in the query is the same.",
            "Beside a row: the standard deviation (sd) of the lists' scores, also in standard errors (s.e.) of "
            "one score.",
            "Well above 1 s.e., the choice of the list matters more than the words that happen to be in it.",
        ],
    )
    heads = {(metric, part): part_label(labels.get(metric, metric), part) for metric, part in drawn}
    axes_of = row_panels(page, heads, names, len(lists), least=1.9)
    for (metric, part), axes in axes_of.items():
        marks = drawn[metric, part]
        rows(axes, marks, names, looks, neutral=neutral[metric], empty="no value")
        for y, unit in enumerate(units):
            if (metric, part, *unit) in summaries.index and unit in set(marks["row"]):
                beside(axes, y, _spread(summaries.loc[(metric, part, *unit)]))
        axes.margins(x=0.04)
        few_ticks(axes.xaxis, 4)
    legend = [*legend_of(looks), legend_neutral()]
    if any(marks["ci_low"].notna().any() for marks in drawn.values()):
        legend.append(legend_interval(level, "interval of one score (over its words)"))
    return page.done(legend)


def _finding(drawn: Mapping[Any, pd.DataFrame], neutral: Mapping[str, float]) -> str:
    """Say in how many rows the lists are on both sides of the no-bias value."""
    sides = [
        set((of_row["value"] > neutral[metric]).tolist())
        for (metric, _), marks in drawn.items()
        for _, of_row in marks.groupby("row")
        if len(of_row) > 1
    ]
    if not sides:
        return HEADING
    both = sum(len(side) > 1 for side in sides)
    if not both:
        return "All lists agree on the direction"
    return f"In {both} of {len(sides)} cases, lists disagree on the direction"


def _spread(summary: pd.Series) -> str:
    """Return the text next to a row: the spread of its marks, and the number of lists with values."""
    lines = [f"sd {typeset(summary['sd'], 2) or '–'}"]
    lines += [f" {typeset(summary['ratio'], 1, form=decimal)} s.e."] * bool(
        summary["ratio"] == summary["ratio"]
    )
    if lost := int(summary["lists_lost"]):
        lines += [f" {int(summary['lists'])} of {int(summary['lists']) + lost} lists"]
    return "\n".join(lines)


def _drawings(study: Planned) -> Iterator[Drawing]:
    # Import late: most studies lack this table.
    from ..tables.seed_lists import concepts

    of_concepts: dict[tuple[str, str], list[list[Any]]] = {}
    for criterion, concept, part, metric, queries in concepts(study):
        of_concepts.setdefault((criterion, concept), []).append([metric, part, queries])
    for (criterion, concept), panels in of_concepts.items():
        spec = {
            "criterion": criterion,
            "concept": concept,
            "lists": list(study.config.criteria[criterion].seed_lists[concept]),
            "panels": panels,
        }
        yield Drawing(f"seed-lists-{slug(criterion)}-{slug(concept)}", spec=spec)


def _of_career_and_family(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the scores of queries with career and family."""
    scores = contents["scores"]
    return contents | {"scores": scores[scores["query"].str.contains("Career|Family")]}


FIGURES = (
    Figure(
        "seed-lists",
        "How a score varies over word lists for the same concept.",
        from_tables(seed_lists),
        question=SCORES,
        heading=HEADING,
        asks="Does the list of words matter?",
        learn="You learn how much a score depends on the choice of the word list.",
        drawings=_drawings,
        reads=("seed_lists", "scores"),
        facts=("labels", "level", "neutral"),
        needs="a criterion with seed_lists",
        reading="A mark is a list's score with its 95 % interval: lists on both sides of the dashed "
        "line disagree on the direction. Beside a row: the standard deviation of its marks, "
        "also in standard errors.",
        example=Example(
            "seed_lists",
            "seed-lists-seed-lists-gender-words-with-career-and-family",
            {"metric": ["mac", "rnd", "weat_es"], "concept": "gender words with career and family"},
            _of_career_and_family,
            shown={"scores": ["value", "ci_low", "ci_high"]},
        ),
    ),
)

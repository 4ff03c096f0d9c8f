"""Figure of how scores spread over lists of words for one concept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import slug
from ..numbers import decimal, typeset
from .figure import Drawing, Example, Figure, group_by_size, labels, pages
from .frame import MARGIN, PAGE, empty_page, styled
from .layout import add_axes, page
from .palette import DASHED, MARKERS, MODEL_COLOURS, ZEBRA, Look
from .questions import SCORES
from .rows import from_tables, rows_of
from .text import BOLD, NORMAL, SMALL, fit_text, line_count, text_width, unit_label
from .visuals import few_ticks, legend_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

ROW = 0.2  # inches
BELOW = 0.42  # inches of a panel's scale, and of the space to the next panel
NAMES = 2.3  # inches of the models' names at most
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
) -> figure.Figure:
    """One panel per metric, one row per model, one mark per list.

    If there is no value, the figure has a sentence in place of panels.

    Parameters
    ----------
    table, scores
        seed_lists.csv and scores.csv.
    labels
        What is printed for the keys of metrics, models and debias methods.
    criterion, concept
        Whose lists.
    neutral
        The value that means no bias, by metric.
    panels
        Metric, part and (list, (sub-)query) of each panel (`tables.seed_lists.concepts`).
    lists
        All lists of the concept, in the order of their marks.

    Raises
    ------
    BiasgridError
        Where the table has no rows of the criterion.
    """
    title = f"{criterion}: {concept}, by list of words"
    concept_rows = rows_of(table, "seed_lists", criterion)
    concept_rows = concept_rows[concept_rows["concept"] == concept].set_index(KEYS)
    of_criterion = scores[scores["criterion"] == criterion].dropna(subset="value")
    drawn_panels = []
    for metric, part, queries in panels:
        rows = of_criterion[of_criterion["metric"] == metric]
        rows = rows.assign(list=rows["query"].map({query: name for name, query in queries})).dropna(
            subset="list"
        )
        if len(rows):
            drawn_panels.append((metric, part, rows))
    if not drawn_panels:
        return empty_page(title, "no list has a value.")
    looks: dict[str, Look] = {
        name: {
            "color": MODEL_COLOURS[i % len(MODEL_COLOURS)],
            "marker": MARKERS[i % len(MARKERS)],
            "linestyle": "",
        }
        for i, name in enumerate(lists)
    }
    units = {(row.model, row.debias): None for *_, rows in drawn_panels for row in rows.itertuples()}
    names = {unit: fit_text(unit_label(unit, labels), NAMES, SMALL) for unit in units}
    left = MARGIN + max(text_width(name, SMALL) for name in names.values()) + 0.1
    # the columns on the right: standard deviation, and in standard errors
    right = 1.05
    panel_width = PAGE[0] - left - MARGIN - right
    heads = [
        fit_text(
            f"{labels.get(metric, metric)}{f': {part}' if part else ''}",
            (PAGE[0] - 2 * MARGIN - right) / BOLD,
            NORMAL,
        )
        for metric, part, _ in drawn_panels
    ]
    sizes = [
        [max(ROW, 0.115 * line_count(names[unit]) + 0.05) for unit in dict.fromkeys(_units(rows))]
        for *_, rows in drawn_panels
    ]
    tops = [0.12 + 0.14 * line_count(head) for head in heads]
    content_height = sum(top + sum(size) + BELOW for top, size in zip(tops, sizes, strict=True))
    figure, top = page(
        title,
        "A mark is the value with one list of words; all else in the query is the same. On the right: "
        "standard deviation of the lists' values, and the same in standard errors of one value (bootstrap over "
        "words): well above 1, the choice of the list matters more than the words that happen to be in it.",
        [
            *((name, legend_line(**looks[name], markersize=4.5)) for name in lists),
            ("no bias", legend_line(**DASHED)),
        ],
        PAGE[0],
        content_height,
    )
    figure_width = figure.get_figwidth()
    for (metric, part, rows), head, size, head_height in zip(drawn_panels, heads, sizes, tops, strict=True):
        figure.text(
            MARGIN / figure_width,
            1 - (top + 0.02) / figure.get_figheight(),
            head,
            va="top",
            weight="bold",
            size=NORMAL,
        )
        axes = add_axes(figure, left, top + head_height, panel_width, sum(size))
        ends = np.cumsum(size)
        for i, unit in enumerate(dict.fromkeys(_units(rows))):
            middle = ends[i] - size[i] / 2
            if i % 2 == 0:
                axes.axhspan(ends[i] - size[i], ends[i], color=ZEBRA, linewidth=0, zorder=0)
            of_unit = rows[(rows["model"] == unit[0]) & (rows["debias"] == unit[1])]
            values = of_unit.set_index("list")["value"]
            axes.plot(
                [values.min(), values.max()], [middle, middle], color="#999999", linewidth=0.8, zorder=2
            )
            for name in lists:
                if name in values.index:
                    axes.plot(values[name], middle, **looks[name], markersize=4.5, zorder=3)
            summary = concept_rows.loc[(metric, part, *unit)]
            for x, text in (
                (0.4, typeset(summary["sd"], 2) or "–"),
                (0.95, typeset(summary["ratio"], 1, form=decimal) or "–"),
            ):
                axes.text(
                    1 + x / panel_width,
                    1 - middle / ends[-1],
                    text,
                    transform=axes.transAxes,
                    ha="right",
                    va="center",
                    size=SMALL,
                )
        for x, text in ((0.4, "sd"), (0.95, "sd / s.e.")):
            axes.text(
                1 + x / panel_width,
                1 + 0.06 / ends[-1],
                text,
                transform=axes.transAxes,
                ha="right",
                size=SMALL,
            )
        axes.axvline(neutral[metric], **DASHED)
        axes.set(ylim=(ends[-1], 0))
        axes.set_yticks(ends - np.array(size) / 2, [names[unit] for unit in dict.fromkeys(_units(rows))])
        axes.tick_params(axis="y", length=0)
        few_ticks(axes.xaxis, 5)
        axes.margins(x=0.04)
        top += head_height + sum(size) + BELOW
    return figure


def _units(rows: pd.DataFrame) -> list[tuple[str, str]]:
    return list(zip(rows["model"], rows["debias"], strict=True))


def _drawings(study: Planned) -> Iterator[Drawing]:
    # imported late: most studies have no such table
    from ..tables.seed_lists import concepts

    of_concepts: dict[tuple[str, str], list[list[Any]]] = {}
    for criterion, concept, part, metric, queries in concepts(study):
        of_concepts.setdefault((criterion, concept), []).append([metric, part, queries])
    for (criterion, concept), panels in of_concepts.items():
        cells = [cell for cell in study.grid.cells.values() if cell.criterion == criterion]
        heights = {
            metric: 0.7 + 0.3 * len({(c.model, c.debias) for c in cells if c.metric == metric})
            for metric, *_ in panels
        }
        spec = {
            "labels": labels(study, cells),
            "criterion": criterion,
            "concept": concept,
            "neutral": {metric: study.metric(criterion, metric).neutral for metric, *_ in panels},
            "lists": list(study.config.criteria[criterion].seed_lists[concept]),
        }
        groups = group_by_size(panels, 7.6, lambda panel: heights[panel[0]])  # noqa: B023 (called at once)
        name = f"seed-lists-{slug(criterion)}-{slug(concept)}"
        for drawing_name, (page_panels,) in pages(name, groups, 1):
            yield Drawing(drawing_name, spec=spec | {"panels": page_panels})


def _of_career_and_family(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Of scores the queries with career and family."""
    scores = contents["scores"]
    return contents | {"scores": scores[scores["query"].str.contains("Career|Family")]}


FIGURES = (
    Figure(
        "seed-lists",
        "How a score spreads over lists of words for one concept.",
        from_tables(seed_lists),
        question=SCORES,
        drawings=_drawings,
        reads=("seed_lists", "scores"),
        needs="a criterion with seed_lists",
        reading="One panel per metric, one row per model, one mark per list. Marks on both sides of "
        "the dashed line are lists that disagree about which way the bias goes. The numbers on the right are the "
        "standard deviation of the marks, and the same in standard errors of a single value.",
        example=Example(
            "seed_lists",
            "seed-lists-seed-lists-gender-words-with-career-and-family",
            {"metric": ["mac", "rnd", "weat_es"], "concept": "gender words with career and family"},
            _of_career_and_family,
            shown={"scores": ["value"]},
        ),
    ),
)

"""Published WEAT results beside ours, in the form of table 1 of Caliskan, Bryson & Narayanan (Science 356, 2017)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..files import slug
from ..numbers import decimal, plain, typographic
from .figure import Drawing, Example, Figure
from .frame import MARGIN, PAGE, empty_page, styled
from .layout import add_axes, add_box, page
from .palette import GREY, Look
from .rows import from_tables
from .text import (
    BOLD,
    NORMAL,
    SMALL,
    fit_text,
    line_count,
    published_label,
    text_width,
    wrap_text,
)
from .visuals import legend_area, no_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from ..planned import Planned

# a mark and a shade for each verdict: the table reads the same without colour
MARKS = {"reproduced": "✓", "compatible": "≈", "explained": "○", "differs": "✗"}
MARKS |= {"other vectors": "△", "other queries": "□"}
SHADES = {
    "reproduced": "#D6E9F5",
    "compatible": "#DDEBD3",
    "explained": "#F6EBD0",
    "differs": "#F3C9C0",
    "other vectors": "#EBEBEB",
    "other queries": "#EBEBEB",
}
MEANINGS = {
    "reproduced": "reproduced as printed",
    "compatible": "a single random run was printed, ours is within 2 standard deviations",
    "explained": "not as printed; a test recomputes what was printed (see comparison.csv)",
    "differs": "not as printed",
    "other vectors": "printed for other vectors, not judged",
    "other queries": "printed for other words, not judged",
}
MISSING = "–"
# heads of what was computed
OURS = {
    "value": "{metric}\nours",
    "p_value": "p ours,\npermutation\ntest",
    "p_normal": "p ours,\nnormal\ncurve",
}
NOTHING = "the published files have no WEAT value or p-value of a query of this criterion for these models."
NAME, NARROW, WIDE, GAP = 2.45, 0.55, 0.72, 0.15  # inches: a query's name at most, columns, between blocks
HEAD = 0.44  # of the columns' heads
NUMBER = ["model", "source", "metric", "again", "query", "what", "published", "ours", "verdict", "note"]


@styled
def weat_table(
    comparison: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    queries: Sequence[Mapping[str, Any]],
    metrics: Sequence[tuple[str, str]],
    models: Sequence[str] = (),
) -> figure.Figure:
    """One row per query, and the printed numbers beside ours, each with the mark of its verdict.

    The columns are in blocks: one for each model, metric and source, and one more for what a source prints again.
    Where nothing was printed of a query, the figure says so.

    Parameters
    ----------
    comparison
        The study's comparison with published numbers.
    labels
        What is printed for the keys of models and debias methods.
    queries
        The criterion's queries in the order of the rows: "key", its id; "targets" and "attributes", names and numbers
        of words of its sets.
    metrics
        Keys of the criterion's metrics that are shown, WEAT and its effect size, and what is printed for them.
    models
        The models' keys, in the order of the blocks.
    """
    metric_labels = dict(metrics)
    by_key = {query["key"]: query for query in queries}
    table = comparison[
        (comparison["criterion"] == criterion) & comparison["metric"].isin(list(metric_labels))
    ].copy()
    # what is of no query, a mean or a rank, has no colon and is none of OURS
    table["query"] = [quantity.partition(": ")[0] for quantity in table["quantity"]]
    table["what"] = [quantity.partition(": ")[2] for quantity in table["quantity"]]
    table = table[table["query"].isin(list(by_key)) & table["what"].isin(list(OURS))]
    if table.empty:
        return empty_page(f"{criterion}: published WEAT results and ours", NOTHING)
    # a source may print a query's number more than once
    table["again"] = table.groupby(["model", "metric", "source", "query"])["table"].rank("dense").astype(int)
    place = ["model", "source", "metric", "again"]
    numbers = {(row[:4], *row[4:6]): row for row in table[NUMBER].itertuples(index=False, name="Number")}
    # in the study's order; "a under b" is a model under a debias method
    model_order = {key: i for i, key in enumerate(models)}
    order = {key: i for i, key in enumerate(metric_labels)}
    blocks = sorted(
        set(table[place].itertuples(index=False, name=None)),
        key=lambda b: (model_order.get(b[0].split(" ")[0], len(model_order)), b[0], b[1], order[b[2]], b[3]),
    )
    columns = {block: _columns(numbers, block, by_key, metric_labels[block[2]]) for block in blocks}
    needs_source = table.groupby("model")[["source", "again"]].nunique().gt(1).any(axis=1)
    heads = {}
    for block in blocks:
        model, source, _, print_number = block
        extent = WIDE * len(columns[block])
        label = fit_text(published_label(model, labels), max(extent, 1.0) / BOLD, NORMAL)
        text = f"{source} ({print_number})" if print_number > 1 else source
        heads[block] = label, fit_text(text, extent, SMALL) if needs_source[model] else ""
    keys = [key for key in by_key if key in set(table["query"])]
    numbered_queries = {key: (i + 1, by_key[key], _name(by_key[key])) for i, key in enumerate(keys)}
    left = 0.3 + max(text_width(name, SMALL) for *_, name in numbered_queries.values()) + 0.1 + 2 * NARROW
    sections: list[list[tuple]] = []
    for block in blocks:
        # as many blocks beside each other as a page is wide
        section_width = sum(
            WIDE * len(columns[neighbour]) + GAP for neighbour in (sections[-1] if sections else [])
        )
        if not sections or left + section_width + WIDE * len(columns[block]) + GAP > PAGE[0] - 2 * MARGIN:
            sections.append([])
        sections[-1].append(block)
    keys_by_section = [
        [key for key in keys if any((b, key, w) in numbers for b in part for w in OURS)] for part in sections
    ]
    rule = [max(sum(line_count(text) * 0.13 for text in heads[b]) for b in part) + 0.06 for part in sections]
    rows = [
        {key: line_count(numbered_queries[key][2]) * 0.115 + 0.05 for key in section_keys}
        for section_keys in keys_by_section
    ]
    section_heights = [
        rule_y + HEAD + sum(section_rows.values()) + 0.2
        for rule_y, section_rows in zip(rule, rows, strict=True)
    ]
    figure, top = page(
        f"{criterion}: published WEAT results and ours",
        "A row is a query; beside each printed number is ours. Effect size and WEAT: positive where the first target "
        "set goes with the first attribute set, 0 without bias.",
        _legend(table, numbers, sections, keys_by_section, columns),
        max(left + sum(WIDE * len(columns[b]) + GAP for b in part) for part in sections) + 2 * MARGIN,
        sum(section_heights),
    )
    width = figure.get_figwidth() - 2 * MARGIN
    for part, rule_y, section_rows, height in zip(sections, rule, rows, section_heights, strict=True):
        axes = add_axes(figure, MARGIN, top, width, height - 0.1)
        axes.set(xlim=(0, width), ylim=(height - 0.1, 0))
        axes.axis("off")
        _queries(
            axes, rule_y + HEAD, left, {key: numbered_queries[key] for key in section_rows}, section_rows
        )
        x = left + GAP
        for block in part:
            _block(axes, x, rule_y, heads[block], columns[block], numbers, block, section_rows)
            x += WIDE * len(columns[block]) + GAP
        top += height
    return figure


def _name(query: Mapping[str, Any]) -> str:
    """A query's targets and attributes, in lines that leave room for numbers."""
    sides = (" vs ".join(name for name, _ in query[side]) for side in ("targets", "attributes"))
    return "\n".join(fit_text(text, NAME, SMALL) for text in sides)


def _legend(
    table: pd.DataFrame, numbers: Mapping, sections: Sequence, keys_by_section: Sequence, columns: Mapping
) -> list[tuple[str, Artist]]:
    """What is in the figure: verdicts, numbers without a value, cells of which nothing was printed."""
    verdicts = set(table.loc[table["ours"].notna(), "verdict"])
    legend = [
        (f"{MARKS[v]}  {MEANINGS[v]}", legend_area(facecolor=SHADES[v])) for v in MARKS if v in verdicts
    ]
    if table["ours"].isna().any():
        legend.append((f"{MISSING}  not measured, or no value: comparison.csv has the reason", no_mark()))
    if any(
        not any((block, key, what) in numbers for what in whats)
        for part, keys in zip(sections, keys_by_section, strict=True)
        for block in part
        for _, whats in columns[block]
        for key in keys
    ):
        legend.append(("empty: nothing was printed of this query", no_mark()))
    return legend


def _queries(
    axes: Axes, top: float, left: float, numbered_queries: Mapping[str, tuple], rows: Mapping[str, float]
) -> None:
    """The queries of a section: number, names and sizes of sets."""
    right = axes.get_xlim()[1]
    head: Look = {"size": SMALL, "va": "bottom", "ha": "center", "linespacing": 1.1}
    axes.text(0.25, top - 0.06, "target words\nattribute words", **head | {"ha": "left"})
    heads = {"targets": "words per\ntarget\nset", "attributes": "words per\nattribute\nset"}
    for i, text in enumerate(heads.values()):
        axes.text(left - (1.5 - i) * NARROW, top - 0.06, text, **head)
    axes.plot([0, right], [top] * 2, color="black", linewidth=0.8)
    for key, height in rows.items():
        number, query, name = numbered_queries[key]
        axes.text(0.1, top + height / 2, str(number), **_cell() | {"weight": "bold"})
        axes.text(0.25, top + height / 2, name, **_cell() | {"ha": "left", "size": SMALL})
        for i, pick in enumerate(heads):
            axes.text(left - (1.5 - i) * NARROW, top + height / 2, _size(query[pick]), **_cell())
        top += height
        axes.plot([0, right], [top] * 2, color="#DDDDDD", linewidth=0.5)


def _block(
    axes: Axes,
    x: float,
    rule_y: float,
    head: tuple[str, str],
    columns: Sequence[tuple[str, list[str]]],
    numbers: Mapping,
    block: tuple,
    rows: Mapping[str, float],
) -> None:
    """The numbers of a block: a model, a source and a metric."""
    right, (label, source) = x + WIDE * len(columns), head
    look: Look = {"size": SMALL, "va": "bottom", "ha": "center", "linespacing": 1.1}
    if source:
        axes.text((x + right) / 2, rule_y - 0.04, source, **look)
    y = rule_y - 0.04 - line_count(source) * 0.12
    axes.text((x + right) / 2, y, label, **look | {"weight": "bold", "size": NORMAL})
    axes.plot([x, right], [rule_y] * 2, color=GREY, linewidth=0.6)
    for title, whats in columns:
        axes.text(x + WIDE / 2, rule_y + HEAD - 0.06, title, **look)
        y = rule_y + HEAD
        for key, height in rows.items():
            number = next(
                (numbers[block, key, what] for what in whats if (block, key, what) in numbers), None
            )
            if number is not None:
                _number(axes, x, y, height, number, title.endswith("printed"), whats[0] != "value")
            y += height
        x += WIDE


def _columns(numbers: Mapping, block: tuple, keys: Iterable[str], metric: str) -> list[tuple[str, list[str]]]:
    """A block's columns: the head, and what is in it, the first of these that a query has."""
    metric = wrap_text(metric, 14)
    quantities = [what for what in OURS if any((block, key, what) in numbers for key in keys)]
    columns = []
    # a p-value is printed once and computed twice
    for head, whats in ((metric, ["value"]), ("p", ["p_value", "p_normal"])):
        if whats := [what for what in whats if what in quantities]:
            columns.append((f"{head}\nprinted", whats))
            columns += [(OURS[what].format(metric=metric), [what]) for what in whats]
    return columns


def _number(axes: Axes, x: float, y: float, height: float, number, printed: bool, of_p: bool) -> None:
    from ..comparison import LOWEST

    text = _text(number.published if printed else number.ours, of_p)
    # a cell without a number has no verdict to show: no shade, no mark
    if not printed and text != MISSING and number.verdict in MARKS:
        corner, shade = (x + 0.02, y + 0.03), {"facecolor": SHADES[number.verdict], "linewidth": 0}
        add_box(axes, corner, WIDE - 0.04, height - 0.06, **shade)
        text = f"≤ {text}" if str(number.note).startswith(LOWEST) else text
        text = f"{text} {MARKS[number.verdict]}"
    axes.text(x + WIDE / 2, y + height / 2, text, **_cell())


def _cell() -> dict:
    return {"ha": "center", "va": "center", "size": NORMAL}


def _size(sets: Sequence[tuple[str, int]]) -> str:
    sizes = [size for _, size in sets]
    return str(sizes[0]) if len(set(sizes)) == 1 else ", ".join(map(str, sizes))


def _text(value: float, of_p: bool) -> str:
    """Two decimals, as the original prints them; p-values in full, which are compared with powers of ten."""
    if math.isnan(value):
        return MISSING
    if not of_p:
        return typographic(decimal(value))
    return typographic(plain(value, 2))


def _drawings(study: Planned) -> Iterator[Drawing]:
    has_numbers = study.config.published or study.config.computed
    for criterion in study.config.criteria if has_numbers else ():
        # by the criterion's own label: in another criterion, a key can be another metric's
        metrics = [
            [key, entry.label or study.metric(criterion, key).label]
            for key, entry in study.metrics(criterion).items()
            if study.metric(criterion, key).name in ("weat", "weat_es")
        ]
        if metrics:
            spec = {
                "labels": {key: study.labels[key] for key in (*study.models, *study.debias)},
                "criterion": criterion,
                "queries": [
                    {
                        "key": key,
                        "targets": _sets(query.target_sets),
                        "attributes": _sets(query.attribute_sets),
                    }
                    for key in study.config.criteria[criterion].queries
                    for query in [study.queries[key]]
                ],
                "metrics": metrics,
                "models": list(study.models),
            }
            yield Drawing(f"weat-table-{slug(criterion)}", spec=spec)


def _sets(sets: Sequence[Any]) -> list[list[Any]]:
    return [[s.name, len(s.distinct)] for s in sets]


FIGURES = (
    Figure(
        "weat-table",
        "A criterion's published WEAT results beside ours, in the form of table 1 of Caliskan et al. (2017).",
        _drawings,
        from_tables(weat_table),
        reads=("comparison",),
        needs="a criterion with WEAT, and numbers to compare with (published, computed)",
        reading="A row is a query; printed numbers stand beside ours, and the mark behind ours is the verdict: "
        "a tick is reproduced as printed, a cross not as printed. A dash has no value or was not measured "
        "(comparison.csv says why), and in an empty cell nothing was printed; neither has a verdict or a "
        "colour.",
        example=Example("caliskan", "weat-table-caliskan-et-al-2017", {"criterion": "Caliskan et al. 2017"}),
    ),
)

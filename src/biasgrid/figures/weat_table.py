"""Published WEAT results beside ours, in the form of table 1 of Caliskan, Bryson & Narayanan (Science 356, 2017)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..files import slug
from .figure import Drawing, Figure, tables
from .layout import MARGIN, PAGE, add_axes, add_box, blank, styled
from .palette import GREY
from .rows import from_tables
from .text import LARGE, NORMAL, SMALL, SUPERSCRIPTS, fitted, line_count, published_label, text_width, wrapped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

# a mark and a shade for each verdict: the table reads the same without colour
MARKS = {"reproduced": "✓", "compatible": "≈", "explained": "○", "differs": "✗", "other vectors": "△"}
SHADES = {
    "reproduced": "#D6E9F5",
    "compatible": "#DDEBD3",
    "explained": "#F6EBD0",
    "differs": "#F3C9C0",
    "other vectors": "#EBEBEB",
}
MEANINGS = {
    "reproduced": "reproduced as printed",
    "compatible": "a single random run was printed, ours is within 2 standard deviations",
    "explained": "not as printed; a test recomputes what was printed (see comparison.csv)",
    "differs": "not as printed",
    "other vectors": "printed for other vectors, not judged",
}
MISSING = "–"
# heads of what was computed
OURS = {
    "value": "{metric}\nours",
    "p_value": "p ours,\npermutation\ntest",
    "p_normal": "p ours,\nnormal\ncurve",
}
ROW, NARROW, WIDE = 0.36, 0.52, 0.72  # inches
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
    metrics = dict(metrics)
    queries = {query["key"]: query for query in queries}
    table = comparison[
        (comparison["criterion"] == criterion) & comparison["metric"].isin(list(metrics))
    ].copy()
    # what is of no query, a mean or a rank, has no colon and is none of OURS
    table["query"] = [quantity.partition(": ")[0] for quantity in table["quantity"]]
    table["what"] = [quantity.partition(": ")[2] for quantity in table["quantity"]]
    table = table[table["query"].isin(list(queries)) & table["what"].isin(list(OURS))]
    if table.empty:
        return _nothing(criterion)
    # a source may print a query's number more than once
    table["again"] = table.groupby(["model", "metric", "source", "query"])["table"].rank("dense").astype(int)
    place = ["model", "source", "metric", "again"]
    numbers = {(row[:4], *row[4:6]): row for row in table[NUMBER].itertuples(index=False, name="Number")}
    keys = [key for key in queries if key in set(table["query"])]
    # in the study's order; "a under b" is a model under a debias method
    models = {key: i for i, key in enumerate(models)}
    order = {key: i for i, key in enumerate(metrics)}
    blocks = sorted(
        set(table[place].itertuples(index=False, name=None)),
        key=lambda b: (models.get(b[0].split(" ")[0], len(models)), b[0], b[1], order[b[2]], b[3]),
    )
    columns = {block: _columns(numbers, block, keys, metrics[block[2]]) for block in blocks}
    extent = {block: WIDE * len(found) for block, found in columns.items()}
    several = table.groupby("model")[["source", "again"]].nunique().gt(1).any(axis=1)
    heads = {}
    for block in blocks:
        model, source, _, again = block
        label = wrapped(published_label(model, labels), max(14, int(extent[block] * 15)))
        text = f"{source} ({again})" if again > 1 else source
        heads[block] = label, fitted(text, extent[block], SMALL) if several[model] else ""
    names = [_name(queries[key]) for key in keys]
    left = 0.35 + max(text_width(name, SMALL) for name in names) + 0.15
    sizes = left + 2 * NARROW
    entries = {f"{MARKS[v]}  {MEANINGS[v]}": SHADES[v] for v in MARKS if v in set(table["verdict"])}
    if table["verdict"].isin(["no value", "not asked"]).any():
        entries[f"{MISSING}  no value; comparison.csv has the reason"] = "white"
    across = sizes + sum(extent.values()) + 0.2 * len(blocks)
    width = max(across, sum(text_width(e, NORMAL) + 0.3 for e in entries)) + 2 * MARGIN
    above = [line_count(label) * 0.14 + line_count(source) * 0.12 for label, source in heads.values()]
    rule = max(0.66, 0.34 + max(above))
    top = rule + 0.56
    height = top + len(keys) * ROW + 0.42
    figure = blank(width, height)
    axes = add_axes(figure, 0, 0, width, height)
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    axes.text(MARGIN, MARGIN, criterion, size=LARGE, weight="bold", va="top")
    head = {"size": SMALL, "va": "bottom", "ha": "center", "linespacing": 1.1}
    axes.text(MARGIN + 0.35, top - 0.06, "target words\nattribute words", **head | {"ha": "left"})
    for i, (text, pick) in enumerate(
        (("words a\ntarget set", "targets"), ("words an\nattribute\nset", "attributes"))
    ):
        x = MARGIN + left + (i + 0.5) * NARROW
        axes.text(x, top - 0.06, text, **head)
        for row, key in enumerate(keys):
            axes.text(x, top + (row + 0.5) * ROW, _size(queries[key][pick]), **_cell())
    for row, name in enumerate(names):
        y = top + (row + 0.5) * ROW
        axes.text(MARGIN + 0.12, y, str(row + 1), **_cell() | {"weight": "bold"})
        axes.text(MARGIN + 0.35, y, name, **_cell() | {"ha": "left", "size": SMALL})
        axes.plot([MARGIN, width - MARGIN], [y + ROW / 2] * 2, color="#DDDDDD", linewidth=0.5)
    x = MARGIN + sizes + 0.2
    for block in blocks:
        right, (label, source) = x + extent[block], heads[block]
        middle, y = (x + right) / 2, rule - 0.04
        if source:
            axes.text(middle, y, source, **head)
            y -= line_count(source) * 0.12
        axes.text(middle, y, label, ha="center", va="bottom", weight="bold", size=NORMAL)
        axes.plot([x, right], [rule] * 2, color=GREY, linewidth=0.6)
        for title, whats in columns[block]:
            axes.text(x + WIDE / 2, top - 0.06, title, **head)
            for row, key in enumerate(keys):
                number = next((numbers[block, key, w] for w in whats if (block, key, w) in numbers), None)
                if number is not None:
                    _number(axes, x, top + row * ROW, number, title.endswith("printed"), whats[0] != "value")
            x += WIDE
        x += 0.2
    axes.plot([MARGIN, width - MARGIN], [top] * 2, color="black", linewidth=0.8)
    x = MARGIN
    for entry, shade in entries.items():
        y = top + len(keys) * ROW + 0.24
        add_box(axes, (x, y - 0.09), 0.18, 0.18, facecolor=shade, linewidth=0)
        axes.text(x + 0.05, y, entry, va="center", size=NORMAL)
        x += text_width(entry, NORMAL) + 0.3
    return figure


def _nothing(criterion: str) -> figure.Figure:
    text = "The published files have no WEAT value or p-value of a query of this criterion for these models."
    figure = blank(PAGE[0], 0.7)
    figure.text(MARGIN / PAGE[0], 0.85, criterion, size=LARGE, weight="bold", va="top")
    figure.text(MARGIN / PAGE[0], 0.2, text, size=NORMAL)
    return figure


def _columns(numbers: Mapping, block: tuple, keys: list[str], metric: str) -> list[tuple[str, list[str]]]:
    """A block's columns: the head, and what is in it, the first of these that a query has."""
    metric = wrapped(metric, 14)
    found = [what for what in OURS if any((block, key, what) in numbers for key in keys)]
    columns = []
    # a p-value is printed once and computed twice
    for head, whats in ((metric, ["value"]), ("p", ["p_value", "p_normal"])):
        if whats := [what for what in whats if what in found]:
            columns.append((f"{head}\nprinted", whats))
            columns += [(OURS[what].format(metric=metric), [what]) for what in whats]
    return columns


def _number(axes: Axes, x: float, y: float, number, printed: bool, of_p: bool) -> None:
    from ..comparison import LOWEST

    text = _text(number.published if printed else number.ours, of_p)
    # what has no value has no verdict that a shade could show
    if not printed and number.verdict in MARKS:
        corner, shade = (x + 0.02, y + 0.05), {"facecolor": SHADES[number.verdict], "linewidth": 0}
        add_box(axes, corner, WIDE - 0.04, ROW - 0.1, **shade)
        text = f"≤ {text}" if str(number.note).startswith(LOWEST) else text
        text = f"{text} {MARKS[number.verdict]}"
    axes.text(x + WIDE / 2, y + ROW / 2, text, **_cell())


def _cell() -> dict:
    return {"ha": "center", "va": "center", "size": NORMAL}


def _name(query: Mapping[str, Any]) -> str:
    return "\n".join(" vs ".join(name for name, _ in query[side]) for side in ("targets", "attributes"))


def _size(sets: Sequence[tuple[str, int]]) -> str:
    sizes = [size for _, size in sets]
    return str(sizes[0]) if len(set(sizes)) == 1 else ", ".join(map(str, sizes))


def _text(value: float, of_p: bool) -> str:
    """A number as the original prints it: two decimals; p-values below a hundredth as powers of ten."""
    if math.isnan(value):
        return MISSING
    if not of_p:
        return f"{value:z.2f}".replace("-", "−")
    if value > 0.01 or value == 0:
        return f"{value:.3f}".rstrip("0").rstrip(".")
    digits, power = f"{value:.1e}".split("e")
    digits = "" if digits == "1.0" else f"{digits}·"
    return f"{digits}10{str(int(power)).translate(SUPERSCRIPTS)}"


def _drawings(grid: Any) -> Iterator[Drawing]:
    for criterion in grid.config["criteria"] if grid.compared else ():
        # by the criterion's own label: in another criterion, a key can be another metric's
        metrics = [
            [key, entry.get("label", grid.metric(criterion, key).label)]
            for key, entry in grid.metrics(criterion).items()
            if grid.metric(criterion, key).name in ("weat", "weat_es")
        ]
        if metrics:
            spec = {
                "labels": {key: grid.labels[key] for key in (*grid.models, *grid.debias)},
                "criterion": criterion,
                "queries": [
                    {
                        "key": key,
                        "targets": _sets(query.target_sets),
                        "attributes": _sets(query.attribute_sets),
                    }
                    for key in grid.config["criteria"][criterion]["queries"]
                    for query in [grid.queries[key]]
                ],
                "metrics": metrics,
                "models": list(grid.models),
            }
            yield Drawing(f"weat-table-{slug(criterion)}", tables(grid, "comparison"), spec)


def _sets(sets: Sequence[Any]) -> list[list[Any]]:
    return [[s.name, len(s.distinct)] for s in sets]


FIGURES = (
    Figure(
        "weat-table",
        "A criterion's published WEAT results beside ours, in the form of table 1 of Caliskan et al. (2017).",
        _drawings,
        from_tables(weat_table, "comparison"),
        needs="a criterion with WEAT, and numbers to compare with (published, computed)",
        reading="A row is a query; printed numbers stand beside ours. Blue with a tick: reproduced as "
        "printed; orange with a cross: not as printed; a dash has no value. comparison.csv says why.",
    ),
)

"""Published WEAT results beside ours, in the form of table 1 of Caliskan, Bryson & Narayanan (Science 356, 2017)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ..comparison import LOWEST
from ..query import Query
from .grid import GREY, LARGE, MARGIN, NORMAL, SMALL, _axes, _figure, _rows, _styled, _width, _wrapped

# a mark and a shade for each verdict: the table reads the same without colour
MARKS = {"reproduced": "✓", "explained": "○", "differs": "✗"}
SHADES = {"reproduced": "#D6E9F5", "explained": "#F6EBD0", "differs": "#F3C9C0"}
MEANINGS = {
    "reproduced": "reproduced as printed",
    "explained": "not as printed, for a reason that comparison.csv gives",
    "differs": "not as printed",
}
MISSING = "–"
# heads of what was computed: a p-value is printed once and computed twice
OURS = {
    "value": "{metric}\nours",
    "p_value": "p ours,\npermutation\ntest",
    "p_normal": "p ours,\nnormal\ncurve",
}
ROW, NARROW, WIDE = 0.36, 0.52, 0.72  # inches
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@_styled
def weat_table(
    comparison: pd.DataFrame, labels: Mapping[str, str], criterion: str, queries: Mapping[str, Query]
) -> Figure:
    """A row a query, and for each model the printed numbers beside ours, each with the mark of its verdict.

    comparison  the study's comparison with published numbers (tables.read)
    queries     the criterion's queries by id, in the order of the rows

    Raises BiasgridError where the table has no rows of the criterion.
    """
    table = _rows(comparison, "comparison", criterion)
    place = table["quantity"].str.rsplit(": ", n=1, expand=True)
    numbers = {
        key: row
        for key, row in zip(
            zip(table["model"], place[0], place[1], strict=True), table.itertuples(), strict=True
        )
    }
    keys = [key for key in queries if key in set(place[0])]
    # in the study's order, which labels have; "a under b" is a model under a debias method
    order = {key: i for i, key in enumerate(labels)}
    models = sorted(
        table["model"].unique(), key=lambda model: (order.get(model.split(" ")[0], len(order)), model)
    )
    metric = _wrapped(labels.get(table["metric"].iloc[0], table["metric"].iloc[0]), 14)
    columns = {
        model: [q for q in OURS if any((model, key, q) in numbers for key in keys)] for model in models
    }
    names = [_name(queries[key]) for key in keys]
    left = 0.35 + max(_width(name, SMALL) for name in names) + 0.15
    sizes = left + 2 * NARROW
    # printed once for both kinds of p-value
    extent = {
        model: sum(WIDE * (1 if quantity == "p_normal" else 2) for quantity in found) + 0.2
        for model, found in columns.items()
    }
    entries = {f"{MARKS[v]}  {MEANINGS[v]}": SHADES[v] for v in MARKS if v in set(table["verdict"])}
    if table["ours"].isna().any():
        entries[f"{MISSING}  no value: the model lacks words of the test"] = "white"
    width = max(sizes + sum(extent.values()), sum(_width(e, NORMAL) + 0.3 for e in entries)) + 2 * MARGIN
    top = 1.22
    height = top + len(keys) * ROW + 0.42
    figure = _figure(width, height)
    axes = _axes(figure, 0, 0, width, height)
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    axes.text(MARGIN, MARGIN, criterion, size=LARGE, weight="bold", va="top")
    head = {"size": SMALL, "va": "bottom", "ha": "center", "linespacing": 1.1}
    axes.text(MARGIN + 0.35, top - 0.06, "target words\nattribute words", **head | {"ha": "left"})
    for i, (text, pick) in enumerate(
        (("words a\ntarget set", "target_sets"), ("words an\nattribute\nset", "attribute_sets"))
    ):
        x = MARGIN + left + (i + 0.5) * NARROW
        axes.text(x, top - 0.06, text, **head)
        for row, key in enumerate(keys):
            axes.text(x, top + (row + 0.5) * ROW, _size(getattr(queries[key], pick)), **_cell())
    for row, name in enumerate(names):
        y = top + (row + 0.5) * ROW
        axes.text(MARGIN + 0.12, y, str(row + 1), **_cell() | {"weight": "bold"})
        axes.text(MARGIN + 0.35, y, name, **_cell() | {"ha": "left", "size": SMALL})
        axes.plot([MARGIN, width - MARGIN], [y + ROW / 2] * 2, color="#DDDDDD", linewidth=0.5)
    x = MARGIN + sizes + 0.2
    for model in models:
        right = x + extent[model] - 0.2
        label = _wrapped(labels.get(model, model), max(14, int((right - x) * 15)))
        axes.text((x + right) / 2, 0.62, label, ha="center", va="bottom", weight="bold", size=NORMAL)
        axes.plot([x, right], [0.66] * 2, color=GREY, linewidth=0.6)
        for quantity in columns[model]:
            of_p = quantity != "value"
            titles = [OURS[quantity].format(metric=metric)]
            if quantity != "p_normal":
                titles = [("p" if of_p else metric) + "\nprinted", *titles]
            for title in titles:
                printed = title.endswith("printed")
                axes.text(x + WIDE / 2, top - 0.06, title, **head)
                for row, key in enumerate(keys):
                    number = numbers.get((model, key, quantity))
                    if number is not None:
                        _number(axes, x, top + row * ROW, number, printed, of_p)
                x += WIDE
        x += 0.2
    axes.plot([MARGIN, width - MARGIN], [top] * 2, color="black", linewidth=0.8)
    x = MARGIN
    for entry, shade in entries.items():
        y = top + len(keys) * ROW + 0.24
        axes.add_patch(Rectangle((x, y - 0.09), 0.18, 0.18, facecolor=shade, linewidth=0))
        axes.text(x + 0.05, y, entry, va="center", size=NORMAL)
        x += _width(entry, NORMAL) + 0.3
    return figure


def _number(axes: Axes, x: float, y: float, number, printed: bool, of_p: bool) -> None:
    text = _text(number.published if printed else number.ours, of_p)
    if not printed:
        axes.add_patch(
            Rectangle(
                (x + 0.02, y + 0.05), WIDE - 0.04, ROW - 0.1, facecolor=SHADES[number.verdict], linewidth=0
            )
        )
        text = f"≤ {text}" if str(number.note).startswith(LOWEST) else text
        text = f"{text} {MARKS[number.verdict]}"
    axes.text(x + WIDE / 2, y + ROW / 2, text, **_cell())


def _cell() -> dict:
    return {"ha": "center", "va": "center", "size": NORMAL}


def _name(query: Query) -> str:
    sides = ([s.name for s in side] for side in (query.target_sets, query.attribute_sets))
    return "\n".join(" vs ".join(names) for names in sides)


def _size(sets) -> str:
    sizes = [len(s.distinct) for s in sets]
    return str(sizes[0]) if len(set(sizes)) == 1 else ", ".join(map(str, sizes))


def _text(value: float, of_p: bool) -> str:
    """A number as the original prints it: two decimals; p-values below a hundredth as powers of ten."""
    if math.isnan(value):
        return MISSING
    if not of_p:
        return f"{value:.2f}".replace("-", "−")
    if value > 0.01:
        return f"{value:.3f}".rstrip("0")
    digits, power = f"{value:.1e}".split("e")
    digits = "" if digits == "1.0" else f"{digits}·"
    return f"{digits}10{str(int(power)).translate(SUPERSCRIPTS)}"

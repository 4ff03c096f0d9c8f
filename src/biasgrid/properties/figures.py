"""Figures of the metrics' properties: the matrix, and what each metric cannot see, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ..figures.frame import MARGIN, PAGE, blank, empty_page, styled
from ..figures.layout import add_axes, add_box, page
from ..figures.palette import GREY, LESS_LIGHT, MODEL_COLOURS, MORE_LIGHT
from ..figures.text import BOLD, NORMAL, SMALL, fit_text, line_count, text_width, wrap_text
from ..figures.visuals import legend_area, legend_line
from .numbers import number
from .questions import NO, NOT_REFUTED, ORDERED, PROPERTIES, SET, UNDEFINED, WORD, YES
from .search import CATALOGUE
from .settings import Setting
from .verdicts import Verdict, by_row

if TYPE_CHECKING:
    from matplotlib import figure
    from matplotlib.axes import Axes

COLOURS = {YES: LESS_LIGHT, NOT_REFUTED: "#DDEBF7", NO: MORE_LIGHT, UNDEFINED: "#D9D9D9"}
MEANING = {
    YES: "yes: there is a proof",
    NOT_REFUTED: "not refuted: no counterexample found",
    NO: "no: there is a counterexample",
    UNDEFINED: "no value where one must be",
}
GROUPS = MODEL_COLOURS[:4]
NAMES = "ABCD"
TITLE = 7.5
# what a counterexample shows, in the order in which a panel says it
SHOWS = {
    "skew": "skew unseen",
    "stereotype": "stereotype unseen",
    "blind": "bias unseen",
    "alarm": "not neutral, without bias",
    "defined": "no value",
}


@styled
def matrix(verdicts: Sequence[Verdict]) -> figure.Figure:
    """Metrics by properties: what each can and cannot see. Rows of one word and of sets of words."""
    rows = by_row(verdicts)
    names = {label: wrap_text(label, 24) for label, _ in rows}
    left = max(text_width(name, NORMAL) for name in names.values()) + 0.12
    level_width = max(text_width(level, SMALL) for level in (WORD, SET)) + 0.12
    cell = min(0.86, (PAGE[0] - 2 * MARGIN - left - level_width) / len(PROPERTIES))
    heads = {name: fit_text(text, cell - 0.04, SMALL) for name, text in PROPERTIES.items()}
    head = max(map(line_count, heads.values())) * 0.12 + 0.1
    note = (
        "Words have bias where they are nearer (mean cosine) to one group than to another. Bold: also a theorem of "
        "Schroeder et al. (2021). One word: the metric of a single word. Empty: the question makes no sense there. "
        "If ordered: where no word of the second set leans more to the first group than any of the first set."
    )
    answers = {v.holds for v in verdicts}
    legend = [
        (MEANING[holds], legend_area(facecolor=colour))
        for holds, colour in COLOURS.items()
        if holds in answers
    ]
    content_width = left + level_width + len(heads) * cell
    gap = 0.04
    gaps = gap * len(names)
    # rows are as high as a page allows
    high = min(0.235, (PAGE[1] - 1.3 - head - gaps) / len(rows))
    figure, top = page(
        "What metrics can and cannot see",
        note,
        legend,
        content_width + 2 * MARGIN,
        head + len(rows) * high + gaps + 0.1,
    )
    axes = add_axes(figure, MARGIN, top, content_width, head + len(rows) * high + gaps)
    axes.set(xlim=(0, content_width), ylim=(head + len(rows) * high + gaps, 0))
    axes.axis("off")
    for i, text in enumerate(heads.values()):
        x = left + level_width + (i + 0.5) * cell
        axes.text(x, head - 0.05, text, ha="center", va="bottom", size=SMALL, linespacing=1.15)
    y, label_before = head, None
    for (label, level), row in rows.items():
        if label != label_before:
            y += gap
            levels = sum(row_label == label for row_label, _ in rows)
            axes.text(0, y + levels * high / 2, names[label], va="center", size=NORMAL, linespacing=1.15)
            label_before = label
        axes.text(left, y + high / 2, level, va="center", size=SMALL, color=GREY)
        for i, name in enumerate(heads):
            if (verdict := row.get((name, ""))) is None:
                continue
            x = left + level_width + i * cell
            colour = COLOURS[verdict.holds]
            add_box(axes, (x + 0.015, y + 0.015), cell - 0.03, high - 0.03, facecolor=colour)
            text = {UNDEFINED: "no value"}.get(verdict.holds, verdict.holds)
            weight = "bold" if verdict.paper else "normal"
            ordered_verdict = row.get((name, ORDERED))
            middle = y + high / 2
            if ordered_verdict and ordered_verdict.holds != verdict.holds:
                # the condition's own colour, in the right part of the cell
                part = 0.68
                shade = COLOURS[ordered_verdict.holds]
                corner = x + (1 - part) * cell, y + 0.015
                add_box(axes, corner, part * cell - 0.015, high - 0.03, facecolor=shade)
                axes.text(
                    x + (1 - part / 2) * cell,
                    middle,
                    "if ordered",
                    ha="center",
                    va="center",
                    size=SMALL,
                    weight=weight,
                )
                axes.text(
                    x + (1 - part) / 2 * cell,
                    middle,
                    text,
                    ha="center",
                    va="center",
                    size=SMALL,
                    weight=weight,
                )
            else:
                axes.text(x + cell / 2, middle, text, ha="center", va="center", size=SMALL, weight=weight)
        y += high
    return figure


@styled
def counterexamples(verdicts: Sequence[Verdict]) -> figure.Figure:
    """The groups and words of every counterexample of sets of words, a panel each, with the values that metrics give
    there. Those of values that do not compare are in `ranges`. Where there is none, the figure says so."""
    panels, title = _panels(verdicts), "What metrics cannot see: counterexamples"
    if not panels:
        return empty_page(title, "no counterexample was found.")
    gap = 0.16
    # as few columns as let the panels go onto a page
    for columns in range(4, 8):
        width = PAGE[0] / columns
        titles = [
            fit_text(setting.name.partition(" (P")[0], (width - gap) / BOLD, TITLE) for setting, _ in panels
        ]
        panel_texts = [[fit_text(line, width - gap, SMALL) for line in lines] for _, lines in panels]
        starts = range(0, len(panels), columns)
        heads = [0.125 * max(map(line_count, titles[i : i + columns])) + 0.05 for i in starts]
        feet = [
            max(sum(0.12 * line_count(x) + 0.02 for x in lines) for lines in panel_texts[i : i + columns])
            for i in starts
        ]
        texts = [head + foot + 0.2 for head, foot in zip(heads, feet, strict=True)]
        drawing = min(1.3, (PAGE[1] - 1.1 - sum(texts)) / len(texts))
        if drawing >= 0.8:
            break
    rows = [text + drawing for text in texts]
    note = (
        "Arrows are the words of groups, dots the words that are measured; open dots are the second set of metrics "
        "that take two. The circle has radius 1. Below each: metrics, with the value that they give there. Skew "
        "(words lean one way), stereotype (words lean apart) or bias is unseen where that value is the neutral one."
    )
    two = any(len(setting.words) > 1 for setting, _ in panels)
    legend = [
        ("group A", legend_line(color=GROUPS[0])),
        ("group B", legend_line(color=GROUPS[1])),
        ("word", legend_line(linestyle="", marker="o", color="black", markersize=4)),
    ]
    if two:
        open_look = {"markerfacecolor": "white", "color": "black", "markersize": 4}
        legend.append(("word of the second set", legend_line(linestyle="", marker="o", **open_look)))
    figure, top = page(title, note, legend, PAGE[0], sum(rows))
    w, h = figure.get_size_inches()
    for i, (setting, _) in enumerate(panels):
        row, column = divmod(i, columns)
        x, y = MARGIN + column * width, top + sum(rows[:row])
        figure.text(x / w, 1 - y / h, titles[i], va="top", weight="bold", size=TITLE, linespacing=1.1)
        y += heads[row]
        _draw(add_axes(figure, x, y, width - gap, drawing), setting)
        y += drawing + 0.05
        for line in panel_texts[i]:
            figure.text(x / w, 1 - y / h, line, va="top", size=SMALL, linespacing=1.15)
            y += 0.12 * line_count(line) + 0.02
    return figure


@styled
def blind_spots(panels: Sequence[tuple[Setting, str]]) -> figure.Figure:
    """Settings of one metric with what it says of each, two beside each other: a picture for a narrow page."""
    columns, width, drawing, gap = min(len(panels), 2), 1.8, 1.3, 0.12
    titles = [fit_text(plain(setting), (width - gap) / BOLD, NORMAL) for setting, _ in panels]
    texts = [fit_text(text, width - gap, NORMAL) for _, text in panels]
    starts = range(0, len(panels), columns)
    heads = [0.14 * max(map(line_count, titles[i : i + columns])) + 0.05 for i in starts]
    feet = [0.14 * max(map(line_count, texts[i : i + columns])) + 0.2 for i in starts]
    rows = [head + drawing + foot for head, foot in zip(heads, feet, strict=True)]
    figure = blank(columns * width + 2 * MARGIN - gap, sum(rows) + MARGIN)
    w, h = figure.get_size_inches()
    for i, (setting, _) in enumerate(panels):
        row, column = divmod(i, columns)
        x, y = MARGIN + column * width, MARGIN + sum(rows[:row])
        figure.text(x / w, 1 - y / h, titles[i], va="top", weight="bold", size=NORMAL, linespacing=1.15)
        _draw(add_axes(figure, x, y + heads[row], width - gap, drawing), setting)
        y += heads[row] + drawing + 0.05
        figure.text(x / w, 1 - y / h, texts[i], va="top", size=NORMAL, linespacing=1.15)
    return figure


def plain(setting: Setting) -> str:
    """A setting's name without the number that the paper's specification gives it."""
    name = setting.name.partition(" (P")[0]
    return name[0].upper() + name[1:]


def _panels(verdicts: Sequence[Verdict]) -> list[tuple[Setting, list[str]]]:
    """Settings, and for each what is said of the metrics that it is a counterexample of."""
    panels_by_setting: dict[str, tuple[Setting, dict[str, list[str]]]] = {}
    first_examples = {
        (v.label, v.property): v.example.settings[0].name for v in verdicts if v.level == SET and v.example
    }
    for v in verdicts:
        if v.level != SET or not v.example or v.condition or v.property not in ("trustworthy", *SHOWS):
            continue
        setting, kind = v.example.settings[0], v.property
        if kind == "trustworthy":
            # said already where it is skew or stereotype that is not seen
            if setting.name in (
                first_examples.get((v.label, "skew")),
                first_examples.get((v.label, "stereotype")),
            ):
                continue
            kind = "blind" if setting.truth.bias > 1e-9 else "alarm"
        (value,) = v.example.values[0]
        value_text = "" if isnan(value) else f" {number(value)}"
        # of an option, its value says enough: "RND (cos)"
        label = v.label.replace("direction: ", "").replace("distance: ", "")
        panels_by_setting.setdefault(setting.name, (setting, {}))[1].setdefault(kind, []).append(
            f"{label}{value_text}".replace(" ", "\N{NO-BREAK SPACE}")
        )
    order = {setting.name: i for i, setting in enumerate(CATALOGUE)}
    return [
        (
            setting,
            [f"{SHOWS[kind]}: {', '.join(labels_by_kind[kind])}" for kind in SHOWS if kind in labels_by_kind],
        )
        for setting, labels_by_kind in sorted(
            panels_by_setting.values(), key=lambda panel: order.get(panel[0].name, len(order))
        )
    ]


def _draw(axes: Axes, setting: Setting) -> None:
    """Groups and words in the plane; in space, seen along the third axis."""
    from matplotlib.patches import Circle

    points = np.concatenate([*setting.groups, *setting.words])[:, :2]
    reach = max(np.abs(points).max(), 1.0) * 1.35
    axes.set_aspect("equal")
    axes.set(xlim=(-reach * 1.2, reach * 1.2), ylim=(-reach, reach))
    axes.axis("off")
    axes.add_patch(Circle((0, 0), 1, facecolor="none", edgecolor="#CCCCCC", linewidth=0.6))
    axes.plot(0, 0, "+", color="#BBBBBB", markersize=4, zorder=1)
    for group, colour, name in zip(setting.groups, GROUPS, NAMES, strict=False):
        for row, count in _count_rows(group):
            axes.annotate(
                "",
                (row[0], row[1]),
                (0, 0),
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": colour,
                    "linewidth": 1.3,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
                zorder=2,
            )
            label = name if count == 1 else f"{name} ×{count}"
            has_word = any(np.allclose(row, vector) for vector in np.concatenate(setting.words))
            # beyond a dot that is there; and not on the other group's label
            is_turned = name == "B" and any(np.allclose(row, vector) for vector in setting.groups[0])
            _add_label(axes, row, reach, label, colour, 0.14 + 0.1 * has_word + 0.05 * (count > 1), is_turned)
    for words, is_filled in zip(setting.words, (True, False), strict=False):
        for row, count in _count_rows(words):
            shared = any(np.allclose(row, vector) for vector in setting.words[0])
            # a word that stands in both sets is a ring around a dot
            size = 7.5 if not is_filled and shared else 4.5
            axes.plot(
                *row[:2],
                "o",
                markersize=size,
                markerfacecolor="black" if is_filled else "none" if shared else "white",
                markeredgecolor="black",
                markeredgewidth=0.8,
                zorder=4 if is_filled else 3,
            )
            if count > 1 and is_filled:
                _add_label(axes, row, reach, f"×{count}", "black", 0.2, is_turned=True)


def _count_rows(rows: np.ndarray) -> list[tuple[np.ndarray, int]]:
    counts: dict[tuple[float, ...], int] = {}
    for row in rows.round(9) + 0.0:
        counts[tuple(row)] = counts.get(tuple(row), 0) + 1
    return [(np.array(row), count) for row, count in counts.items()]


def _add_label(
    axes, row, reach: float, text: str, colour: str, distance: float, is_turned: bool = False
) -> None:
    """A label beyond the end of a vector, or beside it."""
    direction = row[:2] / (np.linalg.norm(row[:2]) or 1.0)
    if is_turned:
        direction = np.array([-direction[1], direction[0]])
    if "×" in text:
        # wide text goes as far on paper in a low panel as in a high one
        high = axes.get_position().height * axes.figure.get_figheight()
        distance *= max(1.0, 1.3 / high)
    x, y = row[:2] + distance * reach * direction
    axes.text(x, y, text, color=colour, size=SMALL, ha="center", va="center", zorder=5)


@styled
def ranges(verdicts: Sequence[Verdict]) -> figure.Figure:
    """Metrics whose values do not compare: two ranges each, the smallest and largest value of two words (a set) of
    unit length, of two pairs of groups. Where there is none, the figure says so."""
    title = "Values that do not compare"
    incomparable = [
        (v, v.example)
        for v in verdicts
        if v.property == "comparable" and v.holds == NO and v.level == SET and v.example
    ]
    if not incomparable:
        return empty_page(title, "no metric was found whose values do not compare.")
    note = (
        "Smallest and largest value of two words (a set) of length 1, between the groups that the right side names. "
        "Each metric has a scale of its own; its neutral value is in the middle."
    )
    legend = [
        ("one pair of groups", legend_line(color="black", linewidth=1.6, marker="|", markersize=5)),
        ("another one", legend_line(color="#999999", linewidth=1.6, marker="|", markersize=5)),
    ]
    bar = min(0.3, (PAGE[1] - 1.6) / len(incomparable))
    labels = [fit_text(v.label, 1.3, SMALL) for v, _ in incomparable]
    ends = [
        f"{number(low)} to {number(high)}: {setting.name}"
        for _, example in incomparable
        for setting, (low, high) in zip(example.settings, example.values, strict=True)
    ]
    left, right = (max(text_width(text, SMALL) for text in texts) + 0.15 for texts in (labels, ends))
    figure, top = page(title, note, legend, PAGE[0], len(incomparable) * bar + 0.35)
    bar_width = figure.get_figwidth() - 2 * MARGIN - left - right
    axes = add_axes(figure, MARGIN + left, top, bar_width, len(incomparable) * bar)
    look: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center", "size": SMALL}
    for i, ((v, example), label) in enumerate(zip(incomparable, labels, strict=True)):
        axes.text(-0.02, i, label, ha="right", **look)
        scale = max(abs(x - v.neutral) for pair in example.values for x in pair) or 1.0
        for j, (low, high) in enumerate(example.values):
            y = i - 0.23 + 0.46 * j
            line = [(low - v.neutral) / scale, (high - v.neutral) / scale]
            axes.plot(
                line, [y, y], color="#999999" if j else "black", linewidth=1.6, marker="|", markersize=5
            )
            axes.text(1.02, y, ends[2 * i + j], **look)
    axes.axvline(0, color="#BBBBBB", linewidth=0.6, zorder=0)
    axes.set(ylim=(len(incomparable) - 0.5, -0.5), xlim=(-1.08, 1.08), yticks=[], xticks=[0])
    axes.set_xticklabels(["neutral"])
    return figure

"""Figures of the metrics' properties: the matrix, and the counterexamples of each metric."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from biasgrid.figures.frame import Frame, empty_page, styled
from biasgrid.figures.palette import ABOVE_LIGHT, BELOW_LIGHT, DASHED, MODEL_COLOURS, Look
from biasgrid.figures.text import NORMAL, SMALL, fit_text, text_width, wrap_text
from biasgrid.figures.types.heat import heat
from biasgrid.figures.visuals import beside, legend_area, legend_line, legend_mark, row_names

from .numbers import number
from .questions import NO, NOT_REFUTED, ORDERED, PROPERTIES, SET, UNDEFINED, YES
from .search import CATALOGUE
from .settings import Setting
from .verdicts import Verdict, by_row

if TYPE_CHECKING:
    from matplotlib import figure
    from matplotlib.axes import Axes

COLOURS = {YES: ABOVE_LIGHT, NOT_REFUTED: "#DDEBF7", NO: BELOW_LIGHT, UNDEFINED: "#D9D9D9"}
MEANING = {
    YES: "yes: there is a proof",
    NOT_REFUTED: "not refuted: no counterexample found",
    NO: "no: there is a counterexample",
    UNDEFINED: "no value where one must be",
}
GROUPS = MODEL_COLOURS[:4]
NAMES = "ABCD"
# Typical words of two groups.
TWO = ("he-words", "she-words")
# Height of a row of the matrix, in inches.
ROW = 0.127
# Share of a cell that shows the answer under the condition.
IF_ORDERED = 0.68
# Height of a counterexample, in inches: among many, and among the few of one metric.
DRAWING, ALONE = 0.76, 1.0
BARS: list[Look] = [
    {"color": colour, "linewidth": 1.6, "marker": "|", "markersize": 5} for colour in ("black", "#999999")
]
# Problems that a counterexample shows, in the order in which a panel lists them.
SHOWS = {
    "skew": "skew unseen",
    "stereotype": "stereotype unseen",
    "blind": "bias unseen",
    "alarm": "reports bias, but there is none",
    "defined": "no value",
}


@styled
def matrix(verdicts: Sequence[Verdict]) -> figure.Figure:
    """Draw the matrix of metrics by properties, with rows for one word and for sets of words."""
    import pandas as pd
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Rectangle

    rows = by_row(verdicts)
    names = {label: wrap_text(label, 24) for label, _ in rows}
    page = Frame(
        "What metrics can and cannot see",
        "Properties of the metrics, for one word and for sets of words",
        [
            "Words have bias if they are closer (mean cosine) to one group than to another. Empty: the question "
            "makes no "
            "sense there.",
            "If ordered: no word of the second set is closer to the first group than any of the first set.",
            "Bold: also a theorem of Schroeder et al. (2021). One word: the metric of a single word.",
        ],
    )
    wide = max(text_width(name, NORMAL) for name in names.values()) + 0.1
    inches = (page.inside - wide - 0.6) / len(PROPERTIES)
    codes, texts = np.full((len(rows), len(PROPERTIES)), np.nan), np.full((len(rows), len(PROPERTIES)), "")
    texts = texts.astype(object)
    looks: dict[tuple[int, int], Look] = {}
    ordered: list[tuple[int, int, str]] = []
    for i, row in enumerate(rows.values()):
        for j, name in enumerate(PROPERTIES):
            if (verdict := row.get((name, ""))) is None:
                continue
            codes[i, j] = [*COLOURS].index(verdict.holds)
            texts[i, j] = {UNDEFINED: "no value"}.get(verdict.holds, verdict.holds)
            looks[i, j] = {"weight": "bold" if verdict.paper else "normal"}
            if (condition := row.get((name, ORDERED))) and condition.holds != verdict.holds:
                looks[i, j]["x"] = j + (1 - IF_ORDERED) / 2
                ordered.append((i, j, condition.holds))
    axes = page.panel(len(rows) * ROW)
    columns = [fit_text(text, inches - 0.04, SMALL) for text in PROPERTIES.values()]
    shades = ListedColormap([*COLOURS.values()])
    of_rows = [level for _, level in rows]
    heat(
        axes,
        pd.DataFrame(codes),
        pd.DataFrame(texts),
        ends=(-0.5, len(COLOURS) - 0.5),
        shades=shades,
        names=(of_rows, columns),
        hidden=np.isnan(codes),
        on_top=True,
        looks=looks,
    )
    for i, j, holds in ordered:
        # Draw the condition's own colour in the right part of the cell.
        corner, height = (j + 1 - IF_ORDERED, i), 0.9
        axes.add_patch(Rectangle(corner, IF_ORDERED - 0.02, height, facecolor=COLOURS[holds]))
        look = {"ha": "center", "va": "center", "size": SMALL, "weight": looks[i, j]["weight"]}
        axes.text(j + 1 - IF_ORDERED / 2, i + 0.5, "if ordered", **look)
    levels = [label for label, _ in rows]
    for label, name in names.items():
        first, count = levels.index(label), levels.count(label)
        axes.axhline(first, color="white", linewidth=3)
        place = 0, first + count / 2
        inward = -72 * (wide + 0.55), 0
        axes.annotate(name, place, inward, axes.get_yaxis_transform(), "offset points", va="center")
    answers = {verdict.holds for verdict in verdicts}
    areas = {holds: legend_area(facecolor=colour) for holds, colour in COLOURS.items() if holds in answers}
    return page.done([(MEANING[holds], area) for holds, area in areas.items()])


@styled
def counterexamples(verdicts: Sequence[Verdict]) -> figure.Figure:
    """Draw the groups and words of every counterexample of sets of words, a panel each, with the metrics' values.

    Counterexamples of values that are not comparable are in `ranges`. Without counterexamples, the figure shows a
    note.
    """
    panels, title = _panels(verdicts), "What metrics cannot see: counterexamples"
    if not panels:
        return empty_page(title, "no counterexample was found.")
    notes = (
        "Arrows are the words of groups, dots the measured words; the circle has radius 1. Below each: "
        "metrics and their "
        "value there.",
        "Skew (words closer to one group) or stereotype (words closer to different groups) is unseen if that is the "
        "no-bias value.",
        "Open dots are the second set of metrics that take two.",
    )
    dot: Look = {"marker": "o", "markersize": 4, "color": "black"}
    legend = [
        ("group A", legend_line(color=GROUPS[0])),
        ("group B", legend_line(color=GROUPS[1])),
        ("word", legend_mark(**dot)),
    ]
    if any(len(setting.words) > 1 for setting, _ in panels):
        legend.append(("word of the second set", legend_mark(**dot, markerfacecolor="white")))
    page = Frame(title, "Words and groups for which a metric does not report the bias", notes)
    _draw_panels(page, [(setting.name.partition(" (P")[0], setting, lines) for setting, lines in panels], 4)
    return page.done(legend)


@styled
def blind_spots(panels: Sequence[tuple[Setting, str]], open_dots: str = "of the second set") -> figure.Figure:
    """Draw settings of one metric with its value in each, two side by side: a picture for a narrow page.

    `open_dots` describes the words with open dots.
    """
    page = Frame("", width=3.6 if len(panels) > 1 else 2.4)
    _draw_panels(page, [(plain(setting), setting, [text]) for setting, text in panels], 2, ALONE)
    settings = [setting for setting, _ in panels]
    dot: Look = {"marker": "o", "markersize": 4, "color": "black"}
    legend = []
    if max(len(setting.groups) for setting in settings) == len(TWO):
        legend += [
            (f"{name} = {of}", legend_line(color=colour))
            for name, of, colour in zip(NAMES, TWO, GROUPS, strict=False)
        ]
    legend.append(("measured word", legend_mark(**dot)))
    if any(len(setting.words) > 1 for setting in settings):
        legend.append((open_dots, legend_mark(**dot, markerfacecolor="white")))
    return page.done(legend)


def _draw_panels(
    page: Frame, panels: Sequence[tuple[str, Setting, Sequence[str]]], columns: int, height: float = DRAWING
) -> None:
    """Draw settings in `columns` columns of this height, with their heads, and lines below each."""
    inches = page.inside / min(columns, len(panels)) - 0.09
    heads = {i: head for i, (head, _, _) in enumerate(panels)}
    line = columns if len(panels) > columns else 0
    for i, axes in page.panels(heads, height, least=inches, line=line).items():
        _, setting, lines = panels[i]
        _draw(axes, setting)
        text = "\n".join(fit_text(line, inches - 0.05, SMALL) for line in lines)
        axes.annotate(text, (0, 0), (0, -4), "axes fraction", "offset points", va="top", size=SMALL)


def plain(setting: Setting) -> str:
    """Return a setting's name without the number in the paper's specification."""
    name = setting.name.partition(" (P")[0]
    return name[0].upper() + name[1:]


def _panels(verdicts: Sequence[Verdict]) -> list[tuple[Setting, list[str]]]:
    """Return the settings that are counterexamples, each with lines about the metrics that it refutes."""
    panels_by_setting: dict[str, tuple[Setting, dict[str, list[str]]]] = {}
    first_examples = {
        (v.label, v.property): v.example.settings[0].name for v in verdicts if v.level == SET and v.example
    }
    for v in verdicts:
        if v.level != SET or not v.example or v.condition or v.property not in ("trustworthy", *SHOWS):
            continue
        setting, kind = v.example.settings[0], v.property
        if kind == "trustworthy":
            # Skip it if the unseen skew or stereotype is already shown.
            if setting.name in (
                first_examples.get((v.label, "skew")),
                first_examples.get((v.label, "stereotype")),
            ):
                continue
            kind = "blind" if setting.truth.bias > 1e-9 else "alarm"
        (value,) = v.example.values[0]
        value_text = "" if isnan(value) else f" {number(value)}"
        # An option's value is enough: "RND (cos)".
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
    """Draw groups and words in the plane; in space, seen along the third axis."""
    from matplotlib.patches import Circle

    points = np.concatenate([*setting.groups, *setting.words])[:, :2]
    reach = max(np.abs(points).max(), 1.0) * 1.35
    # to the left, where the head and the text below begin
    axes.set_aspect("equal", anchor="W")
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
            # Place the label beyond a dot at the same point, and away from the other group's label.
            is_turned = name == "B" and any(np.allclose(row, vector) for vector in setting.groups[0])
            _add_label(axes, row, reach, label, colour, 0.14 + 0.1 * has_word + 0.05 * (count > 1), is_turned)
    for words, is_filled in zip(setting.words, (True, False), strict=False):
        for row, count in _count_rows(words):
            shared = any(np.allclose(row, vector) for vector in setting.words[0])
            # Draw a word in both sets as a ring around a dot.
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
    """Write a label beyond the end of a vector, or next to it."""
    direction = row[:2] / (np.linalg.norm(row[:2]) or 1.0)
    if is_turned:
        direction = np.array([-direction[1], direction[0]])
    x, y = row[:2] + distance * reach * direction
    axes.text(x, y, text, color=colour, size=SMALL, ha="center", va="center", zorder=5)


@styled
def ranges(verdicts: Sequence[Verdict]) -> figure.Figure:
    """Draw two ranges for each metric whose values are not comparable, for two pairs of groups.

    A range has the smallest and largest value of two words (a set) of unit length. Without such metrics, the figure
    shows a note.
    """
    title = "Possible range of each metric"
    incomparable = [
        (v, v.example)
        for v in verdicts
        if v.property == "comparable" and v.holds == NO and v.level == SET and v.example
    ]
    if not incomparable:
        return empty_page(title, "all metrics that were examined have comparable values.")
    notes = (
        "Each metric has a scale of its own, with its no-bias value in the middle. The right side names the groups.",
        "The ends are the smallest and largest value of two words (a set) of length 1.",
    )
    legend = [
        ("one pair of groups", legend_line(**BARS[0])),
        ("another one", legend_line(**BARS[1])),
    ]
    page = Frame(f"{len(incomparable)} metrics have ranges that depend on the groups", title, notes)
    axes = page.panel(0.3 * len(incomparable))
    row_names(axes, [fit_text(v.label, 1.3, SMALL) for v, _ in incomparable])
    axes.tick_params(axis="y", length=0)
    for i, (v, example) in enumerate(incomparable):
        scale = max(abs(x - v.neutral) for pair in example.values for x in pair) or 1.0
        for j, (setting, ends) in enumerate(zip(example.settings, example.values, strict=True)):
            y, look = i - 0.23 + 0.46 * j, BARS[j]
            axes.plot([(end - v.neutral) / scale for end in ends], [y, y], **look)
            beside(axes, y, f"{number(ends[0])} to {number(ends[1])}: {setting.name}")
    axes.axvline(0, **DASHED)
    axes.set(ylim=(len(incomparable) - 0.5, -0.5), xlim=(-1.08, 1.08), xticks=[0])
    axes.set_xticklabels(["no bias"])
    return page.done(legend)

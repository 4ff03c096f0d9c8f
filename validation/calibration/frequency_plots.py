"""Figure of tests on shuffled corpora: how often they reject, where there is no bias and where one is planted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from biasgrid.errors import BiasgridError
from biasgrid.figures.frame import MARGIN, PAGE, styled
from biasgrid.figures.layout import add_axes, page
from biasgrid.figures.palette import DASHED, MODEL_COLOURS, ZEBRA
from biasgrid.figures.text import NORMAL, SMALL, text_width
from biasgrid.figures.visuals import legend_line
from biasgrid.numbers import share

from .plots import SMALL_P, share_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

ALL = "all"
# test -> what its mark says, marker, colour, whether it is filled
TESTS = {
    "permutation": ("plain permutation test", "o", MODEL_COLOURS[1], False),
    "frequency_bands": ("permutation test within bands of frequency", "o", MODEL_COLOURS[0], True),
    "control_words": ("control words", "D", MODEL_COLOURS[2], True),
}


@styled
def shares(table: pd.DataFrame, labels: Mapping[str, str], by: str) -> figure.Figure:
    """Share of p <= .05 of frequency_tests.csv: a column of panels per kind of query.

    `by` "training": a row per training, of the first metric that has a permutation test; "metric": a row per metric,
    of all trainings together. Of tests within bands, those of the width that all metrics have. Raises BiasgridError
    for a table without tests.
    """
    tests = table.dropna(subset="rejected_0.05")
    if tests.empty:
        raise BiasgridError("frequency_tests: nothing to draw, no query has a test")
    metrics = list(dict.fromkeys(tests["metric"]))
    permutation_metrics = [
        m for m in metrics if (tests["metric"][tests["test"] != "control_words"] == m).any()
    ]
    first = (permutation_metrics or metrics)[0]
    is_drawn = (tests["metric"] == first) if by == "training" else (tests["training"] == ALL)
    band_tests = tests[tests["test"] == "frequency_bands"]
    widths = [set(part["width"]) for _, part in band_tests.groupby("metric")]
    common = set.intersection(*widths) if widths else set()
    width = next((w for w in band_tests["width"] if w in common), None)
    drawn_tests = tests[is_drawn & (tests["width"].isna() | (tests["width"] == width))]
    rows, kinds = (list(dict.fromkeys(drawn_tests[name])) for name in (by, "kind"))
    names = [{ALL: "all together", **labels}[row] for row in rows]
    looks = {
        test: share_mark(marker, colour, is_filled) for test, (_, marker, colour, is_filled) in TESTS.items()
    }
    legend = [(text, legend_line(**looks[test])) for test, (text, *_) in TESTS.items()]
    legend.append((f"{SMALL_P:g}: as many as a right test gives without bias", legend_line(**DASHED)))
    subject = labels[first] if by == "training" else "all trainings together"
    reach = "" if width is None else f" A band reaches {width:g} times in frequency."
    note = (
        f"Share of p ≤ .05 ({subject}) on vectors of shuffled corpora. T 4 : 1: the first target set is 4 times as "
        "frequent as the second; A: the attribute sets likewise. Bias 30 %: so many of all occurrences of the target "
        f"words have an attribute word beside them.{reach} Lines: 95 % intervals."
    )
    left, gap, head, foot = max(text_width(name, SMALL) for name in names) + 0.12, 0.12, 0.66, 0.36
    panel_width = (PAGE[0] - MARGIN - left) / len(kinds) - gap
    row_height = min(0.32, (PAGE[1] - 2.0 - head - foot) / len(rows))
    height = row_height * len(rows)
    figure, top = page("Tests where frequency passes for bias", note, legend, PAGE[0], head + height + foot)
    corpora = ""
    for column, kind in enumerate(kinds):
        axes = add_axes(figure, MARGIN + left + column * (panel_width + gap), top + head, panel_width, height)
        for place in range(0, len(rows), 2):
            axes.axhspan(place - 0.5, place + 0.5, color=ZEBRA, linewidth=0, zorder=0)
        axes.axvline(SMALL_P, **DASHED)
        of_kind = drawn_tests[drawn_tests["kind"] == kind]
        for i, test in enumerate(TESTS):
            part = of_kind[of_kind["test"] == test]
            y = [rows.index(row) + (i - (len(TESTS) - 1) / 2) * 0.24 for row in part[by]]
            axes.hlines(y, part["low"], part["high"], color=looks[test]["color"], linewidth=0.7, zorder=2)
            axes.plot(part["rejected_0.05"], y, zorder=3, clip_on=False, **looks[test])
        # small shares and 1 are both seen
        axes.set_xscale("function", functions=(np.sqrt, np.square))
        axes.set(xlim=(0, 1), ylim=(len(rows) - 0.5, -0.5), xticks=[0, 0.05, 0.2, 0.5, 1])
        # the others have no room
        axes.set_xticklabels(["", ".05", "", ".5", "1"])
        axes.set_yticks(range(len(rows)), names if column == 0 else [""] * len(rows))
        axes.tick_params(axis="y", length=0)
        axes.set_title(_head(of_kind.iloc[0]), loc="left", size=SMALL, pad=4)
        if of_kind["corpora"].iloc[0] != corpora:
            corpora = of_kind["corpora"].iloc[0]
            group_text = {"unbiased": "no bias", "biased": "bias planted"}[corpora]
            x = (MARGIN + left + column * (panel_width + gap)) / figure.get_figwidth()
            y = 1 - (top + 0.06) / figure.get_figheight()
            figure.text(x, y, group_text, ha="left", va="center", size=NORMAL, weight="bold")
    return figure


def _head(row: pd.Series) -> str:
    """What a column is of."""
    target, attribute = (_ratio(row[f"{side}_ratio"]) for side in ("target", "attribute"))
    ratios = f"T {target}\nA {attribute}"
    return f"{ratios}\nbias {share(row['share'])}" if row["share"] else ratios


def _ratio(value: float) -> str:
    return f"{value:g} : 1" if value >= 1 else f"1 : {1 / value:g}"

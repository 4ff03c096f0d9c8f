"""Figure of tests on shuffled corpora: how often they reject without bias and with an injected bias."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from biasgrid.core.errors import BiasgridError
from biasgrid.core.numbers import share
from biasgrid.figures.frame import PAGE, Frame, styled
from biasgrid.figures.palette import DASHED, MODEL_COLOURS
from biasgrid.figures.text import sentences
from biasgrid.figures.types.rows import width
from biasgrid.figures.visuals import legend_line

from .plots import SMALL_P, rejections, share_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

ALL = "all"
CORPORA = {"unbiased": "no bias", "biased": "bias injected"}
# Test -> text in the legend, marker, colour, whether the marker is filled.
TESTS = {
    "permutation": ("plain permutation test", "o", MODEL_COLOURS[1], False),
    "frequency_bands": ("permutation test within bands of frequency", "o", MODEL_COLOURS[0], True),
    "control_words": ("control words", "D", MODEL_COLOURS[2], True),
}


@styled
def shares(table: pd.DataFrame, labels: Mapping[str, str], by: str) -> figure.Figure:
    """Draw the share of p <= .05 in frequency_tests.csv, in a column of panels per kind of query.

    With `by` "training", there is a row per training, for the first metric that has a permutation test. With
    "metric", there is a row per metric, for all trainings together. Frequency-stratified tests are drawn for the
    width that all metrics have. Raises BiasgridError for a table without tests.
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
    band = next((w for w in band_tests["width"] if w in common), None)
    drawn_tests = tests[is_drawn & (tests["width"].isna() | (tests["width"] == band))]
    names = {row: {ALL: "all together", **labels}[row] for row in dict.fromkeys(drawn_tests[by])}
    looks = {
        test: share_mark(marker, colour, is_filled) for test, (_, marker, colour, is_filled) in TESTS.items()
    }
    legend = [(text, legend_line(**looks[test])) for test, (text, *_) in TESTS.items()]
    legend.append((f"{SMALL_P:g}: the expected rate without bias", legend_line(**DASHED)))
    subject = labels[first] if by == "training" else "all trainings together"
    reach = "" if band is None else f" A band reaches {band:g} times in frequency."
    note = (
        f"Share of p ≤ .05 ({subject}) on vectors of shuffled corpora. T 4 : 1: the first target set is 4 times as "
        "frequent as the second; A: the attribute sets likewise. Bias 30 %: so many of all occurrences of the target "
        f"words have an attribute word beside them.{reach} Lines: 95 % intervals."
    )
    page = Frame("Tests where frequency passes for bias", notes=sentences(note))
    parts = dict(iter(drawn_tests.groupby("kind", sort=False)))
    firsts = {part["corpora"].iloc[0]: kind for kind, part in reversed(parts.items())}
    heads = {
        kind: f"{CORPORA[part['corpora'].iloc[0]] * (kind in firsts.values())}\n{_head(part.iloc[0])}"
        for kind, part in parts.items()
    }
    height = min(0.32 * len(names), PAGE[1] - 2.8)
    panels = page.panels(heads, height, labels=width(names), least=0.6, line=len(parts), bold=False)
    for kind, axes in panels.items():
        part = parts[kind]
        rejections(axes, part.assign(row=part[by], series=part["test"]), names, looks)
    return page.done(legend)


def _head(row: pd.Series) -> str:
    """Return the heading of a column."""
    target, attribute = (_ratio(row[f"{side}_ratio"]) for side in ("target", "attribute"))
    ratios = f"T {target}\nA {attribute}"
    return f"{ratios}\nbias {share(row['share'])}" if row["share"] else ratios


def _ratio(value: float) -> str:
    return f"{value:g} : 1" if value >= 1 else f"1 : {1 / value:g}"

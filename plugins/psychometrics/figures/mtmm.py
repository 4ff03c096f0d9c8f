"""Figure of the multitrait-multimethod matrix (Campbell, Fiske 1959)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from biasgrid.core.files import slug
from biasgrid.core.numbers import coefficient, share, typeset
from biasgrid.figures.figure import Drawing, Example, Figure
from biasgrid.figures.frame import Frame, empty_page, styled
from biasgrid.figures.palette import SIGNED, Look, models_in_order
from biasgrid.figures.questions import AGREEMENT
from biasgrid.figures.rows import from_tables, keys_of, rows_where
from biasgrid.figures.text import LONGEST_HEAD, SMALL, letters, shorten
from biasgrid.figures.types.heat import heat, scale
from biasgrid.figures.visuals import legend_area

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from biasgrid.tables.planned import Planned

HEADING = "Multitrait-multimethod matrix"
# Limit the characters of a model's label.
LONGEST = 40
# Limit the number of methods: their names fill the space next to the triangle.
MOST = 20
# Limit methods times traits: narrower rows do not have room for their names.
MOST_NUMBERS = 48
# Height of a line and width of a character of a method's name, in inches.
LINE, CHARACTER = 0.12, 0.063
# Values above this limit count as near to 0, whatever their sign.
NEGATIVE = -0.1
# A cell with a number in it has at least this width in inches.
ROOM = 0.18
BOX: Look = {"facecolor": "none", "edgecolor": "black", "linewidth": 0.9}
# Relation of two methods, whether they share the metric, and whether they share the model.
MEANS = (
    ("two metrics on one model", False, True),
    ("one metric on two models", True, False),
    ("two metrics on two models", False, False),
)


@styled
def mtmm(table: pd.DataFrame, labels: Mapping[str, str], words: str) -> figure.Figure:
    """Draw correlations of the numbers of a set's words, by method (a metric on a model) and, within, by trait.

    If there are too many methods, only the first are drawn.

    Parameters
    ----------
    table
        mtmm.csv.
    labels
        The printed text of each key.
    words
        The name of the set of words.
    """
    import pandas as pd
    from matplotlib.patches import Rectangle

    table = rows_where(table, set=words)
    if table.empty:
        return empty_page(HEADING, f"{words}: no two metrics or models have numbers of ten of these words.")
    models = models_in_order(table["model"])
    methods = sorted(set(keys_of(table, "metric", "model")), key=lambda m: (m[0], models.index(m[1])))
    traits = list(dict.fromkeys(table["trait"]))
    notes = _notes(table, traits)
    drawn = methods[: min(MOST, max(2, MOST_NUMBERS // len(traits)))]
    if len(drawn) < len(methods):
        notes.append(f"Drawn are the first {len(drawn)} of {len(methods)} methods.")
    place = {
        (trait, *method): k * len(traits) + i
        for k, method in enumerate(drawn)
        for i, trait in enumerate(traits)
    }
    size = len(place)
    matrix, texts = np.full((size, size), np.nan), np.full((size, size), "", dtype=object)
    boxes = []
    for row in table.itertuples():
        ends = (row.trait, row.metric, row.model), (row.other_trait, row.other_metric, row.other_model)
        if not place.keys() >= set(ends):
            continue
        x, y = sorted(place[end] for end in ends)
        # Draw a negative reliability as 0, because reliabilities do not have a lower limit.
        matrix[y, x] = max(row.correlation, 0) if row.block == "reliability" else row.correlation
        if row.block in ("same trait", "reliability"):
            texts[y, x] = (
                "< 0" if row.block == "reliability" and row.correlation < 0 else _number(row.correlation)
            )
        if row.block == "same trait":
            boxes.append((x, y))
    if (matrix < NEGATIVE).any():
        notes.append(f"Black corner: below {_number(NEGATIVE)}.")
    page = Frame(
        _finding(table), f"{words}, {table['words'].iloc[0]:,} words: correlations by method and trait", notes
    )
    wide = page.inside - 1.3
    cell = min(wide / size, 0.4)
    if cell < ROOM:
        texts[:] = ""
    axes = page.panel(cell * size)
    names = [f"{k}{letter}" for k in range(1, len(drawn) + 1) for letter in letters(len(traits))]
    numbers = pd.DataFrame(matrix)
    heat(
        axes,
        numbers,
        pd.DataFrame(texts),
        ends=(-1, 1),
        names=(names, names),
        corners=matrix < NEGATIVE,
        is_triangle=True,
    )
    for x, y in boxes:
        axes.add_patch(Rectangle((x + 0.03, y + 0.03), 0.94, 0.94, **BOX))
    # Compute the characters that fit next to the cells in the line of the last name.
    free = int(wide * (1 - math.ceil(LINE * len(drawn) / cell) / size) / CHARACTER)
    key = []
    for k, (metric, model) in enumerate(drawn, 1):
        name = shorten(labels.get(metric, metric), LONGEST_HEAD)
        key.append(f"{k}  {name}, {shorten(labels.get(model, model), min(LONGEST, free - len(name) - 5))}")
    axes.text(size, 0, "\n".join(key), ha="right", va="top", size=SMALL, multialignment="left")
    scale([axes], (-1, 1), SIGNED, "Pearson's r", [-1, -0.5, 0, 0.5, 1])
    return page.done([("the same trait by two methods", legend_area(**BOX))])


def _notes(table: pd.DataFrame, traits: Sequence[str]) -> list[str]:
    """Write the notes: traits, the criteria of Campbell and Fiske, means by relation of two methods, intervals."""
    known = table[table["block"] != "reliability"]
    same, other = known[known["block"] == "same trait"], known[known["block"] != "same trait"]
    means = [
        f"{text} {_number(validities.mean())} ({_number(others.abs().mean())})"
        for text, *shared in MEANS
        if len(validities := _of_methods(same, *shared)) and len(others := _of_methods(other, *shared))
    ]
    within = _number(_of_methods(other, True, True).abs().mean())
    reach = (known["ci_high"] - known["ci_low"]) / 2
    listed = "; ".join(map(": ".join, zip(letters(len(traits)), traits, strict=True)))
    return [
        f"A number is a method (a metric on a model), a letter a trait. {listed}.",
        "An outlined cell, one trait by two methods, should be higher than the others of its row and column.",
        "The diagonal is alpha of the order of the words, hatched where there is none.",
        f"Campbell and Fiske: {share((same['ci_low'] > 0).mean())} of the outlined cells are above 0 with "
        "their whole "
        "interval.",
        f"They exceed {share(same['above_other_methods'].mean())} of the cells of other traits by the same "
        "two methods.",
        f"They exceed {share(same['above_same_method'].mean())} of the cells of other traits by one of them.",
        f"Means of one trait (in brackets, of the sizes of two): {'; '.join(means)}; one method ({within}).",
        "Metrics on one model share its errors, and the groups' words.",
        f"mtmm.csv has 95 % intervals over words: ± {coefficient(reach.median())} in the median, "
        f"± {coefficient(reach.max())} at most.",
    ]


def _finding(table: pd.DataFrame) -> str:
    """Return the title: the mean correlation of one trait measured by two methods."""
    same = table.loc[table["block"] == "same trait", "correlation"].dropna()
    if same.empty:
        return HEADING
    return f"Two methods correlate at {_number(same.mean())} on one trait"


def _of_methods(rows: pd.DataFrame, same_metric: bool, same_model: bool) -> pd.Series:
    """Return the correlations of pairs of methods that share, or do not share, the metric and the model."""
    is_so = (rows["metric"] == rows["other_metric"]) == same_metric
    return rows.loc[is_so & ((rows["model"] == rows["other_model"]) == same_model), "correlation"]


def _number(value: float) -> str:
    return "–" if np.isnan(value) else typeset(value, form=coefficient)


def _drawings(study: Planned) -> Iterator[Drawing]:
    # Import late: the module imports tables of results, which import pandas.
    from ..tables.mtmm import traits_of

    for name in dict.fromkeys(name for name, *_ in traits_of(study)):
        yield Drawing(f"mtmm-{slug(name)}", spec={"words": name})


FIGURES = (
    Figure(
        "mtmm",
        "The multitrait-multimethod matrix: whether metrics and models agree on traits, and tell them apart.",
        from_tables(mtmm),
        question=AGREEMENT,
        heading=HEADING,
        asks="Do metrics and models agree on the traits of words, and tell them apart?",
        learn="You learn whether different methods measure the same bias.",
        drawings=_drawings,
        reads=("mtmm",),
        when="reliability and bootstrap",
        facts=("labels",),
        needs="`reliability`, and two pairs of groups that are asked of the same words",
        reading="A number is a method (a metric on a model), a letter a trait: the outlined cells, one trait "
        "by two methods, should be higher than the other cells of their rows and columns. The "
        "diagonal is alpha of the order of the words, hatched where a metric has none.",
        example=Example(
            "embedded",
            "mtmm-positive-words",
            {"set": "Positive words", "metric": ["ect", "rnd"], "other_metric": ["ect", "rnd"]},
        ),
    ),
)

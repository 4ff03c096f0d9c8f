"""Figure of how well each pair of a list represents the direction of all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.files import slug
from ..core.numbers import coefficient, typeset
from .figure import Drawing, Example, Figure, evaluations_of
from .frame import Frame, styled
from .palette import GREY, INK, Look
from .questions import SCORES
from .rows import from_tables, rows_of
from .text import row_label, shorten, topic, unit_label
from .types.rows import row_panels
from .visuals import few_ticks, intervals, legend_neutral, legend_of, neutral_line, row_names, zebra

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

# Map a column to its name and its mark; one panel has cosines, the other shares.
HEADING = "How well each pair represents the direction"
MARK: Look = {"linestyle": "", "markersize": 4}
COSINES: dict[str, tuple[str, Look]] = {
    "cosine": (
        "cosine with the direction of all pairs, this one too",
        MARK | {"color": INK, "marker": "o", "markerfacecolor": "white"},
    ),
    "cosine_others": ("cosine with the direction of the others", MARK | {"color": INK, "marker": "o"}),
    "cosines_with_others": ("mean cosine with the others, one by one", MARK | {"color": GREY, "marker": "|"}),
}
SHARES: dict[str, tuple[str, Look]] = {
    "share_others": ("share of all pairs but this one", MARK | {"color": INK, "marker": "D"}),
    "share_best": ("share of this pair and those above", MARK | {"color": GREY, "marker": "^"}),
}


@styled
def seed_pairs(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    model: str,
    debias: str,
    of_list: str,
) -> figure.Figure:
    """Draw one row per pair, best first, with its cosines and shares of variance.

    The cosines are with the direction of all pairs and of the other pairs. The shares of variance are along the first
    component of the other pairs and of the best pairs.

    Parameters
    ----------
    table
        seed_pairs.csv.
    labels
        Labels of the keys of the model and of the debias method.
    criterion, model, debias, of_list
        Criterion, model, debias method and list of the pairs.

    Raises
    ------
    BiasgridError
        If the table lacks these pairs.
    """
    of = {"criterion": criterion, "model": model, "debias": debias, "list": of_list}
    rows = rows_of(table, "seed_pairs", **of)
    whole = float(rows["share_best"].iloc[-1])
    texts = [pair.replace("_", " ").replace(":", " : ") for pair in rows["pair"]]
    names = dict(enumerate(row_label(text, 36) for text in texts))
    page = Frame(
        _finding(rows, texts),
        f"{topic(criterion)}, {unit_label((model, debias), labels)}: {of_list}, {len(rows)} pairs",
        [
            "Left: the cosine of a pair's difference with the direction (first principal component) of pairs.",
            "Right: the share of variance along that component.",
            "There are no intervals: these are the pairs themselves, not a sample.",
        ],
    )
    heads = {"cosine": "Cosine", "share": "Share of variance"}
    panels = row_panels(page, heads, names)
    for axes, columns in zip(panels.values(), (COSINES, SHARES), strict=True):
        zebra(axes, len(rows))
        row_names(axes, [*names.values()])
        for column, (_, look) in columns.items():
            known = rows[column].notna().to_numpy()
            axes.plot(rows.loc[known, column], np.flatnonzero(known), zorder=3, **look)
        few_ticks(axes.xaxis, 5)
    ends, look = rows[["cosine_others", "cosine"]], COSINES["cosine"][1]
    intervals(panels["cosine"], ends.min(axis=1), ends.max(axis=1), range(len(rows)), look)
    lowest = np.nanmin([0.0, rows[[*COSINES]].min(axis=None)])
    panels["cosine"].set_xlim(lowest - 0.03 * (lowest < 0), 1.03)
    neutral_line(panels["cosine"], 0)
    panels["share"].set_xlim(0, 1.03)
    legend = legend_of(dict([*COSINES.values(), *SHARES.values()]))
    if not np.isnan(whole):
        neutral_line(panels["share"], whole)
        legend.append(legend_neutral(f"share of all pairs ({coefficient(whole)})"))
    return page.done(legend)


def _finding(rows: pd.DataFrame, texts: Sequence[str]) -> str:
    """Name the pair that represents the direction of the other pairs least."""
    cosines = rows["cosine_others"].to_numpy(float)
    if np.isnan(cosines).all():
        return HEADING
    lowest = int(np.nanargmin(cosines))
    return f"Weakest pair: {shorten(texts[lowest], 24)} (cosine {typeset(cosines[lowest], form=coefficient)})"


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.config.evaluation:
        lists = getattr(study.evaluation_specs[criterion], "seed_pairs", {}) or {}
        for evaluations in evaluations_of(study, criterion).values() if lists else ():
            for evaluation in evaluations:
                for of_list in lists:
                    spec = {
                        "criterion": criterion,
                        "model": evaluation.model,
                        "debias": evaluation.debias,
                        "of_list": of_list,
                    }
                    state = evaluation.model + (
                        "" if evaluation.debias == "none" else f"-{evaluation.debias}"
                    )
                    yield Drawing(f"seed-pairs-{slug(criterion)}-{slug(of_list)}-{state}", spec=spec)


FIGURES = (
    Figure(
        "seed-pairs",
        "How well each pair of a list matches the direction of the list.",
        from_tables(seed_pairs),
        question=SCORES,
        heading=HEADING,
        asks="Which pairs define the direction, and which do not fit?",
        learn="You learn which pairs to leave out of a list.",
        drawings=_drawings,
        reads=("seed_pairs",),
        facts=("labels",),
        needs="an evaluation with seed_pairs",
        reading="A filled dot is the cosine of a pair with the direction of the others: near 1, it "
        "represents it (the open dot counts the pair itself). A diamond beyond the dashed "
        "line: without this pair the others agree better.",
        example=Example(
            "seed_lists",
            "seed-pairs-seed-lists-pairs-of-bolukbasi-et-al-word2vec-google-news-300-subset",
            {"list": "pairs of Bolukbasi et al."},
            shown={"seed_pairs": ["cosine", "cosine_others", "share_others"]},
        ),
    ),
)

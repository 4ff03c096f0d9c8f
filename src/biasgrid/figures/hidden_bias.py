"""Figure of what can still be recovered of a bias after debiasing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import BiasgridError, unknown_name
from ..files import slug
from ..numbers import coefficient, plain, typeset, typographic
from .figure import Drawing, Example, Figure, count_range, evaluations_of, group_by_size, pages
from .frame import styled
from .methods import add_blocks, method_label, method_labels, missing_values, ordered_methods, rows_of_group
from .palette import DASHED, GREY, LESS, Look
from .questions import DEBIASING
from .rows import from_tables
from .text import SMALL
from .visuals import legend_line, legend_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

# the measures of Gonen & Goldberg (2019): what they are called where they have no label, and their value by chance
HIDDEN = {
    "cluster_accuracy": ("Clustering: 2-means accuracy", 0.5),
    "svm_accuracy": ("Classification: SVM accuracy", 0.5),
    "neighbours_share": ("Neighbours: share of same side", 0.5),
    "neighbours_correlation": ("Professions: correlation", 0.0),
}
UNTOUCHED: Look = {"marker": "D", "markersize": 5.5, "markeredgewidth": 0.8}


@styled
def hidden_bias(
    table: pd.DataFrame, labels: Mapping[str, str], criterion: str, models: Sequence[str] = ()
) -> figure.Figure:
    """What can still be recovered of the bias (Gonen & Goldberg, NAACL 2019): one block per model, one
    column per measure.

    A diamond is the untouched model, a dot the debiased one, its value beside it; the dashed line is chance, where
    nothing is left to recover (0.5; 0 for the correlation). A measure has the same axis in all blocks.
    `models`: those of this figure, where there are others.
    Raises BiasgridError where the table has no rows of group "hidden" and the criterion, or has a measure there
    that is none of HIDDEN.
    """
    rows = rows_of_group(table, "hidden_bias", criterion, "hidden")
    for measure in sorted(set(rows["measure"]) - set(HIDDEN)):
        raise BiasgridError(f"hidden_bias: {unknown_name('measure', measure, HIDDEN)}")
    measures = [measure for measure in HIDDEN if measure in set(rows["measure"])]
    ends = rows.groupby("measure")[["before", "after"]].agg(["min", "max"])
    rows = rows[rows["model"].isin(models or set(rows["model"]))]
    words = "; ".join(
        f"{HIDDEN[measure][0].rpartition(': ')[2]} n = {count_range(part['n'])}"
        for measure, part in rows[rows["after"].notna()].groupby("measure", sort=False)
    )
    after: Look = {"color": LESS, "marker": "o", "markersize": 4.5}
    legend = [
        (method_label(labels, "none"), legend_mark(color=GREY, markerfacecolor="white", **UNTOUCHED)),
        ("debiased (and its value)", legend_mark(**after)),
        ("chance: nothing left to recover", legend_line(**DASHED)),
    ]
    figure, panels, places = add_blocks(
        f"{criterion}: bias that can still be recovered",
        "Measures on the words that are most biased in the untouched model. Correlation: Pearson's r of a "
        "profession's bias in the untouched model and the share of one side among its neighbours. On the dashed "
        f"line, nothing is left. Words: {words or 'none'}.",
        rows,
        ordered_methods(table, criterion),
        labels,
        {measure: labels.get(measure, HIDDEN[measure][0]) for measure in measures},
        legend + missing_values(rows["after"], rows["status"]),
        need=0.85,
        most=1.6,
        # the value after stands beside the panel
        gap=0.4,
        foot=0.16,
    )
    for (model, measure), axes in panels.items():
        chance = HIDDEN[measure][1]
        panel_rows = rows[(rows["model"] == model) & (rows["measure"] == measure)]
        y = panel_rows["debias"].map(places[model]).to_numpy()
        axes.axvline(chance, **DASHED)
        axes.hlines(y, panel_rows["before"], panel_rows["after"], color=LESS, linewidth=1.0, zorder=2)
        axes.plot(
            panel_rows["before"], y, linestyle="", color=GREY, markerfacecolor="white", zorder=3, **UNTOUCHED
        )
        axes.plot(panel_rows["after"], y, linestyle="", zorder=4, **after)
        for row_y, value in zip(y, panel_rows["after"], strict=True):
            number = typeset(value, form=coefficient) or "n/a"
            coordinates: Look = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points"}
            axes.annotate(number, (1, row_y), (4, 0), va="center", size=SMALL, **coordinates)
        values = ends.loc[measure].to_numpy()
        low, high = np.nanmin([chance, *values]), np.nanmax([1.0, *values])
        axes.set_xlim(low - 0.06 * (high - low), high + 0.06 * (high - low))
        axes.set_xticks([tick for tick in (-1, -0.5, 0, 0.5, 1) if low <= tick <= high])
        axes.xaxis.set_major_formatter(lambda x, _: typographic(plain(x)))
    return figure


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion, entry in study.config.evaluation.items():
        if (
            any(fit.criterion == criterion for fit in study.grid.fits.values())
            and entry.get("hidden") is not None
        ):
            spec = {"labels": method_labels(study, criterion), "criterion": criterion}
            states, name = evaluations_of(study, criterion), f"hidden-bias-{slug(criterion)}"
            heights = {model: 0.59 + 0.16 * len(of_model) for model, of_model in states.items()}
            groups = group_by_size(states, 8.4, heights.__getitem__)
            for drawing_name, (models,) in pages(name, groups, 1):
                part = {"models": models} if len(groups) > 1 else {}
                yield Drawing(drawing_name, spec=spec | part)


FIGURES = (
    Figure(
        "hidden-bias",
        "What can still be recovered of the bias after debiasing, by the measures of Gonen and Goldberg (2019).",
        from_tables(hidden_bias),
        question=DEBIASING,
        drawings=_drawings,
        reads=("mitigation",),
        group="mitigation",
        reading="A diamond is the untouched model, a dot the model after debiasing, with its value. The "
        "dashed line is chance: a dot on it says that this test recovers nothing any more. A dot that "
        "stays far to its right says that the bias is hidden and not gone.",
        example=Example("debias", "hidden-bias-gender", {"criterion": "Gender"}),
    ),
)

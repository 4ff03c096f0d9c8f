"""Figure of the bias that can still be recovered after debiasing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import BiasgridError, unknown_name
from ..core.numbers import plain, typographic
from .figure import Drawing, Example, Figure, count_range, of_criteria
from .frame import Frame, styled
from .methods import method_label, ordered_methods, rows_of_group
from .palette import model_looks, models_in_order
from .questions import DEBIASING
from .rows import from_tables, reasons, rows_where
from .text import row_label, share_range, topic
from .types.rows import row_panels
from .types.rows import rows as draw_rows
from .visuals import legend_neutral, legend_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

HEADING = "Bias that can be recovered after debiasing"
# A longer axis lacks room for such close ticks.
FAR = 3.0
# Measures of Gonen & Goldberg (2019): their default labels, and their values by chance.
HIDDEN = {
    "cluster_accuracy": ("Clustering: accuracy", 0.5),
    "svm_accuracy": ("Classifier: accuracy", 0.5),
    "neighbours_share": ("Neighbours: share of same side", 0.5),
    "neighbours_correlation": ("Professions: correlation", 0.0),
}


@styled
def hidden_bias(table: pd.DataFrame, labels: Mapping[str, str], criterion: str) -> figure.Figure:
    """Draw the recoverable bias (Gonen & Goldberg, NAACL 2019): one panel per measure, a row per method.

    The first row has the original models; each row has a mark per model. The dashed line is chance, where no bias is
    recoverable (0.5; 0 for the correlation).

    Raises BiasgridError if the table lacks rows of group "hidden" and the criterion, or has an unknown measure.
    """
    import pandas as pd

    rows = rows_of_group(table, "hidden_bias", criterion, "hidden")
    for measure in sorted(set(rows["measure"]) - set(HIDDEN)):
        raise BiasgridError(f"hidden_bias: {unknown_name('measure', measure, HIDDEN)}")
    measures = {
        key: labels.get(key, name) for key, (name, _) in HIDDEN.items() if key in set(rows["measure"])
    }
    words = "; ".join(
        f"{HIDDEN[measure][0].partition(':')[0].lower()} n = {count_range(part['n'])}"
        for measure, part in rows[rows["after"].notna()].groupby("measure", sort=False)
    )
    notes = [
        "A mark is a model; right of the dashed line, a word's original side can still be predicted after debiasing.",
        "By a clustering (2-means), by a classifier (SVM), by a word's neighbours; and Pearson's r of a profession's "
        "original bias and the share of one side among its neighbours.",
        f"The words are the most biased ones and not a sample: there are no intervals. Words: {words or 'none'}.",
    ]
    names = {"none": method_label(labels, "none")} | {
        key: row_label(labels.get(key, key))
        for key in ordered_methods(table, criterion)
        if key in set(rows["debias"])
    }
    looks = model_looks(models_in_order(rows["model"]))
    untouched = rows.drop_duplicates(["model", "measure"]).assign(debias="none", after=lambda t: t["before"])
    marks = pd.concat([untouched, rows], ignore_index=True)
    marks = marks.rename(columns={"debias": "row", "model": "series", "after": "value"})
    missing = marks[marks["value"].isna()]
    # Write one text per row, even if several of its models lack a value.
    marks.loc[missing.drop_duplicates(["measure", "row"]).index, "says"] = "no value"
    for (model, measure), part in missing.groupby(["series", "measure"]):
        notes.append(
            f"No value in {labels.get(model, model)}: {measures[measure]} ({reasons(part['status'])})."
        )
    page = Frame(
        _finding(rows), f"{topic(criterion)}: what can be recovered of the bias after debiasing", notes
    )
    panels = row_panels(page, measures, names, len(looks), least=0.8)
    for measure, axes in panels.items():
        part, chance = rows_where(marks, measure=measure), HIDDEN[measure][1]
        draw_rows(axes, part, names, looks, neutral=chance)
        low, high = np.nanmin([chance, *part["value"]]), np.nanmax([1.0, *part["value"]])
        axes.set_xlim(low - 0.06 * (high - low), high + 0.06 * (high - low))
        if high - low < FAR:
            axes.set_xticks([tick for tick in (-1, -0.5, 0, 0.5, 1) if low <= tick <= high])
        axes.xaxis.set_major_formatter(lambda x, _: typographic(plain(x)))
    return page.done([*legend_of(looks, labels), legend_neutral("chance: nothing can be predicted")])


def _finding(rows: pd.DataFrame) -> str:
    """Say how well a clustering still predicts the words' sides, from the smallest to the largest share."""
    known = rows_where(rows, measure="cluster_accuracy")["after"].dropna()
    if known.empty:
        return HEADING
    return f"Clustering still predicts {share_range(known)} of words"


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion, entry in study.config.evaluation.items():
        is_debiased = any(fit.criterion == criterion for fit in study.grid.fits.values())
        if is_debiased and entry.get("hidden") is not None:
            yield from of_criteria("hidden-bias", [criterion])


FIGURES = (
    Figure(
        "hidden-bias",
        "Bias that is still recoverable after debiasing (Gonen and Goldberg 2019).",
        from_tables(hidden_bias),
        question=DEBIASING,
        heading=HEADING,
        asks="Can the original gender association of a word still be predicted?",
        learn="You learn whether debiasing removed the bias or only hid it.",
        drawings=_drawings,
        reads=("mitigation",),
        facts=("labels",),
        group="mitigation",
        reading="A mark is a model after a debias method (top row: original), the dashed line chance. "
        "A mark far to its right: the bias is hidden, not gone.",
        example=Example("debias", "hidden-bias-gender", {"criterion": "Gender"}),
    ),
)

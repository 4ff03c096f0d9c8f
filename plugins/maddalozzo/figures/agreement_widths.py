"""Figure of agreement between versions of pairs, by the width of the interval that counts as no bias."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from biasgrid.core.files import slug
from biasgrid.core.numbers import coefficient
from biasgrid.figures.figure import Drawing, Example, Figure
from biasgrid.figures.frame import Frame, empty_page, styled
from biasgrid.figures.palette import DASHED, Look, series_mark
from biasgrid.figures.questions import SCORES
from biasgrid.figures.rows import from_tables
from biasgrid.figures.text import topic
from biasgrid.figures.types.curves import HEIGHT, curves
from biasgrid.figures.visuals import legend_line

from ..cells import interval_agreement_cells

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from biasgrid.tables.planned import Planned

DOTTED: Look = {"linestyle": ":", "linewidth": 0.9}
SIDES = {"agreement": "Share of pairs with one bias in both versions", "kappa": "Agreement beyond chance"}
HEADING = "Agreement of two versions of pairs"
NOTES = (
    "Two versions of a pair agree if both are biased to the same side, or neither is; a difference of "
    "log-likelihoods "
    "up to the width is no bias.",
    "Dotted: versions in random order, by chance.",
    "Agreement beyond chance (Cohen's kappa) is 0 where there is as much as by chance, and 1 where all pairs agree.",
    "There are no intervals: a line has the same pairs all along.",
)


@styled
def agreement_widths(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    units: Sequence[tuple[str, str]],
    robust: Mapping[str, float],
) -> figure.Figure:
    """Draw agreement, and agreement beyond chance, by width, in two panels per metric and model.

    Parameters
    ----------
    table
        agreement_widths.csv.
    labels
        The printed text of each key.
    criterion
        The criterion of the cells.
    units
        The metric and model of each row of panels.
    robust
        Metric -> the share of pairs in the hypothesis of robustness.
    """
    rows = table[(table["criterion"] == criterion) & table["width"].notna()]
    rows = rows.assign(series=rows["query"])
    by_unit = {unit: part for unit, part in rows.groupby(["metric", "model"])}
    units = [tuple(unit) for unit in units if tuple(unit) in by_unit]
    if not units:
        return empty_page(HEADING, "no query has scores.")
    looks = {query: series_mark(i) for i, query in enumerate(sorted(rows["query"].unique()))}
    heads = {
        (*unit, side): f"{text}\n{labels.get(unit[0], unit[0])}, {labels.get(unit[1], unit[1])}"
        for unit in units
        for side, text in SIDES.items()
    }
    beyond = rows["kappa"].dropna()
    page = Frame(
        f"Agreement beyond chance is {coefficient(beyond.max())} at most" if len(beyond) else HEADING,
        f"{topic(criterion)}: agreement by the difference that counts as no bias",
        NOTES,
    )
    for (*unit, side), axes in page.panels(heads, HEIGHT, labels=0.3, least=2, line=2, bold=False).items():
        part = by_unit[*unit,]
        curves(axes, part, "width", side, looks)
        if side == "agreement":
            curves(axes, part, "width", "chance", looks, **DOTTED)
            axes.axhline(robust[unit[0]], **DASHED)
            axes.set_ylim(0, 1.03)
        else:
            axes.axhline(0, color="black", linewidth=0.6, zorder=1)
            axes.set_ylim(min(-0.25, axes.get_ylim()[0]), 1.03)
        axes.set(xlim=(0, 1.03 * rows["width"].max() or 1.0), xlabel="width to either side of 0", ylabel="")
    legend = [
        (query, legend_line(**look | {"linestyle": "-", "linewidth": 1.1})) for query, look in looks.items()
    ]
    legend += [
        ("in random order", legend_line(color="black", **DOTTED)),
        ("the share that counts as robust", legend_line(**DASHED)),
    ]
    return page.done(legend)


def _drawings(study: Planned) -> Iterator[Drawing]:
    for criterion in study.config.criteria:
        cells = [cell for cell in interval_agreement_cells(study) if cell.criterion == criterion]
        units = list(dict.fromkeys((cell.metric, cell.model) for cell in cells))
        if units:
            entries = study.metrics(criterion)
            spec = {
                "criterion": criterion,
                "units": [list(unit) for unit in units],
                "robust": {key: (entries[key].params or {}).get("robust", 0.8) for key, _ in units},
            }
            yield Drawing(f"agreement-widths-{slug(criterion)}", spec=spec)


FIGURES = (
    Figure(
        "agreement-widths",
        "How the agreement of two versions of pairs depends on the differences that count as no bias.",
        from_tables(agreement_widths),
        question=SCORES,
        heading=HEADING,
        asks="Do two versions of a pair say the same?",
        learn="You learn whether a model's bias survives a paraphrase.",
        drawings=_drawings,
        reads=("agreement_widths",),
        facts=("labels",),
        needs="a criterion with the metric agreement by an interval",
        reading="A line is a query, a dotted one the same versions in random order: a wide interval alone "
        "makes agreement. Beyond chance (Cohen's kappa), a control of random pairs stays near 0.",
        example=Example(
            "thesis4",
            "agreement-widths-robustness",
            {"criterion": "Robustness"},
            shown={"agreement_widths": ["agreement", "chance"]},
        ),
    ),
)

"""Figure of the rank correlations between metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from ..labels import LENGTH_MARK
from ..numbers import coefficient, interval, typeset, typographic
from .figure import Drawing, Example, Figure, Files, cells_of, pages
from .layout import MARGIN, PAGE, add_axes, add_box, best_columns, blank, empty_page, styled
from .palette import MISSING_CELL, Look
from .rows import OVERALL, criteria_of, read_table, rows_of
from .text import BOLD, LONGEST_HEAD, NORMAL, SMALL, fit_text, line_count, metric_head, shorten, text_width

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

FEWEST = 4  # models of a coefficient: three have one of four values, two 1 or -1
NAMES = {"spearman": "Spearman's ρ", "kendall": "Kendall's τ", "pearson": "Pearson's r"}


@styled
def correlations(
    correlations: pd.DataFrame,
    labels: Mapping[str, str],
    method: str = "spearman",
    level: float = 0.95,
    rankings: pd.DataFrame | None = None,
    only: Sequence[str] | None = None,
    by_length: Mapping[str, Sequence[str]] | None = None,
) -> figure.Figure:
    """Rank correlations between metrics, one heatmap per criterion (Badilla et al., IJCAI 2020, figure 1).

    Colours run from -1 to 1 in all; a NaN is a hatched cell with "n/a" in it. Where the table has ci_low and ci_high,
    intervals of so much `level`, they stand under the coefficient, and the wider one is, the paler is the cell; not
    of a metric with itself. `rankings`, the table of ranks: over how many models each coefficient is. That stands
    beside the criterion, and there is no coefficient of fewer than FEWEST. `only`: the criteria of one of several
    pages. `by_length`: by criterion the metrics that grow with the length of vectors and do not compare, which are
    marked.
    Raises BiasgridError where the table has no rows of the method (the table's `method`).
    """
    import seaborn
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    table = rows_of(correlations, "correlations", method, column="method")
    if only is not None:
        table = rows_of(table[table["criterion"].isin(only)], f"correlations of {', '.join(only)}")
    models = None if rankings is None else _models(rankings)
    small_criteria = (
        [] if models is None else [c for c in criteria_of(table) if models[c].to_numpy().max() < FEWEST]
    )
    if small_criteria:
        table = table[~table["criterion"].isin(small_criteria)]
        why = (
            f"{_join_names(small_criteria)}: fewer than {FEWEST} models have ranks. "
            "A rank correlation of so few says nothing."
        )
        if table.empty:
            return empty_page("Do the metrics rank the models alike?", why)
    if models is not None:
        model_counts = [models[row.criterion].loc[row.metric_a, row.metric_b] for row in table.itertuples()]
        has_enough = np.array(model_counts) >= FEWEST
        table = table.assign(correlation=table["correlation"].where(has_enough))
        if "ci_low" in table:
            table.loc[~has_enough, ["ci_low", "ci_high"]] = np.nan
    # a criterion with metrics of its own has a smaller matrix
    matrices = {
        criterion: part.pivot(index="metric_a", columns="metric_b", values="correlation")
        for criterion, part in table.groupby("criterion")
    }
    ends = {
        (row.criterion, row.metric_a, row.metric_b): (row.ci_low, row.ci_high)
        for row in table.itertuples()
        if row.metric_a != row.metric_b and not np.isnan(getattr(row, "ci_low", np.nan))
    }
    intervals = {key: typographic(interval(low, high, form=coefficient)) for key, (low, high) in ends.items()}
    by_length = by_length or {}
    names = {
        (criterion, key): metric_head(
            labels.get(key, key) + LENGTH_MARK * (key in by_length.get(criterion, ()))
        )
        for criterion, matrix in matrices.items()
        for key in matrix
    }
    widest = max(text_width(name, SMALL) for name in names.values())
    largest = max(map(len, matrices.values()))
    cell = max(0.38, min(0.62, 2.5 / largest))
    tiny = 6 if largest < 11 else 5
    cell = max([cell, *(text_width(text, tiny) + 0.05 for text in set(intervals.values()))])
    upright = widest > cell - 0.06
    digits = SMALL if cell > 0.4 else 6.5
    left, label_height, title, bar = widest + 0.14, (widest if upright else 0.14) + 0.12, 0.3, 0.88
    # the scale needs some height, whatever the grid has
    panel_width, panel_height = largest * cell + left, max(largest * cell + label_height + title, 2.5)
    counts = (
        {c: _n(models[c].loc[m.index, m.columns]) for c, m in matrices.items()} if models is not None else {}
    )
    heads = [
        text_width(shorten(c, LONGEST_HEAD), NORMAL) * BOLD + text_width(n, SMALL) + 0.1 + left
        for c, n in counts.items()
    ]
    panel_width = max([panel_width, *heads])

    def size(columns: int) -> tuple[float, float]:
        return columns * (panel_width + 0.1) + bar + 0.14 * bool(intervals) + MARGIN, ceil(
            len(matrices) / columns
        ) * panel_height + MARGIN

    columns = best_columns(len(matrices), size)
    width, height = size(columns)
    notes = _notes(
        bool(intervals), models is not None and bool(table["correlation"].isna().any()), small_criteria
    )
    if any(criterion in by_length for criterion in matrices):
        notes += [
            f"{LENGTH_MARK} grows with vector length, which differs between models, and does not compare."
        ]
    note = "\n".join(fit_text(text, width - 2 * MARGIN, SMALL) for text in notes)
    foot = line_count(note) * 0.125 + MARGIN * bool(note)
    figure = blank(width, height + foot)
    note_place = MARGIN / width, (foot + MARGIN / 2) / (height + foot)
    figure.text(*note_place, note, va="top", size=SMALL, color="#333333")
    for i, criterion in enumerate(criteria_of(table)):
        matrix = matrices[criterion]
        corner = i % columns * (panel_width + 0.1) + left, i // columns * panel_height + title
        axes = add_axes(figure, *corner, *(len(matrix) * cell,) * 2)
        look: Look = {"linewidths": 0.6, "linecolor": "white", "cbar": False}
        seaborn.heatmap(matrix, vmin=-1, vmax=1, cmap="RdBu_r", ax=axes, **look)
        keys = [(criterion, a, b) for a in matrix.index for b in matrix.columns]
        strengths = np.reshape([strength_of(ends.get(key)) for key in keys], matrix.shape)
        axes.collections[0].set_alpha(np.where(matrix.isna(), 1.0, strengths))  # type: ignore[arg-type]
        for (row, column), value in np.ndenumerate(matrix.to_numpy()):
            centre: Look = {"x": column + 0.5, "y": row + 0.5, "ha": "center", "va": "center", "size": digits}
            if np.isnan(value):
                add_box(axes, (column + 0.03, row + 0.03), 0.94, 0.94, **MISSING_CELL)
                axes.text(s="n/a", bbox={"boxstyle": "square,pad=0.15", "fc": "#E8E8E8", "lw": 0}, **centre)
            else:
                look = {**centre, "color": readable_on(value, float(strengths[row, column]))}
                ends_text = intervals.get((criterion, matrix.index[row], matrix.columns[column]))
                if ends_text:
                    axes.text(s=ends_text, **look | {"y": row + 0.68, "size": tiny})
                    look["y"] = row + 0.38
                axes.text(s=typeset(value, form=coefficient), **look)
        axes.set_title(shorten(criterion, LONGEST_HEAD), loc="left", weight="bold", pad=5)
        if counts:
            n: Look = {"ha": "right", "va": "baseline", "size": SMALL}
            axes.annotate(
                counts[criterion],
                ((panel_width - left) / cell / len(matrix), 1),
                (0, 5),
                "axes fraction",
                "offset points",
                **n,
            )
        axes.set(xlabel="", ylabel="")
        axes.set_xticklabels([names[criterion, key] for key in matrix.columns], rotation=90 if upright else 0)
        axes.set_yticklabels([names[criterion, key] for key in matrix.index], rotation=0)
        axes.tick_params(length=0)
    # no taller than a page's worth of grid: a longer scale is not a better one
    height = min(
        figure.get_figheight() - foot - MARGIN - title - label_height, max(2.5 * largest * cell, 2.0)
    )
    scale = figure.colorbar(
        ScalarMappable(Normalize(-1, 1), "RdBu_r"),
        cax=add_axes(figure, columns * (panel_width + 0.1) + 0.1, title, 0.12, height),
        ticks=[-1, -0.5, 0, 0.5, 1],
    )
    scale.outline.set_visible(False)
    text = f"{NAMES.get(method, method)} between\nthe metrics' ranks of the models"
    text += f"\n[{level * 100:g} % interval, bootstrap over words]" if intervals else ""
    scale.set_label(text)
    return figure


def _models(rankings: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Over how many models two metrics are correlated, by criterion."""
    model_counts = {}
    for criterion, part in rankings.groupby("criterion"):
        has_rank = part.pivot(index=["model", "debias"], columns="metric", values="rank").notna().astype(int)
        model_counts[criterion] = has_rank.T @ has_rank
    return model_counts


def _n(models: pd.DataFrame) -> str:
    """How many models there are in a panel."""
    # of the least and the most
    low, high = models.to_numpy().min(), models.to_numpy().max()
    return f"n = {high} models" if low == high else f"n = {low} to {high} models"


def strength_of(ends: tuple[float, float] | None) -> float:
    """How strong a colour is: full without an interval or for a narrow one, faint for one from -1 to 1."""
    return 1.0 if ends is None else max(0.12, 1 - (ends[1] - ends[0]) / 2)


def readable_on(value: float, strength: float) -> str:
    """The colour of a number in its cell: black or white, whichever has the more contrast."""
    import matplotlib

    red, green, blue, _ = matplotlib.colormaps["RdBu_r"]((value + 1) / 2)
    # each part as it is on white
    parts = (1 - strength * (1 - part) for part in (red, green, blue))
    light = sum(weight * part**2.2 for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
    return "white" if light < 0.18 else "black"


def _notes(intervals: bool, missing: bool, small_criteria: Sequence[str]) -> list[str]:
    notes = []
    if intervals:
        notes += [
            "The wider an interval, the paler its cell. The interval is over words; it says "
            "nothing about other models. With few models, only few coefficients are possible."
        ]
    if missing:
        notes += [f"n/a: fewer than {FEWEST} models that both metrics rank, or one metric ranks all alike."]
    if small_criteria:
        notes += [f"Not drawn, as fewer than {FEWEST} models have ranks: {_join_names(small_criteria)}."]
    return notes


def _join_names(criteria: Sequence[str]) -> str:
    return ", ".join(criteria)


def _draw(inputs: Files, spec: Mapping[str, Any]) -> figure.Figure:
    from ..verdicts.comparability import metrics_by_length

    table, rankings = read_table(inputs["correlations"]), read_table(inputs["rankings"])
    rest = {name: value for name, value in spec.items() if name != "scaled"}
    by_length = metrics_by_length(read_table(inputs["scalars"]), spec["scaled"])
    return correlations(table, rankings=rankings, by_length=by_length, **rest)


def _drawings(study: Planned) -> Iterator[Drawing]:
    metrics = {cell.metric for cell in cells_of(study, study.ranked_criteria)}
    spec = {
        "labels": {key: study.labels[key] for key in sorted(metrics)},
        "method": study.config.correlations[0],
    }
    # a metric's row, with an interval in each cell
    panel = 0.54 * len(metrics) + 0.65
    most = max(1, int((PAGE[1] - 0.5) / panel)) * (2 if panel < PAGE[0] else 1)
    criteria = [*sorted(study.ranked_criteria), OVERALL]
    for name, part in pages("correlations", criteria, most):
        only = {"only": part} if len(part) < len(criteria) else {}
        yield Drawing(name, spec={**spec, **only})


FIGURES = (
    Figure(
        "correlations",
        "Heatmaps of how the metrics' rankings of the models agree, overall and for each criterion.",
        _drawings,
        _draw,
        reads=("correlations", "rankings", "scalars"),
        when="ranked",
        facts=("level", "scaled"),
        reading="A cell is the rank correlation of two metrics over the models: 1 where they rank the models "
        "alike, -1 where one has the order of the other reversed. In brackets is the 95 % interval "
        "over words; the wider it is, the paler the cell. n is how many models a coefficient is over: with four or "
        "five it has few possible values, so that an interval from -1 to 1 is no error, and with fewer than four "
        "none is drawn. A hatched cell has no value. Where a page has no room for all criteria, there are "
        "correlations-2 and so on.",
        example=Example("embedded", "correlations", {"method": "spearman"}),
    ),
)

"""Figure of how scores go with word frequency, and with the bias of a corpus itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import slug
from .figure import Drawing, Example, Figure, cells_of, labels, pages
from .frame import MARGIN, PAGE, empty_page, styled
from .layout import add_panels
from .palette import DASHED, GREY, ZEBRA, Look, Unit, add_letters, method_letters, model_looks
from .questions import COMPANY
from .rows import from_tables
from .text import LONGEST_HEAD, SMALL, shorten, text_width, unit_label, wrap_text
from .visuals import legend_line, legend_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..planned import Planned

METHOD = "spearman"
ROW = 0.115  # inches of a model
LEAST = 0.24  # inches of a metric
ACROSS, GAP = 3, 0.16  # panels side by side, and inches between them
FOOT = 0.3
ROOM = 6.4  # inches of a page for the rows of all its panels
# covariate and what is given -> what a panel is called, of words and of sets
HEADS = {
    ("words", "log_frequency", ""): "Words: log frequency",
    ("words", "log_frequency", "pmi"): "Words: log frequency, given PMI",
    ("words", "pmi", ""): "Words: PMI",
    ("words", "pmi", "log_frequency"): "Words: PMI, given log frequency",
    ("sets", "mean_log_frequency", ""): "Sets: mean log frequency",
    ("sets", "variance_log_frequency", ""): "Sets: variance of log frequency",
    ("sets", "difference_log_frequency", ""): "Sets: difference of two sets",
    ("sets", "groups_difference_log_frequency", ""): "Sets: difference of the groups",
    ("sets", "pmi", ""): "Sets: PMI",
}
NOTE = (
    "Spearman's ρ with 95 % intervals (bootstrap over words, or over sets of words). Words: a word's score and its "
    "log frequency, within the same groups. Sets: the values of queries and the log frequency of their words. To the "
    "right: frequent words are nearer to the first group; of MAC and others without a direction: get higher numbers."
)
OPEN: Look = {"markerfacecolor": "white", "markeredgewidth": 0.8}


@styled
def covariates(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    rows: Sequence[tuple[str, Sequence[Unit]]],
    corpora: Mapping[str, str],
) -> figure.Figure:
    """One panel per covariate, one row per metric, one mark per model and debias method.

    If there is no correlation, the figure has a sentence in place of panels.

    Parameters
    ----------
    table
        covariates.csv.
    labels
        What is printed for the keys of metrics, models and debias methods.
    criterion
        Whose scores.
    rows
        Metrics and, of each, models with debias methods.
    corpora
        Model -> the corpus that it is trained on: of several corpora its panels of PMI have this one.
    """
    title = f"{criterion}: do scores go with word frequency?"
    rows = [(metric, [(model, debias) for model, debias in units]) for metric, units in rows]
    correlations = table[table["criterion"] == criterion]
    correlations = correlations[
        (correlations["method"] == METHOD) & correlations["metric"].isin([metric for metric, _ in rows])
    ]
    correlations = correlations.dropna(subset="correlation")
    pairs = zip(correlations["model"], correlations["corpus"], strict=True)
    correlations = correlations[
        np.array([not corpus or corpora.get(model, corpus) == corpus for model, corpus in pairs], dtype=bool)
    ]
    if correlations.empty:
        return empty_page(title, "there are too few words and sets, or their frequencies are not known.")
    panels = _panels(correlations, labels, corpora)
    units = list(dict.fromkeys(unit for _, row_units in rows for unit in row_units))
    drawn_units = set(zip(correlations["model"], correlations["debias"], strict=True))
    units = [unit for unit in units if unit in drawn_units]
    rows = [(metric, [unit for unit in row_units if unit in drawn_units]) for metric, row_units in rows]
    heights = [max(LEAST, ROW * (len(row_units) + 0.7)) for _, row_units in rows]
    names = [wrap_text(shorten(labels.get(metric, metric), LONGEST_HEAD), 16) for metric, _ in rows]
    label_width = max(text_width(name, SMALL) for name in names) + 0.08
    columns = min(ACROSS, len(panels))
    width = min(2.4, (PAGE[0] - 2 * MARGIN - label_width - (columns - 1) * GAP) / columns)
    looks, letters = model_looks(model for model, _ in units), method_letters(units)
    legend = [(unit_label(unit, labels), _sample(looks[unit[0]], letters.get(unit[1]))) for unit in units]
    legend += [
        ("the interval holds 0", legend_mark(marker="o", color=GREY, markersize=4.5, **OPEN)),
        ("no relation", legend_line(**DASHED)),
    ]
    size = np.array([width, sum(heights)])
    heads = {head: (head, "") for head in panels}
    figure, axes_of, _ = add_panels(
        title, _note(correlations), heads, columns, size, legend, gap=GAP, label_width=label_width, foot=FOOT
    )
    for i, (axes, part) in enumerate(zip(axes_of.values(), panels.values(), strict=True)):
        top = 0.0
        centres = []
        for index, ((metric, row_units), height) in enumerate(zip(rows, heights, strict=True)):
            if index % 2:
                axes.axhspan(top, top + height, color=ZEBRA, linewidth=0, zorder=0)
            metric_rows = part[part["metric"] == metric].set_index(["model", "debias"])
            for place, unit in enumerate(row_units):
                if unit in metric_rows.index:
                    y = top + height / 2 + ROW * (place - (len(row_units) - 1) / 2)
                    _draw_mark(axes, metric_rows.loc[[unit]], y, looks[unit[0]], letters.get(unit[1]))
            centres.append(top + height / 2)
            top += height
        axes.axvline(0, **DASHED)
        axes.set(xlim=(-1.05, 1.05), ylim=(top, 0))
        axes.set_xticks([-1, -0.5, 0, 0.5, 1], ["-1", "-.5", "0", ".5", "1"])
        axes.set_yticks(centres, names if i % columns == 0 else [""] * len(names))
        axes.tick_params(axis="y", length=0)
    return figure


def _panels(
    correlations: pd.DataFrame, labels: Mapping[str, str], corpora: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """What panels are called, and the rows of the table that each draws. PMI is the first of the corpus' metrics."""
    panels: dict[str, pd.DataFrame] = {}
    for (level, covariate, control), head in HEADS.items():
        rows = correlations[
            (correlations["of"] == level)
            & (correlations["covariate"] == covariate)
            & (correlations["given"] == control)
        ]
        rows = rows[rows["corpus_metric"] == rows["corpus_metric"].min()] if len(rows) else rows
        is_own = np.array(
            [corpora.get(m) == c for m, c in zip(rows["model"], rows["corpus"], strict=True)], dtype=bool
        )
        if (rows["corpus"] == "").all():
            parts = {head: rows}
        else:
            parts = {f"{head} (own corpus)": rows[is_own]}
            for corpus, of_corpus in rows[~is_own].groupby("corpus"):
                parts[f"{head} ({labels.get(corpus, corpus)})"] = of_corpus
        panels |= {name: part for name, part in parts.items() if len(part)}
    return panels


def _note(correlations: pd.DataFrame) -> str:
    """What is said of the marks, and where frequencies are from that are no counts."""
    sources = set(correlations["source"])
    note = NOTE + " No mark: fewer than five different words or sets, or all alike."
    if "wordfreq" in sources:
        note += " Models without counts have their frequencies from wordfreq, a proxy."
    if "rank" in sources:
        note += " Models without counts have the order of their words in place of frequencies."
    return note


def _sample(look: Look, letter: str | None) -> Any:
    return legend_line(
        **look
        | ({"markerfacecolor": look["color"]} if not letter else OPEN | {"markeredgecolor": look["color"]})
    )


def _draw_mark(axes: Axes, row: pd.DataFrame, y: float, look: Look, letter: str | None) -> None:
    (value, low, high), colour = row[["correlation", "ci_low", "ci_high"]].iloc[0], look["color"]
    axes.plot([low, high], [y, y], color=colour, linewidth=0.9, zorder=2, solid_capstyle="butt")
    holds = not (low > 0 or high < 0)
    axes.plot(value, y, zorder=3, **look | (OPEN | {"markeredgecolor": colour} if holds else {}))
    if letter:
        add_letters(axes, [value], [y], look, letter, zorder=4)


def _drawings(study: Planned) -> Iterator[Drawing]:
    # not the table, which tables of results are imported with: they import pandas
    from ..tables.covariate_points import has_covariates

    counted_models = set(study.grid.models_with_frequencies)
    for criterion in study.config.criteria:
        if not has_covariates(study, [criterion]):
            continue
        cells = cells_of(study, [criterion])
        # a model without word frequencies has marks only where there is a corpus
        has_corpus = any(study.kind(cell.model).text for cell in cells)
        units: dict[str, dict[Unit, None]] = {}
        for cell in cells:
            if has_corpus or cell.model in counted_models:
                units.setdefault(cell.metric, {})[cell.model, cell.debias] = None
        corpora = {
            model: name
            for model in dict.fromkeys(cell.model for cell in cells)
            if (name := study.models[model]["source"].get("corpus", {}).get("name")) in study.models
        }
        rows = [[metric, [list(unit) for unit in row_units]] for metric, row_units in units.items()]
        panel_rows = 3 if has_corpus else 2  # panels below each other
        most = max(
            1, int(ROOM / panel_rows / max(max(LEAST, ROW * (len(row_units) + 0.7)) for _, row_units in rows))
        )
        for name, part in pages(f"covariates-{slug(criterion)}", rows, most):
            spec = {"labels": labels(study, cells), "criterion": criterion, "rows": part, "corpora": corpora}
            yield Drawing(name, spec=spec)


def _own_corpora(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Of rows beside a corpus, those of the corpus that a model is trained on."""
    table = contents["covariates"]
    own = table["corpus"] == table["model"].map(spec["corpora"])
    return {"covariates": table[own | (table["corpus"] == "")]}


FIGURES = (
    Figure(
        "covariates",
        "How scores of words and of sets go with word frequency, and with the bias of a corpus itself.",
        from_tables(covariates),
        question=COMPANY,
        drawings=_drawings,
        reads=("covariates",),
        reading="One panel per covariate, one row per metric, one mark per model; the line is its 95 % interval. "
        "Right of the dashed line, frequent words (or sets of frequent words) are nearer to the first group, or get "
        "higher numbers; left of it, to the second. An open mark is not significant: its interval contains 0. A "
        "filled mark far from 0 in a panel of frequency, and near to 0 in that of PMI, is a metric that goes with "
        "frequency rather than with what stands together in a text.",
        example=Example(
            "thesis",
            "covariates-gender-of-30-phenomena",
            {"criterion": "Gender of 30 phenomena", "method": "spearman"},
            _own_corpora,
            shown={"covariates": ["correlation", "ci_low", "ci_high"]},
        ),
    ),
)

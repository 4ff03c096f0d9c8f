"""Figure of how scores go with word frequency, and with the bias of a corpus itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import join_names
from ..files import slug
from ..numbers import coefficient
from .figure import Drawing, Example, Figure, cells_of
from .frame import Frame, empty_page, styled
from .palette import DASHED, GREY, Look, Unit, add_letters, in_order, method_letters, model_looks, unit_looks
from .questions import COMPANY
from .rows import from_tables
from .text import LONGEST_HEAD, shorten, unit_label, wrap_text
from .types.rows import height, rows, width
from .visuals import INTERVAL, beside, in_place_of_mark, legend_line, legend_mark

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..planned import Planned

METHOD = "spearman"
LANES = 1.7  # of `types.rows`, of a model: beside its mark is room for a text
SHORT = 0.12  # an interval that its mark hides
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
    "Spearman's ρ with 95 % intervals (bootstrap over words, or over sets of words), as ± where too short to see. "
    "Words: a word's score and its log frequency, within the same groups. Sets: the values of queries and the log "
    "frequency of their words. To the right: frequent words are nearer to the first group; of MAC and others without "
    "a direction: get higher numbers."
)
# why there is no correlation, as the table has it (tables.covariates) -> in place of a mark
REASONS = {
    "fewer than 5 different words or sets": "fewer than 5",
    "the scores are all alike": "scores all alike",
    "the covariate is the same for all": "all alike",
    "what is given explains the scores or the covariate whole": "explained whole",
}
OPEN: Look = {"markerfacecolor": "white", "markeredgewidth": 0.8}


@styled
def covariates(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    rows: Sequence[tuple[str, Sequence[Unit]]],
    corpora: Mapping[str, str],
    unknown: Sequence[str] = (),
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
    unknown
        The models that are left out, as the frequencies of their words are not known.
    """
    title = f"Do scores go with word frequency? {criterion}"
    table = table[(table["criterion"] == criterion) & (table["method"] == METHOD)]
    table = table[table["metric"].isin([metric for metric, _ in rows])]
    pairs = zip(table["model"], table["corpus"], strict=True)
    table = table[
        np.array([not corpus or corpora.get(model, corpus) == corpus for model, corpus in pairs], dtype=bool)
    ]
    if table["correlation"].isna().all():
        return empty_page(title, "there are too few words and sets, or their frequencies are not known.")
    units = in_order((model, debias) for _, row_units in rows for model, debias in row_units)
    has_mark = set(
        table.loc[table["correlation"].notna(), ["model", "debias"]].itertuples(index=False, name=None)
    )
    units = [unit for unit in units if unit in has_mark]
    letters, models = method_letters(units), model_looks(model for model, _ in units)
    looks: dict[tuple[Unit, bool], Look] = {}
    for unit in units:
        look = models[unit[0]]
        looks |= {(unit, False): look, (unit, True): look | OPEN | {"markeredgecolor": look["color"]}}
    names = {metric: wrap_text(shorten(labels.get(metric, metric), LONGEST_HEAD), 16) for metric, _ in rows}
    page = Frame(title, _note(table, labels, unknown))
    parts = _panels(table, labels, corpora)
    most = max(sum((model, debias) in units for model, debias in row_units) for _, row_units in rows)
    panels = page.panels(
        {head: head for head in parts}, height(names, LANES * most), labels=width(names), least=1.2
    )
    for head, axes in panels.items():
        _draw_panel(axes, parts[head], names, looks, letters)
    legend = [(unit_label(unit, labels), legend_line(**unit_looks(units)[unit])) for unit in units]
    legend += [
        ("the interval holds 0", legend_mark(marker="o", color=GREY, markersize=4.5, **OPEN)),
        ("95 % interval", legend_line(color=GREY, **INTERVAL)),
        ("no relation", legend_line(**DASHED)),
    ]
    return page.done(legend)


def _draw_panel(
    axes: Axes,
    part: pd.DataFrame,
    names: Mapping[str, str],
    looks: Mapping[tuple[Unit, bool], Look],
    letters: Mapping[str, str],
) -> None:
    units = list(zip(part["model"], part["debias"], strict=True))
    holds = ~((part["ci_low"] > 0) | (part["ci_high"] < 0))
    marks = part.assign(
        row=part["metric"], series=list(zip(units, holds, strict=True)), value=part["correlation"]
    )
    marks = marks[[series in looks for series in marks["series"]]]
    marks = marks.rename(columns={"ci_low": "low", "ci_high": "high"})
    marks = marks[["row", "series", "debias", "value", "low", "high", "reason"]]
    places = rows(axes, marks, names, looks, neutral=0)
    for mark in marks.itertuples():
        y, look = places[mark.row, mark.series], looks[mark.series]
        if np.isnan(mark.value):
            in_place_of_mark(axes, y, REASONS.get(mark.reason, "no value"), look["color"])
            continue
        if mark.debias in letters:
            add_letters(axes, [mark.value], [y], look, letters[mark.debias], zorder=4)
        if mark.high - mark.low < SHORT:
            half = max(mark.high - mark.value, mark.value - mark.low)
            beside(axes, y, f"±{coefficient(half)}", color=look["color"])
    for y, metric in enumerate(names):
        if metric not in set(marks["row"]):
            in_place_of_mark(axes, y, "–")
    axes.set_xlim(-1.05, 1.05)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], ["−1", "−.5", "0", ".5", "1"])


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
        panels |= {name: part for name, part in parts.items() if part["correlation"].notna().any()}
    return panels


def _note(table: pd.DataFrame, labels: Mapping[str, str], unknown: Sequence[str]) -> str:
    """What is said of the marks, of the models without any, and where frequencies are from that are no counts."""
    sources = set(table["source"])
    note = NOTE + " Words in place of a mark: why there is none; –: not a covariate of this metric."
    if unknown:
        names = join_names([labels.get(model, model) for model in unknown])
        note += f" Left out, as the frequencies of their words are not known: {names}."
    if "wordfreq" in sources:
        note += " Models without counts have their frequencies from wordfreq, a proxy."
    if "rank" in sources:
        note += " Models without counts have the order of their words in place of frequencies."
    return note


def _drawings(study: Planned) -> Iterator[Drawing]:
    # not the table, which tables of results are imported with: they import pandas
    from ..tables.covariate_points import has_covariates

    counted_models = set(study.grid.models_with_frequencies)
    for criterion in study.config.criteria:
        if not has_covariates(study, [criterion]):
            continue
        cells = cells_of(study, [criterion])
        models = list(dict.fromkeys(cell.model for cell in cells))
        # a model without word frequencies has marks only where there is a corpus
        has_corpus = any(study.kind(model).text for model in models)
        unknown = [] if has_corpus else [model for model in models if model not in counted_models]
        units: dict[str, dict[Unit, None]] = {}
        for cell in cells:
            if cell.model not in unknown:
                units.setdefault(cell.metric, {})[cell.model, cell.debias] = None
        spec = {
            "criterion": criterion,
            "rows": [[metric, [list(unit) for unit in row_units]] for metric, row_units in units.items()],
            "corpora": {
                model: name
                for model in models
                if (name := study.models[model]["source"].get("corpus", {}).get("name")) in study.models
            },
            "unknown": unknown,
        }
        yield Drawing(f"covariates-{slug(criterion)}", spec=spec)


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
        facts=("labels",),
        reading="One panel per covariate, one row per metric, one mark per model; the line is its 95 % interval, "
        "written as ± where it is too short to be seen. "
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

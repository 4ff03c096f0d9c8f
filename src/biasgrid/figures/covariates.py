"""Figure of the correlations of scores with word frequency, and with the bias of a corpus itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import join_names
from ..core.files import slug
from ..core.numbers import coefficient
from .figure import Drawing, Example, Figure, cells_of
from .frame import Frame, empty_page, styled
from .palette import (
    GREY,
    Look,
    Unit,
    add_letters,
    in_order,
    method_letters,
    model_looks,
    open_mark,
    series_mark,
    unit_looks,
)
from .questions import COMPANY
from .rows import from_tables, keys_of, rows_where
from .text import LONGEST_HEAD, shorten, topic, unit_label, wrap_text
from .types.rows import row_panels, rows
from .visuals import beside, in_place_of_mark, legend_interval, legend_line, legend_neutral, legend_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure
    from matplotlib.axes import Axes

    from ..tables.planned import Planned

METHOD = "spearman"
# Lanes of a model in `types.rows`, with room for a text next to its mark.
LANES = 1.7
# An interval of this length is hidden by its mark.
SHORT = 0.12
# Covariate and controlled variable -> name of a panel, for words and for sets.
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
HEADING = "Scores and word frequency"
NOTES = (
    "A mark is a correlation, filled if its interval excludes 0; to the right, frequent words are nearer "
    "to the first "
    "group.",
    "For MAC and other metrics without a direction: they get higher numbers.",
    "Intervals are 95 % (bootstrap over words, or over sets of words), as ± where too short to see.",
    "Words: a word's score and its log frequency, within the same groups.",
    "Sets: the values of queries and the log frequency of their words.",
    "Text in place of a mark explains why there is no value; –: not a covariate of this metric.",
)
# Reason for a missing correlation in the table (tables.covariates) -> text in place of a mark.
REASONS = {
    "fewer than 5 different words or sets": "fewer than 5",
    "the scores are all alike": "scores all alike",
    "the covariate is the same for all": "all alike",
    "what is given explains the scores or the covariate whole": "explained whole",
}


@styled
def covariates(
    table: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    rows: Sequence[tuple[str, Sequence[Unit]]],
    corpora: Mapping[str, str],
    unknown: Sequence[str] = (),
) -> figure.Figure:
    """Draw correlations with covariates: a panel per covariate, a row per metric, a mark per model and debias method.

    Without any correlation, the figure has a sentence in place of panels.

    Parameters
    ----------
    table
        covariates.csv.
    labels
        Labels of the keys of metrics, models and debias methods.
    criterion
        The criterion of the scores.
    rows
        Metrics, each with models and debias methods.
    corpora
        Model -> its training corpus. The model's panels of PMI then use this corpus.
    unknown
        The models that are left out because the frequencies of their words are unknown.
    """
    table = rows_where(table, criterion=criterion, method=METHOD)
    table = table[table["metric"].isin([metric for metric, _ in rows])]
    pairs = zip(table["model"], table["corpus"], strict=True)
    table = table[
        np.array([not corpus or corpora.get(model, corpus) == corpus for model, corpus in pairs], dtype=bool)
    ]
    if table["correlation"].isna().all():
        return empty_page(HEADING, "there are too few words and sets, or their frequencies are not known.")
    units = in_order((model, debias) for _, row_units in rows for model, debias in row_units)
    has_mark = set(keys_of(table.dropna(subset="correlation")))
    units = [unit for unit in units if unit in has_mark]
    letters, models = method_letters(units), model_looks(model for model, _ in units)
    looks: dict[tuple[Unit, bool], Look] = {}
    for unit in units:
        looks |= {(unit, False): models[unit[0]], (unit, True): open_mark(models[unit[0]])}
    names = {metric: wrap_text(shorten(labels.get(metric, metric), LONGEST_HEAD), 16) for metric, _ in rows}
    parts = _panels(table, labels, corpora)
    page = Frame(
        _finding(parts),
        f"{topic(criterion)}: Spearman's ρ of scores with word frequency",
        _notes(table, labels, unknown),
    )
    most = max(sum((model, debias) in units for model, debias in row_units) for _, row_units in rows)
    panels = row_panels(page, {head: head for head in parts}, names, LANES * most, least=1.2)
    for head, axes in panels.items():
        _draw_panel(axes, parts[head], names, looks, letters)
    legend = [
        *legend_of(unit_looks(units), {unit: unit_label(unit, labels) for unit in units}),
        ("interval includes 0", legend_line(**open_mark(series_mark(0) | {"color": GREY}))),
        legend_interval(0.95, "interval"),
        legend_neutral("no correlation"),
    ]
    return page.done(legend)


def _draw_panel(
    axes: Axes,
    part: pd.DataFrame,
    names: Mapping[str, str],
    looks: Mapping[tuple[Unit, bool], Look],
    letters: Mapping[str, str],
) -> None:
    holds = ~((part["ci_low"] > 0) | (part["ci_high"] < 0))
    marks = part.assign(
        row=part["metric"], series=list(zip(keys_of(part), holds, strict=True)), value=part["correlation"]
    )
    marks = marks[[series in looks for series in marks["series"]]]
    places = rows(axes, marks, names, looks, neutral=0, empty="–")
    for mark in marks.itertuples():
        y, look = places[mark.row, mark.series], looks[mark.series]
        if np.isnan(mark.value):
            in_place_of_mark(axes, y, REASONS.get(mark.reason, "no value"), look["color"])
            continue
        if mark.debias in letters:
            add_letters(axes, [mark.value], [y], look, letters[mark.debias], zorder=4)
        if mark.ci_high - mark.ci_low < SHORT:
            half = max(mark.ci_high - mark.value, mark.value - mark.ci_low)
            beside(axes, y, f"±{coefficient(half)}", color=look["color"])
    axes.set_xlim(-1.05, 1.05)
    axes.set_xticks([-1, -0.5, 0, 0.5, 1], ["−1", "−.5", "0", ".5", "1"])


def _panels(
    correlations: pd.DataFrame, labels: Mapping[str, str], corpora: Mapping[str, str]
) -> dict[str, pd.DataFrame]:
    """Return the names of panels, and the rows of the table for each. Only the corpus' first PMI metric is used."""
    panels: dict[str, pd.DataFrame] = {}
    for (level, covariate, control), head in HEADS.items():
        rows = rows_where(correlations, of=level, covariate=covariate, given=control)
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


def _finding(parts: Mapping[str, pd.DataFrame]) -> str:
    """Say how many correlations with word frequency have an interval without 0."""
    import pandas as pd

    rows = pd.concat([*parts.values()]).dropna(subset=["correlation", "ci_low"])
    rows = rows[rows["covariate"].str.contains("log_frequency") & (rows["given"] == "")]
    if rows.empty:
        return HEADING
    clear = int(((rows["ci_low"] > 0) | (rows["ci_high"] < 0)).sum())
    return f"{clear or 'None'} of {len(rows)} correlations with word frequency {'is' if clear < 2 else 'are'} clear"


def _notes(table: pd.DataFrame, labels: Mapping[str, str], unknown: Sequence[str]) -> list[str]:
    """Return how to read the figure, which models lack marks, and the sources of frequencies other than counts."""
    sources = set(table["source"])
    notes = [*NOTES]
    if unknown:
        names = join_names([labels.get(model, model) for model in unknown])
        notes += [f"Left out, as the frequencies of their words are not known: {names}."]
    if "wordfreq" in sources:
        notes += ["Models without counts have their frequencies from wordfreq, a proxy."]
    if "rank" in sources:
        notes += ["Models without counts have the order of their words in place of frequencies."]
    return notes


def _drawings(study: Planned) -> Iterator[Drawing]:
    # Import only this module: the module of the table imports pandas.
    from ..tables.covariate_points import has_covariates

    counted_models = set(study.grid.models_with_frequencies)
    for criterion in study.config.criteria:
        if not has_covariates(study, [criterion]):
            continue
        cells = cells_of(study, [criterion])
        models = list(dict.fromkeys(cell.model for cell in cells))
        # A model without word frequencies only has marks if there is a corpus.
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
    """Keep rows with the training corpus of their model, and rows without a corpus."""
    table = contents["covariates"]
    own = table["corpus"] == table["model"].map(spec["corpora"])
    return {"covariates": table[own | (table["corpus"] == "")]}


FIGURES = (
    Figure(
        "covariates",
        "Correlations of scores with word frequency, and with bias in the corpus.",
        from_tables(covariates),
        question=COMPANY,
        heading=HEADING,
        asks="Are scores correlated with word frequency?",
        learn="You learn whether a metric measures frequency rather than bias.",
        drawings=_drawings,
        reads=("covariates",),
        facts=("labels",),
        reading="A mark is a model's correlation with its 95 % interval, open if this includes 0; to "
        "the right, frequent words are nearer to the first group or get higher numbers. Far "
        "from 0 for frequency and near it for PMI: the metric follows frequency.",
        example=Example(
            "thesis",
            "covariates-gender-of-30-phenomena",
            {"criterion": "Gender of 30 phenomena", "method": "spearman"},
            _own_corpora,
            shown={"covariates": ["correlation", "ci_low", "ci_high"]},
        ),
    ),
)

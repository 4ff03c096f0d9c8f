"""Figure of how scores differ between models that differ in one hyper-parameter of training, beside seeds alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files import slug
from .figure import Drawing, Example, Figure, distinct_sets, pages
from .frame import MARGIN, PAGE, empty_page, styled
from .layout import add_panels
from .palette import DASHED, LESS, MORE, ZEBRA, Look
from .questions import COMPANY
from .rows import from_tables, rows_of
from .text import SMALL, text_width
from .visuals import few_ticks, legend_area, legend_line

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..planned import Planned

ROW = 0.155  # inches
GAP = 0.18  # inches between panels side by side
ACROSS, PANELS = 4, 8  # panels side by side, and on a page
SEED = "seed"
BAND: Look = {"color": "#CFCFCF", "linewidth": 0}
INSIDE: Look = {"linestyle": "", "marker": "o", "markersize": 4.2, "color": LESS}
OUTSIDE: Look = INSIDE | {"color": MORE, "marker": "D", "markersize": 3.8}
OF_SEED: Look = INSIDE | {"color": "#444444", "markersize": 3.4}
# what a value is called; others are shown with their parameter
NAMES = {
    "sg": {"0": "CBOW", "1": "skip-gram"},
    "algorithm": {"fasttext": "fastText", "glove": "GloVe", "ppmi": "PPMI"},
}


@styled
def trainings(
    table: pd.DataFrame,
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    criterion: str,
    title: str,
    training: str,
    models: Sequence[tuple[str, Sequence[tuple[str, str]]]],
    neutral: Mapping[str, float],
    panels: Sequence[tuple[str, str, str]],
) -> figure.Figure:
    """One panel per metric, one row per model, and all seeds in one row.

    Without any value the figure says so.

    Parameters
    ----------
    table, scores
        trainings.csv and scores.csv.
    labels
        What is printed for the keys of metrics.
    criterion, title, training
        Whose scores, what the figure is called, and which training.
    models
        Parameter and (model, its value of the parameter), the base first (`tables.trainings.trainings`).
    neutral
        The value that means no bias, by metric.
    panels
        Metric, (sub-)query, and what tells it from the query's others.

    Raises
    ------
    BiasgridError
        Where the table has no rows of the criterion.
    """
    training_rows = rows_of(table, "trainings", criterion)
    training_rows = training_rows[
        (training_rows["training"] == training) & (training_rows["debias"] == "none")
    ]
    bands = training_rows.drop_duplicates(["metric", "query"]).set_index(["metric", "query"])
    is_untouched = (scores["criterion"] == criterion) & (scores["debias"] == "none")
    values = scores[is_untouched].dropna(subset="value").set_index(["metric", "query", "model"])["value"]
    panels = [panel for panel in panels if tuple(panel[:2]) in bands.index]
    if not panels or values.empty:
        return empty_page(title, "no model has a value.")
    rows = _rows(models)
    names = [name for name, *_ in rows]
    label_width = max(text_width(name, SMALL) for name in names) + 0.08
    columns = min(ACROSS, len(panels))
    width = (PAGE[0] - 2 * MARGIN - label_width - (columns - 1) * GAP) / columns
    heads = {
        f"{metric} {query}": (f"{labels.get(metric, metric)}{f': {part}' if part else ''}", "")
        for metric, query, part in panels
    }
    figure, axes_of, _ = add_panels(
        title,
        "A mark is a model, which differs from the base in what stands on the left. The first row has the base and "
        "models that differ from it in the seed alone: that is chance. In the grey band, the value of one more seed "
        "lies in 95 of 100 cases (prediction interval of a normal distribution).",
        heads,
        columns,
        np.array([min(width, 2.4), len(rows) * ROW]),
        [
            ("seeds", legend_line(**OF_SEED)),
            ("within what seeds do", legend_line(**INSIDE)),
            ("beyond what seeds do", legend_line(**OUTSIDE)),
            ("95 % of seeds", legend_area(**BAND)),
            ("no bias", legend_line(**DASHED)),
        ],
        gap=GAP,
        label_width=label_width,
        foot=0.3,
    )
    for i, (axes, (metric, query, _)) in enumerate(zip(axes_of.values(), panels, strict=True)):
        low, high = bands.loc[(metric, query), ["seeds_low", "seeds_high"]]
        if np.isfinite(low):
            axes.axvspan(low, high, zorder=0.5, **BAND)
        for index, (_, shade, keys) in enumerate(rows):
            if shade:
                axes.axhspan(index - 0.5, index + 0.5, color=ZEBRA, linewidth=0, zorder=0)
            row_values = [values[metric, query, key] for key in keys if (metric, query, key) in values.index]
            for value in row_values:
                is_outside = np.isfinite(low) and not low <= value <= high
                look = OF_SEED if index == 0 else OUTSIDE if is_outside else INSIDE
                axes.plot(value, index, **look, markeredgecolor="white", markeredgewidth=0.3, zorder=3)
            if not row_values:
                axes.text(0.5, index, "no value", transform=axes.get_yaxis_transform(), ha="center", va="center",
                          size=SMALL, color="#666666")  # fmt: skip
        axes.axvline(neutral[metric], **DASHED)
        axes.set(ylim=(len(rows) - 0.5, -0.5))
        axes.set_yticks(range(len(rows)), names if i % columns == 0 else [""] * len(rows))
        axes.tick_params(axis="y", length=0)
        few_ticks(axes.xaxis, 3)
        axes.margins(x=0.06)
    return figure


def _rows(models: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> list[tuple[str, bool, list[str]]]:
    """Name, whether it is shaded, and models of each row: the seeds (or the base alone), then the others."""
    of_seed = [model_values for parameter, model_values in models if parameter == SEED]
    base = of_seed[0] if of_seed else models[0][1][:1]
    rows = [("seeds" if of_seed else "base", True, [model for model, _ in base])]
    for i, (parameter, model_values) in enumerate(
        (p, model_values[1:]) for p, model_values in models if p != SEED
    ):
        for model, value in model_values:
            text = value if parameter == "algorithm" else f"{parameter} {value}"
            rows.append((NAMES.get(parameter, {}).get(value, text), i % 2 == 1, [model]))
    return rows


def _drawings(study: Planned) -> Iterator[Drawing]:
    # imported late: most studies have no such table
    from ..tables.trainings import trainings as trainings_of

    models_by_training: dict[str, list[list[Any]]] = {}
    for name, parameter, models in trainings_of(study):
        models_by_training.setdefault(name, []).append([parameter, models])
    for name, models in models_by_training.items():
        keys = {model for _, of_parameter in models for model, _ in of_parameter}
        cells = {
            (cell.criterion, cell.query, cell.metric): None
            for cell in study.grid.cells.values()
            if cell.model in keys
        }
        metrics_by_query: dict[tuple[str, str], list[str]] = {}
        for criterion, key, metric in cells:
            metrics_by_query.setdefault((criterion, key), []).append(metric)
        for (criterion, key), metrics in metrics_by_query.items():
            query = study.queries[key]
            panels = [panel for metric in metrics for panel in _panels(study, criterion, query, metric)]
            spec = {
                "labels": {metric: study.labels[metric] for metric in metrics},
                "criterion": criterion,
                "title": f"{criterion}: {query.name}, by training of {name}",
                "training": name,
                "models": models,
                "neutral": {metric: study.metric(criterion, metric).neutral for metric in metrics},
            }
            stem = f"trainings-{slug(criterion)}-{slug(key)}-{slug(name)}"
            for drawing_name, page_panels in pages(stem, panels, PANELS):
                yield Drawing(drawing_name, spec=spec | {"panels": page_panels})


def _panels(study: Planned, criterion: str, query: Any, metric: str) -> Iterator[list[str]]:
    """Metric, (sub-)query, and the sets that the query's other sub-queries lack."""
    parts = list(query.subqueries(study.metric(criterion, metric).template))
    for name, sets in distinct_sets(parts).items():
        yield [metric, name, sets]


def _models_of_training(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Of scores those of the training's models."""
    models = {model for _, of_parameter in spec["models"] for model, _ in of_parameter}
    return contents | {"scores": contents["scores"][contents["scores"]["model"].isin(models)]}


FIGURES = (
    Figure(
        "trainings",
        "How a score differs between models that were trained with other parameters.",
        from_tables(trainings),
        question=COMPANY,
        drawings=_drawings,
        reads=("trainings", "scores"),
        needs="trainings",
        reading="One panel per metric, one row per model, which differs from the base in what is written on the "
        "left. The first row has models that differ in the seed of training alone. The grey band is what chance "
        "does: one more seed lies in it in 95 of 100 cases. A blue dot is not distinguishable from another seed; an "
        "orange diamond lies beyond the band, as one of twenty models does by chance. The dashed line means no bias.",
        example=Example(
            "trainings",
            "trainings-gender-career-word2vec",
            {"metric": ["rnd", "weat", "weat_es"], "query_id": "career", "training": "word2vec"},
            _models_of_training,
            shown={"scores": ["value"]},
        ),
    ),
)

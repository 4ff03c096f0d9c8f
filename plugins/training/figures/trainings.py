"""Figure of score differences between models that differ in one hyper-parameter of training, compared with seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgrid.core.files import slug
from biasgrid.figures.figure import Drawing, Example, Figure, distinct_sets
from biasgrid.figures.frame import Frame, empty_page, styled
from biasgrid.figures.palette import INK, Look, open_mark
from biasgrid.figures.questions import COMPANY
from biasgrid.figures.rows import from_tables, rows_of, rows_where
from biasgrid.figures.text import part_label, topic
from biasgrid.figures.types.rows import row_panels, rows
from biasgrid.figures.visuals import few_ticks, legend_area, legend_neutral, legend_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from biasgrid.tables.planned import Planned

HEADING = "Scores of models trained with other parameters"
SEED = "seed"
BAND: Look = {"color": "#CFCFCF", "linewidth": 0}
DOT: Look = {"linestyle": "", "marker": "o", "markeredgecolor": "white", "markeredgewidth": 0.3}
LOOKS: dict[str, Look] = {
    "another seed": DOT | {"color": "#888888", "markersize": 3.4},
    "within what seeds explain": open_mark(DOT | {"color": INK, "markersize": 4.2}),
    "beyond what seeds explain": DOT | {"color": INK, "marker": "D", "markersize": 3.8},
}
OF_SEED, INSIDE, OUTSIDE = LOOKS
# Names of values; other values are shown with their parameter.
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
    """Draw one panel per metric, one row per model, and all seeds in one row.

    Without any value the figure has a sentence instead.

    Parameters
    ----------
    table, scores
        trainings.csv and scores.csv.
    labels
        Labels of the keys of metrics.
    criterion, title, training
        Criterion of the scores, the figure's title, and the training.
    models
        Parameter and (model, its value of the parameter), the base first (`tables.trainings.trainings`).
    neutral
        No-bias values, by metric.
    panels
        Metric, (sub-)query, and the label that distinguishes it from the query's other sub-queries.

    Raises
    ------
    BiasgridError
        If the table lacks rows of the criterion.
    """
    import pandas as pd

    bands = rows_where(rows_of(table, "trainings", criterion=criterion), training=training, debias="none")
    bands = bands.drop_duplicates(["metric", "query"]).set_index(["metric", "query"])
    values = rows_where(scores, criterion=criterion, debias="none").dropna(subset="value")
    values = values.set_index(["metric", "query", "model"])["value"]
    drawn = [(metric, query, part) for metric, query, part in panels if (metric, query) in bands.index]
    if not drawn or values.empty:
        return empty_page(HEADING, "no model has a value.")
    models_of = _rows(models)
    outside = [
        _series(False, value, *bands.loc[(metric, query), ["seeds_low", "seeds_high"]]) == OUTSIDE
        for metric, query, _ in drawn
        for name, keys in [*models_of.items()][1:]
        for value in (values[metric, query, key] for key in keys if (metric, query, key) in values.index)
    ]
    page = Frame(
        f"{sum(outside)} of {len(outside)} scores differ more than seeds explain" if outside else HEADING,
        title,
        [
            "A row is a model that differs from the base in what stands on the left; the first row differs in "
            "the seed "
            "alone.",
            "95 % of models with another seed lie in the grey band (prediction interval of a normal distribution).",
            "There are no intervals over words: all models are measured by the same words.",
        ],
    )
    heads = {(metric, query): part_label(labels.get(metric, metric), part) for metric, query, part in drawn}
    names = {name: name for name in models_of}
    panels_of = row_panels(page, heads, names, least=1.0)
    for (metric, query), axes in panels_of.items():
        low, high = bands.loc[(metric, query), ["seeds_low", "seeds_high"]]
        if np.isfinite(low):
            axes.axvspan(low, high, zorder=0.5, **BAND)
        marks = [
            (name, _series(name == next(iter(names)), value, low, high), value)
            for name, keys in models_of.items()
            for value in (values[metric, query, key] for key in keys if (metric, query, key) in values.index)
        ]
        marks = pd.DataFrame(marks, columns=["row", "series", "value"])
        rows(axes, marks, names, LOOKS, neutral=neutral[metric], empty="no value")
        few_ticks(axes.xaxis, 3)
        axes.margins(x=0.06)
    return page.done([*legend_of(LOOKS), ("95 % of seeds", legend_area(**BAND)), legend_neutral()])


def _series(is_seed: bool, value: float, low: float, high: float) -> str:
    return OF_SEED if is_seed else OUTSIDE if np.isfinite(low) and not low <= value <= high else INSIDE


def _rows(models: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> dict[str, list[str]]:
    """Return the name and the models of each row: the seeds (or the base alone), then the others."""
    of_seed = [model_values for parameter, model_values in models if parameter == SEED]
    base = of_seed[0] if of_seed else models[0][1][:1]
    rows = {"seeds" if of_seed else "base": [model for model, _ in base]}
    for parameter, model_values in models:
        for model, value in model_values[1:] if parameter != SEED else ():
            text = value if parameter == "algorithm" else f"{parameter} {value}"
            rows.setdefault(NAMES.get(parameter, {}).get(value, text), []).append(model)
    return rows


def _drawings(study: Planned) -> Iterator[Drawing]:
    # Import late: most studies lack this table.
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
            spec = {
                "criterion": criterion,
                "title": f"{topic(criterion)}: {query.name}, {name}",
                "training": name,
                "models": models,
                "panels": [panel for metric in metrics for panel in _panels(study, criterion, query, metric)],
            }
            yield Drawing(f"trainings-{slug(criterion)}-{slug(key)}-{slug(name)}", spec=spec)


def _panels(study: Planned, criterion: str, query: Any, metric: str) -> Iterator[list[str]]:
    """Yield metric, (sub-)query, and the sets that the query's other sub-queries lack."""
    parts = list(query.subqueries(study.metric(criterion, metric).template))
    for name, sets in distinct_sets(parts).items():
        yield [metric, name, sets]


def _models_of_training(contents: dict[str, Any], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Keep the scores of the training's models."""
    models = {model for _, of_parameter in spec["models"] for model, _ in of_parameter}
    return contents | {"scores": contents["scores"][contents["scores"]["model"].isin(models)]}


FIGURES = (
    Figure(
        "trainings",
        "How a score varies over models trained with different parameters.",
        from_tables(trainings),
        question=COMPANY,
        heading=HEADING,
        asks="Does training matter more than the random seed?",
        learn="You learn which parameters of training change the bias.",
        drawings=_drawings,
        reads=("trainings", "scores"),
        facts=("labels", "neutral"),
        needs="trainings",
        reading="A row is a model trained otherwise than the base; the grey band has 95 % of models "
        "with another seed alone. A filled diamond lies beyond it, as 5 % do by chance.",
        example=Example(
            "trainings",
            "trainings-gender-career-word2vec",
            {"metric": ["rnd", "weat", "weat_es"], "query_id": "career", "training": "word2vec"},
            _models_of_training,
            shown={"scores": ["value"]},
        ),
    ),
)

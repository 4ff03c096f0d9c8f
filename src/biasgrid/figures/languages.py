"""Figure of the same test in several languages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .figure import Drawing, Example, Figure
from .frame import Frame, empty_page, styled
from .palette import series_mark
from .questions import SCORES
from .rows import from_tables, rows_where
from .text import wrap_text
from .types.rows import row_panels, rows
from .visuals import beside, few_ticks, legend_interval, legend_neutral, legend_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib import figure

    from ..tables.planned import Planned

HEADING = "The same test in several languages"
VECTORS = "word vectors"


@styled
def languages(
    scores: pd.DataFrame,
    labels: Mapping[str, str],
    metric: str,
    neutral: float,
    queries: Sequence[str],
    models: Mapping[str, Sequence[str]],
    level: float = 0.95,
    gendered: Sequence[str] = (),
) -> figure.Figure:
    """Draw a panel per query, a row per language, and a mark per model with its interval.

    Next to a row is the number of its missing words.

    Parameters
    ----------
    scores
        scores.csv.
    labels
        Label of the metric's key.
    metric, neutral
        The metric of the scores, and its no-bias value.
    queries
        The names of the queries that are measured in several languages.
    models
        Model -> its language's name, and the name of its mark.
    level
        Level of the intervals.
    gendered
        Languages whose nouns are masculine or feminine.
    """
    table = rows_where(scores, metric=metric, debias="none")
    table = table[table["model"].isin(models) & table["query"].isin(queries)]
    if table.empty:
        return empty_page(HEADING, "no model has a score.")
    table = table.assign(
        row=[models[model][0] for model in table["model"]],
        series=[models[model][1] for model in table["model"]],
        says=["missing words" if status != "ok" else "" for status in table["status"]],
    )
    names = {language: language for language, _ in models.values()}
    looks = {
        name: series_mark(i) for i, name in enumerate(dict.fromkeys(name for _, name in models.values()))
    }
    known = table.dropna(subset="value")
    above = int((known["value"] > neutral).sum())
    page = Frame(
        f"{above} of {len(known)} scores are above the no-bias value" if len(known) else HEADING,
        f"{labels.get(metric, metric)}: the same test in several languages",
        [
            "Languages are not ranked: words, vectors and grammar differ, so their scores are not comparable.",
            "Beside a row: how many words the model of word vectors lacks.",
            *([f"Nouns are masculine or feminine in {', '.join(gendered)}."] if gendered else []),
        ],
    )
    heads = {query: wrap_text(query, 30) for query in queries if query in set(table["query"])}
    axes_of = row_panels(page, heads, names, len(looks), least=1.5, bold=False)
    for query, axes in axes_of.items():
        marks = table[table["query"] == query]
        rows(axes, marks, names, looks, neutral=neutral)
        for row in marks[(marks["words_lost"] > 0) & (marks["status"] == "ok")].itertuples():
            beside(axes, [*names].index(row.row), f"{row.words_lost} missing")
        axes.margins(x=0.04)
        few_ticks(axes.xaxis, 4)
    legend = [*legend_of(looks), legend_neutral()]
    if table["ci_low"].notna().any():
        legend.append(legend_interval(level, "interval over words"))
    return page.done(legend)


def _drawings(study: Planned) -> Iterator[Drawing]:
    config = study.config
    names = {entry.language: entry.name for entry in config.languages or ()}
    models = {
        key: (names[model.language], getattr(model.source, "encoder", VECTORS))
        for key, model in config.models.items()
        if model.language in names
    }
    gendered = [
        entry.name
        for entry in config.languages or ()
        if entry.name in {name for name, _ in models.values()}
        and {"masculine", "feminine"} <= {*(entry.grammatical_gender or ())}
    ]
    asked: dict[str, dict[str, set[str]]] = {}
    neutral = {}
    for cell in study.grid.cells.values():
        if cell.model in models:
            by_query = asked.setdefault(cell.metric, {})
            by_query.setdefault(study.queries[cell.query].name, set()).add(models[cell.model][0])
            neutral[cell.metric] = study.metric(cell.criterion, cell.metric).neutral
    for metric, by_query in asked.items():
        if queries := [query for query, where in by_query.items() if len(where) > 1]:
            spec = {
                "metric": metric,
                "neutral": neutral[metric],
                "queries": queries,
                "models": models,
                "gendered": gendered,
            }
            yield Drawing(f"languages-{metric}", spec=spec)


FIGURES = (
    Figure(
        "languages",
        "The same test in several languages: a panel per query, a row per language.",
        from_tables(languages),
        question=SCORES,
        heading=HEADING,
        asks="Is the bias the same in other languages?",
        learn="You learn in which languages a test finds the same direction.",
        drawings=_drawings,
        reads=("scores",),
        facts=("labels", "level"),
        needs="`languages` that are asked the same queries",
        reading="A mark is a model's score with its 95 % interval, the dashed line no bias; the "
        "number counts the words that a model lacks. Languages are not ranked: words, vectors "
        "and grammar differ.",
        example=Example(
            "languages",
            "languages-weat_es",
            {
                "query": [
                    "Maths and Arts wrt Male terms and Female terms",
                    "Male names and Female names wrt Career and Family",
                ]
            },
            shown={"scores": ["value", "ci_low", "ci_high"]},
        ),
    ),
)

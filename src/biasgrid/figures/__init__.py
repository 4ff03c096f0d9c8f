"""A study's figures: which file each is made from, and by what it is drawn.

Imports no matplotlib before a figure is drawn: the workflow reads `KINDS` when it plans.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import tables
from ..errors import BiasgridError
from ..study import UNTOUCHED, Cell, Study
from ..tables.ratings import rated_words, ratings_file
from ..tables.words import of_cell, place_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..metrics.registry import Metric


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    draw         (study, criterion, model) -> Figure
    tables       the tables in the study's results that it is drawn from
    module       the module of this package that draws it, besides grid.py, which has what all share
    evaluations  whether it is drawn from the evaluations of its criterion and model, too
    metric       the metric whose cells of its criterion it is drawn from, too
    """

    draw: Callable[[Study, str | None, str | None], Figure]
    tables: tuple[str, ...]
    module: str | None = None
    evaluations: bool = False
    metric: str | None = None


def draw(study: Study, name: str) -> Figure:
    """A figure of the study, from the tables in its results.

    Raises BiasgridError for a name that the study has no figure of.
    """
    if name not in study.figures:
        raise BiasgridError(f"no figure {name!r}; the study has {', '.join(study.figures) or 'none'}")
    kind, criterion, model = study.figures[name]
    return KINDS[kind].draw(study, criterion, model)


def _table(study: Study, name: str):
    return tables.REGISTRY[name].read(study.table_file(name))


def _level(study: Study) -> float:
    """What share of the bootstrap samples an interval holds."""
    return study.config["inference"].get("bootstrap", {}).get("level", 0.95)


def _rankings(study, criterion, model):
    from .grid import rankings

    return rankings(_table(study, "rankings"), study.labels)


def _rankings_by_criterion(study, criterion, model):
    from .grid import rankings_by_criterion

    return rankings_by_criterion(_table(study, "rankings"), study.labels)


def _correlations(study, criterion, model):
    from .grid import correlations

    method = study.config["correlations"][0]
    return correlations(_table(study, "correlations"), study.labels, method, _level(study))


def _scores(study, criterion, model):
    from .grid import scores

    tests = {key: _tests_about_words(study.metric(criterion, key)) for key in study.metrics(criterion)}
    return scores(_table(study, "scores"), study.labels, criterion, study.neutral, _level(study), tests)


def _tests_about_words(metric: Metric) -> list[str]:
    """The tests that a metric has about the words of a query: a label test is none of them."""
    permutes = not metric.no_test and metric.test_of == "words"
    return ["permutation"] * permutes + ["random_groups"]


def _rank_intervals(study, criterion, model):
    from .ranks import rank_intervals

    table = _table(study, "rank_intervals")
    return rank_intervals(table, _table(study, "order"), study.labels, level=_level(study))


def _order(study, criterion, model):
    from .ranks import order

    return order(_table(study, "order"), study.labels, level=_level(study))


def _influence(study, criterion, model):
    from .influence import influence

    return influence(_table(study, "influence"), _table(study, "inference"), study.labels, criterion)


def _quality_ranks(study, criterion, model):
    from .quality import quality_ranks

    return quality_ranks(_table(study, "rankings"), _table(study, "quality"), study.labels)


def _before_after(study, criterion, model):
    from .mitigation import before_after

    return before_after(_table(study, "mitigation"), study.labels, criterion)


def _trade_off(study, criterion, model):
    from .mitigation import trade_off

    return trade_off(_table(study, "mitigation"), study.labels, criterion)


def _hidden_bias(study, criterion, model):
    from .mitigation import hidden_bias

    return hidden_bias(_table(study, "mitigation"), study.labels, criterion)


def _word_map(study, criterion, model):
    from ..evaluation import record as mitigation
    from .mitigation import word_map

    states = [e for e in study.evaluations.values() if (e.criterion, e.model) == (criterion, model)]
    return word_map(mitigation.word_maps(map(study.evaluation_file, states)), study.labels, criterion)


def _analogies(study, criterion, model):
    from .analogies import analogies

    spec = study.evaluation_specs[criterion].questions
    shown = {name: (asked.pairs, asked.words) for name, asked in spec.items() if asked.words}
    tables = (_table(study, name) for name in ("analogies", "analogy_summary"))
    return analogies(*tables, study.labels, criterion, model, shown)


def _word_set_map(study, criterion, model):
    from ..evaluation import record as mitigation
    from .word_sets import word_sets

    states = [e for e in study.evaluations.values() if (e.criterion, e.model) == (criterion, model)]
    maps = {
        e.debias: mitigation.read_evaluation(study.evaluation_file(e), "set_map")["set_map"] for e in states
    }
    return word_sets(maps, study.labels, criterion, model, list(study.evaluation_specs[criterion].map.sets))


def _comparison(study, criterion, model):
    from .comparison import comparison

    names = {key: query.name for key, query in study.queries.items()}
    return comparison(_table(study, "comparison"), study.labels, names)


def _professions(study, criterion, model):
    from ..evaluation import record as mitigation
    from .professions import professions

    untouched = next(
        e
        for e in study.evaluations.values()
        if (e.criterion, e.model, e.debias) == (criterion, model, UNTOUCHED)
    )
    record = mitigation.read_evaluation(study.evaluation_file(untouched), "direct")
    spec = study.evaluation_specs[criterion].direct
    return professions(record["direct"], spec.extremes, study.labels[model], criterion, bool(spec.exclude))


def _directions(study, criterion, model):
    from .directions import directions

    return directions(_table(study, "directions"), study.labels, criterion)


def _projections(study, criterion, name):
    from .words import projections

    cell = study.cells[name]
    words = of_cell(_table(study, "words"), place_of(study, cell))
    metric, note = (
        study.labels[cell.metric],
        f"{_state_of(study, cell)}. Bars: the words furthest towards either group.",
    )
    title = f"{criterion}: words between two groups, by {metric}"
    return projections(words, study.poles(cell), title, note, measure=metric)


def _ratings(study, criterion, name):
    from .words import rated

    cell = study.cells[name]
    words = rated_words(_table(study, "words"), place_of(study, cell), ratings_file(study, criterion))
    table = _table(study, "ratings")
    mine = table[(table["criterion"] == criterion) & (table["query"] == study.queries[cell.query].name)]
    for column in ("metric", "model", "debias"):
        mine = mine[mine[column] == getattr(cell, column)]
    found = {row.method: (row.correlation, row.ci_low, row.ci_high) for row in mine.itertuples()}
    label = study.config["criteria"][criterion]["ratings"]["label"]
    metric, note = study.labels[cell.metric], f"{_state_of(study, cell)}."
    title = f"{criterion}: bias of words by {metric}, and ratings by people"
    return rated(words, study.poles(cell), found, title, note, label, measure=metric)


def _state_of(study: Study, cell: Cell) -> str:
    """What a cell's model is called, with its debias method."""
    model = study.labels[cell.model]
    return model if cell.debias == UNTOUCHED else f"{model}, under {study.labels[cell.debias]}"


def _sentiment(study, criterion, model):
    from .sentiment import distributions, sentiment

    cells = [study.cell_file(cell) for cell in cells_of(study, "sentiment", criterion)]
    return sentiment(distributions(cells), study.labels, criterion)


def cells_of(study: Study, kind: str, criterion: str | None) -> list[Cell]:
    """The cells that a kind of figure of a criterion is drawn from, in the order of the study's queries."""
    metric = KINDS[kind].metric
    return [
        cell
        for cell in study.cells.values()
        if metric and cell.criterion == criterion and study.metric(criterion, cell.metric).name == metric
    ]


def _weat_table(study, criterion, model):
    from .weat_table import weat_table

    queries = {key: study.queries[key] for key in study.config["criteria"][criterion]["queries"]}
    # by the criterion's own label: in another criterion, a key can be another metric's
    metrics = {
        key: entry.get("label", study.metric(criterion, key).label)
        for key, entry in study.metrics(criterion).items()
        if study.metric(criterion, key).name in ("weat", "weat_es")
    }
    return weat_table(_table(study, "comparison"), study.labels, criterion, queries, metrics)


KINDS = {
    "rankings": Kind(_rankings, ("rankings",)),
    "rankings-by-criterion": Kind(_rankings_by_criterion, ("rankings",)),
    "rank-intervals": Kind(_rank_intervals, ("rank_intervals", "order"), "ranks"),
    "order": Kind(_order, ("order",), "ranks"),
    "correlations": Kind(_correlations, ("correlations",)),
    "scores": Kind(_scores, ("scores",)),
    "influence": Kind(_influence, ("influence", "inference"), "influence"),
    "quality-ranks": Kind(_quality_ranks, ("rankings", "quality"), "quality"),
    "before-after": Kind(_before_after, ("mitigation",), "mitigation"),
    "trade-off": Kind(_trade_off, ("mitigation",), "mitigation"),
    "hidden-bias": Kind(_hidden_bias, ("mitigation",), "mitigation"),
    "comparison": Kind(_comparison, ("comparison",), "comparison"),
    "weat-table": Kind(_weat_table, ("comparison",), "weat_table"),
    "word-map": Kind(_word_map, (), "mitigation", evaluations=True),
    "word-set-map": Kind(_word_set_map, (), "word_sets", evaluations=True),
    "analogies": Kind(_analogies, ("analogies", "analogy_summary"), "analogies"),
    "professions": Kind(_professions, (), "professions", evaluations=True),
    "directions": Kind(_directions, ("directions",), "directions"),
    "projections": Kind(_projections, ("words",), "words"),
    "ratings": Kind(_ratings, ("words", "ratings"), "words"),
    "sentiment": Kind(_sentiment, (), "sentiment", metric="rnsb"),
}

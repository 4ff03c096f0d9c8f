"""Which cells of a study some tables and figures are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..planned import Cell, Planned


def word_cells(study: Planned) -> list[Cell]:
    """The cells whose values word by word make a table: of criteria that ask for it, or have ratings."""
    criteria = study.config.criteria.items()
    names = {name for name, entry in criteria if entry.word_table or entry.ratings}
    return [cell for cell in study.grid.cells.values() if cell.criterion in names]


def two_group_cells(study: Planned) -> list[Cell]:
    """The cells of `word_cells` in which a word's value says which of two groups it is nearer to."""
    return [cell for cell in word_cells(study) if poles(study, cell)]


def rating_cells(study: Planned) -> list[Cell]:
    """The cells of `two_group_cells` whose criterion has ratings of the words by people."""
    return [cell for cell in two_group_cells(study) if study.config.criteria[cell.criterion].ratings]


def poles(study: Planned, cell: Cell) -> tuple[str, str] | None:
    """The two groups by name that a cell's words are nearer to, the one that positive values mean first; None where
    the metric says nothing of the kind, or there are more than two groups."""
    metric = study.metric(cell.criterion, cell.metric)
    query = study.queries[cell.query]
    groups = query.target_sets if metric.groups == "targets" else query.attribute_sets
    return (groups[0].name, groups[1].name) if metric.word_bias and len(groups) == 2 else None


def direction_cells(study: Planned) -> list[Cell]:
    """The cells of Direct Bias of pairs, which say how far apart directions lie."""
    return [
        cell
        for cell in study.grid.cells.values()
        if (metric := study.metric(cell.criterion, cell.metric)).name == "direct_bias"
        and metric.paired
        and len(study.queries[cell.query].target_sets) == 2
    ]


def effect_size_cells(study: Planned, asked: str) -> list[Cell]:
    """The cells of WEAT's effect size, in criteria that ask for what the config calls so."""
    criteria = {name for name, entry in study.config.criteria.items() if getattr(entry, asked)}
    return [
        cell
        for cell in study.grid.cells.values()
        if cell.criterion in criteria and study.metric(cell.criterion, cell.metric).name == "weat_es"
    ]


def ddof_of(study: Planned, cells: list[Cell]) -> list[list[Any]]:
    """What the effect sizes of cells take off the number of words: [criterion, metric, ddof]."""
    return [
        [criterion, key, (study.metrics(criterion)[key].params or {}).get("ddof", 0)]
        for criterion, key in sorted({(cell.criterion, cell.metric) for cell in cells})
    ]

"""Selections of a study's cells for tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .planned import Cell, Planned


def word_cells(study: Planned) -> list[Cell]:
    """Return the cells whose values of single words make a table: cells of criteria with `word_table` or ratings."""
    criteria = study.config.criteria.items()
    names = {name for name, entry in criteria if entry.word_table or entry.ratings}
    return [cell for cell in study.grid.cells.values() if cell.criterion in names]


def two_group_cells(study: Planned) -> list[Cell]:
    """Return the cells of `word_cells` in which a word's value tells which of two groups is nearer."""
    return [cell for cell in word_cells(study) if poles(study, cell)]


def rating_cells(study: Planned) -> list[Cell]:
    """Return the cells of `two_group_cells` whose criterion has people's ratings of the words."""
    return [cell for cell in two_group_cells(study) if study.config.criteria[cell.criterion].ratings]


def poles(study: Planned, cell: Cell) -> tuple[str, str] | None:
    """Return the names of the two groups that a cell's words are compared with, the group of positive values first.

    Returns None if the metric does not compare words with groups, or if there are more than two.
    """
    metric = study.metric(cell.criterion, cell.metric)
    query = study.queries[cell.query]
    groups = query.target_sets if metric.groups == "targets" else query.attribute_sets
    return (groups[0].name, groups[1].name) if metric.word_bias and len(groups) == 2 else None


def direction_cells(study: Planned) -> list[Cell]:
    """Return the cells of Direct Bias of pairs, which measure angles between directions."""
    return [
        cell
        for cell in study.grid.cells.values()
        if (metric := study.metric(cell.criterion, cell.metric)).name == "direct_bias"
        and metric.paired
        and len(study.queries[cell.query].target_sets) == 2
    ]


def effect_size_cells(study: Planned, asked: str) -> list[Cell]:
    """Return the cells of WEAT's effect size in criteria whose config entry has the option `asked`."""
    criteria = {name for name, entry in study.config.criteria.items() if getattr(entry, asked)}
    return [
        cell
        for cell in study.grid.cells.values()
        if cell.criterion in criteria and study.metric(cell.criterion, cell.metric).name == "weat_es"
    ]


def ddof_of(study: Planned, cells: list[Cell]) -> list[list[Any]]:
    """Return [criterion, metric, ddof] of cells; ddof is subtracted from the number of words in the effect size."""
    return [
        [criterion, key, (study.metrics(criterion)[key].params or {}).get("ddof", 0)]
        for criterion, key in sorted({(cell.criterion, cell.metric) for cell in cells})
    ]

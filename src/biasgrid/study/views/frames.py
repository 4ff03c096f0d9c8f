"""What all views read of a study, on disk or in memory: its tables, its models, and the queries that are left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ... import tables
from ...core.errors import BiasgridError
from ...debias import UNTOUCHED

if TYPE_CHECKING:
    import pandas as pd

    from ..study import Study


def frame_of(study: Study, name: str, absent: bool = False) -> pd.DataFrame:
    """Return a table of a study, from its file or from memory, as `Table.read` does.

    Raises BiasgridError if the study does not have it.
    """
    # Import late: `import biasgrid` and `measure_grid` do not read finished studies.
    from ..results.finished_study import FinishedStudy
    from ..results.older_study import ExistingPaths

    table = tables.REGISTRY.find(name)
    # A table's inputs are computed only if it does not have a file.
    if isinstance(study, FinishedStudy) and not table.inputs_of(getattr(study, "plain", study)):
        raise BiasgridError(f"study {study.name} has no table {name}: {table.meaning}")
    file = study.paths.table_file(table.name)
    if isinstance(study.paths, ExistingPaths) and table.name in study.paths.missing:
        raise BiasgridError(
            f"study {study.name} has no {table.name}.csv, and it cannot be made: {study.paths.missing[table.name]}"
        )
    return tables.read(file, absent)


def left_out(study: Study) -> Iterable[tuple[str, str, str, str]]:
    """Yield criterion, query, metric, and the reason for each query that does not fit a metric's template."""
    for criterion, entry in study.config.criteria.items():
        for key in study.metrics(criterion):
            metric = study.metric(criterion, key)
            for model in study.models:
                if (kind := study.kind(model).name) != metric.needs:
                    yield criterion, "", key, f"{model} is a model of {kind}; it needs {metric.needs}"
            for query in (study.queries[name] for name in entry.queries):
                if not query.fits(metric.template):
                    try:
                        query.subqueries(metric.template)
                    except BiasgridError as error:
                        yield criterion, query.name, key, str(error)


def states_of(study: Study) -> list[tuple[str, str]]:
    """Return model and debias key of each measured model, in the order of the study."""
    measured_states = {(cell.model, cell.debias) for cell in study.grid.cells.values()}
    states = [(model, key) for model in study.models for key in (UNTOUCHED, *study.debias)]
    return [state for state in states if state in measured_states]

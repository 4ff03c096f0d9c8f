"""Report of a study that was run before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..core.errors import BiasgridError
from ..study.results import partial_study
from ..study.results.finished_study import FinishedStudy
from ..study.results.older_study import check_finished, existing
from ..study.step import Step
from .report_step import report_step, shown


def step_of(study: FinishedStudy, without: Sequence[str] = ()) -> tuple[Step, Mapping[str, str]]:
    """Return the task that makes a study's report, and the reasons for missing tables, by name.

    Only the report is written. With `without`, keys or names of queries, it covers the other queries. Raises
    BiasgridError for an unfinished study, which lacks cells, inference, queries or records of models.
    """
    check_finished(study)
    changed = {"changed": study.changed_files} if study.changed_files else {}
    if without:
        part = partial_study.without(study, without)
        step = report_step(part)
        absent = partial_study.absent_queries(study, part)
        return replace(step, spec={**step.spec, "without": [*absent.items()]} | changed), {}
    existing_study = existing(study)
    missing = existing_study.paths.missing
    for name in shown():
        if name in existing_study.plain.tables:
            existing_study.paths.table_file(name)
    step = report_step(existing_study)
    if "scores" in missing:
        raise BiasgridError(missing["scores"])
    return replace(step, spec={**step.spec, "lacking": list(missing)} | changed), missing

"""The page of a study that was run before: of its files; of tables made in memory where it has no such file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from .. import tables
from ..api import partial_study
from ..api.study import FinishedStudy
from ..errors import BiasgridError
from ..in_memory import InMemory
from ..plan.step import Step
from ..plan.steps import table_step
from ..tables import rank_samples
from .report_step import SHOWN, report_step


@dataclass(frozen=True)
class _ExistingStudy(FinishedStudy):
    """A finished study. A table that it lacks, or that older code made without a column, is made in memory."""

    def table_file(self, name: str) -> Any:
        if name not in self._tables_in_memory:
            file = super().table_file(name)
            self._tables_in_memory[name] = file if tables.REGISTRY[name].is_whole(file) else self._table(name)
        return self._tables_in_memory[name]

    def _table(self, name: str) -> Any:
        try:
            table = tables.REGISTRY[name]
            # from tables that may be in memory, too
            return InMemory((name,), table.frame(table.inputs_of(self), table_step(self._plain, name).spec))
        except (BiasgridError, OSError) as error:
            self.missing_tables[name] = str(error)
            return super().table_file(name)

    @property
    def ranks_file(self) -> Any:
        file = super().ranks_file
        # older code, which made rankings without a column, made other ranks
        if file.is_file() and tables.REGISTRY["rankings"].is_whole(super().table_file("rankings")):
            return file
        if rank_samples.NAME not in self._tables_in_memory:
            ranks = rank_samples.make(rank_samples.inputs(self), rank_samples.spec(self))
            self._tables_in_memory[rank_samples.NAME] = InMemory((rank_samples.NAME,), ranks)
        return self._tables_in_memory[rank_samples.NAME]

    @cached_property
    def tables(self) -> dict[str, dict[str, Any]]:
        """The tables that it has, or that can be made."""
        for name in SHOWN:
            if name in self._plain.tables:
                self.table_file(name)
        return {name: files for name, files in self._plain.tables.items() if name not in self.missing_tables}

    @cached_property
    def _plain(self) -> FinishedStudy:
        return FinishedStudy(self.config, self.queries, self.folder, plugins=self.plugins)

    @cached_property
    def missing_tables(self) -> dict[str, str]:
        """Why tables are missing, by name."""
        return {}

    @cached_property
    def _tables_in_memory(self) -> dict[str, Any]:
        return {}


def step_of(study: FinishedStudy, without: Sequence[str] = ()) -> tuple[Step, Mapping[str, str]]:
    """The step that makes a study's page, and why tables are missing from it, by name.

    Only the page is written. With `without`, keys or names of queries, it is the page of the others. Raises
    BiasgridError for a study that is not finished: one that lacks cells, inference, queries or records of models.
    """
    existing_study = _ExistingStudy(study.config, study.queries, study.folder, plugins=study.plugins)
    files = [existing_study.cell_file(cell) for cell in existing_study.cells.values()]
    files += [existing_study.inference_file(group[0]) for group in existing_study.inference_groups.values()]
    files += map(existing_study.model_file, existing_study.models)
    missing = [file for file in files if not file.is_file()]
    if missing:
        raise BiasgridError(
            f"{study.folder}: not a finished study: it lacks {len(missing):,} of {len(files):,} files, such as "
            f"{missing[0].relative_to(study.folder)}; run it again"
        )
    if without:
        part = partial_study.without(study, without)
        step = report_step(part)
        absent = partial_study.absent_queries(study, part)
        return replace(step, spec={**step.spec, "without": [*absent.items()]}), {}
    step = report_step(existing_study)
    if "scores" in existing_study.missing_tables:
        raise BiasgridError(existing_study.missing_tables["scores"])
    return replace(
        step, spec={**step.spec, "lacking": list(existing_study.missing_tables)}
    ), existing_study.missing_tables

"""The page of a study that was run before: of its files; of tables made in memory where it has no such file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from .. import tables
from ..api import partial_study
from ..api.made_paths import MadePaths
from ..api.study import FinishedStudy
from ..errors import BiasgridError
from ..in_memory import InMemory
from ..plan.step import Step
from ..plan.steps import table_step
from .report_step import report_step, shown


@dataclass(frozen=True)
class _ExistingStudy(FinishedStudy):
    """A finished study. A table that it lacks, or that older code made without a column, is made in memory."""

    @cached_property
    def paths(self) -> _ExistingPaths:
        return _ExistingPaths(self.results, self)

    @cached_property
    def tables(self) -> dict[str, Mapping[str, Any]]:
        """The tables that it has, or that can be made."""
        for name in shown():
            if name in self.plain.tables:
                self.paths.table_file(name)
        return {name: files for name, files in self.plain.tables.items() if name not in self.paths.missing}

    @cached_property
    def plain(self) -> FinishedStudy:
        return FinishedStudy(self.config, self.queries, self.folder, plugins=self.plugins)


@dataclass(frozen=True)
class _ExistingPaths(MadePaths):
    study: _ExistingStudy

    def table_file(self, name: str) -> Any:
        if name not in self.made:
            file = self.study.plain.paths.table_file(name)
            self.made[name] = file if tables.REGISTRY[name].is_whole(file) else self._table(name, file)
        return self.made[name]

    def _table(self, name: str, file: Path) -> Any:
        try:
            table = tables.REGISTRY[name]
            # from tables that may be in memory, too
            return InMemory(
                (name,), table.frame(table.inputs_of(self.study), table_step(self.study.plain, name).spec)
            )
        except (BiasgridError, OSError) as error:
            self.missing[name] = str(error)
            return file

    @property
    def ranks_file(self) -> Any:
        files = self.study.plain.paths
        # older code, which made rankings without a column, made other ranks
        if files.ranks_file.is_file() and tables.REGISTRY["rankings"].is_whole(files.table_file("rankings")):
            return files.ranks_file
        return super().ranks_file

    @cached_property
    def missing(self) -> dict[str, str]:
        """Why tables are missing, by name."""
        return {}


def step_of(study: FinishedStudy, without: Sequence[str] = ()) -> tuple[Step, Mapping[str, str]]:
    """The step that makes a study's page, and why tables are missing from it, by name.

    Only the page is written. With `without`, keys or names of queries, it is the page of the others. Raises
    BiasgridError for a study that is not finished: one that lacks cells, inference, queries or records of models.
    """
    existing_study = _ExistingStudy(study.config, study.queries, study.folder, plugins=study.plugins)
    files = [existing_study.paths.cell_file(cell) for cell in existing_study.grid.cells.values()]
    files += [
        existing_study.paths.inference_file(group[0])
        for group in existing_study.grid.inference_groups.values()
    ]
    files += map(existing_study.paths.model_file, existing_study.models)
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
    if "scores" in existing_study.paths.missing:
        raise BiasgridError(existing_study.paths.missing["scores"])
    return replace(
        step, spec={**step.spec, "lacking": list(existing_study.paths.missing)}
    ), existing_study.paths.missing

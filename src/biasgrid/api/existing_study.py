"""A finished study that may be of older code: its files, and tables made in memory where it has no such file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import tables
from ..errors import BiasgridError
from ..in_memory import InMemory
from ..plan.steps import table_step
from ..tables.ends import with_ends
from .made_paths import MadePaths
from .study import FinishedStudy

if TYPE_CHECKING:
    import pandas as pd

    from ..tables import Table


@dataclass(frozen=True)
class ExistingStudy(FinishedStudy):
    """A finished study. A table that it lacks, or that older code made without a column, is made in memory when it is
    asked for."""

    @cached_property
    def paths(self) -> ExistingPaths:
        return ExistingPaths(self.results, self)

    @property
    def tables(self) -> dict[str, Mapping[str, Any]]:
        """The tables that it has, or that can be made, as far as they were asked for."""
        return {name: files for name, files in self.plain.tables.items() if name not in self.paths.missing}

    @cached_property
    def plain(self) -> FinishedStudy:
        """The study of its files alone."""
        return FinishedStudy(self.config, self.queries, self.folder, plugins=self.plugins)


class TableOfStudy(InMemory):
    """A table's file, which is read whenever its content is asked for: once for each reader, and kept by none.

    It stands where a table in memory does, so that all who show a finished study read its tables by
    `FinishedStudy.read_table`.
    """

    file: Path
    table: Table
    study: FinishedStudy

    def __init__(self, file: Path, table: Table, study: FinishedStudy):
        vars(self).update(parts=(table.name,), file=file, table=table, study=study)

    @property
    def content(self) -> pd.DataFrame:
        """The rows, checked."""
        return self.study.read_table(self.table, self.file)


@dataclass(frozen=True)
class ExistingPaths(MadePaths):
    """The files of a finished study, and tables made of them."""

    study: ExistingStudy

    def table_file(self, name: str) -> Any:
        """A table's file, or the table in memory; where it can be neither, `missing` says why."""
        if name not in self.made:
            table, file = tables.REGISTRY[name], self.study.plain.paths.table_file(name)
            if not table.is_whole(file):
                self.made[name] = self._table(name, file)
            else:
                self.made[name] = (
                    self._checked(name, file) if table.has_ends(file) else self._with_ends(name, file)
                )
        return self.made[name]

    def _checked(self, name: str, file: Path) -> InMemory:
        return TableOfStudy(file, tables.REGISTRY[name], self.study.plain)

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

    def _with_ends(self, name: str, file: Path) -> Any:
        """The table of a file, with the ids and labels that the config gives; of a plugin's table, which is not
        loaded, the file."""
        table = tables.REGISTRY[name]
        ends = [end.name for end in table.ends]
        try:
            rows = self.study.plain.read_table(table, file).drop(columns=ends, errors="ignore")
            spec = table_step(self.study.plain, name).spec
        except BiasgridError:  # reading the file says what is wrong with it
            return self._checked(name, file)
        return InMemory((name,), with_ends(rows, table.ends, spec).astype(dict.fromkeys(ends, "str")))

    @property
    def ranks_file(self) -> Any:
        files = self.study.plain.paths
        # older code, which made rankings without a column, made other ranks
        if files.ranks_file.is_file() and tables.REGISTRY["rankings"].is_whole(files.table_file("rankings")):
            return files.ranks_file
        return super().ranks_file


def existing(study: FinishedStudy) -> ExistingStudy:
    """A study that was read from its folder, with the tables that can be made of its files."""
    made = ExistingStudy(study.config, study.queries, study.folder, plugins=study.plugins)
    vars(made)["plain"] = study  # which is planned already
    return made


def check_finished(study: FinishedStudy) -> None:
    """Raises BiasgridError for a study that lacks what tables are made of: cells, inference, records of models."""
    files = [study.paths.cell_file(cell) for cell in study.grid.cells.values()]
    files += [study.paths.inference_file(group[0]) for group in study.grid.inference_groups.values()]
    files += map(study.paths.model_file, study.models)
    missing = [file for file in files if not file.is_file()]
    if missing:
        raise BiasgridError(
            f"{study.folder}: not a finished study: it lacks {len(missing):,} of {len(files):,} files, such as "
            f"{missing[0].relative_to(study.folder)}; run it again"
        )

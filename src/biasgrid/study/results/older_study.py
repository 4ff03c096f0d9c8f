"""A finished study, possibly of an older version, with its files, and tables in memory if such a file is
missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import tables
from ...core.errors import BiasgridError
from ...core.in_memory import InMemory
from ...tables.derived_columns import with_ends
from ..memory_paths import MemoryPaths
from ..steps import table_step
from .finished_study import FinishedStudy

if TYPE_CHECKING:
    import pandas as pd

    from ...tables import Table


@dataclass(frozen=True)
class ExistingStudy(FinishedStudy):
    """A finished study whose missing tables are made in memory on demand.

    A table that lacks a column of newer versions is also made again.
    """

    @cached_property
    def paths(self) -> ExistingPaths:
        return ExistingPaths(self.results, self, {})

    @property
    def tables(self) -> dict[str, Mapping[str, Any]]:
        """Return the tables that exist or can be made, as far as they were requested."""
        return {name: files for name, files in self.plain.tables.items() if name not in self.paths.missing}

    @cached_property
    def plain(self) -> FinishedStudy:
        """Return the study with only the tables in its files."""
        return FinishedStudy(self.config, self.queries, self.folder, plugins=self.plugins)


class TableOfStudy(InMemory):
    """A table's file, read anew on every access to its content, which is not kept.

    It has the interface of a table in memory, so that all views of a finished study read tables with
    `FinishedStudy.read_table`.
    """

    file: Path
    table: Table
    study: FinishedStudy

    def __init__(self, file: Path, table: Table, study: FinishedStudy):
        vars(self).update(parts=(table.name,), file=file, table=table, study=study)

    @property
    def content(self) -> pd.DataFrame:
        """Return the rows, checked."""
        return self.study.read_table(self.table, self.file)


@dataclass(frozen=True)
class ExistingPaths(MemoryPaths):
    """The files of a finished study, and the tables made from them."""

    study: ExistingStudy

    @cached_property
    def missing(self) -> dict[str, str]:
        """Return the reasons why tables could not be computed, by name."""
        return {}

    def table_file(self, name: str) -> Any:
        """Return a table's file, or the table in memory; if neither exists, `missing` has the reason."""
        if name not in self.made:
            table, file = tables.REGISTRY[name], self.study.plain.paths.table_file(name)
            if not table.is_whole(file):
                self.made[name] = self._compute_table(name, file)
            else:
                self.made[name] = (
                    self._table_of_file(name, file)
                    if table.has_ends(file)
                    else self._with_derived_columns(name, file)
                )
        return self.made[name]

    def _table_of_file(self, name: str, file: Path) -> InMemory:
        return TableOfStudy(file, tables.REGISTRY[name], self.study.plain)

    def _compute_table(self, name: str, file: Path) -> Any:
        try:
            table = tables.REGISTRY[name]
            # Its input tables may be in memory as well.
            return InMemory(
                (name,), table.frame(table.inputs_of(self.study), table_step(self.study.plain, name).spec)
            )
        except (BiasgridError, OSError) as error:
            self.missing[name] = str(error)
            return file

    def _with_derived_columns(self, name: str, file: Path) -> Any:
        """Return the table of a file with the ids and labels from the config.

        The table of a plugin, which is not loaded, is returned as its file.
        """
        table = tables.REGISTRY[name]
        ends = [end.name for end in table.ends]
        try:
            rows = self.study.plain.read_table(table, file).drop(columns=ends, errors="ignore")
            spec = table_step(self.study.plain, name).spec
        except BiasgridError:  # the error is raised again when the file is read
            return self._table_of_file(name, file)
        return InMemory((name,), with_ends(rows, table.ends, spec).astype(dict.fromkeys(ends, "str")))

    @property
    def ranks_file(self) -> Any:
        files = self.study.plain.paths
        # Versions that wrote rankings without this column computed other ranks.
        if files.ranks_file.is_file() and tables.REGISTRY["rankings"].is_whole(files.table_file("rankings")):
            return files.ranks_file
        return super().ranks_file


def existing(study: FinishedStudy) -> ExistingStudy:
    """Return a study that was read from its folder, with the tables that can be made from its files."""
    made = ExistingStudy(study.config, study.queries, study.folder, memory={}, plugins=study.plugins)
    vars(made)["plain"] = study  # its plan is computed already
    return made


def check_finished(study: FinishedStudy) -> None:
    """Raise BiasgridError if a study lacks files that tables need: cells, inference, records of models."""
    files = [study.paths.cell_file(cell) for cell in study.grid.cells.values()]
    files += [study.paths.inference_file(group[0]) for group in study.grid.inference_groups.values()]
    files += map(study.paths.model_file, study.models)
    missing = [file for file in files if not file.is_file()]
    if missing:
        raise BiasgridError(
            f"{study.folder}: not a finished study: it lacks {len(missing):,} of {len(files):,} files, such as "
            f"{missing[0].relative_to(study.folder)}; run it again"
        )

"""Results of a study in memory, in front of the files in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import tables
from ..core.errors import BiasgridError
from ..core.in_memory import InMemory
from ..tables.planned import Paths

if TYPE_CHECKING:
    from ..tables.planned import Planned


@dataclass(frozen=True)
class MemoryPaths(Paths):
    """The results of a study: those that are in `memory` (`Study.memory`), and the files of all others.

    Tables and ranks are computed in memory when they are first read. Where a method returns a `Path` for a study on
    disk, it may return an `InMemory` here.
    """

    study: Planned
    memory: Mapping[tuple[str, ...], Any]

    def file(self, folder: str, *place: str, suffix: str = ".json") -> Any:
        if (key := (folder, *place, suffix)) in self.memory:
            return InMemory(place, self.memory[key])
        return super().file(folder, *place, suffix=suffix)

    def table_file(self, name: str) -> Any:
        if name not in self.made:
            table = tables.REGISTRY[name]
            inputs = table.inputs_of(self.study)
            if not inputs and not self.study.absent:
                raise BiasgridError(f"this grid has no table {name}: {table.meaning}")
            self.made[name] = InMemory((name,), table.frame(inputs, table.spec_of(self.study)))
        return self.made[name]

    @property
    def ranks_file(self) -> Any:
        # Import late: the module imports pandas, and commands that run steps save that time.
        from ..tables import rank_samples

        if rank_samples.NAME not in self.made:
            ranks = rank_samples.make(rank_samples.inputs(self.study), rank_samples.spec(self.study))
            self.made[rank_samples.NAME] = InMemory((rank_samples.NAME,), ranks)
        return self.made[rank_samples.NAME]

    @cached_property
    def made(self) -> dict[str, InMemory]:
        """Return the tables and ranks computed so far, by name."""
        return {}

"""Tables and ranks in memory in place of files: each is computed when it is first read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ... import tables
from ...core.errors import BiasgridError
from ...core.in_memory import InMemory
from ...tables import rank_samples
from ..paths import Paths

if TYPE_CHECKING:
    from ..study import Study


@dataclass(frozen=True)
class MadePaths(Paths):
    """The files of a study's results, with computed tables; each `Path` of a study is an `InMemory` here."""

    study: Study

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
        if rank_samples.NAME not in self.made:
            ranks = rank_samples.make(rank_samples.inputs(self.study), rank_samples.spec(self.study))
            self.made[rank_samples.NAME] = InMemory((rank_samples.NAME,), ranks)
        return self.made[rank_samples.NAME]

    @cached_property
    def made(self) -> dict[str, Any]:
        """Return the objects computed so far, by name."""
        return {}

    @cached_property
    def missing(self) -> dict[str, str]:
        """Return the reasons why tables could not be computed, by name, for a study that can do without them."""
        return {}

"""What Snakemake's own report says of figures and tables: what their declarations say, for workflow/report/*.rst."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .. import figures, tables
from ..registry import Registry


@dataclass(frozen=True)
class Caption:
    """The declaration of a figure's kind or of a table, as its caption reads it. A rule's parameter.

    Snakemake compares parameters to know which steps are stale, but none of such a type: a caption makes nothing
    stale. The report also lists parameters: there it is the module of the declaration.
    """

    declaration: Any
    module: str

    @property
    def meaning(self) -> str:
        """What is shown, or what a row is."""
        return rst(self.declaration.meaning)

    @property
    def reading(self) -> str:
        """How a figure is read."""
        return rst(self.declaration.reading)

    @property
    def columns(self) -> list[tuple[str, str]]:
        """A table's columns and what they mean."""
        return [(rst(column.name), rst(column.meaning)) for column in self.declaration.columns]

    def __str__(self) -> str:
        return self.module


def of_figure(kind: str) -> Caption:
    """The caption of a kind of figure."""
    return _caption(figures.REGISTRY, kind)


def of_table(name: str) -> Caption:
    """The caption of a table."""
    return _caption(tables.REGISTRY, name)


def _caption(registry: Registry[Any], name: str) -> Caption:
    return Caption(registry[name], registry.module(name))


def rst(text: str) -> str:
    """A text of a declaration as reStructuredText: code stands in backticks, and no other sign means anything."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([\\*|_])", r"\\\1", part) for part in parts[::2]]
    return "``".join(parts)

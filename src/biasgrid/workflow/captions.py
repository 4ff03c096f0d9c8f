"""What Snakemake's own report says of figures and tables: what their declarations say, for workflow/report/*.rst.

Rules pass it as a parameter that is derived from `output`, which Snakemake does not compare: a caption makes nothing
stale.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .. import figures, tables


def rst(text: str) -> str:
    """Text as reStructuredText that says just that."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


def of_figure(kind: str) -> dict[str, str]:
    """What a kind of figure shows, and how it is read."""
    declared = figures.REGISTRY[kind]
    return {"meaning": rst(declared.meaning), "reading": rst(declared.reading)}


def of_table(name: str) -> dict[str, Any]:
    """What a row of a table is, and what its columns mean."""
    declared = tables.REGISTRY[name]
    columns: Mapping[str, str] = {rst(column.name): rst(column.meaning) for column in declared.columns}
    return {"meaning": rst(declared.meaning), "columns": columns}

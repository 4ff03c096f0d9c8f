"""What Snakemake's own report says of figures and tables: what their declarations say, as reStructuredText."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from .. import figures, tables
from . import engine


def file(workflow: Any, caption: str) -> str:
    """A file that has the caption, in the folder in which Snakemake copies such files, and which ends with the run: a
    template is not told which output of a job it is rendered for."""
    path = engine.cache_folder(workflow) / f"{sha256(caption.encode()).hexdigest()}.rst"
    path.write_text("{% raw %}" + caption + "{% endraw %}", encoding="utf-8")
    return str(path)


def of_figure(kind: str) -> str:
    """The caption of a kind of figure: what is shown, and how it is read."""
    declaration = figures.REGISTRY[kind]
    return f"{rst(declaration.meaning)}\n\n{rst(declaration.reading)}\n"


def of_table(name: str) -> str:
    """The caption of a table: what a row is, its columns and what they mean."""
    declaration = tables.REGISTRY[name]
    columns = (f"**{rst(column.name)}**\n    {rst(column.meaning)}\n" for column in declaration.columns)
    return "\n".join([f"{rst(declaration.meaning)}\n", *columns])


def rst(text: str) -> str:
    """A text of a declaration as reStructuredText: code stands in backticks, and no other sign means anything."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([\\*|_])", r"\\\1", part) for part in parts[::2]]
    return "``".join(parts)

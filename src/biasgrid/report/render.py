"""Page of a study, rendered from its files to one HTML file."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from .. import __version__, tables
from ..core.errors import BiasgridError
from ..core.extras import has
from ..core.files import write_text
from ..core.in_memory import InMemory, parts_of
from ..core.labels import MISSPELLED, sic
from ..core.numbers import share
from ..core.printable import without_hidden
from ..core.schema import read
from ..measure.records import read_model
from ..measure.results import without_collection
from ..queries.query import Query
from . import cell_html, cells
from .names import Names
from .picture import offset
from .sections import REGISTRY, ReportData, Section

if TYPE_CHECKING:
    import pandas as pd
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December"),
)
# Largest number of a set's missing words that the report lists.
MOST_WORDS = 3000


def write(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path | str) -> int:
    """Write the report, and return its size in bytes.

    Parameters
    ----------
    inputs
        The inputs of `cells.read`; "study": its study.json; "tables": files of the study's tables that the report's
        sections read; "models": records of models.
    spec
        From `report_step.spec_of`.
    output
        The file.
    """
    text = render(inputs, spec)
    write_text(output, text)
    return len(text.encode())


def render(inputs: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """Return the report as text; it is the same for the same files."""
    with without_collection(), _without_pool():
        return _render(inputs, spec)


@contextmanager
def _without_pool() -> Iterator[None]:
    """Let Arrow, which holds the texts of tables if it is installed, free their memory at once."""
    if not has("pyarrow"):
        yield
        return
    import pyarrow

    pool = pyarrow.default_memory_pool()
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    try:
        yield
    finally:
        pyarrow.set_memory_pool(pool)


def _render(inputs: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    names, entries = Names(spec["labels"]), in_order(spec["sections"])
    read_tables = _read_tables(inputs["tables"], entries)
    # Share tables that the scores' records also read.
    in_memory = {name: InMemory((name,), read_tables[name]) for name in cells.TABLES if name in inputs}
    material = ReportData(
        read_tables,
        spec,
        names,
        inputs,
        {_stem(file): Query.read(file) for file in inputs["queries"]},
        {_stem(file): read_model(file) for file in inputs["models"]},
        cells.read({**inputs, **in_memory}, spec["cells"]),
        read(inputs["study"], "a study"),
        Path(inputs["study"]).read_text(encoding="utf-8"),
    )
    environment = templates(entries)
    environment.filters |= {
        "label": names.label,
        "state": lambda state: names.state(*state),
    }
    context = {
        "study": spec["study"],
        "conclusion": material.conclusion,
        # Tables that `existing` could not make.
        "lacking": spec.get("lacking", []),
        "without": spec.get("without", []),
        "changed": spec.get("changed", ""),
        "date": _date(inputs["cells"]),
        "sections": [(section, _text(section, environment, material)) for section in entries],
        "version": __version__,
        # Styles and the script are part of the package, and need no escape.
        "css": Markup(
            "".join(
                environment.get_template(name).render(running=css_text(material.conclusion.title))
                for name in ("report.css", "sections.css", "cells.css", "first.css")
            )
        ),
        "script": Markup((TEMPLATES / "report.js").read_text(encoding="utf-8")),
    }
    return without_hidden(mark_misspellings(environment.get_template("page.html").render(context)))


def _read_tables(files: Iterable[Any], entries: Sequence[Section]) -> dict[str, pd.DataFrame]:
    """Read the tables by name, first the tables that need most memory: only some of their rows are kept."""
    readers = Counter(name for section in entries for name in section.reads)
    keep = {
        name: section.keep
        for section in entries
        if section.keep
        for name in section.reads
        if readers[name] == 1
    }
    by_name = {parts_of(file)[-1].removesuffix(".csv"): file for file in files}
    kept = {name: keep[name](tables.read(by_name[name])) for name in keep if name in by_name}
    return {name: kept[name] if name in kept else tables.read(file) for name, file in by_name.items()}


def in_order(names: Iterable[str]) -> list[Section]:
    """Return the sections with these names, in the order of the report."""
    return sorted((REGISTRY[name] for name in names), key=lambda section: section.place)


def _text(section: Section, environment: Environment, material: ReportData) -> Markup:
    """Render the part below a section's heading."""
    read_tables = {name: table for name, table in material.tables.items() if name in section.reads}
    context = section.make(replace(material, tables=read_tables, whole=material))
    return Markup(environment.get_template(f"{section.name}/{section.template}").render(context))


def mark_misspellings(html: str) -> str:
    """Add [sic] after misspellings in a page's visible text: not in addresses, scripts and the config."""
    if not any(word in html for word in MISSPELLED):
        return html
    parts = re.split(r"(<(script|style|pre)\b.*?</\2>|<[^>]*>)", html, flags=re.DOTALL)
    # The parts come in threes: the text between tags, the divider, and a tag's name.
    return "".join(part if place % 3 else sic(part) for place, part in enumerate(parts) if place % 3 != 2)


def packed(html: str) -> str:
    """Pack a part of the report that report.js adds on request: deflated, in base 64."""
    return base64.b64encode(zlib.compress(without_hidden(mark_misspellings(html)).encode(), 9)).decode()


def templates(entries: Iterable[Section] = ()) -> Environment:
    """Return the templates, also of sections. Their output is escaped, because words of queries are user input."""
    from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader

    from .compiled import Compiled

    folders = {section.name: FileSystemLoader(template_file(section).parent) for section in entries}
    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(TEMPLATES), PrefixLoader(folders)]),
        autoescape=lambda name: name is None or not name.endswith(".css"),
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=Compiled(),
    )
    environment.globals["offset"] = offset
    environment.filters |= {
        "slug": slug,
        "first_words": first_words,
        "json": _json,
        "packed": packed,
        "share": share,
    }
    cell_html.install(environment)
    return environment


def template_file(section: Section) -> Path:
    """Return the path of a section's template. Raises BiasgridError if it is missing."""
    file = REGISTRY.file(section.name).with_name(section.template)
    if not file.is_file():
        raise BiasgridError(f"{file}: the template of section {section.name!r} is missing")
    return file


def template_files() -> list[Path]:
    """Return the templates, styles and scripts of the report."""
    return [*sorted(TEMPLATES.iterdir()), *map(template_file, in_order(REGISTRY))]


def slug(text: str) -> str:
    """Return a text as a part of an address."""
    return re.sub(r"[^\w.]+", "-", text.strip().lower()).strip("-")


def css_text(text: str) -> str:
    """Escape a text for a string in a style, so that it ends neither the string nor the element."""
    return "".join(c if c.isalnum() or c in " .,:_-" else f"\\{ord(c):x} " for c in text)


def first_words(words: Iterable[str], most: int = MOST_WORDS) -> str:
    """Return the first words of a list, and how many more there are."""
    words = list(words)
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def _json(data: Any) -> Any:
    """Encode data for a script element, so that the data do not end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _stem(file: Any) -> str:
    return parts_of(file)[-1].removesuffix(".json")


def _date(files: Iterable[Any]) -> str:
    """Return the day (UTC) of the newest cell, such as "24 November 2026"; empty for cells in memory."""
    times = [Path(file).stat().st_mtime for file in files if isinstance(file, str | Path)]
    if not times:
        return ""
    day = datetime.fromtimestamp(max(times), UTC)
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"

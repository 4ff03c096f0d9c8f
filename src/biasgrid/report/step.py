"""The page of a study as a step: from the study's files to one HTML file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from .. import __version__, tables
from ..absence import MEANING
from ..debias import UNTOUCHED
from ..files import write_text
from ..in_memory import parts_of
from ..labels import sic
from ..numbers import plain
from ..printable import without_hidden
from ..query import Query
from ..records import read_model
from ..schema import read
from ..verdicts.text import join_names, pluralize
from ..words import WordOptions
from . import background, cell_html, cells, marks, page
from .names import Names
from .sections import FOLDER, Section, verdict

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
SECTIONS = (
    (verdict.SECTION.id, verdict.SECTION.title),
    ("ranking", "Ranking"),
    ("heatmap", "Queries by models"),
    ("scores", "Every score"),
    ("agreement", "Do the metrics agree?"),
    ("debias", "Before and after debiasing"),
    ("published", "Published numbers"),
    ("models", "Models, word sets, lost words, parameters"),
    ("reading", "How to read this"),
    ("cite", "How to cite, versions, config"),
)
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September", "October"),
    *("November", "December"),
)
MOST_WORDS = 3000  # of a set's lost words that the page lists


def write(inputs: Mapping[str, Any], spec: Mapping[str, Any], output: Path | str) -> int:
    """Write the page; returns its size in bytes.

    Parameters
    ----------
    inputs
        As `cells.read` takes them; "study": its study.json; "tables": files of the tables that the page shows
        (`report_step.SHOWN`) and the study has; "models": records of models.
    spec
        As `report_step.spec_of` gives it.
    output
        The file.
    """
    text = render(inputs, spec)
    write_text(output, text)
    return len(text.encode())


def render(inputs: Mapping[str, Any], spec: Mapping[str, Any]) -> str:
    """The page as text: the same for the same files."""
    names = Names(spec["labels"], spec["models"])
    tables_by_name = {parts_of(file)[-1].removesuffix(".csv"): tables.read(file) for file in inputs["tables"]}
    scores = tables_by_name["scores"]
    queries = {_stem(file): Query.read(file) for file in inputs["queries"]}
    records = {_stem(file): read_model(file) for file in inputs["models"]}
    text, config = Path(inputs["study"]).read_text(encoding="utf-8"), read(inputs["study"], "a study")
    study_cells = cells.read(inputs, spec["cells"])
    environment = templates()
    data = page.script_data(tables_by_name, spec, names)
    context = {
        "study": spec["study"],
        # tables that `existing` could not make
        "lacking": spec.get("lacking", []),
        "without": spec.get("without", []),
        "states": _states(scores, spec, names)
        + [f"{label} ({MEANING})" for label in spec["summary"].get("absent", ())],
        "date": _date(inputs["cells"]),
        "asked": _question(scores, spec, names),
        "sections": SECTIONS,
        "names": names,
        "alpha": plain(1 - spec["level"]),
        "marks": marks.legend(),
        "facts": [{"key": key, "label": names.label(key), **spec["facts"][key]} for key in spec["metrics"]],
        "threshold": config.get("words", {}).get(
            "lost_vocabulary_threshold", WordOptions.lost_vocabulary_threshold
        ),
        "verdict": _section(verdict.SECTION, environment, tables_by_name, spec, names),
        "rankings": page.ranking_section(tables_by_name, spec, names),
        "heatmaps": page.heatmap_section(tables_by_name, spec, names, study_cells.questions),
        "correlations": page.correlation_section(inputs, tables_by_name, spec, names),
        "debiased": background.debias_section(tables_by_name, spec, names),
        "comparison": background.comparison_section(tables_by_name, spec, names),
        "models": background.models_section(tables_by_name, records, queries, spec, names),
        "sets": background.word_sets_section(tables_by_name, queries, study_cells, spec, names),
        "parameters": background.parameters_section(config, spec, names),
        "reasons": background.reasons(scores),
        "scores_missing": int(scores["value"].isna().sum()),
        "scores_total": len(scores),
        "of_questions": _by_metric(study_cells, spec["metrics"]),
        "cells": study_cells,
        "citation": _citation(spec, text),
        "versions": _versions(study_cells.versions),
        "mixed": any(len(by_version) > 1 for by_version in study_cells.versions.values()),
        "version": __version__,
        "files": spec["files"],
        "config": text,
        # styles and the script are part of the package: not escaped
        "css": Markup(
            "".join(environment.get_template(name).render() for name in ("report.css", "cells.css"))
        ),
        "script": Markup((TEMPLATES / "report.js").read_text(encoding="utf-8")),
        "data": _json(data),
    }
    return without_hidden(mark_misspellings(environment.get_template("page.html").render(context)))


def mark_misspellings(html: str) -> str:
    """A page with [sic] behind misspellings in what people read: not in addresses, scripts and the config."""
    parts = re.split(r"(<(script|style|pre)\b.*?</\2>|<[^>]*>)", html, flags=re.DOTALL)
    # of three parts each, the text between tags, what divides it, and a tag's name
    return "".join(part if place % 3 else sic(part) for place, part in enumerate(parts) if place % 3 != 2)


def templates() -> Environment:
    """The templates, whose output is escaped, as words of queries are user input."""
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(
        loader=FileSystemLoader([TEMPLATES, FOLDER]),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"slug": slug, "first_words": first_words}
    cell_html.install(environment)
    return environment


def template_files() -> list[Path]:
    """The templates, styles and scripts of the page."""
    return [*sorted(TEMPLATES.iterdir()), *sorted(FOLDER.glob("*.html"))]


def _section(
    section: Section,
    environment: Environment,
    tables_by_name: Mapping[str, Any],
    spec: Mapping[str, Any],
    names: Names,
) -> Markup:
    """A section as HTML."""
    of_section = {name: table for name, table in tables_by_name.items() if name in section.reads}
    context = section.make(of_section, spec, names)
    return Markup(environment.get_template(section.template).render(section=section, **context))


def _by_metric(study_cells: cells.Cells, metrics: Iterable[str]) -> dict[str, list[Any]]:
    """Questions and their records, by metric in the order of the study."""
    by_metric: dict[str, list[Any]] = {metric: [] for metric in metrics}
    for question, records in study_cells.of_questions():
        by_metric[question.metric].append((question, records))
    return {metric: questions for metric, questions in by_metric.items() if questions}


def slug(text: str) -> str:
    """A text as a part of an address."""
    return re.sub(r"[^\w.]+", "-", text.strip().lower()).strip("-")


def first_words(words: Iterable[str], most: int = MOST_WORDS) -> str:
    """The first words of a list, and how many more there are."""
    words = list(words)
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def _json(data: Any) -> Any:
    """Data for a script element: nothing in it ends the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _stem(file: Any) -> str:
    return parts_of(file)[-1].removesuffix(".json")


def _date(files: Iterable[Any]) -> str:
    """The day (UTC) of the newest of the study's cells, such as "24 November 2026"; empty of cells in memory."""
    times = [Path(file).stat().st_mtime for file in files if isinstance(file, str | Path)]
    if not times:
        return ""
    day = datetime.fromtimestamp(max(times), UTC)
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _states(scores: Any, spec: Mapping[str, Any], names: Names) -> list[str]:
    """The models with their debias methods."""
    methods: dict[str, list[str]] = {}
    for model, debias in page.states_of(scores, spec):
        methods.setdefault(model, []).extend([names.label(debias)] * (debias != UNTOUCHED))
    return [
        names.label(model) + (f", also under {join_names(of_model)}" if of_model else "")
        for model, of_model in methods.items()
    ]


def _question(scores: Any, spec: Mapping[str, Any], names: Names) -> str:
    """What the study asked, in a line."""
    criteria = [f"{name} {spec['queries'][name]}" for name in spec["criteria"]]
    metrics = ", ".join(names.label(key) for key in spec["metrics"])
    missing = int(scores["value"].isna().sum())
    return (
        f"{pluralize(sum(spec['queries'][name] for name in spec['criteria']), 'query', 'queries')} "
        f"({', '.join(criteria)}) by {pluralize(len(spec['metrics']), 'metric')} ({metrics}): "
        f"{pluralize(len(scores), 'score')}, {missing or 'none'} of them without a value."
    )


def _versions(counts: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str]]:
    """Libraries, each with the version that computed the cells and their inference, or with all and how many each."""
    texts = []
    for library, by_version in counts.items():
        known = {number or "not recorded": n for number, n in sorted(by_version.items())}
        counted = [f"{number} ({pluralize(n, 'result')})" for number, n in known.items()]
        texts.append((library, join_names(counted) if len(known) > 1 else next(iter(known))))
    return texts


def _citation(spec: Mapping[str, Any], config: str) -> str:
    return (
        f"biasgrid {__version__}: social bias in word embeddings, measured reproducibly.\n"
        f"Study {spec['study']}, SHA-256 of its config {hashlib.sha256(config.encode()).hexdigest()}.\n"
        "P. Badilla, F. Bravo-Marquez and J. Pérez. WEFE: The Word Embeddings Fairness Evaluation Framework. IJCAI, "
        "2020."
    )

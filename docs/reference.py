"""docs/reference/*.md from what the code declares; generated.py writes them.

Configuration: from the models of configs (configuration.py). Tables: from their columns. Command line: from its
parser. API: the summaries of docstrings; the site shows these whole.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import configuration
import plugin_notes  # it loads the plugins, from which a name is imported below
from biasgrid_plugin_properties.files import COLUMNS as PROPERTIES

import biasgrid
from biasgrid import cli, debias, metrics, tables, word_bias
from biasgrid.core.docstrings import parameters, sections, wrap
from biasgrid.measure.significance import parts as parts_of_inference
from biasgrid.models.model import Model

# configuration.py has put the checkout on the path
from validation.calibration import frequency_table
from validation.calibration import tables as simulation
from validation.planted_bias import claims
from validation.planted_bias import recovery as factory

FOLDER = Path(__file__).with_name("reference")

TABLES = """# Tables

Every table of a study; each has a page with its columns, generated from the declarations in `src/biasgrid/tables`.

- A table is `results/<study>/<table>.csv`: UTF-8, fields separated by commas, the columns' names in the first line.
  `bg.open_study("results/<study>").frame("<table>")` reads it with these types.
- A text is never missing, only empty. A number may be empty, NaN in pandas: then there is none. A count is a whole
  number.
- A range includes both its ends. "any": no limits hold in all rows. Where the unit is "the metric's", a value lies in
  the range of its row's metric ([metrics.md](../metrics.md)).
"""
COMMANDS = """# Command line

Every command and every option of `biasgrid`. This page is generated from the parser; `biasgrid COMMAND --help` says
the same.

{about}
"""
API = """# API

Everything that `import biasgrid as bg` gives. This page is generated from the docstrings: here are their first
sentences. The site (`make docs`) shows them whole, and so does `help(bg.load)`.

Each is imported when it is first asked for, so that `import biasgrid` alone is fast. What is not on this page is the
package's own, and may change.
"""
OPTIONS = """## Options of inference

`permutation`, `random_groups`, `bootstrap` and `sensitivity` of metrics and of `bg.measure_grid` are `True`, or a
mapping of these options. [p-values](../p-values.md) says what each part computes.
"""
# what the door's functions return -> which one does
RETURNED = {"Model": (Model, "`bg.load`"), "Transform": (debias.Transform, "a debias method")}


# tables of what is no study: file -> what makes it, what a row is, its columns
OTHERS = {
    **{
        f"{study}/{table.name}.csv": (f"make {study.replace('_', '-')}", table.meaning, table.columns)
        for study, declared in (
            ("simulation", simulation.TABLES),
            ("simulation_frequency", frequency_table.TABLES),
            ("factory", (*factory.TABLES, *claims.TABLES)),
        )
        for table in declared
    },
    "properties/properties.csv": (
        "make properties",
        "One row per metric, level, property and condition: whether the metric has it.",
        PROPERTIES,
    ),
}


def tables_page() -> str:
    """The list of tables; each has a page of its own."""
    declared = sorted(tables.REGISTRY.items())
    listed = [(f"[{name}](tables/{name}.md)", table.meaning) for name, table in declared]
    parts = [TABLES, *configuration.table(("table", "what it says"), listed)]
    parts.append("## Tables that are no study's\n")
    for file, (command, meaning, columns) in OTHERS.items():
        parts.append(f"### {file}\n\n{wrap(f'{meaning} `{command}` makes `results/{file}`.', 120)}\n")
        parts += columns_table(columns)
    return "\n".join(parts)


def table_page(name: str) -> str:
    """What a row of a table is, and each of its columns."""
    table = tables.REGISTRY[name]
    key = f" No two rows have the same {_listed(table.key)}." if table.key else ""
    meaning = wrap(table.meaning + key + plugin_notes.plugin_note(tables, name), 120)
    parts = [f"# {name}.csv\n\n[All tables](../tables.md)\n\n{meaning}\n"]
    return "\n".join([*parts, *columns_table((*table.columns, *table.ends))])


def columns_table(columns: Iterable[tables.Column]) -> Iterator[str]:
    """What is said of columns, as a table."""
    rows = [
        (f"`{column.name}`", escaped(column.meaning), column.dtype, column.unit, allowed(column))
        for column in columns
    ]
    yield from configuration.table(("column", "meaning", "type", "unit", "range, or all values"), rows)


def allowed(column: tables.Column) -> str:
    """What may stand in a column, in words."""
    if column.values:
        return ", ".join(f"`{value}`" if value else "empty" for value in column.values)
    if column.range is None:
        return "any"
    low, high = column.range
    if (low, high) == (-math.inf, math.inf):
        return "any"
    return f"from {low:g}" if high == math.inf else f"{low:g} to {high:g}"


def command_line_page() -> str:
    """Commands, with their options and examples."""
    about = (inspect.getdoc(cli) or "").partition("\n\n")[2]
    parts = [COMMANDS.format(about=about)]
    commands = cli.commands().by_name
    parts += configuration.table(
        ("command", "what it does"),
        [
            (f"[{name}](#biasgrid-{name.replace(' ', '-')})", one.description)
            for name, one in commands.items()
        ],
    )
    for name, command in commands.items():
        examples = command.epilog.partition("\n")[2]
        parts.append(
            f"## biasgrid {name}\n\n{command.description}\n\n```\n{inspect.cleandoc(examples)}\n```\n"
        )
        rows = [
            (_option(action), "yes" if action.required else "", escaped(action.help))
            for action in options(command)
        ]
        parts += configuration.table(("option", "required", "what it is"), rows)
    return "\n".join(parts)


def options(command: argparse.ArgumentParser) -> list[argparse.Action]:
    """A command's arguments, then its options, without --help."""
    known = [action for action in command._actions if action.dest != "help"]
    return sorted(known, key=lambda action: bool(action.option_strings))


def _option(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings)
    if action.nargs == 0:
        return f"`{names}`"
    value = action.metavar or action.dest.upper()
    if action.choices and names:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    several = {"*": f"[{value} ...]", "+": f"{value} [{value} ...]", "?": f"[{value}]"}
    return f"`{f'{names} {several.get(action.nargs, value)}'.strip()}`"


def api_page() -> str:
    """The public names, each with the first sentence of its docstring."""
    kinds: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors and warnings": []}
    for name in biasgrid.__all__:
        thing = getattr(biasgrid, name)
        if inspect.isfunction(thing):
            kinds["Functions"].append(name)
        elif inspect.isclass(thing):
            kinds["Errors and warnings" if issubclass(thing, Exception) else "Classes"].append(name)
    parts = [API]
    for title, names in kinds.items():
        parts.append(f"## {title}\n")
        parts += _summaries(names, "bg.")
        parts.append(_in_site([f"biasgrid::{name}" for name in names]))
    parts.append("## What functions return\n")
    for name, (kind, which) in RETURNED.items():
        parts.append(f"### {name}\n\nWhat {which} returns.\n")
        parts += _summaries([name])
        parts.append(_in_site([f"{kind.__module__}::{name}"]))
    parts.append(OPTIONS)
    for name, options in parts_of_inference().items():
        parts.append(f"### {name}\n\n{options.__doc__}\n")
        parts += configuration.keys(options)
    for title, package, kind, what in (
        ("Metrics", metrics, metrics.Metric, "called with a query and a model"),
        ("Debias methods", debias, debias.Method, "called with a model and words"),
    ):
        module = package.__name__.partition(".")[2]
        names = [name for name in package.REGISTRY if package.REGISTRY.module(name).startswith("biasgrid.")]
        each = (
            f"Each is a `bg.{module}.{kind.__name__}`, {what}. [{module}.md](../{module}.md) helps to choose."
        )
        parts.append(f"## {title}\n\n{each}\nAll have these arguments, and options of their own:\n")
        arguments = parameters(kind.__call__).items()
        rows = [(f"`{name}`", escaped(" ".join(text.split()))) for name, text in arguments]
        parts += configuration.table(("argument", "meaning"), rows)
        parts += _summaries([f"{module}.{name}" for name in names], "bg.")
        parts.append(_in_site([f"biasgrid.{module}::{name}" for name in names]))
    names = word_bias.__all__
    parts.append(
        "## Single words\n\nFunctions of `bg.word_bias`, and what they return: [words](../words.md).\n"
    )
    parts += _summaries([f"word_bias.{name}" for name in names], "bg.")
    parts.append(_in_site([f"biasgrid.word_bias::{name}" for name in names]))
    return "\n".join(parts)


def public() -> dict[str, Any]:
    """Every public name, such as "load", "Query.subqueries" or "metrics.weat", and what it stands for."""
    named = {name: getattr(biasgrid, name) for name in biasgrid.__all__}
    named |= {name: kind for name, (kind, _) in RETURNED.items()}
    for name, thing in list(named.items()):
        if inspect.isclass(thing):
            named |= {f"{name}.{member}": getattr(thing, member) for member in members(thing)}
    for package in (metrics, debias):
        module = package.__name__.partition(".")[2]
        named |= {f"{module}.{name}": getattr(package, name) for name in package.REGISTRY}
    for name in word_bias.__all__:
        named[f"word_bias.{name}"] = thing = getattr(word_bias, name)
        if inspect.isclass(thing):
            named |= {f"word_bias.{name}.{member}": getattr(thing, member) for member in members(thing)}
    return named


def members(kind: type) -> list[str]:
    """The public methods and properties of a class, and those of its bases that are not on the page themselves."""
    known = set(vars(Model) if issubclass(kind, Model) and kind is not Model else ())
    known |= set(re.findall(r"^\w+(?= :|$)", sections(kind).get("Attributes", ""), re.MULTILINE))
    own = {name for base in kind.__mro__ if base.__module__.startswith("biasgrid.") for name in vars(base)}
    if kind is biasgrid.EmbeddingStore:  # the rest is of a model, or for other modules
        own = {"open"}
    return sorted(
        name
        for name in own
        if not name.startswith("_")
        and name not in known
        and (callable(member := getattr(kind, name)) or isinstance(member, (property, cached_property)))
    )


def summary(thing: Any) -> str:
    """The first sentence of a docstring."""
    paragraph = " ".join(sections(thing)[""].partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].removesuffix(".") + "."


def _summaries(names: list[str], prefix: str = "") -> Iterator[str]:
    named = public()
    rows = []
    for name in names:
        rows.append((f"`{prefix}{name}`", escaped(summary(named[name]))))
        rows += [
            (f"`{one}`", escaped(summary(thing)))
            for one, thing in named.items()
            if one.startswith(f"{name}.")
        ]
    yield from configuration.table(("name", "what it is"), rows)


def _in_site(names: list[str]) -> str:
    """Whole docstrings, in the site."""
    directives = []
    for name in names:
        module, _, last = name.partition("::")
        thing = getattr(importlib.import_module(module), last)
        kind = "class" if inspect.isclass(thing) else "function"
        if kind == "class" and issubclass(thing, Exception):
            kind = "exception"
        shown = members(thing) if kind == "class" else []
        call = _call_of(thing) if isinstance(thing, metrics.Metric) else ""
        directives.append(
            f".. auto{kind}:: {name}{call}\n" + (f"   :members: {', '.join(shown)}\n" if shown else "")
        )
    return "<!-- site\n```{eval-rst}\n" + "".join(directives) + "```\n-->\n"


def _call_of(metric: metrics.Metric) -> str:
    """How a metric is called, with its own parameters: their defaults are not those of `Metric.__call__`."""
    own = "".join(f", {name}={default!r}" for name, default in metric.parameters.items())
    return f"(query, model, *{own}, **options)" if own else "(query, model, **options)"


def escaped(text: str) -> str:
    """A text in which Markdown sees no tags."""
    return re.sub(r"<(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"\<", text)


def _listed(names: tuple[str, ...]) -> str:
    *most, last = (f"`{name}`" for name in names)
    return f"{', '.join(most)} and {last}" if most else last


PAGES: dict[str, Callable[[], str]] = {
    "api": api_page,
    "command-line": command_line_page,
    "configuration": configuration.page,
    "tables": tables_page,
}


def written() -> dict[Path, str]:
    """The files, and what is in them."""
    of_tables = {FOLDER / "tables" / f"{name}.md": table_page(name) for name in tables.REGISTRY}
    return {FOLDER / f"{name}.md": page() for name, page in PAGES.items()} | of_tables

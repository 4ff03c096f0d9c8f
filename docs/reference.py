"""docs/reference/*.md from what the code declares; generated.py writes them.

Configuration: from the models of configs (configuration.py). Tables: from their columns. Command line: from its
parser. API: a list with the summaries of docstrings, and a page per object, on which the site shows the docstring.
"""

from __future__ import annotations

import argparse
import inspect
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import configuration
import plugin_notes  # it loads the plugins, from which a name is imported below
from biasgrid_plugin_properties.files import COLUMNS as PROPERTIES

import biasgrid
from biasgrid import cli, debias, metrics, tables, word_bias
from biasgrid.core.called_entry import CalledEntry
from biasgrid.core.docstrings import sections, wrap
from biasgrid.measure.significance import parts as parts_of_inference
from biasgrid.models.model import Model

# configuration.py has put the checkout on the path
from validation.calibration import frequency_table
from validation.calibration import tables as simulation
from validation.planted_bias import claims
from validation.planted_bias import recovery as factory

FOLDER = Path(__file__).with_name("reference")

TABLES = """# Tables

Every table of a study. In the site (`make docs`), each name leads to the page of its columns; on a code host, to the
code that declares them.

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

Everything that `import biasgrid as bg` gives, with the first sentence of its docstring. In the site (`make docs`),
each name leads to its page; on a code host, to its code. `help(bg.load)` shows the text of the page.

Each name is imported at its first use, so that `import biasgrid` alone is fast. Names that are not on this page are
internal and may change.

Contents: [functions](#functions), [classes](#classes), [errors and warnings](#errors-and-warnings),
[metrics](#metrics), [debias methods](#debias-methods), [single words](#single-words),
[options of inference](#options-of-inference).
"""
OPTIONS = """## Options of inference

`permutation`, `random_groups`, `bootstrap` and `sensitivity` of metrics and of `bg.measure_grid` are `True`, or a
mapping of these options. [p-values](../p-values.md) says what each part computes.
"""
ERRORS = "Errors and warnings"
# what stands above the table of a group
ABOUT = {
    "Metrics": "Each is a `bg.metrics.Metric`, called with a query and a model. [Metrics](../metrics.md) helps to\n"
    "choose; [limits](limits.md) lists their templates, ranges, tests and limits.",
    "Debias methods": "Each is a `bg.debias.Method`, called with a model and words. [Debias methods](../debias.md)\n"
    "helps to choose.",
    "Single words": "Functions of `bg.word_bias`, and what they return: [words](../words.md).",
}
# public classes that are not names of `biasgrid` itself, and where readers meet them
MORE = {
    "Model": (Model, "`bg.load` returns it."),
    "Transform": (debias.Transform, "A debias method returns it."),
    "metrics.Metric": (metrics.Metric, "Every metric is one."),
    "debias.Method": (debias.Method, "Every debias method is one."),
}
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
    listed = [
        (f"[{name}](../../{plugin_notes.code_of(tables, name)})", table.meaning) for name, table in declared
    ]
    parts = [TABLES, *configuration.table(("table", "content"), listed)]
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
        parts += configuration.table(("option", "required", "meaning"), rows)
    return "\n".join(parts)


def options(command: argparse.ArgumentParser) -> list[argparse.Action]:
    """A command's arguments, then its options, without --help and those that the help does not show."""
    known = [a for a in command._actions if a.dest != "help" and a.help != argparse.SUPPRESS]
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
    """Return the list of public objects by group, each with the first sentence of its docstring."""
    parts = [API]
    for title, names in groups().items():
        parts.append(f"## {title}\n")
        if title in ABOUT:
            parts.append(f"{ABOUT[title]}\n")
        parts += configuration.table(("name", "summary"), [_row(name) for name in names])
        if title == ERRORS:
            directives = "".join(f".. autoexception:: biasgrid::{name}\n" for name in names)
            parts.append(f"<!-- site\n```{{eval-rst}}\n{directives}```\n-->\n")
    parts.append(OPTIONS)
    for name, options in parts_of_inference().items():
        parts.append(f"### {name}\n\n{options.__doc__}\n")
        parts += configuration.keys(options)
    return "\n".join(parts)


@cache
def groups() -> dict[str, list[str]]:
    """Return the public objects' names by group, as in `public`, without members of classes."""
    found: dict[str, list[str]] = {"Functions": [], "Classes": [], ERRORS: []}
    for name in biasgrid.__all__:
        thing = getattr(biasgrid, name)
        if inspect.isfunction(thing):
            found["Functions"].append(name)
        elif inspect.isclass(thing):
            found[ERRORS if issubclass(thing, Exception) else "Classes"].append(name)
    found["Classes"] += MORE
    for title, package in (("Metrics", metrics), ("Debias methods", debias)):
        module = package.__name__.rpartition(".")[2]
        found[title] = [f"{module}.{name}" for name in package.REGISTRY if package.REGISTRY.is_shipped(name)]
    found["Single words"] = [f"word_bias.{name}" for name in word_bias.__all__]
    return found


def object_pages() -> dict[Path, str]:
    """Return the file of each object with a page in this folder, and the object's name."""
    kept = {"Functions": "functions", "Classes": "classes", "Single words": "word_bias"}
    return {
        FOLDER / folder / f"{name.rpartition('.')[2]}.md": name
        for title, folder in kept.items()
        for name in groups()[title]
    }


def object_page(name: str) -> str:
    """Return the page of an object, which has its docstring in the site."""
    thing = public()[name]
    parts = [f"# {shown(name)}\n\n[All of the API](../api.md)\n"]
    if name in MORE:
        parts.append(f"{MORE[name][1]}\n")
    module, _, last = full_name(name).rpartition(".")
    target = f"{module}::{last}"
    if not inspect.isclass(thing):
        return "\n".join([*parts, f"```{{eval-rst}}\n.. autofunction:: {target}\n```\n"])
    listed = members(thing)
    rows = [
        (f"{{py:obj}}`{one} <{full_name(name)}.{one}>`", escaped(summary(getattr(thing, one))))
        for one in listed
    ]
    if rows:
        parts += configuration.table(("member", "summary"), rows)
    option = f"   :members: {', '.join(listed)}\n" if listed else ""
    if issubclass(thing, CalledEntry):
        option += "   :special-members: __call__\n"
    return "\n".join([*parts, f"```{{eval-rst}}\n.. autoclass:: {target}\n{option}```\n"])


def full_name(name: str) -> str:
    """Return the name that the site's index has of a public object."""
    kind = public()[name]
    return f"{kind.__module__}.{kind.__name__}" if name in MORE else f"biasgrid.{name}"


def shown(name: str) -> str:
    """Return a public name as users write it; a class that functions return is not written."""
    return name if name in ("Model", "Transform") else f"bg.{name}"


def code_of(name: str) -> str:
    """Return the code of a public object as links name it: the file, and the object if the file has another name."""
    thing, (kind, _, last) = public()[name], name.rpartition(".")
    package = {"metrics": metrics, "debias": debias}.get(kind)
    if package and last in package.REGISTRY:
        return plugin_notes.code_of(package, last)
    file = Path(str(sys.modules[thing.__module__].__file__)).relative_to(plugin_notes.ROOT).as_posix()
    return file if Path(file).stem == last else f"{file}#{last}"


@cache
def public() -> dict[str, Any]:
    """Every public name, such as "load", "Query.subqueries" or "metrics.weat", and what it stands for."""
    named = {name: getattr(biasgrid, name) for name in biasgrid.__all__}
    named |= {name: kind for name, (kind, _) in MORE.items()}
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
    elif issubclass(kind, CalledEntry):  # its methods are for other modules
        own = {name for name in own if isinstance(inspect.getattr_static(kind, name), property)}
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


def _row(name: str) -> tuple[str, str]:
    """Return an object's row in the list of the API."""
    said = escaped(summary(public()[name]))
    link = f"`{shown(name)}`" if name in groups()[ERRORS] else f"[`{shown(name)}`](../../{code_of(name)})"
    return link, f"{said} {MORE[name][1]}" if name in MORE else said


def signature(entry: metrics.Metric | debias.Method[Any]) -> str:
    """Return how a metric or debias method is called, without types; what all metrics share is `**options`."""
    if isinstance(entry, metrics.Metric):
        own = "".join(f", {name}={default!r}" for name, default in entry.parameters.items())
        return f"(query, model{', *' if own else ''}{own}, **options) -> biasgrid.Result"
    call = inspect.signature(entry)
    named = [one.replace(annotation=one.empty) for one in call.parameters.values()]
    kind = debias.Transform
    return (
        f"{call.replace(parameters=named, return_annotation=call.empty)} -> {kind.__module__}.{kind.__name__}"
    )


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
    of_objects = {path: object_page(name) for path, name in object_pages().items()}
    return {FOLDER / f"{name}.md": page() for name, page in PAGES.items()} | of_tables | of_objects

"""Digests of the code that a step runs. After an edit, only the steps that depend on the edited code are stale.

A digest covers the modules that a step's own module imports, directly or indirectly, including late imports. These
are the modules of biasgrid and of plugins and, for code of another package, also the modules of that package.
Comments, docstrings and layout do not change the digest. The digest also ignores the `__init__` of packages, and
modules that no value depends on (`LEFT_OUT`). The digest is the same on every version of Python.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ..core.files import write_text
from ..core.registry import PREFIX

PACKAGE = __name__.partition(".")[0]
FILE = ".code.json"  # in the folder of a study's logs
ROOT = Path(__file__).parents[1]
# Leave out modules that change no value: checks of stores and arguments, messages, discovery and help of entries, and
# reports of versions.
# Leave out what `Metric.__call__`, `Model.save` and a result's text import late, which no step calls.
LEFT_OUT = {
    f"{PACKAGE}.{name}"
    for name in (
        "core.called_entry",
        "core.errors",
        "core.extras",
        "core.keywords",
        "core.registry",
        "core.resources",
        "core.validation",
        "core.versions",
        "core.web_addresses",
        "core.wefe_names",
        "models.saving",
        "measure.measure_query",
        "models.checks",
        "models.sources.trust",
        "measure.result_views",
    )
}
# Match a string literal, in which # and blank lines have no special meaning. Or match the end of a line, together
# with the blank lines and comments after it.
TEXT_OR_END = re.compile(
    r"""("{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?:[ \t]*(?:#[^\n]*)?\n)+""",
    re.DOTALL,
)


@cache
def digest(*modules: str) -> str:
    """Compute the digest of the import closure of these modules, 16 hex digits."""
    hasher = hashlib.sha256()
    members = {module: _read(module)[0] for module in sorted(closure(*modules))}
    for module, of_module in members.items():
        hasher.update(f"{module} {of_module}\n".encode())
    _MEMBERS[of_all := hasher.hexdigest()[:16]] = members
    return of_all


_MEMBERS: dict[str, dict[str, str]] = {}


def members() -> dict[str, dict[str, str]]:
    """Return the digests that this process has computed: digest -> module -> digest of the module's own code."""
    return dict(_MEMBERS)


def closure(*modules: str) -> frozenset[str]:
    """Return these modules and all that they import from biasgrid and their own packages, even indirectly."""
    return _closure(tuple(sorted(modules)))


@cache
def _closure(modules: tuple[str, ...]) -> frozenset[str]:
    members, queue = set(), set(modules)
    while queue:
        module = queue.pop()
        members.add(module)
        queue |= _read(module)[1] - members
    return frozenset(members)


@cache
def _read(module: str) -> tuple[str, frozenset[str]]:
    """Return the digest of a module's own code, and the modules that it imports."""
    if module not in _KNOWN:
        text = _file(module).read_text(encoding="utf-8")
        statements = list(_statements(ast.parse(text)))
        own = hashlib.sha256(_bare(text, statements).encode()).hexdigest()
        _KNOWN[module] = own, [name for node in statements for name in _imports_of(node, module)]
    own, imports = _KNOWN[module]
    return own, frozenset(imports)


_KNOWN: dict[str, tuple[str, list[str]]] = {}


def remember(logs: Path) -> None:
    """Write down what this process has read of the package's code, so that others need not parse it again."""
    of_package = {module: read for module, read in _KNOWN.items() if module.startswith(f"{PACKAGE}.")}
    write_text(logs / FILE, json.dumps([_package_state(), of_package]))


def recall(logs: Path) -> None:
    """Take over what another process has read of the package's code (`remember`), if no file has changed since."""
    with suppress(OSError, ValueError, TypeError):
        state, of_package = json.loads((logs / FILE).read_text(encoding="utf-8"))
        if state == _package_state():
            _KNOWN.update(of_package)


@cache
def _package_state() -> str:
    """Return a digest of the names, sizes and times of the package's files when this was first called."""
    files = {str(file): file.stat() for file in ROOT.rglob("*.py")}
    states = sorted((name, state.st_size, state.st_mtime_ns) for name, state in files.items())
    return hashlib.sha256(repr(states).encode()).hexdigest()


def _file(module: str) -> Path:
    if (path := _place(module)) is None:
        # A plugin's module is not in a package.
        return Path(sys.modules[module].__file__ if module in sys.modules else find_spec(module).origin)  # type: ignore[union-attr, arg-type]
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _place(module: str) -> Path | None:
    """Return the folder of a package, or a module's file without its extension; None outside of packages."""
    package, *names = module.split(".")
    if package == PACKAGE:
        return ROOT.joinpath(*names)
    if package in sys.modules:
        folders = getattr(sys.modules[package], "__path__", ())
    else:
        spec = find_spec(package)
        folders = (spec and spec.submodule_search_locations) or ()
    return next((Path(folder, *names) for folder in folders), None)


def _statements(tree: ast.AST) -> Iterable[ast.AST]:
    """Yield the statements of a module, including inner ones, except statements for type checkers only."""
    queue = [tree]
    while queue:
        node = queue.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            queue += node.orelse
            continue
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, None)
            queue += inner if isinstance(inner, list) else []
        yield node


def _imports_of(node: ast.AST, module: str) -> Iterable[str]:
    """Yield the modules of biasgrid, of plugins and of the module's own package that a statement imports."""
    if isinstance(node, ast.Import):
        names = [(alias.name, "") for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            package = module if _file(module).name == "__init__.py" else module.rpartition(".")[0]
            parts = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*parts, *([node.module] if node.module else [])])
        names = [(base, alias.name) for alias in node.names]
    else:
        return
    packages = (f"{PACKAGE}.", f"{module.partition('.')[0]}.", PREFIX)
    for base, name in names:
        if f"{base}.".startswith(packages):
            yield from _modules_behind(base, name)


def _modules_behind(module: str, name: str) -> Iterable[str]:
    """Yield the modules that `from module import name` reaches.

    For a package, this is the module that defines the name. A package imported as a whole yields nothing, because
    its entries are discovered by name.
    """
    if not ((place := _place(module)) and place.is_dir()):
        inner = {module}
    elif name and _is_module(f"{module}.{name}"):
        inner = {f"{module}.{name}"} if _file(f"{module}.{name}").name != "__init__.py" else set()
    else:
        reexports = [
            node for node in _imports_of_package(module) if name in {a.asname or a.name for a in node.names}
        ]
        # Without a re-export, the package itself defines the name.
        inner = (
            {source for node in reexports for source in _imports_of(node, module)} if reexports else {module}
        )
    yield from inner - LEFT_OUT


@cache
def _imports_of_package(package: str) -> list[ast.ImportFrom]:
    tree = ast.parse(_file(package).read_text(encoding="utf-8"))
    return [node for node in tree.body if isinstance(node, ast.ImportFrom)]


def _is_module(module: str) -> bool:
    path = _place(module)
    return path is not None and (path.is_dir() or path.with_suffix(".py").is_file())


def _bare(text: str, statements: Iterable[ast.AST]) -> str:
    """Return the code without comments, docstrings and blank lines."""
    # Work on bytes, because the syntax tree counts columns in bytes.
    lines = text.encode().split(b"\n")
    for node in filter(None, map(_docstring, statements)):
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        rest = lines[last][node.end_col_offset :]
        lines[first : last + 1] = [lines[first][: node.col_offset] + rest, *[b""] * (last - first)]
    return TEXT_OR_END.sub(lambda end: end[1] or "\n", "\n" + b"\n".join(lines).decode() + "\n")


def _docstring(node: ast.AST) -> ast.expr | None:
    if isinstance(node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.body:
        value = node.body[0].value if isinstance(node.body[0], ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value
    return None

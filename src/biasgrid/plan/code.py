"""Digests of the code that a step runs, so that an edit makes stale what depends on it, and nothing else.

A digest covers the modules that a step's own module imports, directly or not, late imports included: the import
closure inside biasgrid and, for code of another package, inside that package. Comments, docstrings and layout do not
count. The `__init__` of packages does not either, nor what every step has in common and no value depends on
(`LEFT_OUT`). The digest is the same on every version of Python.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGE = __name__.partition(".")[0]
ROOT = Path(__file__).parents[1]
# whether a store is of its source, messages, how things are discovered, and what says which versions are at work
LEFT_OUT = {
    f"{PACKAGE}.{name}"
    for name in (
        "embeddings.sources.trust",
        "errors",
        "extras",
        "hooks",
        "keywords",
        "registry",
        "resources",
        "validation",
        "versions",
        "web_addresses",
        "wefe_names",
    )
}
# a text, in which a # is no comment and a blank line is none; or the end of a line, with lines after it that are
# blank or a comment
TEXT_OR_END = re.compile(
    r"""("{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?:[ \t]*(?:#[^\n]*)?\n)+""",
    re.DOTALL,
)


@cache
def digest(*modules: str) -> str:
    """A digest of the import closure of these modules, 16 hex digits."""
    hasher = hashlib.sha256()
    members = {module: _read(module)[0] for module in sorted(closure(*modules))}
    for module, of_module in members.items():
        hasher.update(f"{module} {of_module}\n".encode())
    _MEMBERS[of_all := hasher.hexdigest()[:16]] = members
    return of_all


_MEMBERS: dict[str, dict[str, str]] = {}


def members() -> dict[str, dict[str, str]]:
    """Of the digests that this process has made: module -> the digest of its own code."""
    return dict(_MEMBERS)


def closure(*modules: str) -> frozenset[str]:
    """These modules and those of biasgrid, and of their own packages, that they import, directly or not."""
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
    """The digest of a module's own code, and the modules that it imports."""
    text = _file(module).read_text(encoding="utf-8")
    tree = ast.parse(text)
    statements = list(_statements(tree))
    code = _bare(text, statements)
    imports = (name for node in statements for name in _imports_of(node, module))
    return hashlib.sha256(code.encode()).hexdigest(), frozenset(imports)


def _file(module: str) -> Path:
    if (path := _place(module)) is None:  # a plugin's
        return Path(sys.modules[module].__file__ if module in sys.modules else find_spec(module).origin)  # type: ignore[union-attr, arg-type]
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _place(module: str) -> Path | None:
    """The folder of a package, or a module's file without its extension; None for what is in no package."""
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
    """The statements of a module, inner ones included; not those that are for type checkers only."""
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
    """The modules of biasgrid, and of the module's own package, that a statement imports."""
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
    packages = {PACKAGE, module.partition(".")[0]}
    for base, name in names:
        if base.partition(".")[0] in packages:
            yield from _modules_behind(base, name)


def _modules_behind(module: str, name: str) -> Iterable[str]:
    """The modules that `from module import name` reaches: of a package, the one that the name comes from; none for a
    package as a whole, in which things are discovered by name."""
    if not ((place := _place(module)) and place.is_dir()):
        inner = {module}
    elif name and _is_module(f"{module}.{name}"):
        inner = {f"{module}.{name}"} if _file(f"{module}.{name}").name != "__init__.py" else set()
    else:
        reexports = [
            node for node in _imports_of_package(module) if name in {a.asname or a.name for a in node.names}
        ]
        # else a name that the package defines itself
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
    """The code without comments, docstrings and blank lines."""
    lines = text.encode().split(b"\n")  # in bytes, as the tree counts columns
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

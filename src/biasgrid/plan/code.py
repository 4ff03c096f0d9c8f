"""Digests of the code that a step runs, so that an edit makes stale what depends on it, and nothing else.

A digest covers the modules that a step's own module imports, directly or not, late imports included: the import
closure inside biasgrid. Comments, docstrings and layout do not count. The `__init__` of packages does not either, nor
what every step has in common and no value depends on (`LEFT_OUT`). The digest is the same on every version of Python.
"""

from __future__ import annotations

import ast
import hashlib
import io
import sys
import tokenize
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

PACKAGE = __name__.partition(".")[0]
ROOT = Path(__file__).parents[1]
# messages, and how things are discovered
LEFT_OUT = {f"{PACKAGE}.errors", f"{PACKAGE}.registry", f"{PACKAGE}.validation"}


def digest(*modules: str) -> str:
    """A digest of the import closure of these modules, 16 hex digits."""
    whole = hashlib.sha256()
    for module in sorted(closure(*modules)):
        whole.update(f"{module} {_read(module)[0]}\n".encode())
    return whole.hexdigest()[:16]


def closure(*modules: str) -> frozenset[str]:
    """These modules and those of biasgrid that they import, directly or not."""
    return _closure(tuple(sorted(modules)))


@lru_cache
def _closure(modules: tuple[str, ...]) -> frozenset[str]:
    seen, ahead = set(), set(modules)
    while ahead:
        module = ahead.pop()
        seen.add(module)
        ahead |= _read(module)[1] - seen
    return frozenset(seen)


@lru_cache
def _read(module: str) -> tuple[str, frozenset[str]]:
    """The digest of a module's own code, and the modules that it imports."""
    text = _file(module).read_text(encoding="utf-8")
    tree = ast.parse(text)
    statements = list(_statements(tree))
    code = _bare(text, tree, statements)
    imports = (name for node in statements for name in _imported(node, module))
    return hashlib.sha256(code.encode()).hexdigest(), frozenset(imports)


def _file(module: str) -> Path:
    if not module.startswith(f"{PACKAGE}."):
        # a plugin's, or an installed package's
        return Path(sys.modules[module].__file__ if module in sys.modules else find_spec(module).origin)
    path = ROOT.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _statements(tree: ast.AST) -> Iterable[ast.stmt]:
    """The statements of a module, inner ones included; not those that are for type checkers only."""
    ahead = [tree]
    while ahead:
        node = ahead.pop()
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            ahead += node.orelse
            continue
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, None)
            ahead += inner if isinstance(inner, list) else []
        yield node


def _imported(node: ast.AST, module: str) -> Iterable[str]:
    """The modules of biasgrid that a statement imports."""
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
    for base, name in names:
        if base.partition(".")[0] == PACKAGE:
            yield from _bound(base, name)


def _bound(module: str, name: str) -> Iterable[str]:
    """The modules that `from module import name` reaches: of a package, the one that the name comes from."""
    if not ROOT.joinpath(*module.split(".")[1:]).is_dir():
        inner = {module}
    elif name and _is_module(f"{module}.{name}"):
        inner = {f"{module}.{name}"}
    else:
        tree = ast.parse(_file(module).read_text(encoding="utf-8"))
        inner = {
            found
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and name in {a.asname or a.name for a in node.names}
            for found in _imported(node, module)
        }
    yield from (found for found in inner if found not in LEFT_OUT and _file(found).name != "__init__.py")


def _is_module(module: str) -> bool:
    path = ROOT.joinpath(*module.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


def _bare(text: str, tree: ast.Module, statements: Iterable[ast.AST]) -> str:
    """The code without comments, docstrings and blank lines."""
    lines = text.split("\n")
    for node in [tree, *statements]:
        body = getattr(node, "body", None)
        if isinstance(
            node, (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        ) and _is_docstring(body):
            first = body[0]
            for line in range(first.lineno - 1, first.end_lineno):
                lines[line] = ""
    # in a text of several lines, what looks like a comment is none
    kept = _within_texts(tree) if any('"""' in line or "'''" in line for line in lines) else set()
    bare = (line if number in kept else _without_comment(line) for number, line in enumerate(lines, 1))
    return "\n".join(line for line in bare if line)


def _is_docstring(body: list[ast.stmt] | None) -> bool:
    return bool(
        body
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)
    )


def _within_texts(tree: ast.AST) -> set[int]:
    """The numbers of the lines that a text of several lines is on."""
    texts = (
        n for n in ast.walk(tree) if isinstance(n, (ast.Constant, ast.JoinedStr)) and n.end_lineno > n.lineno
    )
    return {line for text in texts for line in range(text.lineno, text.end_lineno + 1)}


def _without_comment(line: str) -> str:
    line = line.rstrip()
    if "#" not in line:
        return line
    if line.lstrip().startswith("#"):
        return ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line.lstrip()).readline):
            if token.type == tokenize.COMMENT:
                indent = len(line) - len(line.lstrip())
                return line[: indent + token.start[1]].rstrip()
    except (tokenize.TokenError, SyntaxError):  # brackets that are open at the line's end
        pass
    return line

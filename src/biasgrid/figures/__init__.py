"""The figures of a study. Each kind is one file of this package, discovered automatically: `REGISTRY` has them.

When a study is planned, a kind says which figures the study has of it, and what each is drawn from: files, and a spec
(`Drawing`). To draw one, a kind gets these and nothing else. Importing this package and its kinds imports no
matplotlib and no pandas: a plan stays cheap.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BiasgridError, unknown
from ..registry import Registry
from .figure import Drawing, Figure, Files

if TYPE_CHECKING:
    from matplotlib import figure

__all__ = ["REGISTRY", "Drawing", "Figure", "code", "draw", "draw_file", "planned"]

REGISTRY: Registry[Figure] = Registry(__name__, "FIGURES", "figure")
PACKAGE = Path(__file__).parent
BESIDE = {"errors", "files", "registry"}  # modules that a figure does not change with


def planned(grid: Any, listed: Iterable[str]) -> dict[str, Drawing]:
    """The figures of a study by name, of the kinds that its config lists.

    Raises BiasgridError for a name that no kind has, for a kind that the study lacks something for, and for two
    figures of one name.
    """
    by_name: dict[str, list[Figure]] = {}
    for kind in REGISTRY.values():
        if kind.listed:
            by_name.setdefault(kind.listed, []).append(kind)
    drawings: dict[str, Drawing] = {}
    for name in listed:
        if name not in by_name:
            raise BiasgridError(unknown("figure", name, sorted(by_name)))
        kinds = by_name[name]
        of_kinds = [replace(d, kind=kind.name) for kind in kinds for d in kind.drawings(grid)]
        needs = next(filter(None, (kind.needs for kind in kinds)), "")
        if needs and not of_kinds:
            raise BiasgridError(f"{name!r} needs {needs}; leave it out")
        for drawing in of_kinds:
            if drawing.name in drawings:
                raise BiasgridError(f"{name}: another figure is named {drawing.name!r}")
            drawings[drawing.name] = drawing
    return drawings


def draw(drawing: Drawing) -> figure.Figure:
    """A figure, as matplotlib has it. Raises BiasgridError for files that it cannot be drawn from."""
    return REGISTRY[drawing.kind].draw(drawing.inputs, drawing.spec)


def draw_file(kind: str, inputs: Files, spec: Mapping[str, Any], stem: Path | str) -> list[str]:
    """Draw a figure and write stem.pdf, stem.svg and stem.png.

    The bytes are the same whatever the process has drawn before.

    Parameters
    ----------
    kind
        The name of the figure's kind.
    inputs, spec
        As in its `Drawing`.
    stem
        The files' path, less the extension.

    Returns
    -------
    list of str
        The files' paths.

    Raises
    ------
    BiasgridError
        For a kind that does not exist, and for files that the figure cannot be drawn from.
    """
    # imported late: it would import matplotlib
    from .layout import save

    return save(REGISTRY.find(kind).draw(inputs, spec), stem)


def code(module: Path) -> list[Path]:
    """The modules that figures are drawn and saved by: an edit of one makes them out of date.

    They are the kind's own (`REGISTRY.file`), what that imports of this package, late imports included, and what any
    of these imports from elsewhere in biasgrid.
    """
    todo, modules = [module, PACKAGE / "layout.py"], set()
    while todo:
        path = todo.pop()
        if path not in modules:
            modules.add(path)
            todo += _imported(path) if path == module or PACKAGE in path.parents else []
    return sorted(modules)


def _imported(module: Path) -> Iterator[Path]:
    """The modules of biasgrid that a module imports, but for what it imports for types alone."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in for_types or not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        names = [name.name for name in node.names]
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{name}" if node.module else name for name in names)]
        relative = isinstance(node, ast.ImportFrom) and node.level
        folder = module.parents[node.level - 1] if relative else PACKAGE.parents[1]
        for name in names if relative else filter(re.compile(r"biasgrid\b").match, names):
            path = folder.joinpath(*name.split(".")).with_suffix(".py")
            if path.is_file() and path.stem not in BESIDE:
                yield path

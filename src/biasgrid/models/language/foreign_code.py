"""Checks of class names in a model's files, so that a model is only data and no foreign code is run.

sentence-transformers imports the class of each module that modules.json names. Before version 6, it first
looks for the class in the model's folder. A module's own file names further classes. Therefore all of these
are checked here before the library opens the folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...core.errors import BiasgridError, quote
from .files import FILES

MODULES = "modules.json"
# Modules of sentence-transformers in any of its versions, and functions of torch.
ALLOWED = re.compile(r"sentence_transformers\.(\w+\.)*(models|modules)\.[\w.]+|torch\.nn\.[\w.]+", re.ASCII)
# Entries of a module's file that name a class.
CLASSES = ("activation_function", "tokenizer_class")


def check_classes(folder: Path) -> None:
    """Check the files of a sentence-transformers folder for class names from other libraries and for outside paths.

    Raise BiasgridError in one line that names the file and the class or path.
    """
    modules = _read(folder / MODULES)
    if not isinstance(modules, list) or not all(isinstance(module, dict) for module in modules):
        raise BiasgridError(f"{folder / MODULES}: is not a list of modules")
    for module in modules:
        _check_class(folder / MODULES, module.get("type"))
        _check_inside(folder / MODULES, module.get("path", ""))
    for path in _json_files(folder):
        content = _read(path)
        if not isinstance(content, dict):
            continue
        types = content.get("types")  # entry of routers
        for place, name in (types if isinstance(types, dict) else {}).items():
            _check_inside(path, place)
            _check_class(path, name)
        for key in CLASSES:
            # Classes of transformers have plain names, which it looks up in its own list.
            if key in content and (key != "tokenizer_class" or "." in str(content[key])):
                _check_class(path, content[key])
        if any(_trusts(part) for part in (content, *content.values())):
            raise BiasgridError(f"{path}: trust_remote_code: code of a model is not run; leave it out")


def _check_class(path: Path, name: Any) -> None:
    if not isinstance(name, str) or not ALLOWED.fullmatch(name):
        raise BiasgridError(
            f"{path}: names {quote(name)}, which is not a module of sentence-transformers: code of a model is not run"
        )


def _check_inside(path: Path, place: Any) -> None:
    if not isinstance(place, str) or Path(place).is_absolute() or ".." in Path(place).parts:
        raise BiasgridError(f"{path}: {quote(place)} is not a place in the model's folder")


def _trusts(part: Any) -> bool:
    return isinstance(part, dict) and bool(part.get("trust_remote_code"))


def _json_files(folder: Path) -> Iterator[Path]:
    """Yield the files of modules in a folder, without files of tokenizers, which do not name such classes."""
    skipped = {name for name in FILES if name not in ("config.json", "tokenizer_config.json")}
    for place, folders, names in os.walk(folder):
        for name in folders:
            if (path := Path(place, name)).is_symlink():
                raise BiasgridError(f"{path}: is a link to a folder; expected the folder itself")
        yield from (Path(place, n) for n in sorted(names) if n.endswith(".json") and n not in skipped)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BiasgridError(f"{path}: cannot read it: {error!s:.100}") from None

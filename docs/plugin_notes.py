"""The plugins that come with biasgrid, loaded: the docs describe what they have, and say whose it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasgrid.core.registry import load_plugins, shipped_plugins

ROOT = Path(__file__).resolve().parents[1]

load_plugins(shipped_plugins())


def plugin_note(package: Any, name: str) -> str:
    """The sentence that says which plugin an entry is in, with a space before it; empty of biasgrid's own."""
    plugin = package.REGISTRY.plugin_of(name)
    return f" It is in a plugin: `plugins: [{plugin}]`." if plugin else ""


def code_of(package: Any, name: str) -> str:
    """Return the code of an entry as links name it: the file, and the entry if the file has another name."""
    file = package.REGISTRY.file(name).relative_to(ROOT).as_posix()
    return file if Path(file).stem == name else f"{file}#{name}"

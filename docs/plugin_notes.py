"""The plugins that come with biasgrid, loaded: the docs describe what they have, and say whose it is."""

from __future__ import annotations

from typing import Any

from biasgrid.core.registry import load_plugins, shipped_plugins

load_plugins(shipped_plugins())


def plugin_note(package: Any, name: str) -> str:
    """The sentence that says which plugin an entry is in, with a space before it; empty of biasgrid's own."""
    plugin = package.REGISTRY.plugin_of(name)
    return f" It is in a plugin: `plugins: [{plugin}]`." if plugin else ""

"""The kinds of sources, and the check of a source's keys and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.errors import BiasgridError, did_you_mean, unknown_name
from ...core.registry import Registry
from .source import Source

REGISTRY: Registry[Source] = Registry(__package__, "SOURCES", "source type")


def check(source: Mapping[str, Any]) -> Source:
    """Return the kind of a source, after a check of its keys and values. Raise BiasgridError for a wrong one."""
    name = source.get("type") if isinstance(source, dict) else source
    if not isinstance(name, str) or name not in REGISTRY:
        problem = REGISTRY.of_plugin(name) or unknown_name("type", name, REGISTRY)
        raise BiasgridError(f"source: {problem}")
    kind = REGISTRY[name]
    required_keys = {key for key, facts in kind.keys.items() if facts.required}
    usage = f"a source of type {kind.name} needs {', '.join(sorted(required_keys))}"
    if optional := sorted(kind.keys.keys() - required_keys):
        usage += f" and takes {', '.join(optional)}"
    # Check unknown keys first, as a misspelt key is also missing.
    for key in sorted(source.keys() - kind.keys.keys() - {"type"}, key=str):
        raise BiasgridError(f"source: unknown key {key!r:.100}; {did_you_mean(key, kind.keys)}{usage}")
    for key in sorted(required_keys - source.keys()):
        raise BiasgridError(f"source: key {key!r} is missing; {usage}")
    for key, value in source.items():
        if key != "type":
            kind.keys[key].check(key, value)
    kind.check(source)
    return kind

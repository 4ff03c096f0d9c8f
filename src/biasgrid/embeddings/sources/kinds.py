"""The kinds of source, and whether a source is one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import BiasgridError, unknown
from ...registry import Registry
from .source import Source

REGISTRY: Registry[Source] = Registry(__package__, "SOURCES", "source type")


def check(source: Mapping[str, Any]) -> Source:
    """The kind of a source whose keys and values are right; else raises BiasgridError that says which is not."""
    given = source.get("type") if isinstance(source, dict) else source
    if not isinstance(given, str) or given not in REGISTRY:
        raise BiasgridError(f"source: {unknown('type', given, REGISTRY)}")
    kind = REGISTRY[given]
    required = {key for key, facts in kind.keys.items() if facts.required}
    takes = f"a source of type {kind.name} needs {', '.join(sorted(required))}"
    if optional := sorted(kind.keys.keys() - required):
        takes += f" and takes {', '.join(optional)}"
    for key in sorted(required - source.keys()):
        raise BiasgridError(f"source: key {key!r} is missing; {takes}")
    for key in sorted(source.keys() - kind.keys.keys() - {"type"}, key=str):
        raise BiasgridError(f"source: unknown key {key!r:.100}; {takes}")
    for key, value in source.items():
        if key != "type":
            kind.keys[key].check(key, value)
    kind.check(source)
    return kind

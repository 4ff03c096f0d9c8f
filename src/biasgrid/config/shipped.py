"""The models whose sources come with biasgrid (config/models)."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..configs import read_yaml
from ..resources import resource


@cache
def shipped_models() -> dict[str, dict[str, Any]]:
    """The models that can be named without saying where they come from, each with its source, format and licence."""
    entries: dict[str, dict[str, Any]] = {}
    for path in sorted(resource("config/models").glob("*.yaml")):
        entries |= read_yaml(path)
    return entries

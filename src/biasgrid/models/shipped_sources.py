"""The models whose sources come with biasgrid (config/models)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from ..core.configs import read_yaml
from ..core.resources import resource
from . import readers, sources


@cache
def shipped_models() -> dict[str, dict[str, Any]]:
    """Return the models that a config can name without a source, each with its source, format and licence."""
    entries: dict[str, dict[str, Any]] = {}
    for path in sorted(resource("config/models").glob("*.yaml")):
        entries |= read_yaml(path)
    return entries


def plugins_of(models: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the shipped plugins that define the types of sources and the formats of these models."""
    names = {
        registry.plugin_of(name)
        for model in models
        for registry, name in (
            (sources.REGISTRY, model["source"]["type"]),
            (readers.REGISTRY, model.get("format")),
        )
    }
    return sorted(names - {""})

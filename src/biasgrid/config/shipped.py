"""The models whose sources come with biasgrid (config/models)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from ..configs import read_yaml
from ..embeddings import readers, sources
from ..resources import resource


@cache
def shipped_models() -> dict[str, dict[str, Any]]:
    """The models that can be named without saying where they come from, each with its source, format and licence."""
    entries: dict[str, dict[str, Any]] = {}
    for path in sorted(resource("config/models").glob("*.yaml")):
        entries |= read_yaml(path)
    return entries


def plugins_of(models: Iterable[Mapping[str, Any]]) -> list[str]:
    """The plugins that come with biasgrid in which the types of sources and the formats of these models are."""
    names = {
        registry.plugin_of(name)
        for model in models
        for registry, name in (
            (sources.REGISTRY, model["source"]["type"]),
            (readers.REGISTRY, model.get("format")),
        )
    }
    return sorted(names - {""})

"""How words were looked up, metrics parametrised, scores aggregated, inference done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .section import Material, Section


def make(material: Material) -> dict[str, Any]:
    config, spec = material.config, material.spec
    return {
        "metrics": [
            (key, spec["facts"][key], json.dumps(spec["facts"][key]["params"])) for key in spec["metrics"]
        ],
        "words": _lines(config.get("words", {})),
        "inference": _lines(spec["inference"]),
        "ranking": spec["ranking"],
        "seed": config.get("seed"),
    }


def _lines(entries: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key.replace("_", " "), json.dumps(value, ensure_ascii=False)) for key, value in entries.items()]


SECTIONS = (
    Section(
        "method",
        "Metrics and parameters",
        (),
        make,
        "method.html",
        place=92,
        lead="how words were looked up, metrics parametrised, scores aggregated",
    ),
)

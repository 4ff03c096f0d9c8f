"""The manifest.json of a fetched archive: its source, its files with their checksums, and the path to convert."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...core.files import write_text
from ...core.web_addresses import public
from .kinds import REGISTRY, check
from .source import SHA256

log = logging.getLogger(__name__)

MANIFEST = "manifest.json"


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    write_text(folder / MANIFEST, json.dumps(public(manifest), indent=1, sort_keys=True) + "\n")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a fetched archive; {} if it is missing, or damaged, which requires another
    fetch."""
    try:
        manifest = dict(json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
        if not _is_whole(**{key: manifest[key] for key in ("source", "files", "input")}):
            raise ValueError
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        log.warning("%s is damaged: the archive is fetched again", folder / MANIFEST)
        return {}
    return manifest


def is_inside(name: str) -> bool:
    """Return whether a file of this path is inside the archive's folder."""
    return name != MANIFEST and {"", ".", ".."}.isdisjoint(name.split("/"))


def _is_whole(source: Any, files: Any, input: Any) -> bool:
    """Return whether a manifest is complete; a damaged one may also raise various errors."""
    # An unknown type comes from a plugin that another study uses.
    in_place = check(source).in_place(source) if source["type"] in REGISTRY else True
    whole = len(files) > 0 and (in_place or input in files or input == ".")
    for name, facts in files.items():
        whole &= in_place or is_inside(name)
        whole &= re.fullmatch(SHA256[0], facts["sha256"]) is not None
        whole &= type(facts["bytes"]) is int and facts["bytes"] >= 0
    return whole

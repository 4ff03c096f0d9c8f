"""Files without a checksum in their source: trusted when first seen, and pinned by a checksum that is added later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.errors import BiasgridError
from ...core.web_addresses import public
from .kinds import check

Keys = tuple[str, ...]


def files_on_trust(source: Mapping[str, Any]) -> dict[str, Keys]:
    """Return the files of a source for which it lacks a checksum: name -> the keys that could lead to it."""
    return {file: keys for file, keys in _pins(source).items() if _value(source, keys) is None}


def is_same(source: Any, other: Any) -> bool:
    """Return whether two sources are equal, apart from checksums that only one of them has."""
    return without_pins(source) == without_pins(other)


def fits(manifest: Mapping[str, Any], source: Mapping[str, Any]) -> bool:
    """Return whether an archive's manifest is for a source, and its files have the checksums in the source."""
    files = manifest.get("files", {})
    pins = {file: _value(source, keys) for file, keys in _pins(source).items()}
    return is_same(manifest.get("source"), source) and all(
        files.get(file, {}).get("sha256") == digest for file, digest in pins.items() if digest is not None
    )


def without_pins(source: Any) -> Any:
    """Return a source, or a mapping that contains sources, without its optional checksums and `keep`.

    Parts of addresses that records leave out are also removed.
    """
    if not isinstance(source, dict):
        return public(source, is_source=True)
    # A model that is made here names its corpus, encoder or start, and the source of each.
    rest = {key: without_pins(value) for key, value in source.items()}
    if isinstance(source.get("type"), str):
        rest.pop("keep", None)  # does not change the file
        for *outer, last in _pins(source).values():
            place = rest
            for key in outer:
                place = place[key]
            if outer:  # keep the name of the file
                place[last] = None
            else:
                place.pop(last, None)
    return rest


def _pins(source: Mapping[str, Any]) -> Mapping[str, Keys]:
    try:
        return check(source).pins(source)
    except BiasgridError:  # a source of a plugin that is not loaded, or from a damaged record
        return {}


def _value(source: Mapping[str, Any], keys: Keys) -> Any:
    value: Any = source
    for key in keys:
        value = value.get(key)
    return value

"""Files without a checksum in their source: trusted when first seen, and pinned by a checksum that is added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import BiasgridError
from ...web_addresses import public
from .kinds import check

Keys = tuple[str, ...]


def files_on_trust(source: Mapping[str, Any]) -> dict[str, Keys]:
    """The files of a source that it has no checksum of: name -> the keys under which the source would have it."""
    return {file: keys for file, keys in _pins(source).items() if _value(source, keys) is None}


def is_same(source: Any, other: Any) -> bool:
    """Whether two sources differ in nothing but checksums that one of them lacks or has besides."""
    return without_pins(source) == without_pins(other)


def fits(manifest: Mapping[str, Any], source: Mapping[str, Any]) -> bool:
    """Whether an archive with this manifest is of a source, and its files have the checksums that the source has."""
    files = manifest.get("files", {})
    pins = {file: _value(source, keys) for file, keys in _pins(source).items()}
    return is_same(manifest.get("source"), source) and all(
        files.get(file, {}).get("sha256") == digest for file, digest in pins.items() if digest is not None
    )


def without_pins(source: Any) -> Any:
    """A source, or what is trained or encoded from some, without the checksums that could be added, `keep`, and what
    records leave out of addresses."""
    if not isinstance(source, dict):
        return public(source, is_source=True)
    # what is made here says its corpus, encoder or start, and the source of each
    rest = {key: without_pins(value) for key, value in source.items()}
    if isinstance(source.get("type"), str):
        rest.pop("keep", None)  # a file is the same, whatever becomes of it
        for *outer, last in _pins(source).values():
            place = rest
            for key in outer:
                place = place[key]
            if outer:  # which files there are counts
                place[last] = None
            else:
                place.pop(last, None)
    return rest


def _pins(source: Mapping[str, Any]) -> Mapping[str, Keys]:
    try:
        return check(source).pins(source)
    except BiasgridError:  # a plug-in's that is not loaded, or of a damaged record
        return {}


def _value(source: Mapping[str, Any], keys: Keys) -> Any:
    value: Any = source
    for key in keys:
        value = value.get(key)
    return value

"""Checksums of downloads, written into the YAML files that name their sources; comments and layout are kept."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ...core.configs import parse_yaml
from ...core.files import write_bytes
from ...core.resources import SHARED, find_file, resource
from ...models.sources import files_on_trust, read_manifest
from .load import CONFIGS, WITH_SOURCES


@dataclass(frozen=True)
class Place:
    """The place where an entry of a config is defined: the file, and the keys and list indices that lead to it."""

    file: Path
    path: tuple[str | int, ...]


def missing_pins(sources: Mapping[str, Any], raw: Path) -> dict[str, dict[tuple[str, ...], str]]:
    """Return the checksums of archives in `raw` that their sources lack: name -> keys in the source -> sha256."""
    pins = {}
    for name, entry in sources.items():
        files = read_manifest(raw / name).get("files", {})
        trusted = files_on_trust(entry["source"])
        pins[name] = {keys: files[file]["sha256"] for file, keys in trusted.items() if file in files}
    return {name: digests for name, digests in pins.items() if digests}


def write(configs: Iterable[Path], pins: Mapping[str, Mapping[tuple[str, ...], str]]) -> dict[str, Any]:
    """Write checksums into the files that define their sources.

    Parameters
    ----------
    configs
        The study's config files; the last one that has an entry defines it.
    pins
        The result of `missing_pins`.

    Returns
    -------
    dict
        `pinned`: name -> the file that has its checksums now. `by_hand`: name -> the text to add and where,
        for a file that comes with the package, cannot be written, or has a layout that is not understood.
    """
    pinned, by_hand = {}, {}
    places = {place.path[-1]: place for config in configs for place in _places(config)}
    for name, digests in pins.items():
        file = places[name].file
        if _is_written(places[name], digests):
            pinned[name] = str(file)
            continue
        lines = ", ".join(f"{': '.join(('source', *keys))}: {digest}" for keys, digest in digests.items())
        copy = " (copy the entry into your config)" if file.is_relative_to(SHARED) else ""
        by_hand[name] = f"to {name} of {file}{copy} add {lines}"
    return {"pinned": pinned, "by_hand": by_hand}


def _places(config: Path) -> Iterator[Place]:
    """Yield the entries of a config that have sources."""
    record = _read(config)
    for part in WITH_SOURCES:
        value = record.get(part)
        for number, entry in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(entry, dict):
                outer = (part, number) if isinstance(value, list) else (part,)
                yield from (Place(config, (*outer, name)) for name in entry)
            elif isinstance(entry, str) and entry.endswith(CONFIGS):
                file = find_file(entry)
                yield from (Place(file, (name,)) for name in _read(file))
            elif isinstance(entry, str):
                files = resource("config/models").glob("*.yaml")
                yield from (Place(file, (entry,)) for file in files if entry in _read(file))


def _read(file: Path) -> dict[str, Any]:
    record = parse_yaml(_text(file))
    return record if isinstance(record, dict) else {}


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8")  # keeps line ends


def _is_written(place: Place, digests: Mapping[tuple[str, ...], str]) -> bool:
    """Write checksums into the entry at a place; return whether this was possible."""
    if (
        place.file.is_relative_to(SHARED)
        or not os.access(place.file, os.W_OK)
        or place.file.suffix == ".json"
    ):
        return False
    text = _text(place.file)
    expected = deepcopy(parse_yaml(text))
    edits = []
    try:
        for keys, digest in digests.items():
            edits.append(_edit(text, (*place.path, "source", *keys), digest))
            outer = expected
            for key in (*place.path, "source", *keys[:-1]):
                outer = outer[key]
            outer[keys[-1]] = digest
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        if parse_yaml(text) != expected:
            return False
    except (LookupError, ValueError):
        return False
    write_bytes(place.file, text.encode())
    return True


def _edit(text: str, path: tuple[str | int, ...], digest: str) -> tuple[int, int, str]:
    """Return the start, the end and the new text of an edit that sets the value at a path of a YAML text to a digest.

    Raise LookupError for a path that does not exist.
    """
    *outer, last = path
    mapping = _node(text, outer)
    values = {key.value: value for key, value in mapping.value}
    if last in values:  # the value is null or empty
        start, end = values[last].start_mark.index, values[last].end_mark.index
        return start, end, digest if end > start else f" {digest}"
    if mapping.flow_style:
        end = mapping.value[-1][1].end_mark.index
        return end, end, f", {last}: {digest}"
    # Add a line after the last value that ends on the same line as its key.
    key, value = next(
        (key, value) for key, value in reversed(mapping.value) if value.end_mark.line == key.start_mark.line
    )
    end = text.find("\n", value.end_mark.index)
    end = len(text) if end < 0 else end - (text[end - 1] == "\r")
    newline = "\r\n" if text[end:].startswith("\r") else "\n"
    return end, end, f"{newline}{' ' * key.start_mark.column}{last}: {digest}"


def _node(text: str, path: list[str | int]) -> yaml.MappingNode:
    """Return the mapping at a path. Raise LookupError if it is missing."""
    node = yaml.compose(text, yaml.SafeLoader)
    for key in path:
        parts = node.value
        node = parts[key] if isinstance(key, int) else {name.value: value for name, value in parts}[key]
    if not isinstance(node, yaml.MappingNode) or not node.value:
        raise LookupError(path)
    return node

"""What may be asked of inference: the options of a study's config, with its limits and defaults, for all doors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema

from ..errors import BiasgridError
from ..study import INFERRED, SCHEMA

_SETTINGS = SCHEMA["properties"]["inference"]["properties"]
# part -> option -> what the schema says of it
OPTIONS = {
    part: {
        name: SCHEMA["$defs"].get(entry.get("$ref", "").rpartition("/")[2], {}) | entry
        for name, entry in _SETTINGS[part]["properties"].items()
    }
    for part in INFERRED
}
INTERVALS = tuple(_SETTINGS["interval"]["enum"])


def checked(part: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of "permutation", "random_groups", "bootstrap" or "sensitivity", with the defaults of those that
    are left out.

    Raises BiasgridError for an option that there is not, or a value that is not allowed, saying what is.
    """
    options = OPTIONS[part]
    if not isinstance(given, Mapping):
        raise BiasgridError(f"{part}: {given!r} is not a mapping of {', '.join(options)} to values")
    for name, value in given.items():
        if name not in options:
            raise BiasgridError(f"{part} has no option {name!r}; allowed are: {', '.join(options)}")
        entry = {key: limit for key, limit in options[name].items() if key != "$ref"}
        # a NaN is within all limits
        if value != value or not jsonschema.Draft202012Validator(entry).is_valid(value):
            raise BiasgridError(f"{part}: {name}: {value!r} is not allowed; allowed are {_allowed(entry)}")
    filled = {name: entry["default"] for name, entry in options.items()} | dict(given)
    return {n: int(v) if options[n].get("type") == "integer" else v for n, v in filled.items()}


def check_interval(interval: str) -> None:
    """Raises BiasgridError for the name of an interval that there is not."""
    if interval not in INTERVALS:
        raise BiasgridError(f"interval: {interval!r} is not known; allowed are {', '.join(INTERVALS)}")


def _allowed(entry: Mapping[str, Any]) -> str:
    if "enum" in entry:
        return ", ".join(entry["enum"])
    if entry["type"] == "integer":
        return f"whole numbers from {entry['minimum']} to {entry['maximum']}"
    return f"numbers between {entry['exclusiveMinimum']} and {entry['exclusiveMaximum']}"

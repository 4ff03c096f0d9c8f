"""Merging of several config files into one config: each file changes the files before it.

The rules, which config/README.md explains:

- a mapping is merged with the mapping before it, key by key;
- `null` removes a key that an earlier file has;
- an empty mapping, a list and any other value replace the former value;
- `path` in a model, and a source of another type, replace the model's whole source;
- a part that names files, such as `models`, is read before a mapping changes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...core.errors import BiasgridError, did_you_mean, quote
from .load import PARTS, with_path, written_part

# Keys of a model that describe the file of its source.
OF_FILE = ("format", "download_mb")


def join(records: Iterable[tuple[str, Any]], root: Path = Path(".")) -> dict[str, Any]:
    """Merge several records into one config, as it is written.

    Parameters
    ----------
    records
        The name of each record in messages, such as its file, and the record: the first config, and its
        changes.
    root
        The folder to which paths in configs are relative.

    Raises
    ------
    BiasgridError
        A record is not a mapping, or a `null` removes a key that no earlier record has.
    """
    config: dict[str, Any] | None = None
    for where, record in records:
        if not isinstance(record, dict):
            raise BiasgridError(f"{where}: not a mapping; biasgrid init writes a config to begin with")
        config = record if config is None else _change(config, record, where, root)
    return config or {}


def check_has_key(config: Mapping[str, Any], key: str, where: str) -> None:
    """Raise BiasgridError for a config without the key that names the run, such as an overlay alone."""
    if key not in config:
        raise BiasgridError(
            f"{where}: key {quote(key)} is missing; a config that changes another one is named after it"
        )


def _change(config: dict[str, Any], record: dict[str, Any], where: str, root: Path) -> dict[str, Any]:
    config, record = dict(config), dict(record)
    for part in PARTS:
        if isinstance(record.get(part), dict) and record[part] and part in config:
            config[part] = written_part(config[part], part, where, root)
    if isinstance(models := record.get("models"), dict) and models:
        before = config.get("models", {})
        replaced = {key for key, model in models.items() if isinstance(model, dict) and "path" in model}
        config["models"] = {
            key: _without_source(model) if key in replaced and isinstance(model, dict) else model
            for key, model in before.items()
        }
        record["models"] = {key: with_path(model, f"{where}: models: {key}") for key, model in models.items()}
    return _join(config, record, where)


def _join(former: Mapping[str, Any], record: Mapping[str, Any], where: str) -> dict[str, Any]:
    joined = dict(former)
    if _type(former) and _type(record) not in ("", _type(former)):
        joined = _without_source(joined)
    for key, value in record.items():
        before = joined.get(key)
        if value is None:
            if key not in joined:
                nearest = did_you_mean(key, map(str, joined)).rstrip()
                raise BiasgridError(
                    f"{where}: {key}: null leaves out a key of an earlier config, and none has {quote(key)}"
                    f"{f'; {nearest}' if nearest else ''}"
                )
            del joined[key]
        elif not (isinstance(value, dict) and value and isinstance(before, dict)):
            joined[key] = value
        elif key == "source":
            joined[key] = {**before, **value}  # here, null is a value: it marks a file without a checksum
        else:
            joined[key] = _join(before, value, f"{where}: {key}")
    return joined


def _type(model: Mapping[str, Any]) -> str:
    """Return the type of a model's source; empty if it does not have one."""
    source = model.get("source")
    return str(source.get("type", "")) if isinstance(source, dict) else ""


def _without_source(model: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in model.items() if key not in ("source", *OF_FILE)}

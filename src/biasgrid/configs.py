"""Reading YAML and JSON that a person wrote: a key that stands twice is an error, not the last of the two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from .errors import BiasgridError


def read_yaml(path: Path | str) -> Any:
    """The content of a YAML file. Raises BiasgridError naming file and line."""
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise BiasgridError(f"{path}: cannot read it: {error.strerror}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BiasgridError(f"{path}: not a YAML file: {' '.join(str(error).split())}") from None


def read_json(path: Path | str) -> Any:
    """The content of a JSON file. Raises BiasgridError naming the file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"), object_pairs_hook=_object)
    except OSError as error:
        raise BiasgridError(f"{path}: cannot read it: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BiasgridError(f"{path}: not a JSON file: {error}") from None


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value:
            # << is YAML's merge key
            if key.value in seen and key.value != "<<":
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value!r} stands twice", key.start_mark
                )
            seen.add(key.value if isinstance(key.value, str) else None)
        return super().construct_mapping(node, deep)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(k for k in keys if keys.count(k) > 1)!r} stands twice")
    return made

"""The format of the files of results (cells, inference, evaluations, study.json), and its version.

Add one to `SCHEMA` when the format of a file changes so that older code would misread it. Tables do not have a
version: they are read by their columns.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from .errors import BiasgridError, quote
from .in_memory import File, InMemory

SCHEMA = 1
READABLE = (0, 1)  # 0: files without a version, in the format of version 1


def dumps(record: Any, **options: Any) -> str:
    """Return a record as JSON text that is identical on every machine: UTF-8, floats by repr, no NaN."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, **options)


def as_finite(value: Any) -> Any:
    """Return a record for JSON, with None instead of numbers that are not finite."""
    if isinstance(value, float):  # checked first, because most of a record are numbers
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: as_finite(v) for key, v in value.items()}
    if isinstance(value, list):
        return [as_finite(v) for v in value]
    return value


def with_version(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record for a file of results, with its version as the first key."""
    return {"schema": SCHEMA, **record}


def without_version(record: Any, where: Path | str) -> Any:
    """Return a record without its version.

    Raises BiasgridError if this biasgrid does not read the version.
    """
    if not isinstance(record, Mapping):
        return record
    version = record.get("schema", 0)
    if type(version) is not int or version not in READABLE:
        raise BiasgridError(
            f"{where}: results of schema {quote(version)}, which this biasgrid does not read (it reads "
            f"{' and '.join(map(str, READABLE))}); use the biasgrid that wrote them, or delete the file and run again"
        )
    return {key: value for key, value in record.items() if key != "schema"}


def read(path: File, what: str) -> dict[str, Any]:
    """Read the record in a file of results.

    Raises BiasgridError if a file is not `what`, or has another version.
    """
    if isinstance(path, InMemory):
        return path.content
    try:
        content = _decode(Path(path).read_bytes())
        if not isinstance(content, dict):
            raise ValueError(f"{quote(content)} is not a mapping")
    except (OSError, ValueError, RecursionError) as error:
        raise not_whole(path, what, error) from None
    return without_version(content, path)


def _decode(content: bytes) -> Any:
    # Plans do not read results, so pydantic_core is imported only when needed.
    from pydantic_core import from_json

    try:
        return from_json(content, allow_inf_nan=False)  # twice as fast as json
    except ValueError:
        return _DECODER.decode(content.decode("utf-8"))  # its error is easier to understand


def not_whole(path: File, what: str, reason: object) -> BiasgridError:
    """Return the error for a damaged file of results, with the remedy."""
    remedy = "delete it and run the study again"
    if isinstance(reason, FileNotFoundError):
        reason, remedy = "there is no such file", "run the study again"
    return BiasgridError(f"{path}: not {what}: {reason!s:.200}; {remedy}")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"it has the number {constant}")


# Files of biasgrid never contain NaN or infinity.
_DECODER = json.JSONDecoder(parse_constant=_refuse)


def notice(results: Path) -> str | None:
    """Return a message for a run on results of another version than it writes, or None."""
    try:
        version = json.loads((results / "study.json").read_text(encoding="utf-8")).get("schema", 0)
    except (OSError, ValueError, AttributeError, RecursionError):
        return None  # results are missing, or the file is written again
    if version == SCHEMA:
        return None
    return (
        f"{results} has results of schema {quote(version)}, this biasgrid writes {SCHEMA}: what other code made is "
        "computed again (snakemake --dry-run lists it); archives, stores and all else are kept"
    )

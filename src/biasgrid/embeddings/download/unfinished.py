"""An unfinished download, `<file>.part`, and the note beside it that says of what: a later attempt continues it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from ...files import write_text


def begin(part: Path, url: str, validator: str | None, total: int | None) -> None:
    """Empty `part`, and note what is about to be written to it."""
    empty(part)  # before the note: at no moment may that describe other bytes
    write_text(note_file(part), json.dumps({"url": url, "validator": validator, "total": total}))


def resume_point(url: str, part: Path, has_hash: bool) -> tuple[int, str | None, int | None]:
    """How many bytes of `part` can be kept, the server's validator for it, the file's length (None: unknown)."""
    try:
        facts = json.loads(note_file(part).read_text(encoding="utf-8"))
        size = part.stat().st_size
        noted_url, validator, total = (facts[key] for key in ("url", "validator", "total"))
    except (FileNotFoundError, ValueError, LookupError, TypeError, RecursionError):  # not there, or damaged
        return 0, None, None
    # Without a validator the server's file may change unseen between two parts; only a pinned hash shows it.
    if noted_url != url or not (has_hash or validator):
        return 0, None, None
    if not (validator is None or can_be_sent(validator)) or not (total is None or is_size(total)):
        return 0, None, None
    return size, validator, total


def note_file(part: Path) -> Path:
    return Path(f"{part}.json")


def is_size(value: object) -> bool:
    return type(value) is int and 0 <= value < 10**18


def can_be_sent(validator: object) -> bool:
    return isinstance(validator, str) and bool(re.fullmatch(r"[!-~][ -~]{0,999}", validator))


def empty(part: Path) -> None:
    with part.open("wb"):
        pass

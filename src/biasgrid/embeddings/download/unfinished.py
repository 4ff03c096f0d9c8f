"""An unfinished download, `<file>.part`, and the note beside it that says of what: a later attempt continues it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from ...files import write_text
from ...web_addresses import public_address

SENDABLE = r"^[!-~][ -~]{0,999}$"  # a validator that a header can carry
Size = Annotated[int, Field(strict=True, ge=0, lt=10**18)]


class Note(BaseModel):
    """What a part is of: the address, the server's validator and the file's length (None: unknown)."""

    url: str
    validator: Annotated[str, Field(pattern=SENDABLE)] | None
    total: Size | None


def begin(part: Path, note: Note) -> None:
    """Empty `part`, and note what is about to be written to it."""
    empty(part)  # before the note: at no moment may that describe other bytes
    write_text(note_file(part), note.model_copy(update={"url": public_address(note.url)}).model_dump_json())


def resume_point(url: str, part: Path, has_hash: bool) -> tuple[int, Note]:
    """How many bytes of `part` can be kept, and what is noted of them."""
    with suppress(FileNotFoundError, ValueError):  # not there, or damaged
        note = Note.model_validate_json(note_file(part).read_bytes())
        # Without a validator the server's file may change unseen between two parts; only a pinned hash shows it.
        if public_address(note.url) == public_address(url) and (has_hash or note.validator):
            return part.stat().st_size, note
    return 0, Note(url=url, validator=None, total=None)


def note_file(part: Path) -> Path:
    return Path(f"{part}.json")


def empty(part: Path) -> None:
    with part.open("wb"):
        pass

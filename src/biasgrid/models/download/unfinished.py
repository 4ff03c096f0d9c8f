"""Unfinished downloads: `<file>.part`, and next to it a note of its origin, so that a later attempt can continue."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from ...core.files import write_text
from ...core.web_addresses import public_address

SENDABLE = r"^[!-~][ -~]{0,999}$"  # a validator that a header can carry
Size = Annotated[int, Field(strict=True, ge=0, lt=10**18)]


class Note(BaseModel):
    """The origin of a part: the address, the server's validator and the file's length (None: unknown)."""

    url: str
    validator: Annotated[str, Field(pattern=SENDABLE)] | None
    total: Size | None


def begin(part: Path, note: Note) -> None:
    """Empty `part`, and write the note about the coming contents."""
    empty(part)  # first, so that the note never describes other bytes
    write_text(note_file(part), note.model_copy(update={"url": public_address(note.url)}).model_dump_json())


def resume_point(url: str, part: Path, has_hash: bool) -> tuple[int, Note]:
    """Return the number of bytes of `part` that can be kept, and the note about them."""
    with suppress(FileNotFoundError, ValueError):  # missing or damaged
        note = Note.model_validate_json(note_file(part).read_bytes())
        size = part.stat().st_size
        # Without a validator, only a pinned hash reveals that the server's file changed between two responses.
        if public_address(note.url) == public_address(url) and (
            has_hash or note.validator or size == note.total
        ):
            return size, note
    return 0, Note(url=url, validator=None, total=None)


def note_file(part: Path) -> Path:
    return Path(f"{part}.json")


def empty(part: Path) -> None:
    part.write_bytes(b"")


def drop(*files: Path) -> None:
    """Delete files and the notes about them."""
    for file in files:
        file.unlink(missing_ok=True)
        note_file(file).unlink(missing_ok=True)

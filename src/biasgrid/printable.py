"""Texts that figures, pages and terminals show: printable, and in the direction of their script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .errors import OVERRIDES, BiasgridError, quote

LONGEST = 200  # characters of a label or a name
JOINERS = re.compile("[\u200c\u200d]")  # invisible, and needed: by Persian and Hindi, and within emoji
# what acts on a terminal, is in no XML, or turns the direction of all that follows
HIDDEN = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff{OVERRIDES}]")


def check_line(text: Any, longest: int = LONGEST, what: str = "") -> str:
    """A label or a name, as it is. Raises BiasgridError, which begins with `what`, for no line of printable text.

    Text of any script is printable; so are the joiners that scripts and emoji need. Control characters are not, nor
    those that turn the direction of what follows.
    """
    expected = f"{what} must be a line of text".lstrip()
    if not isinstance(text, str) or not text.strip():
        raise BiasgridError(f"{expected}, not {quote(text)}")
    if wrong := next((sign for sign in JOINERS.sub("", text) if not sign.isprintable()), ""):
        raise BiasgridError(f"{expected}, not {quote(text)} with the character U+{ord(wrong):04X}")
    if len(text) > longest:
        raise BiasgridError(f"{expected} of at most {longest} characters, not {quote(text)} of {len(text):,}")
    return str(text)


def check_texts(value: Any, where: str) -> None:
    """Raises BiasgridError, which begins with `where` and the keys, for a hidden character in texts of any length."""
    if isinstance(value, str):
        if wrong := HIDDEN.search(value):
            raise BiasgridError(
                f"{where}: {quote(value)} has the character U+{ord(wrong[0]):04X}, which no text may have"
            )
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            check_texts(key, where)
            check_texts(inner, f"{where}: {key}")
    elif isinstance(value, list):
        for inner in value:
            check_texts(inner, where)


def without_hidden(text: str) -> str:
    """A text with a sign in place of each hidden character: what results that were not checked may have."""
    return HIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)

"""Checks that texts in figures, pages and terminals are printable and keep their reading direction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .errors import OVERRIDES, BiasgridError, quote

LONGEST = 200  # maximum length of a label or a name
JOINERS = re.compile("[\u200c\u200d]")  # invisible characters that Persian, Hindi and emoji need
# Characters that act on a terminal, that XML forbids, or that change the reading direction.
HIDDEN = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff{OVERRIDES}]")


def check_line(text: Any, longest: int = LONGEST, what: str = "") -> str:
    """Return a label or a name unchanged.

    Raises BiasgridError, which begins with `what`, if it is not a line of printable text. Text of any script is
    printable, including the joiners that scripts and emoji need. Control characters are not, and neither are
    characters that change the reading direction.
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
    """Raise BiasgridError, which begins with `where` and the keys, for a hidden character in texts of any length."""
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
    """Replace hidden characters, which unchecked results may contain, by a visible sign."""
    return HIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)

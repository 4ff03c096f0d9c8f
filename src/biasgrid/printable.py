"""Texts that figures, pages and terminals show: one line, printable, in the direction of its script."""

from __future__ import annotations

import re
from typing import Any

from .errors import OVERRIDES, BiasgridError, quote

LONGEST = 200  # characters of a label or a name
JOINERS = re.compile("[\u200c\u200d]")  # invisible, and needed: by Persian and Hindi, and within emoji
HIDDEN = re.compile(rf"[\x00-\x08\x0e-\x1f\x7f-\x9f{OVERRIDES}]")


def check_line(text: Any, longest: int = LONGEST) -> str:
    """A label, a name or a sentence, as it is. Raises BiasgridError for what is no line of printable text.

    Text of any script is printable. Control characters are not, nor those that turn the direction of what follows.
    """
    if not isinstance(text, str) or not text.strip():
        raise BiasgridError(f"{quote(text)} is no line of text")
    if len(text) > longest:
        raise BiasgridError(f"{quote(text)} has {len(text):,} characters; allowed: at most {longest}")
    if wrong := next((sign for sign in JOINERS.sub("", text) if not sign.isprintable()), ""):
        raise BiasgridError(
            f"{quote(text)} has the character U+{ord(wrong):04X}; allowed: a line of printable text"
        )
    return text


def check_word(text: str) -> str:
    """A word or sentence, as it is. Raises BiasgridError for one that would act on a terminal or turn the text around
    it, and for none. Spaces of any kind are allowed: vocabularies have them."""
    if not text.strip():
        raise BiasgridError(f"{quote(text)} is not a word (a non-empty string)")
    if wrong := HIDDEN.search(text):
        raise BiasgridError(f"{quote(text)} has the character U+{ord(wrong[0]):04X}, which no word has")
    return text

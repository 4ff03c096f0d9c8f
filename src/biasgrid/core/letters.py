"""Letters of words: accents, capitals, and different spellings that look the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

# Scripts whose letters lose their marks. In others, marks are vowels and consonants of their own.
ACCENTED = ("LATIN ", "GREEK ", "CYRILLIC ")
# `str.title` would also capitalise after an apostrophe: "Women'S".
TITLED = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f'’])*")
QUOTES = "\"'“”„‟‘’‚«»‹›「」『』"
APOSTROPHES = "'’ʼ‘`´"
HYPHENS = "-‐‑–—−"
MOST_FORMS = 64


def titlecase(word: str) -> str:
    """Return a word with capitals as in a title; letters, accents and apostrophes continue a part."""
    return TITLED.sub(lambda part: part[0].capitalize(), word)


def strip_accents(word: str) -> str:
    """Return a word without the combining marks of its Latin, Greek and Cyrillic letters.

    Everything else is unchanged: compatibility forms, and other scripts, whose marks are letters.
    """
    kept, is_accented = [], False
    for letter in word:
        if not unicodedata.combining(letter):
            base = unicodedata.normalize("NFD", letter)[0]
            is_accented = unicodedata.name(base, "").startswith(ACCENTED)
            kept.append(base if is_accented else letter)
        elif not is_accented:
            kept.append(letter)
    return "".join(kept)


def lookalikes(word: str) -> dict[str, str]:
    """Return other spellings of a word that a vocabulary may have, each with the word's difference from it.

    For example, {"mère": "has a space at its end"} for "mère ". The most similar ones come first.
    """
    forms: dict[str, tuple[str, ...]] = {word: ()}
    for change, difference in CHANGES:
        for form, differences in list(forms.items()):
            changed = change(form)
            if changed and changed not in forms and len(forms) < MOST_FORMS:
                text = difference if isinstance(difference, str) else difference(form)
                forms[changed] = (*differences, text)
    ordered = sorted(forms, key=lambda form: len(forms[form]))
    return {form: ", ".join(forms[form]) for form in ordered if form != word}


def _without_invisible(word: str) -> str:
    return "".join(letter for letter in word if unicodedata.category(letter) != "Cf")


def _describe_invisible(word: str) -> str:
    letter = next(letter for letter in word if unicodedata.category(letter) == "Cf")
    return f"has the invisible character {_code_and_name(letter)}"


def _describe_end(word: str) -> str:
    end, place = (word[-1], "end") if word[-1].isspace() else (word[0], "beginning")
    return f"has {'a space' if end == ' ' else f'the character {_code_and_name(end)}'} at its {place}"


def _with_spaces(word: str) -> str:
    return "".join(" " if letter.isspace() else letter for letter in word)


def _describe_space(word: str) -> str:
    space = next(letter for letter in word if letter.isspace() and letter != " ")
    return f"has the character {_code_and_name(space)} in place of a space"


def _unquoted(word: str) -> str:
    return word[1:-1].strip() if len(word) > 2 and word[0] in QUOTES and word[-1] in QUOTES else word


def _code_and_name(letter: str) -> str:
    return f"U+{ord(letter):04X} ({unicodedata.name(letter, 'control').lower()})"


def _replace_inner(letters: str, by: str) -> Callable[[str], str]:
    return lambda word: re.sub(f"(?<=.)[{re.escape(letters)}](?=.)", by, word)


def _normalize_to(form: Literal["NFC", "NFD", "NFKC"]) -> tuple[Callable[[str], str], str]:
    return lambda word: unicodedata.normalize(form, word), f"is not in Unicode's form {form}"


CAPITALS = "has other capital letters"
# Changes of a word's spelling, and descriptions of the difference; the smallest changes come first.
CHANGES: tuple[tuple[Callable[[str], str], str | Callable[[str], str]], ...] = (
    (str.strip, _describe_end),
    (_without_invisible, _describe_invisible),
    (_with_spaces, _describe_space),
    (_unquoted, "is in quotation marks"),
    _normalize_to("NFC"),
    _normalize_to("NFD"),
    _normalize_to("NFKC"),
    (_replace_inner(APOSTROPHES, "'"), "has another apostrophe"),
    (_replace_inner(APOSTROPHES, "’"), "has another apostrophe"),
    (_replace_inner(HYPHENS, "-"), "has another hyphen"),
    (str.lower, CAPITALS),
    (titlecase, CAPITALS),
    (str.upper, CAPITALS),
    (_replace_inner(" ", "_"), "has spaces"),
    (_replace_inner(" ", "-"), "has spaces"),
    (_replace_inner("_", " "), "has underscores"),
    (_replace_inner(HYPHENS, "_"), "has hyphens"),
    (strip_accents, "has accents"),
)

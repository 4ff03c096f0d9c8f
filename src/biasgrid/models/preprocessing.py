"""Forms of a word for look-up: the options of a preprocessor, and their application to a word."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..core.errors import BiasgridError, not_allowed, quote, unknown_name
from ..core.letters import strip_accents, titlecase
from .kinds import Kind
from .multiword import WAYS

Preprocessor = Mapping[str, Any] | Callable[[str], str]
FUNCTION = "preprocessor"  # option of a preprocessor that is a function, as in WEFE
# The default of every look-up of words, and WEFE's default.
DEFAULT_FORMS: tuple[Preprocessor, ...] = ({}, {"lowercase": True})
AS_WRITTEN: tuple[Preprocessor, ...] = ({},)


CASES = {"lowercase": str.lower, "uppercase": str.upper, "titlecase": titlecase}
NFKD = "nfkd"  # WEFE's and scikit-learn's way to strip accents
STRIP_ACCENTS = (True, False, "ascii", "unicode", NFKD)
# Allowed values of each option of a preprocessor.
CHOICES: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(CASES, (True, False)),
    "strip_accents": STRIP_ACCENTS,
    "unicode": ("NFC", "NFD", "NFKC", "NFKD"),
    "parts": tuple(WAYS),
}
TURKIC = ("tr", "az")  # languages that distinguish i with and without a dot, also in capitals


def default_forms(kind: Kind) -> tuple[Preprocessor, ...]:
    """Return the forms in which words are looked up in models of a type if a user does not name any.

    A text for a language model is looked up only as written: in lower case it is another text, and the two
    sentences of a pair would no longer differ in one word only.
    """
    return AS_WRITTEN if kind.scores else DEFAULT_FORMS


def recorded_forms(words: Mapping[str, Any]) -> list[Preprocessor]:
    """Return the forms of the look-up options that a file of results records.

    Files from before there was a common default do not record any if words were looked up as written.
    """
    forms: list[Preprocessor] = words.get("preprocessors", list(AS_WRITTEN))
    return forms


def variant(word: str, preprocessor: Preprocessor, vocab_prefix: str = "") -> str:
    """Return the form of a word that is looked up.

    The options apply in this order: Unicode's form, case, removed texts, accents, joined words or parts. Then
    the vocabulary's prefix is added.
    """
    if not preprocessor:  # the most frequent case
        return vocab_prefix + word
    options: Mapping[str, Any] = {FUNCTION: preprocessor} if callable(preprocessor) else preprocessor
    function = options.get(FUNCTION)
    if function is not None:
        word = function(word)
        if not isinstance(word, str):
            raise BiasgridError(
                f"preprocessor {quote(function)} returned {quote(word)}, which is not a string"
            )
        return vocab_prefix + word
    if form := options.get("unicode"):
        word = unicodedata.normalize(form, word)
    for option, change in CASES.items():
        if options.get(option):
            word = _lower_turkic(word) if options.get("language") in TURKIC else change(word)
    if texts := options.get("without"):
        word = _without(word, texts)
    accents = options.get("strip_accents")
    if accents == "ascii":
        word = unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode("ascii")
    elif accents == NFKD:
        word = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
    elif accents:
        word = strip_accents(word)
    if (text := options.get("join")) is not None:
        word = text.join(filter(None, word.split(" ")))
    if way := options.get("parts"):
        word = WAYS[way].join(filter(None, word.split(" ")))
    return vocab_prefix + word


def _lower_turkic(word: str) -> str:
    return word.replace("I", "ı").replace("İ", "i").lower()


def _without(word: str, texts: Iterable[str]) -> str:
    start = next((text for text in texts if word.startswith(text)), "")
    word = word.removeprefix(start)
    return word.removesuffix(next((text for text in texts if word.endswith(text)), "")).strip()


def form_of(preprocessor: Preprocessor) -> str:
    """Return a description of a word's form: "as listed", "NFC, lower case (tr)"."""
    options: Mapping[str, Any] = {FUNCTION: preprocessor} if callable(preprocessor) else preprocessor
    if function := options.get(FUNCTION):
        return f"by {getattr(function, '__name__', type(function).__name__)}"
    texts = {
        "lowercase": "lower case",
        "uppercase": "upper case",
        "titlecase": "title case",
        "strip_accents": "without accents",
    }
    forms = [options["unicode"]] if options.get("unicode") else []
    forms += [f"without {' '.join(options['without'])}"] if options.get("without") else []
    for option, text in texts.items():
        if value := options.get(option):
            note = options.get("language") if option == "lowercase" else None if value is True else value
            forms.append(f"{text} ({note})" if note else text)
    if (joint := options.get("join")) is not None:
        forms.append(f"joined by {quote(joint)}")
    forms += [f"mean of its parts ({options['parts']})"] if options.get("parts") else []
    return ", ".join(forms) or "as listed"


def in_parts(preprocessors: Iterable[Preprocessor]) -> bool:
    """Return whether a word may be the mean of its parts."""
    return any(not callable(preprocessor) and preprocessor.get("parts") for preprocessor in preprocessors)


def check_preprocessor(preprocessor: Preprocessor) -> None:
    """Raise BiasgridError if a preprocessor is invalid, or if its options contradict each other."""
    if callable(preprocessor):
        return
    if not isinstance(preprocessor, Mapping):
        raise BiasgridError(not_allowed("preprocessors", preprocessor, "mappings such as {lowercase: true}"))
    for option, value in preprocessor.items():
        if option == FUNCTION:
            if not callable(value):
                raise BiasgridError(not_allowed(f"preprocessors: {option}", value, "functions of a word"))
            continue
        _check_option(option, value)
    if FUNCTION in preprocessor:
        # In WEFE, the other options do not have an effect.
        if other_options := [
            option for option, value in preprocessor.items() if value and option != FUNCTION
        ]:
            raise BiasgridError(
                f"preprocessors: a function replaces the other options of its mapping; leave {other_options[0]} out, "
                "or do its work in the function"
            )
        return
    if preprocessor.get("join") is not None and preprocessor.get("parts"):
        raise BiasgridError("preprocessors: join and parts contradict each other in one variant")
    if preprocessor.get("language") and not preprocessor.get("lowercase"):
        raise BiasgridError("preprocessors: language: is for lowercase; leave it out")
    cases = [option for option in CASES if preprocessor.get(option)]
    if len(cases) > 1:
        raise BiasgridError(f"preprocessors: {cases[0]} and {cases[1]} contradict each other in one variant")


def _check_option(option: str, value: Any) -> None:
    """Raise BiasgridError for an unknown option, or a value that an option cannot have."""
    if option == "without":
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(text, str) and text for text in value)
        ):
            raise BiasgridError(
                not_allowed(f"preprocessors: {option}", value, "lists of texts, such as ['«', '»']")
            )
        return
    if option == "join":
        if not isinstance(value, str) or " " in value:
            raise BiasgridError(
                not_allowed(f"preprocessors: {option}", value, 'texts without spaces, such as "_"')
            )
        return
    if option == "language":
        if not isinstance(value, str) or not value:
            raise BiasgridError(not_allowed(f"preprocessors: {option}", value, "tags such as tr"))
        return
    choices = CHOICES.get(option)
    if choices is None:
        raise BiasgridError(
            f"preprocessors: {unknown_name('option', option, [*CHOICES, 'join', 'language', 'without', FUNCTION])}"
        )
    if not any(value is a or (isinstance(a, str) and value == a) for a in choices):
        raise BiasgridError(not_allowed(f"preprocessors: {option}", value, ", ".join(map(_as_yaml, choices))))


def _as_yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

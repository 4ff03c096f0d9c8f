"""Exceptions for wrong input, as opposed to errors in biasgrid, and the texts of their messages."""

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches

from .web_addresses import without_secrets
from .wefe_names import WORD_SETS

# Characters that change the reading direction of a text.
OVERRIDES = "\u202a-\u202e\u2066-\u2069"
# Characters that end a line, act as a terminal's command, or change the reading direction.
CONTROL = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029{OVERRIDES}]")
SHOWN = 160  # maximum length of a shortened list of names in a message
LONGEST = 395  # maximum length of a message with all allowed names


class BiasgridError(ValueError):
    """Bad input. Its message is one line: what is wrong, where (file, key, word), what is allowed.

    Control characters, which names from damaged files may contain, are written as in Python's literals.
    Passwords and queries of web addresses are removed. The command line prints the message and exits with
    code 2; the workflow also names the job that raised the error.
    """

    def __init__(self, message: str):
        super().__init__(CONTROL.sub(lambda match: repr(match[0])[1:-1], without_secrets(message)))


class InputError(BiasgridError):
    """Wrong use of a function: an argument of the wrong type, or with a value that is not allowed."""


class ArgumentTypeError(InputError, TypeError):
    """An argument of the wrong type, which is also a TypeError, as in WEFE."""


class NetworkError(BiasgridError):
    """A download that failed: no connection, a refusal by the server, or a different file than expected."""


class DiskError(BiasgridError):
    """A file that cannot be written or read: no space, no permission, a broken disk."""


class WordError(BiasgridError, KeyError):
    """A word that a model does not have, or a set of words that a collection does not have."""

    # KeyError's own method would print the message as a literal.
    def __str__(self) -> str:
        return str(self.args[0])


def unknown_name(what: str, name: object, choices: Iterable[object], hint: str = "", of: str = "") -> str:
    """Return a message's text for a name that does not exist: the name, the nearest one, and all allowed ones.

    Parameters
    ----------
    what, name
        The kind of name, such as "option", and the name.
    choices
        The allowed names.
    hint
        How to see the full list if it is too long for a message.
    of
        The owner of the names, such as the function of an option.
    """
    names = list(map(str, choices))
    head = f"unknown {what} {quote(name)}{f' of {of}' if of else ''}; {did_you_mean(name, names)}allowed: "
    shown = ", ".join(names)
    return head + (shown if 0 < len(shown) <= LONGEST - len(head) else join_names(names, hint))


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return the question for the nearest of the names, with a space at the end, or "" if none is near."""
    if not isinstance(name, str):
        return ""
    names = list(names)
    longer = [other for other in names if name and other.startswith(name)]
    if WORD_SETS.get(name) in names:
        nearest = [WORD_SETS[name]]
    else:
        nearest = longer if len(longer) == 1 else get_close_matches(name[:100], names, 1)
    return f"did you mean {nearest[0]!r}? " if nearest else ""


def is_among(name: object, names: Collection[object]) -> bool:
    """Return whether a name is one of `names`.

    Arrays and lists, which cannot be compared or hashed, are never names.
    """
    return isinstance(name, str) and name in names


def not_allowed(name: str, value: object, choices: str) -> str:
    """Return a message's text for a value that is not allowed, with the allowed ones."""
    return f"{name}: {quote(value)} is not allowed; allowed: {choices}"


def quote(value: object) -> str:
    """Return a value as in Python's source, shortened if it is long; a word of a NumPy array looks like a string."""
    return shorten(_source_form(value))


def shorten(text: str) -> str:
    """Return a text for a message, with "..." in place of the middle of a long one."""
    return text if len(text) <= 80 else f"{text[:40]} ... {text[-35:]}"


def quote_both(value: object, other: object) -> tuple[str, str]:
    """Return two different values, each quoted; if the quotes are equal, they are cut around the first difference."""
    if (quoted := quote(value)) != (other_quoted := quote(other)):
        return quoted, other_quoted
    text, other_text = _source_form(value), _source_form(other)
    place = next((i for i, (a, b) in enumerate(zip(text, other_text, strict=False)) if a != b), len(text))
    start = max(place - 20, 0)
    return f"... {text[start : start + 50]} ...", f"... {other_text[start : start + 50]} ..."


def _source_form(value: object) -> str:
    try:
        return repr(str(value) if isinstance(value, str) else value)
    except (RecursionError, ValueError):  # nested too deep; an integer of too many digits
        return f"this {type(value).__name__}"


def join_names(names: Iterable[object], hint: str = "") -> str:
    """Join names with commas; a long list is cut, and `hint` tells how to see the rest."""
    text, texts = "", list(map(str, names))
    for count, name in enumerate(texts):
        longer = f"{text}, {name}" if text else name
        if len(longer) > SHOWN and text:
            return f"{text} and {len(texts) - count} more" + (f" ({hint})" if hint else "")
        text = longer[: 2 * SHOWN]
    return text or "none"

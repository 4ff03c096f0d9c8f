"""Exceptions for wrong input, as opposed to errors in biasgrid, and the texts of their messages."""

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches

from .web_addresses import without_secrets
from .wefe_names import WORD_SETS

# what turns the direction in which a text is read
OVERRIDES = "\u202a-\u202e\u2066-\u2069"
# what would end a line, be taken as a command by a terminal, or turn what stands after it
CONTROL = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029{OVERRIDES}]")
SHOWN = 160  # characters of a list of names in a message
LONGEST = 395  # characters of a message that lists all names that are allowed


class BiasgridError(ValueError):
    """Bad input. Its message is one line: what is wrong, where (file, key, word), what is allowed.

    Control characters, which names from damaged files may have, are written as in Python's literals; passwords and
    queries of addresses are left out. The command line prints it and exits with code 2; the workflow names the job
    that raised it.
    """

    def __init__(self, message: str):
        super().__init__(CONTROL.sub(lambda match: repr(match[0])[1:-1], without_secrets(message)))


class InputError(BiasgridError):
    """Wrong use of a function: an argument of the wrong type, or with a value that is not allowed."""


class ArgumentTypeError(InputError, TypeError):
    """An argument of the wrong type. It is a TypeError, too, as in WEFE."""


class NetworkError(BiasgridError):
    """What was to be fetched cannot be had: no connection, a server that refuses, another file than expected."""


class DiskError(BiasgridError):
    """A file cannot be written or read: no space, no permission, a broken disk."""


class WordError(BiasgridError, KeyError):
    """A word that a model does not have, or a set of words that a collection does not have."""

    # KeyError's own would print the message as a literal
    def __str__(self) -> str:
        return str(self.args[0])


def unknown_name(what: str, name: object, choices: Iterable[object], hint: str = "", of: str = "") -> str:
    """Return a message's text for a name that does not exist: the name, the nearest one, and all that are allowed.

    Parameters
    ----------
    what, name
        What the name is of, such as "option", and the name.
    choices
        The names that are allowed.
    hint
        How to see the rest of a list that is too long for a message.
    of
        What has the names, such as the function of an option.
    """
    names = list(map(str, choices))
    head = f"unknown {what} {quote(name)}{f' of {of}' if of else ''}; {did_you_mean(name, names)}allowed: "
    shown = ", ".join(names)
    return head + (shown if 0 < len(shown) <= LONGEST - len(head) else join_names(names, hint))


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return the question for the nearest of the names, with a space behind it; empty if none is near."""
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
    """Return whether a name is one of these. An array, which has no truth value, and a list, which has no hash, are
    not names."""
    return isinstance(name, str) and name in names


def not_allowed(name: str, value: object, choices: str) -> str:
    """A message's text for a value that is not allowed, and what is."""
    return f"{name}: {quote(value)} is not allowed; allowed: {choices}"


def quote(value: object) -> str:
    """A value as Python writes it; a long one is cut. A word of a NumPy array is written as any string."""
    text = _written(value)
    return text if len(text) <= 80 else f"{text[:40]} ... {text[-35:]}"


def quote_both(value: object, other: object) -> tuple[str, str]:
    """Two values that differ, each as `quote` has it; where these are the same, cut to the place that differs."""
    if (quoted := quote(value)) != (other_quoted := quote(other)):
        return quoted, other_quoted
    text, other_text = _written(value), _written(other)
    place = next((i for i, (a, b) in enumerate(zip(text, other_text, strict=False)) if a != b), len(text))
    start = max(place - 20, 0)
    return f"... {text[start : start + 50]} ...", f"... {other_text[start : start + 50]} ..."


def _written(value: object) -> str:
    try:
        return repr(str(value) if isinstance(value, str) else value)
    except (RecursionError, ValueError):  # nested too deep; an integer of too many digits
        return f"this {type(value).__name__}"


def join_names(names: Iterable[object], hint: str = "") -> str:
    """Names with commas between; a long list is cut, and `hint` says how to see the rest."""
    text, texts = "", list(map(str, names))
    for count, name in enumerate(texts):
        longer = f"{text}, {name}" if text else name
        if len(longer) > SHOWN and text:
            return f"{text} and {len(texts) - count} more" + (f" ({hint})" if hint else "")
        text = longer[: 2 * SHOWN]
    return text or "none"

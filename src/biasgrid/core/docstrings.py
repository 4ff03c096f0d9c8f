"""Parts of docstrings and signatures."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
TITLE = re.compile(r"^\*\*([\w ]+)\.\*\* ", re.MULTILINE)
PARAMETER = re.compile(r"^((?:\*\*)?\w+(?:, \w+)*)(?: :.*)?$", re.MULTILINE)


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return a function's signature, with evaluated annotations if possible."""
    try:
        return inspect.signature(function, eval_str=True)
    except Exception:  # a plugin's annotation may name an import that only type checkers make
        return inspect.signature(function)


def sections(function: Callable[..., Any]) -> dict[str, str]:
    """Return the sections of a function's numpydoc docstring by name; "" is the text before the first
    section."""
    parts = SECTION.split(inspect.getdoc(function) or "")
    texts = {"": parts[0].strip("\n")}
    texts |= {name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2], strict=True)}
    return texts


def notes(text: str) -> dict[str, str]:
    """Return the titled paragraphs of a Notes section by title."""
    parts = TITLE.split(text)
    return {title: part.strip() for title, part in zip(parts[1::2], parts[2::2], strict=True)}


def parameters(function: Callable[..., Any]) -> dict[str, str]:
    """Return the description of each parameter in a function's docstring, without types."""
    text = sections(function).get("Parameters", "")
    matches = list(PARAMETER.finditer(text))
    ends = [*(match.start() for match in matches[1:]), len(text)][: len(matches)]
    return {
        name.lstrip("*"): textwrap.dedent(text[match.end() : end]).strip("\n")
        for match, end in zip(matches, ends, strict=True)
        for name in match[1].split(", ")
    }


def wrap(text: str, width: int = 112) -> str:
    """Break a paragraph into lines of at most `width` characters."""
    return "\n".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))

"""Signatures and docstrings of the public functions, assembled from the functions that they call."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .limits import range_of

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
TITLE = re.compile(r"^\*\*([\w ]+)\.\*\* ", re.MULTILINE)
PARAMETER = re.compile(r"^((?:\*\*)?\w+(?:, \w+)*)(?: :.*)?$", re.MULTILINE)
ORDER = ("", "Parameters", "Returns", "Raises", "Warns", "Notes", "References", "Examples")


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


def docstring(parts: Mapping[str, str]) -> str:
    """Join sections into a docstring in numpydoc's order, without empty ones."""
    texts = [
        text if not name else f"{name}\n{'-' * len(name)}\n{text}"
        for name, text in sorted(parts.items(), key=lambda item: ORDER.index(item[0]))
        if text
    ]
    return "\n\n".join(texts) + "\n"


def parameter_section(signature: inspect.Signature, texts: Mapping[str, str]) -> str:
    """Return the Parameters section: each parameter of a signature with its type, default and description."""
    return "\n".join(
        f"{parameter.name} : {_describe_type(parameter)}\n"
        + textwrap.indent(texts.get(parameter.name, "See the metric's documentation."), "    ")
        for parameter in signature.parameters.values()
    )


def wrap(text: str, width: int = 112) -> str:
    """Break a paragraph into lines of at most `width` characters."""
    return "\n".join(textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False))


def name_of(annotation: Any) -> str:
    """Return an annotation as written in code, without its limits (`limits.range_of`)."""
    if annotation is inspect.Parameter.empty:
        return "Any"
    if isinstance(annotation, str):
        return annotation
    text = re.sub(r"Annotated\[(\w+), [^]]*\]", r"\1", inspect.formatannotation(annotation))
    text = re.sub(r"Optional\[([\w.]+)\]", r"\1 | None", text)
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", text).replace("'", '"')


def _describe_type(parameter: inspect.Parameter) -> str:
    kind = name_of(parameter.annotation)
    if kind.startswith("Literal[") and kind.endswith("]"):
        kind = f"{{{kind[8:-1]}}}"
    elif limits := range_of(parameter.annotation):
        kind = f"{kind}, {limits}"
    return kind if parameter.default is parameter.empty else f"{kind}, default {parameter.default!r}"


def merge_signatures(
    first: Iterable[inspect.Parameter], *rest: Iterable[inspect.Parameter], returns: Any
) -> inspect.Signature:
    """Return a signature of several groups of parameters; of parameters with the same name, the first is
    kept."""
    by_name: dict[str, inspect.Parameter] = {}
    for group in (first, *rest):
        for parameter in group:
            by_name.setdefault(parameter.name, parameter)
    return inspect.Signature(list(by_name.values()), return_annotation=returns)

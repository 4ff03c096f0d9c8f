"""Types of fields that several sections of a config share."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, PlainValidator, create_model

from ..errors import BiasgridError, quote
from ..printable import check_line
from ..validation import Strict, check_path, field

LONGEST = 100  # characters of a name: two of them, and more, are in the name of a file


def _key(text: str) -> str:
    if len(text) > LONGEST or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", text):
        raise ValueError(
            f"{text[:LONGEST]!r} is not a valid key; allowed: letters, digits, '_', '.' and '-', the first a "
            f"letter or digit, at most {LONGEST} together"
        )
    return text


def _name(text: str) -> str:
    if not 0 < len(text) <= LONGEST or "/" in text or "\n" in text:
        raise ValueError(
            f"{text[:LONGEST]!r} is not a valid name; allowed: 1 to {LONGEST} characters of one line, no '/'"
        )
    return check_line(text, LONGEST)


def _folder(text: str) -> str:
    if not check_path(text).isprintable() or set(text) & set("{}"):
        raise ValueError(
            f"{quote(text)} is not a valid folder path; allowed: printable characters but {{ and }}"
        )
    return text


def _language(text: str) -> str:
    if len(text) > LONGEST or not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*", text):
        raise ValueError(f"{text[:LONGEST]!r} is not a language tag; allowed: a tag such as en, fr, pt-BR")
    return text


def _distinct(values: list[Any]) -> list[Any]:
    for place, value in enumerate(values):
        if value in values[:place]:
            raise ValueError(f"duplicate {quote(value)}; allowed: each once")
    return values


Text = Annotated[str, Field(min_length=1)]
FilePath = Annotated[Text, AfterValidator(check_path)]
Folder = Annotated[Text, AfterValidator(_folder)]  # which the workflow's outputs lie in
Prose = Annotated[str, Field(max_length=2000)]
Key = Annotated[str, AfterValidator(_key)]
Name = Annotated[str, AfterValidator(_name)]
Language = Annotated[str, AfterValidator(_language)]  # as HTML's lang
Distinct = AfterValidator(_distinct)
Params = dict[str, Any]  # checked by whose parameters they are


def _check_includes(value: Any) -> Any:
    for entry in value if isinstance(value, list) else [value]:
        if not isinstance(entry, (dict, str)):
            raise BiasgridError(f"{quote(entry)} is not a mapping or a file's path")
        if isinstance(entry, str):
            check_path(entry)
    return value


# marks a field that may be written as the path of a YAML file with what it holds, or as a list of such, which
# `load.merge_part` merges, and checks part by part
INCLUDES = PlainValidator(_check_includes)


class _Own(Strict):
    """What an entry has of its own of the options of another model."""

    options_of: ClassVar[type[Strict]]

    def __reduce__(self) -> tuple[Any, ...]:
        # its class is made, so that no module has it
        return _blank, (self.options_of, type(self).__doc__), self.__getstate__()


def _blank(model: type[Strict], doc: str) -> Strict:
    return (own := partial(model, doc)).__new__(own)


@lru_cache
def partial(model: type[Strict], doc: str) -> type[Strict]:
    """The model with all of its fields left out by default: what an entry has of its own."""
    of_model: dict[str, Any] = model.model_fields  # made by `field`
    fields: dict[str, Any] = {
        name: (info.rebuild_annotation(), field(info.description, None, info.json_schema_extra["unit"]))
        for name, info in of_model.items()
    }
    own = create_model(f"Own{model.__name__}", __base__=_Own, __doc__=doc, **fields)
    own.options_of = model
    return own


def one_language(*entries: Any) -> bool:
    """Whether entries may go together: no two of them say different languages."""
    return len({entry.language for entry in entries} - {None}) < 2

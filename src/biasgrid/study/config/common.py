"""Types of fields that several sections of a config share."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, PlainValidator, create_model

from ...core.errors import BiasgridError, quote
from ...core.printable import check_line
from ...core.validation import Strict, check_path, field

LONGEST = 100  # characters of a name; the name of a file contains two names or more


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
Folder = Annotated[Text, AfterValidator(_folder)]  # a folder of the workflow's outputs
Prose = Annotated[str, Field(max_length=2000)]
Key = Annotated[str, AfterValidator(_key)]
Name = Annotated[str, AfterValidator(_name)]
Language = Annotated[str, AfterValidator(_language)]  # a language tag, as in HTML
Distinct = AfterValidator(_distinct)
Params = dict[str, Any]  # checked by the object that takes the parameters


def _check_includes(value: Any) -> Any:
    for entry in value if isinstance(value, list) else [value]:
        if not isinstance(entry, (dict, str)):
            raise BiasgridError(f"{quote(entry)} is not a mapping or a file's path")
        if isinstance(entry, str):
            check_path(entry)
    return value


# This marks a field that may also be the path of a YAML file with its contents, or a list of such paths and values.
# `load.merge_part` merges them, and checks each part.
INCLUDES = PlainValidator(_check_includes)


class _Own(Strict):
    """The options of another model that an entry sets itself."""

    options_of: ClassVar[type[Strict]]

    def __reduce__(self) -> tuple[Any, ...]:
        # The class is created at run time, so pickling cannot find it in a module.
        return _blank, (self.options_of, type(self).__doc__), self.__getstate__()


def _blank(model: type[Strict], doc: str) -> Strict:
    return (own := partial(model, doc)).__new__(own)


@lru_cache
def partial(model: type[Strict], doc: str) -> type[Strict]:
    """Return the model with all fields optional: the options that an entry sets itself."""
    of_model: dict[str, Any] = model.model_fields  # created by `field`
    fields: dict[str, Any] = {
        name: (info.rebuild_annotation(), field(info.description, None, info.json_schema_extra["unit"]))
        for name, info in of_model.items()
    }
    own = create_model(f"Own{model.__name__}", __base__=_Own, __doc__=doc, **fields)
    own.options_of = model
    return own


def one_language(*entries: Any) -> bool:
    """Return whether entries may be combined: no two of them have different languages."""
    return len({entry.language for entry in entries} - {None}) < 2
